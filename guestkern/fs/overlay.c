/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overlay: a writable tmpfs over a read-only lower file system. Inodes, lookup, attributes and
 * opening; see overlay.h for the rules. An open file works on the real inode, so reading a lower
 * file costs no copy and no detour.
 */
#include "fs/overlay.h"

#include <linux/magic.h>

bool super_is_overlay(const struct super *sb)
{
	return sb && sb->magic == OVERLAYFS_SUPER_MAGIC;
}

bool overlay_inode_is(const struct inode *inode)
{
	return super_is_overlay(inode->sb);
}

static u32 overlay_nlink(const struct overlay_inode *oi, const struct inode *real)
{
	bool gone = oi->self && (oi->self->flags & DENTRY_DELETED);

	if (gone && inode_is_dir(real))
		return 0;
	if (oi->lower && oi->upper && inode_is_dir(real))
		return 1;	/* merged: not counted, which readers of directories know */
	/* the host keeps its link */
	return gone && real->nlink ? real->nlink - 1 : real->nlink;
}

void overlay_sync(struct inode *inode)
{
	struct overlay_inode *oi = overlay_i(inode);
	struct inode *real = overlay_real(inode);

	inode->mode = real->mode;
	inode->uid = real->uid;
	inode->gid = real->gid;
	inode->nlink = overlay_nlink(oi, real);
	inode->rdev = real->rdev;
	inode->size = real->size;
	inode->blocks = real->blocks;
	inode->blksize = real->blksize;
	inode->atime = real->atime;
	inode->mtime = real->mtime;
	inode->ctime = real->ctime;
	inode->ino = oi->lower ? oi->lower->inode->ino : real->ino;
}

struct inode *overlay_inode(struct super *sb, struct inode *upper, struct dentry *lower)
{
	struct overlay_inode *oi;
	struct inode *inode;

	if (upper && upper->over) {
		inode = upper->over;
		inode_get(inode);
		inode_put(upper);
		if (lower)
			dentry_put(lower);
		return inode;
	}
	inode = inode_new(sb, upper ? upper->mode : lower->inode->mode);
	oi = inode ? kzalloc(sizeof(*oi)) : NULL;
	if (!oi) {
		if (inode)
			inode_put(inode);
		if (upper)
			inode_put(upper);
		if (lower)
			dentry_put(lower);
		return NULL;
	}
	oi->upper = upper;
	oi->lower = lower;
	inode->priv = oi;
	inode->ops = inode_is_dir(inode) ? &overlay_dir_inode_ops : &overlay_inode_ops;
	if (S_ISREG(inode->mode))
		inode->fops = &overlay_file_ops;
	else if (inode_is_dir(inode))
		inode->fops = &overlay_dir_ops;
	if (upper)
		upper->over = inode;
	overlay_sync(inode);
	return inode;
}

static void overlay_evict(struct inode *inode)
{
	struct overlay_inode *oi = overlay_i(inode);

	if (oi->upper) {
		oi->upper->over = NULL;
		inode_put(oi->upper);
	}
	if (oi->lower)
		dentry_put(oi->lower);
	kfree(oi);
}

/* The lower object of a name: *out NULL if there is none. expires_ns: how long that is known. */
static int overlay_lookup_lower(struct inode *dir, const struct dentry *dentry,
				struct dentry **out, u64 *expires_ns)
{
	struct dentry *parent = overlay_i(dir)->lower, *d;
	int err;

	*out = NULL;
	*expires_ns = ~0ull;
	if (!parent)
		return 0;
	err = dcache_lookup(parent, dentry->name, dentry->len, NULL, &d);
	if (err)
		return err;
	*expires_ns = d->expires_ns;
	if (d->inode)
		*out = d;
	else
		dentry_put(d);
	return 0;
}

static int overlay_lookup(struct inode *dir, struct dentry *dentry)
{
	struct overlay_inode *oi = overlay_i(dir);
	struct nament *e = oi->upper ? tmpfs_find(oi->upper, dentry->name, dentry->len) : NULL;
	struct inode *upper = e ? e->inode : NULL, *inode;
	struct dentry *lower = NULL;
	u64 expires_ns = ~0ull;
	int err;

	if (e && !upper)		/* whiteout */
		return 0;
	if (upper)
		inode_get(upper);
	if (!upper || (inode_is_dir(upper) && !tmpfs_opaque(upper))) {
		err = overlay_lookup_lower(dir, dentry, &lower, &expires_ns);
		if (err && !upper)
			return err;
		if (upper)
			expires_ns = ~0ull;
		if (upper && lower && !inode_is_dir(lower->inode)) {
			dentry_put(lower);
			lower = NULL;
		}
	}
	dentry->expires_ns = expires_ns;
	if (!upper && !lower)
		return 0;
	inode = overlay_inode(dir->sb, upper, lower);
	if (!inode)
		return -ENOMEM;
	if (!overlay_i(inode)->upper)
		overlay_i(inode)->self = dentry;
	dentry_instantiate(dentry, inode);
	return 0;
}

/* An expired dentry without upper part: right as long as the lower one says the same. */
static int overlay_revalidate(struct inode *dir, struct dentry *dentry)
{
	struct overlay_inode *oi = dentry->inode ? overlay_i(dentry->inode) : NULL;
	struct dentry *lower;
	u64 expires_ns;
	int err;

	if (oi && oi->upper) {
		dentry->expires_ns = ~0ull;
		return 1;
	}
	err = overlay_lookup_lower(dir, dentry, &lower, &expires_ns);
	if (err)
		return err;
	if (!oi || !lower || (lower != oi->lower && lower->inode != oi->lower->inode)) {
		if (lower)
			dentry_put(lower);
		else if (!oi)
			dentry->expires_ns = expires_ns;
		return !lower && !oi;
	}
	dentry->expires_ns = expires_ns;
	dentry_put(oi->lower);
	oi->lower = lower;
	overlay_sync(dentry->inode);
	return 1;
}

/* The lower file system prefetches for us, unless the first name is not its business. */
static int overlay_walk(struct dentry *start, const char *rest)
{
	struct overlay_inode *oi = overlay_i(start->inode);
	struct inode *lower = oi->lower ? oi->lower->inode : NULL;
	const char *end = rest;
	struct nament *e;
	struct dentry *d;
	bool known;

	if (!lower || !lower->ops->walk)
		return 0;
	while (*end && *end != '/')
		end++;
	e = oi->upper ? tmpfs_find(oi->upper, rest, (size_t)(end - rest)) : NULL;
	if (e && (!e->inode || !inode_is_dir(e->inode) || tmpfs_opaque(e->inode)))
		return 0;
	d = dcache_find(oi->lower, rest, (size_t)(end - rest));
	known = d && (d->expires_ns == ~0ull || time_monotonic_ns() < d->expires_ns);
	if (d)
		dentry_put(d);
	if (known)
		return 0;
	mutex_lock(&lower->lock);
	dcache_walk(oi->lower, rest);
	mutex_unlock(&lower->lock);
	return 0;
}

static int overlay_refresh(struct inode *inode)
{
	struct inode *real = overlay_real(inode);
	int err = inode_refresh(real);

	overlay_sync(inode);
	return err;
}

static int overlay_setattr(struct inode *inode, const struct attr *attr)
{
	bool data = !((attr->valid & ATTR_SIZE) && !attr->size);
	int err = overlay_copy_up(inode, data);

	if (!err)
		err = inode_setattr(overlay_i(inode)->upper, attr);
	overlay_sync(inode);
	return err;
}

static int overlay_readlink(struct inode *inode, char *buf, size_t size)
{
	const char *text;
	long len = inode_link_text(overlay_real(inode), &text);

	if (len < 0)
		return (int)len;
	len = MIN(len, (long)size);
	memcpy(buf, text, (size_t)len);
	return (int)len;
}

static int overlay_statfs(struct inode *inode, void *statfs64)
{
	return tmpfs_statfs(overlay_s(inode)->upper->root, statfs64);
}

static long overlay_getxattr(struct inode *inode, const char *name, void *buf, size_t size)
{
	struct inode *real = overlay_real(inode);

	return real->ops->getxattr ? real->ops->getxattr(real, name, buf, size) : -EOPNOTSUPP;
}

static long overlay_listxattr(struct inode *inode, void *buf, size_t size)
{
	struct inode *real = overlay_real(inode);

	return real->ops->listxattr ? real->ops->listxattr(real, buf, size) : 0;
}

static int overlay_setxattr(struct inode *inode, const char *name, const void *val, size_t size,
			    int flags)
{
	int err = overlay_copy_up(inode, true);

	if (!err)
		err = tmpfs_setxattr(overlay_i(inode)->upper, name, val, size, flags);
	overlay_sync(inode);
	return err;
}

static int overlay_removexattr(struct inode *inode, const char *name)
{
	int err = overlay_copy_up(inode, true);

	if (!err)
		err = tmpfs_removexattr(overlay_i(inode)->upper, name);
	overlay_sync(inode);
	return err;
}

static int overlay_open(struct inode *inode, struct file *file)
{
	struct inode *real;
	int err = 0;

	if (FILE_WRITABLE(file) || (file->flags & O_TRUNC))
		err = overlay_copy_up(inode, !(file->flags & O_TRUNC));
	if (err)
		return err;
	real = overlay_real(inode);
	inode_get(real);
	inode_put(file->inode);
	file->inode = real;
	file->ops = real->fops;
	if (!file->ops)
		return -ENXIO;
	return file->ops->open ? file->ops->open(real, file) : 0;
}

const struct file_ops overlay_file_ops = {
	.open = overlay_open,
};

const struct inode_ops overlay_inode_ops = {
	.readlink = overlay_readlink,
	.refresh = overlay_refresh,
	.setattr = overlay_setattr,
	.statfs = overlay_statfs,
	.getxattr = overlay_getxattr,
	.listxattr = overlay_listxattr,
	.setxattr = overlay_setxattr,
	.removexattr = overlay_removexattr,
	.evict = overlay_evict,
};

const struct inode_ops overlay_dir_inode_ops = {
	.lookup = overlay_lookup,
	.walk = overlay_walk,
	.revalidate = overlay_revalidate,
	.create = overlay_create,
	.symlink = overlay_symlink,
	.link = overlay_link,
	.tmpfile = overlay_tmpfile,
	.unlink = overlay_unlink,
	.rmdir = overlay_rmdir,
	.rename = overlay_rename,
	.refresh = overlay_refresh,
	.setattr = overlay_setattr,
	.statfs = overlay_statfs,
	.getxattr = overlay_getxattr,
	.listxattr = overlay_listxattr,
	.setxattr = overlay_setxattr,
	.removexattr = overlay_removexattr,
	.evict = overlay_evict,
};
