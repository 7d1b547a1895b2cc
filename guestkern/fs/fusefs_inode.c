/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inodes of the FUSE client, their attributes, and mounting. Attributes are good until the server
 * said; when they are fetched again and the file has changed by another hand, its cached pages go.
 */
#include <asm/statfs.h>
#include <linux/magic.h>
#include "fs/fusefs.h"

#define BUCKETS 256

/* All nodes by (super, node id); a bucket with next == NULL has never been used. */
static struct list node_table[BUCKETS];

static struct list *node_bucket(const struct super *sb, u64 nodeid)
{
	u64 h = (nodeid ^ (u64)(uintptr_t)sb) * 0x9e3779b97f4a7c15ull;
	struct list *b = &node_table[h >> 56];

	if (!b->next)
		list_init(b);
	return b;
}

static struct inode *node_find(const struct super *sb, u64 nodeid)
{
	struct fuse_node *node;

	list_for_each(node, node_bucket(sb, nodeid), hash) {
		if (node->nodeid == nodeid && node->inode->sb == sb)
			return node->inode;
	}
	return NULL;
}

/* A new inode, without attributes yet, that owns no lookup reference. */
static struct inode *node_new(struct super *sb, u64 nodeid, u32 mode)
{
	struct fuse_node *node = kzalloc(sizeof(*node));
	struct inode *inode = node ? inode_new(sb, mode) : NULL;

	if (!inode) {
		kfree(node);
		return NULL;
	}
	node->inode = inode;
	node->nodeid = nodeid;
	list_init(&node->handles);
	list_add(node_bucket(sb, nodeid), &node->hash);
	inode->priv = node;
	inode->ops = S_ISDIR(mode) ? &fusefs_dir_inode_ops : &fusefs_inode_ops;
	if (S_ISDIR(mode)) {
		inode->fops = &fusefs_dir_ops;
	} else if (S_ISREG(mode)) {
		inode->fops = &fusefs_file_ops;
		inode->cops = sb->readonly ? &fusefs_cache_ops_ro : &fusefs_cache_ops;
	}
	return inode;
}

struct inode *fuse_iget(struct super *sb, const struct fuse_entry_out *entry)
{
	struct inode *inode = node_find(sb, entry->nodeid);

	if (inode && (inode->mode & S_IFMT) == (entry->attr.mode & S_IFMT)) {
		inode_get(inode);
	} else {
		inode = node_new(sb, entry->nodeid, entry->attr.mode);
		if (!inode) {
			fuse_forget(entry->nodeid, 1);
			return NULL;
		}
	}
	fuse_node_of(inode)->nlookup++;
	fuse_attr_apply(inode, &entry->attr, entry->attr_valid, entry->attr_valid_nsec);
	return inode;
}

void fusefs_evict(struct inode *inode)
{
	struct fuse_node *node = fuse_node_of(inode);

	if (node->created)
		fuse_handle_release(node, node->created);
	list_del(&node->hash);
	fuse_forget(node->nodeid, node->nlookup);
	kfree(node);
}

static struct timespec64 attr_time(u64 sec, u32 nsec)
{
	return (struct timespec64){ (s64)sec, nsec };
}

static bool time_same(struct timespec64 a, struct timespec64 b)
{
	return a.sec == b.sec && a.nsec == b.nsec;
}

/* Somebody else wrote the file: what we have of it is old. */
static void attr_check_data(struct inode *inode, const struct fuse_attr *attr)
{
	struct fuse_node *node = fuse_node_of(inode);
	bool moved = !time_same(inode->mtime, attr_time(attr->mtime, attr->mtimensec));

	if (inode->cache && (inode->size != attr->size || (moved && !node->own_writes)))
		pagecache_invalidate(inode, 0);
	node->own_writes = false;
}

void fuse_attr_apply(struct inode *inode, const struct fuse_attr *attr, u64 valid, u32 valid_nsec)
{
	struct fuse_node *node = fuse_node_of(inode);

	node->attr_expires_ns = fuse_expiry(valid, valid_nsec);
	node->stat_stale = false;
	if (S_ISREG(inode->mode))
		attr_check_data(inode, attr);
	inode->ino = attr->ino;
	inode->mode = (inode->mode & S_IFMT) | (attr->mode & 07777);
	inode->nlink = attr->nlink;
	inode->uid = attr->uid;
	inode->gid = attr->gid;
	inode->rdev = attr->rdev;
	inode->size = attr->size;
	inode->blocks = attr->blocks;
	inode->blksize = attr->blksize ? attr->blksize : PAGE_SIZE;
	inode->atime = attr_time(attr->atime, attr->atimensec);
	inode->mtime = attr_time(attr->mtime, attr->mtimensec);
	inode->ctime = attr_time(attr->ctime, attr->ctimensec);
}

void fuse_attr_expire(struct inode *inode)
{
	fuse_node_of(inode)->attr_expires_ns = 0;
}

int fuse_getattr(struct inode *inode)
{
	struct fuse_node *node = fuse_node_of(inode);
	struct fuse_getattr_in in = { 0 };
	struct fuse_attr_out out;
	int err = fuse_simple(FUSE_GETATTR, node->nodeid, &in, sizeof(in), NULL, &out, sizeof(out));

	if (err < 0)
		return err;
	if ((out.attr.mode & S_IFMT) != (inode->mode & S_IFMT))
		return -ESTALE;
	fuse_attr_apply(inode, &out.attr, out.attr_valid, out.attr_valid_nsec);
	return 0;
}

/* Size and data as good as the server said. Without a name nobody else changes the file. */
int fuse_refresh_data(struct inode *inode)
{
	u64 expires = fuse_node_of(inode)->attr_expires_ns;

	if (!inode->nlink || expires == ~0ull || (expires && time_monotonic_ns() < expires))
		return 0;
	return fuse_getattr(inode);
}

int fusefs_refresh(struct inode *inode)
{
	if (inode->nlink && fuse_node_of(inode)->stat_stale)
		return fuse_getattr(inode);
	return fuse_refresh_data(inode);
}

static void setattr_fill(struct fuse_setattr_in *in, const struct attr *attr)
{
	if (attr->valid & ATTR_MODE) {
		in->valid |= FATTR_MODE;
		in->mode = attr->mode & 07777;
	}
	if (attr->valid & ATTR_UID) {
		in->valid |= FATTR_UID;
		in->uid = attr->uid;
	}
	if (attr->valid & ATTR_GID) {
		in->valid |= FATTR_GID;
		in->gid = attr->gid;
	}
	if (attr->valid & ATTR_SIZE) {
		in->valid |= FATTR_SIZE;
		in->size = attr->size;
	}
	if (attr->valid & ATTR_ATIME) {
		in->valid |= FATTR_ATIME;
		in->atime = (u64)attr->atime.sec;
		in->atimensec = (u32)attr->atime.nsec;
	}
	if (attr->valid & ATTR_MTIME) {
		in->valid |= FATTR_MTIME;
		in->mtime = (u64)attr->mtime.sec;
		in->mtimensec = (u32)attr->mtime.nsec;
	}
}

/* The cache follows a new size: pages behind it go, the rest of the last one reads as zeros. */
static void size_changed(struct inode *inode, u64 size)
{
	size_t off = size & (PAGE_SIZE - 1);
	struct page *page;

	if (size < inode->size) {
		page = off ? pagecache_peek(inode, size >> PAGE_SHIFT) : NULL;
		if (page) {
			memset((u8 *)page_addr(page) + off, 0, PAGE_SIZE - off);
			page_put(page);
		}
		pagecache_truncate(inode, size);
	}
	inode->size = size;
	fuse_node_of(inode)->writes++;
	fuse_node_of(inode)->own_writes = true;
}

int fusefs_setattr(struct inode *inode, const struct attr *attr)
{
	struct fuse_node *node = fuse_node_of(inode);
	struct fuse_setattr_in in = { 0 };
	struct fuse_attr_out out;
	struct fuse_handle *h = attr->valid & ATTR_SIZE ? fuse_handle_for(node, true) : NULL;
	int err;

	if (inode->sb->readonly)
		return -EROFS;
	setattr_fill(&in, attr);
	if (!in.valid)		/* only the ctime, which the host sees to */
		return 0;
	if (h) {
		in.valid |= FATTR_FH;
		in.fh = h->fh;
	}
	err = fuse_simple(FUSE_SETATTR, node->nodeid, &in, sizeof(in), NULL, &out, sizeof(out));
	if (err < 0)
		return err;
	if (attr->valid & ATTR_SIZE)
		size_changed(inode, attr->size);
	if (attr->valid & ATTR_MTIME)
		node->own_writes = true;
	fuse_attr_apply(inode, &out.attr, out.attr_valid, out.attr_valid_nsec);
	return 0;
}

int fusefs_statfs(struct inode *inode, void *statfs64)
{
	struct statfs *st = statfs64;
	struct fuse_statfs_out out;
	int err = fuse_simple(FUSE_STATFS, fuse_node_of(inode)->nodeid, NULL, 0, NULL, &out,
			      sizeof(out));

	if (err < 0)
		return err;
	st->f_type = FUSE_SUPER_MAGIC;
	st->f_bsize = out.st.bsize;
	st->f_frsize = out.st.frsize;
	st->f_blocks = (__kernel_long_t)out.st.blocks;
	st->f_bfree = (__kernel_long_t)out.st.bfree;
	st->f_bavail = (__kernel_long_t)out.st.bavail;
	st->f_files = (__kernel_long_t)out.st.files;
	st->f_ffree = (__kernel_long_t)out.st.ffree;
	st->f_namelen = out.st.namelen;
	return 0;
}

int fusefs_readlink(struct inode *inode, char *buf, size_t size)
{
	struct fuse_args args;

	if (!S_ISLNK(inode->mode))
		return -EINVAL;
	fuse_args_init(&args, FUSE_READLINK, fuse_node_of(inode)->nodeid);
	fuse_out(&args, buf, size);
	return (int)fuse_send(&args);
}

const struct inode_ops fusefs_inode_ops = {
	.readlink = fusefs_readlink,
	.refresh = fusefs_refresh,
	.setattr = fusefs_setattr,
	.statfs = fusefs_statfs,
	.getxattr = fusefs_getxattr,
	.listxattr = fusefs_listxattr,
	.setxattr = fusefs_setxattr,
	.removexattr = fusefs_removexattr,
	.evict = fusefs_evict,
};

const struct inode_ops fusefs_dir_inode_ops = {
	.lookup = fusefs_lookup,
	.walk = fusefs_walk,
	.create = fusefs_create,
	.symlink = fusefs_symlink,
	.link = fusefs_link,
	.unlink = fusefs_unlink,
	.rmdir = fusefs_rmdir,
	.rename = fusefs_rename,
	.refresh = fusefs_refresh,
	.setattr = fusefs_setattr,
	.statfs = fusefs_statfs,
	.getxattr = fusefs_getxattr,
	.listxattr = fusefs_listxattr,
	.setxattr = fusefs_setxattr,
	.removexattr = fusefs_removexattr,
	.evict = fusefs_evict,
};

static void fusefs_destroy(struct super *sb)
{
	kfree(sb);
}

/* The tree's root needs no lookup, but its attributes; another source is walked to. */
static int mount_root(struct super *sb, const char *source)
{
	int err;

	while (*source == '/')
		source++;
	if (*source)
		return fuse_walk_inode(sb, FUSE_ROOT_ID, source, &sb->root);
	sb->root = node_new(sb, FUSE_ROOT_ID, S_IFDIR | 0755);
	if (!sb->root)
		return -ENOMEM;
	err = fuse_getattr(sb->root);
	if (err < 0) {
		inode_put(sb->root);
		sb->root = NULL;
	}
	return err;
}

int fusefs_mount(const char *source, bool readonly, struct super **out)
{
	struct super *sb = super_new("fuse", FUSE_SUPER_MAGIC);
	int err;

	if (!sb)
		return -ENOMEM;
	sb->readonly = readonly;
	sb->destroy = fusefs_destroy;
	err = mount_root(sb, source);
	if (err < 0) {
		kfree(sb);
		return err;
	}
	*out = sb;
	return 0;
}
