/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tmpfs: files whose storage is the page cache, directories that are tables of names. The same
 * objects, without dentries of their own, are the writable upper part of overlays. Nothing here
 * sleeps. Directory operations are in tmpfs_dir.c, extended attributes in tmpfs_xattr.c.
 */
#include "fs/tmpfs.h"

#include <asm/statfs.h>
#include <linux/magic.h>

static int tmpfs_account(struct inode *inode, s64 pages)
{
	struct tmpfs_super *ts = inode->sb->priv;

	if (pages > 0 && ts->pages + (u64)pages > ts->max_pages)
		return -ENOSPC;
	ts->pages += (u64)pages;
	inode->blocks += (u64)(pages * (s64)(PAGE_SIZE / 512));
	return 0;
}

static int tmpfs_readpages(struct inode *inode, u64 index, struct page **pages, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		memset(page_addr(pages[i]), 0, PAGE_SIZE);
	return 0;
}

static const struct cache_ops tmpfs_cache_ops = {
	.readpages = tmpfs_readpages,
	.account = tmpfs_account,
};

static int tmpfs_fallocate(struct file *file, int mode, u64 off, u64 len);

static int tmpfs_fsync(struct file *file, bool datasync)
{
	return 0;
}

const struct file_ops tmpfs_file_ops = {
	.read = pagecache_read,
	.write = pagecache_write,
	.llseek = generic_llseek,
	.fsync = tmpfs_fsync,
	.fallocate = tmpfs_fallocate,
	.mmap = pagecache_mmap,
};

bool inode_is_tmpfs(const struct inode *inode)
{
	return inode->ops && inode->ops->evict == tmpfs_evict;
}

struct tmpfs_inode *tmpfs_i(struct inode *inode)
{
	kassert(inode_is_tmpfs(inode));
	return inode->priv;
}

struct inode *tmpfs_inode_new(struct super *sb, u32 mode, u64 rdev)
{
	struct tmpfs_super *ts = sb->priv;
	struct tmpfs_inode *ti;
	struct inode *inode;

	if (ts->inodes >= ts->max_inodes)
		return NULL;
	inode = inode_new_ino(sb, mode);
	ti = inode ? kzalloc(sizeof(*ti)) : NULL;
	if (!ti) {
		if (inode)
			inode_put(inode);
		return NULL;
	}
	ts->inodes++;
	list_init(&ti->xattrs);
	list_init(&ti->dead);
	ti->self = inode;
	inode->priv = ti;
	inode->nlink = 0;
	inode->rdev = rdev;
	inode->ops = &tmpfs_inode_ops;
	if (S_ISREG(mode)) {
		inode->fops = &tmpfs_file_ops;
		inode->cops = &tmpfs_cache_ops;
	} else if (S_ISDIR(mode)) {
		inode->ops = &tmpfs_dir_inode_ops;
		inode->fops = &tmpfs_dir_ops;
		nametab_init(&ti->names);
		inode->size = 2 * TMPFS_NAME_BYTES;
	}
	return inode;
}

int tmpfs_symlink_new(struct super *sb, const char *target, struct inode **out)
{
	struct inode *inode = tmpfs_inode_new(sb, S_IFLNK | 0777, 0);

	if (!inode)
		return -ENOSPC;
	inode->link = kstrdup(target);
	if (!inode->link) {
		inode_put(inode);
		return -ENOMEM;
	}
	inode->size = strlen(target);
	*out = inode;
	return 0;
}

/*
 * What is left of a tree goes without recursion: a directory that dies gives its children to
 * `dead`.
 */
static void tmpfs_empty(struct inode *dir, struct list *dead)
{
	struct nametab *t = &tmpfs_i(dir)->names;
	struct nament *e, *tmp;

	list_for_each_safe(e, tmp, &t->order, order) {
		if (!e->inode)
			continue;
		if (inode_is_dir(e->inode) && e->inode->refs == 1)
			list_add_tail(dead, &tmpfs_i(e->inode)->dead);
		else
			inode_put(e->inode);
		e->inode = NULL;
	}
	nametab_free(t);
}

void tmpfs_evict(struct inode *inode)
{
	struct tmpfs_super *ts = inode->sb->priv;
	struct tmpfs_inode *ti = tmpfs_i(inode);
	struct list dead = LIST_INIT(dead);

	if (inode_is_dir(inode)) {
		tmpfs_empty(inode, &dead);
		while (!list_empty(&dead)) {
			struct tmpfs_inode *child = list_first(&dead, struct tmpfs_inode, dead);

			list_del(&child->dead);
			tmpfs_empty(child->self, &dead);
			inode_put(child->self);
		}
	}
	tmpfs_xattr_free(ti);
	ts->inodes--;
	kfree(ti);
}

int tmpfs_setattr(struct inode *inode, const struct attr *attr)
{
	u64 old = inode->size;
	int err;

	if (attr->valid & ATTR_SIZE) {
		if (inode_is_dir(inode))
			return -EISDIR;
		if (!S_ISREG(inode->mode))
			return -EINVAL;
		if ((attr->size < old && (inode->seals & F_SEAL_SHRINK)) ||
		    (attr->size > old && (inode->seals & F_SEAL_GROW)))
			return -EPERM;
		if (attr->size <= old) {	/* equal: pages beyond the end go too */
			err = pagecache_zero(inode, attr->size, ALIGN_UP(old, PAGE_SIZE));
			if (err)
				return err;
			pagecache_truncate(inode, attr->size);
		}
		inode->size = attr->size;
	}
	inode_setattr_simple(inode, attr);
	return 0;
}

static int tmpfs_punch(struct inode *inode, u64 off, u64 len)
{
	if (inode->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	return pagecache_zero(inode, off, off + len);
}

static int tmpfs_fallocate(struct file *file, int mode, u64 off, u64 len)
{
	struct inode *inode = file->inode;
	struct page *page;
	int err = 0;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		return -EOPNOTSUPP;
	if (mode & FALLOC_FL_PUNCH_HOLE) {
		err = tmpfs_punch(inode, off, len);
		inode_touch(inode);
		return err;
	}
	if (off + len > inode->size && (inode->seals & F_SEAL_GROW))
		return -EPERM;
	if (mode & FALLOC_FL_ZERO_RANGE)
		err = tmpfs_punch(inode, off, len);
	for (u64 i = off >> PAGE_SHIFT; !err && i <= (off + len - 1) >> PAGE_SHIFT; i++) {
		err = pagecache_make(inode, i, &page);
		if (!err)
			page_put(page);
	}
	if (err)
		return err == -ENOMEM ? -ENOSPC : err;
	if (!(mode & FALLOC_FL_KEEP_SIZE) && off + len > inode->size)
		inode->size = off + len;
	inode_touch(inode);
	return 0;
}

int tmpfs_statfs(struct inode *inode, void *statfs64)
{
	struct tmpfs_super *ts = inode->sb->priv;
	struct statfs *st = statfs64;

	st->f_type = (__kernel_long_t)TMPFS_MAGIC;
	st->f_bsize = st->f_frsize = PAGE_SIZE;
	st->f_blocks = (__kernel_long_t)ts->max_pages;
	st->f_bfree = st->f_bavail = (__kernel_long_t)(ts->max_pages - ts->pages);
	st->f_files = (__kernel_long_t)ts->max_inodes;
	st->f_ffree = (__kernel_long_t)(ts->max_inodes - ts->inodes);
	st->f_namelen = NAME_MAX;
	return 0;
}

static int tmpfs_readlink(struct inode *inode, char *buf, size_t size)
{
	size_t len;

	if (!inode->link)
		return -EINVAL;
	len = MIN(strlen(inode->link), size);
	memcpy(buf, inode->link, len);
	return (int)len;
}

const struct inode_ops tmpfs_inode_ops = {
	.readlink = tmpfs_readlink,
	.setattr = tmpfs_setattr,
	.statfs = tmpfs_statfs,
	.getxattr = tmpfs_getxattr,
	.listxattr = tmpfs_listxattr,
	.setxattr = tmpfs_setxattr,
	.removexattr = tmpfs_removexattr,
	.evict = tmpfs_evict,
};

static void tmpfs_destroy(struct super *sb)
{
	kfree(sb->priv);
	kfree(sb);
}

int tmpfs_mount(u64 max_bytes, u32 root_mode, struct super **out)
{
	struct super *sb = super_new("tmpfs", TMPFS_MAGIC);
	struct tmpfs_super *ts = sb ? kzalloc(sizeof(*ts)) : NULL;

	if (!ts) {
		kfree(sb);
		return -ENOMEM;
	}
	sb->priv = ts;
	sb->destroy = tmpfs_destroy;
	ts->max_pages = max_bytes ? (max_bytes + PAGE_SIZE - 1) / PAGE_SIZE :
				    page_total_count() / 2;
	ts->max_inodes = MAX(page_total_count() / 2, 1024ull);
	sb->root = tmpfs_inode_new(sb, S_IFDIR | root_mode, 0);
	if (!sb->root) {
		tmpfs_destroy(sb);
		return -ENOMEM;
	}
	tmpfs_i(sb->root)->places = 1;
	sb->root->nlink = 2;
	*out = sb;
	return 0;
}
