/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changing overlay directories: everything new goes to the upper part; taking a name away leaves a
 * whiteout where the lower part has it too. Directories that exist below cannot be renamed
 * (-EXDEV, as Linux without redirect_dir); mv(1) copies then.
 */
#include "fs/overlay.h"

#include <linux/fs.h>

/*
 * Whether the lower directory has this name; when in doubt, yes: a whiteout too many is harmless.
 */
static bool name_is_lower(struct inode *dir, const struct dentry *dentry)
{
	struct dentry *parent = overlay_i(dir)->lower, *d;
	bool there;

	if (!parent)
		return false;
	if (dcache_lookup(parent, dentry->name, dentry->len, NULL, &d))
		return true;
	there = d->inode != NULL;
	dentry_put(d);
	return there;
}

/* A new upper object gets its name and its overlay inode; takes over the reference. */
static int overlay_place(struct inode *dir, struct dentry *dentry, struct inode *upper)
{
	struct inode *inode;
	int err;

	inode_init_owner(upper, overlay_i(dir)->upper, upper->mode);
	if (inode_is_dir(upper))
		tmpfs_set_opaque(upper, true);
	err = tmpfs_enter(overlay_i(dir)->upper, dentry->name, dentry->len, upper);
	if (err) {
		inode_put(upper);
		return err;
	}
	inode = overlay_inode(dir->sb, upper, NULL);
	overlay_sync(dir);
	if (!inode)
		return -ENOMEM;	/* the object is there, as if made by another */
	dentry_instantiate(dentry, inode);
	dentry->expires_ns = ~0ull;
	return 0;
}

int overlay_create(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev)
{
	struct inode *upper;
	int err = overlay_copy_up(dir, true);

	if (err)
		return err;
	upper = tmpfs_inode_new(overlay_s(dir)->upper, mode, rdev);
	return upper ? overlay_place(dir, dentry, upper) : -ENOSPC;
}

int overlay_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct inode *upper;
	int err = overlay_copy_up(dir, true);

	if (!err)
		err = tmpfs_symlink_new(overlay_s(dir)->upper, target, &upper);
	return err ? err : overlay_place(dir, dentry, upper);
}

int overlay_tmpfile(struct inode *dir, struct dentry *dentry, u32 mode)
{
	struct inode *upper = tmpfs_inode_new(overlay_s(dir)->upper, mode, 0), *inode;

	if (!upper)
		return -ENOSPC;
	inode_init_owner(upper, dir, mode);
	inode = overlay_inode(dir->sb, upper, NULL);
	if (!inode)
		return -ENOMEM;
	dentry_instantiate(dentry, inode);
	return 0;
}

int overlay_link(struct inode *dir, struct dentry *dentry, struct inode *target)
{
	int err = overlay_copy_up(dir, true);

	if (!err)
		err = overlay_copy_up(target, true);
	if (!err)
		err = tmpfs_enter(overlay_i(dir)->upper, dentry->name, dentry->len,
				  overlay_i(target)->upper);
	if (err)
		return err;
	overlay_sync(target);
	overlay_sync(dir);
	inode_get(target);
	dentry_instantiate(dentry, target);
	dentry->expires_ns = ~0ull;
	return 0;
}

/* Take the name away; dir has an upper part. */
static int overlay_remove(struct inode *dir, struct dentry *dentry)
{
	struct inode *upper = overlay_i(dir)->upper;
	struct inode *inode = dentry->inode;
	int err = 0;

	if (name_is_lower(dir, dentry))
		err = tmpfs_enter(upper, dentry->name, dentry->len, NULL);
	else
		tmpfs_remove(upper, dentry->name, dentry->len);
	if (err)
		return err;
	dentry->expires_ns = ~0ull;
	overlay_sync(inode);
	inode_touch(upper);
	overlay_sync(dir);
	return 0;
}

int overlay_unlink(struct inode *dir, struct dentry *dentry)
{
	int err = overlay_copy_up(dir, true);

	return err ? err : overlay_remove(dir, dentry);
}

int overlay_rmdir(struct inode *dir, struct dentry *dentry)
{
	int empty = overlay_dir_empty(dentry->inode), err;

	if (empty <= 0)
		return empty ? empty : -ENOTEMPTY;
	err = overlay_copy_up(dir, true);
	return err ? err : overlay_remove(dir, dentry);
}

/* What moves must not begin to merge with what the lower part has at its new place. */
static void rename_set_opaque(struct inode *upper)
{
	if (inode_is_dir(upper))
		tmpfs_set_opaque(upper, true);
}

/* A directory may move only if nothing of it is in the lower part. */
static int rename_may(const struct inode *inode)
{
	return inode_is_dir(inode) && overlay_i(inode)->lower ? -EXDEV : 0;
}

static int rename_prepare(struct inode *olddir, struct dentry *old, struct inode *newdir,
			  struct dentry *new, unsigned flags)
{
	int err = rename_may(old->inode);

	if (!err && (flags & RENAME_EXCHANGE))
		err = rename_may(new->inode);
	if (!err && new->inode && inode_is_dir(new->inode) && !(flags & RENAME_EXCHANGE)) {
		err = overlay_dir_empty(new->inode);
		err = err > 0 ? 0 : err ? err : -ENOTEMPTY;
	}
	if (!err)
		err = overlay_copy_up(olddir, true);
	if (!err)
		err = overlay_copy_up(newdir, true);
	if (!err)
		err = overlay_copy_up(old->inode, true);
	if (!err && (flags & RENAME_EXCHANGE))
		err = overlay_copy_up(new->inode, true);
	return err;
}

static int rename_exchange(struct inode *up_old, struct dentry *old, struct inode *up_new,
			   struct dentry *new)
{
	struct inode *a = overlay_i(old->inode)->upper, *b = overlay_i(new->inode)->upper;

	inode_get(a);
	inode_get(b);
	rename_set_opaque(a);
	rename_set_opaque(b);
	tmpfs_enter(up_old, old->name, old->len, b);	/* both names exist: cannot fail */
	tmpfs_enter(up_new, new->name, new->len, a);
	inode_put(a);
	inode_put(b);
	return 0;
}

static int rename_replace(struct inode *olddir, struct dentry *old, struct inode *newdir,
			  struct dentry *new)
{
	struct inode *up_old = overlay_i(olddir)->upper, *up_new = overlay_i(newdir)->upper;
	bool whiteout = name_is_lower(olddir, old);
	int err;

	rename_set_opaque(overlay_i(old->inode)->upper);
	err = tmpfs_enter(up_new, new->name, new->len, overlay_i(old->inode)->upper);
	if (err)
		return err;
	if (whiteout)
		return tmpfs_enter(up_old, old->name, old->len, NULL);	/* the name is there */
	tmpfs_remove(up_old, old->name, old->len);
	return 0;
}

int overlay_rename(struct inode *olddir, struct dentry *old, struct inode *newdir,
		   struct dentry *new, unsigned flags)
{
	struct inode *replaced = new->inode;
	int err;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	err = rename_prepare(olddir, old, newdir, new, flags);
	if (err)
		return err;
	if (flags & RENAME_EXCHANGE)
		err = rename_exchange(overlay_i(olddir)->upper, old, overlay_i(newdir)->upper, new);
	else
		err = rename_replace(olddir, old, newdir, new);
	overlay_sync(old->inode);
	if (replaced)
		overlay_sync(replaced);
	overlay_sync(olddir);
	overlay_sync(newdir);
	return err;
}
