/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overlay: making an overlay (super), and copying lower objects up when they are first changed.
 * Only reading the lower file's data can sleep; the new object is put in its place in one go
 * afterwards, so two tasks that copy the same file up do no harm.
 */
#include "fs/overlay.h"
#include "fs/pagecache.h"

#include <linux/magic.h>

#define UPPER_INO_BASE (1ull << 48)	/* away from the host's numbers, which lower objects have */

static int copyup_data(struct inode *from, struct inode *to)
{
	u64 pages = (from->size + PAGE_SIZE - 1) >> PAGE_SHIFT;
	int err = 0;

	if (!from->cops)
		return from->size ? -EIO : 0;
	for (u64 i = 0; i < pages && !err; i++) {
		struct page *src, *dst;

		err = pagecache_get_want(from, i, (unsigned)MIN(pages - i, 128ull), &src);
		if (err == -ENXIO)	/* it has become shorter */
			return 0;
		if (err)
			break;
		dst = pagecache_alloc(0);
		if (dst) {
			memcpy(page_addr(dst), page_addr(src), PAGE_SIZE);
			err = pagecache_insert(to, i, dst, false);
			if (err)
				page_put(dst);
		}
		page_put(src);
		if (!dst)
			err = -ENOSPC;
	}
	if (!err)
		to->size = from->size;
	return err;
}

static void copyup_xattrs(struct inode *from, struct inode *to)
{
	char *names, *value;
	long n, len;

	if (!from->ops->listxattr || !from->ops->getxattr)
		return;
	n = from->ops->listxattr(from, NULL, 0);
	if (n <= 0 || n > 65536)
		return;
	names = kmalloc((size_t)n);
	value = kmalloc(PAGE_SIZE);
	n = names && value ? from->ops->listxattr(from, names, (size_t)n) : 0;
	for (char *p = names; n > 0 && p < names + n; p += strlen(p) + 1) {
		len = from->ops->getxattr(from, p, value, PAGE_SIZE);
		if (len >= 0)
			tmpfs_setxattr(to, p, value, (size_t)len, 0);
	}
	kfree(names);
	kfree(value);
}

static int copyup_new(struct super *upper, struct inode *from, bool data, struct inode **out)
{
	const char *text;
	struct inode *to;
	long len;
	int err = 0;

	if (S_ISLNK(from->mode)) {
		len = inode_link_text(from, &text);
		if (len < 0)
			return (int)len;
		err = tmpfs_symlink_new(upper, text, &to);
	} else {
		to = tmpfs_inode_new(upper, from->mode, from->rdev);
		if (!to)
			err = -ENOSPC;
	}
	if (err)
		return err;
	if (S_ISREG(from->mode) && data)
		err = copyup_data(from, to);
	if (err) {
		inode_put(to);
		return err;
	}
	copyup_xattrs(from, to);
	*out = to;
	return 0;
}

static void copyup_attrs(struct inode *from, struct inode *to)
{
	to->mode = from->mode;
	to->uid = from->uid;
	to->gid = from->gid;
	to->atime = from->atime;
	to->mtime = from->mtime;
	to->ctime = from->ctime;
	to->ino = from->ino;
}

/* Give the overlay inode its upper part, and the upper part its name in the (upper) parent. */
static int copyup_place(struct inode *inode, struct inode *upper)
{
	struct overlay_inode *oi = overlay_i(inode);
	struct dentry *self = oi->self;
	struct inode *lower = oi->lower->inode;
	struct timespec64 mtime, ctime;
	int err;

	if (self && !(self->flags & DENTRY_DELETED)) {
		struct inode *dir = overlay_i(self->parent->inode)->upper;

		mtime = dir->mtime;
		ctime = dir->ctime;
		err = tmpfs_enter(dir, self->name, self->len, upper);
		if (err)
			return err;
		dir->mtime = mtime;	/* to its users nothing has changed */
		dir->ctime = ctime;
	}
	copyup_attrs(lower, upper);
	upper->over = inode;
	oi->upper = upper;
	oi->self = NULL;
	if (!inode_is_dir(inode)) {
		dentry_put(oi->lower);
		oi->lower = NULL;
	}
	overlay_sync(inode);
	return 0;
}

/* One object whose parent has an upper part or that has no name any more. */
static int copyup_one(struct inode *inode, bool data)
{
	struct overlay_inode *oi = overlay_i(inode);
	struct inode *upper = NULL;
	int err;

	inode_get(inode);
	err = copyup_new(overlay_s(inode)->upper, oi->lower->inode, data, &upper);
	if (!err && oi->upper) {
		inode_put(upper);	/* another task was faster */
	} else if (!err) {
		err = copyup_place(inode, upper);
		if (err)
			inode_put(upper);
	}
	inode_put(inode);
	return err;
}

int overlay_copy_up(struct inode *inode, bool data)
{
	int err;

	while (!overlay_i(inode)->upper) {
		struct inode *top = inode;
		struct dentry *self;

		/* Highest ancestor that is not there yet: from the top down, without recursion. */
		for (;;) {
			self = overlay_i(top)->self;
			if (!self || (self->flags & DENTRY_DELETED) ||
			    overlay_i(self->parent->inode)->upper)
				break;
			top = self->parent->inode;
		}
		err = copyup_one(top, top == inode ? data : true);
		if (err)
			return err;
	}
	return 0;
}

int overlay_new(struct super *lower, struct super **out)
{
	struct super *sb = super_new("overlay", OVERLAYFS_SUPER_MAGIC);
	struct overlay_super *os = sb ? kzalloc(sizeof(*os)) : NULL;
	struct inode *root;
	int err = -ENOMEM;

	if (!os)
		goto out_sb;
	sb->priv = os;
	os->lower = lower;
	err = tmpfs_mount(0, lower->root->mode & 07777, &os->upper);
	if (err)
		goto out_os;
	os->upper->next_ino = UPPER_INO_BASE;
	err = vfs_mount(lower, NULL, 0, "lower", &os->lower_mount);
	if (err)
		goto out_upper;
	root = os->upper->root;
	copyup_attrs(lower->root, root);
	inode_get(root);
	dentry_get(os->lower_mount->root);
	sb->root = overlay_inode(sb, root, os->lower_mount->root);
	err = -ENOMEM;
	if (!sb->root)
		goto out_upper;
	*out = sb;
	return 0;
out_upper:
	inode_put(os->upper->root);
	os->upper->destroy(os->upper);
out_os:
	kfree(os);
out_sb:
	kfree(sb);
	return err;
}

/* A directory in the upper part, merged with what the lower one may have there. */
static struct inode *make_dir(struct super *upper, struct inode *dir, const char *name, size_t len,
			      u32 mode)
{
	struct nament *e = tmpfs_find(dir, name, len);
	struct inode *inode;

	if (e && e->inode)
		return inode_is_dir(e->inode) ? e->inode : NULL;
	inode = tmpfs_inode_new(upper, S_IFDIR | mode, 0);
	if (!inode)
		return NULL;
	if (tmpfs_enter(dir, name, len, inode)) {
		inode_put(inode);
		return NULL;
	}
	inode_put(inode);	/* the name keeps it */
	return inode;
}

int overlay_make_path(struct super *sb, const char *path, u32 mode, u32 uid, u32 gid,
		      bool opaque)
{
	struct overlay_super *os = sb->priv;
	struct inode *dir = os->upper->root;
	const char *end;

	for (;; path = end) {
		while (*path == '/')
			path++;
		if (!*path)
			break;
		for (end = path; *end && *end != '/'; end++)
			;
		dir = make_dir(os->upper, dir, path, (size_t)(end - path), 0755);
		if (!dir)
			return -ENOMEM;
	}
	dir->mode = S_IFDIR | mode;
	dir->uid = uid;
	dir->gid = gid;
	if (opaque)
		tmpfs_set_opaque(dir, true);
	return 0;
}
