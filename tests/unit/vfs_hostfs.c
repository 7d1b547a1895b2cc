/* SPDX-License-Identifier: Apache-2.0 */
/* The table file system of vfs_hostfs.h. */
#include "vfs_hostfs.h"

struct hostfs_counts hostfs_counts;
u64 hostfs_ttl_ns = ~0ull;
int hostfs_read_error;
bool hostfs_has_walk = true, hostfs_writable;

struct hostfs {
	struct hostfs_node *nodes;
	unsigned n;
	struct inode *live[64];		/* by node; not references */
};

static const struct inode_ops hostfs_ops, hostfs_walk_ops;
static const struct file_ops hostfs_fops, hostfs_dir_fops;
static const struct cache_ops hostfs_cops, hostfs_rw_cops;

static u64 expires(void)
{
	return hostfs_ttl_ns == ~0ull ? ~0ull : time_monotonic_ns() + hostfs_ttl_ns;
}

static struct inode *hostfs_inode(struct super *sb, unsigned i)
{
	struct hostfs *h = sb->priv;
	struct hostfs_node *node = &h->nodes[i];
	struct inode *inode;

	for (unsigned j = 0; j < h->n; j++) {
		if (h->live[j] && h->live[j]->ino == node->ino) {
			inode_get(h->live[j]);
			return h->live[j];
		}
	}
	inode = inode_new(sb, node->mode);
	inode->ino = node->ino;
	inode->size = node->size;
	inode->ops = hostfs_has_walk ? &hostfs_walk_ops : &hostfs_ops;
	inode->priv = node;
	if (S_ISREG(node->mode)) {
		inode->fops = &hostfs_fops;
		inode->cops = hostfs_writable ? &hostfs_rw_cops : &hostfs_cops;
	} else if (S_ISDIR(node->mode)) {
		inode->fops = &hostfs_dir_fops;
	}
	h->live[i] = inode;
	return inode;
}

static void hostfs_evict(struct inode *inode)
{
	struct hostfs *h = inode->sb->priv;

	for (unsigned i = 0; i < h->n; i++) {
		if (h->live[i] == inode)
			h->live[i] = NULL;
	}
}

/* Node of dir's path + "/" + name; -1: none. */
static int hostfs_find(const struct inode *dir, const char *name, size_t len)
{
	const struct hostfs *h = dir->sb->priv;
	const char *base = ((struct hostfs_node *)dir->priv)->path;
	size_t skip = strlen(base);

	for (unsigned i = 0; i < h->n; i++) {
		const char *p = h->nodes[i].path;

		if (!h->nodes[i].mode || strncmp(p, base, skip))
			continue;
		p += skip;
		if (skip && *p++ != '/')
			continue;
		if (strlen(p) == len && !memcmp(p, name, len))
			return (int)i;
	}
	return -1;
}

static int hostfs_lookup(struct inode *dir, struct dentry *dentry)
{
	int i = hostfs_find(dir, dentry->name, dentry->len);

	hostfs_counts.lookups++;
	dentry->expires_ns = expires();
	if (i >= 0)
		dentry->inode = hostfs_inode(dir->sb, (unsigned)i);
	return 0;
}

static int hostfs_walk(struct dentry *start, const char *rest)
{
	struct dentry *at = start;

	hostfs_counts.walks++;
	dentry_get(at);
	for (;;) {
		struct inode *inode = NULL;
		struct dentry *d;
		size_t len = 0;
		int i;

		while (*rest == '/')
			rest++;
		while (rest[len] && rest[len] != '/')
			len++;
		if (!len || name_is(rest, len, ".") || name_is(rest, len, ".."))
			break;
		i = hostfs_find(at->inode, rest, len);
		if (i >= 0)
			inode = hostfs_inode(start->inode->sb, (unsigned)i);
		if (inode && S_ISLNK(inode->mode) && !inode->link)
			inode->link = kstrdup(((struct hostfs_node *)inode->priv)->link);
		d = dcache_add(at, rest, len, inode, expires());
		dentry_put(at);
		at = d;
		if (!d || !d->inode || !S_ISDIR(d->inode->mode))
			break;
		rest += len;
	}
	if (at)
		dentry_put(at);
	return 0;
}

static int hostfs_readlink(struct inode *inode, char *buf, size_t size)
{
	const char *link = ((struct hostfs_node *)inode->priv)->link;

	hostfs_counts.links++;
	memcpy(buf, link, strlen(link));
	return (int)strlen(link);
}

static int hostfs_readpages(struct inode *inode, u64 index, struct page **pages, unsigned n)
{
	hostfs_counts.reads++;
	hostfs_counts.pages += n;
	if (hostfs_read_error)
		return hostfs_read_error;
	for (unsigned i = 0; i < n; i++) {
		u8 *p = page_addr(pages[i]);

		for (u64 j = 0; j < PAGE_SIZE; j++) {
			u64 at = (index + i) * PAGE_SIZE + j;

			p[j] = at < inode->size ? hostfs_byte(inode->ino, at) : 0;
		}
	}
	return 0;
}

static int hostfs_writepage(struct inode *inode, u64 index, struct page *page, unsigned len)
{
	hostfs_counts.writes++;
	hostfs_counts.written += len;
	return 0;
}

static int hostfs_iterate(struct file *file, struct dir_context *ctx)
{
	struct hostfs *h = file->inode->sb->priv;
	const char *base = ((struct hostfs_node *)file->inode->priv)->path;
	size_t skip = strlen(base);

	if (!dir_emit_dots(file, ctx))
		return 0;
	for (u64 i = file->pos - 2; i < h->n; i++) {
		const char *p = h->nodes[i].path;

		if (!h->nodes[i].mode || !*p || strncmp(p, base, skip))
			continue;
		p += skip;
		if (skip && *p++ != '/')
			continue;
		if (strchr(p, '/'))
			continue;
		if (ctx->emit(ctx, p, strlen(p), h->nodes[i].ino,
			      mode_to_dtype(h->nodes[i].mode), i + 3))
			break;
	}
	return 0;
}

static const struct inode_ops hostfs_ops = {
	.lookup = hostfs_lookup, .readlink = hostfs_readlink, .evict = hostfs_evict,
};
static const struct inode_ops hostfs_walk_ops = {
	.lookup = hostfs_lookup, .walk = hostfs_walk,
	.readlink = hostfs_readlink, .evict = hostfs_evict,
};
static const struct file_ops hostfs_fops = {
	.read = pagecache_read, .write = pagecache_write, .llseek = generic_llseek,
	.mmap = pagecache_mmap, .fsync = pagecache_fsync,
};
static const struct file_ops hostfs_dir_fops = { .iterate = hostfs_iterate, .llseek = dir_llseek };
static const struct cache_ops hostfs_cops = { .readpages = hostfs_readpages };
static const struct cache_ops hostfs_rw_cops = {
	.readpages = hostfs_readpages, .writepage = hostfs_writepage,
};

static void hostfs_destroy(struct super *sb)
{
	kfree(sb->priv);
	kfree(sb);
}

int hostfs_mount(struct hostfs_node *nodes, unsigned n, struct super **out)
{
	struct super *sb = super_new("hostfs", 0x1234);
	struct hostfs *h = kzalloc(sizeof(*h));

	h->nodes = nodes;
	h->n = n;
	sb->priv = h;
	sb->destroy = hostfs_destroy;
	sb->readonly = !hostfs_writable;
	sb->root = hostfs_inode(sb, 0);
	*out = sb;
	return 0;
}
