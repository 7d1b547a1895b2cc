/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of tmpfs. The first half is what overlays use too: names and inodes, no dentries.
 * Link counts follow Linux: a directory has 2 plus its subdirectories.
 */
#include "fs/tmpfs.h"

#include <linux/fs.h>

struct nametab *tmpfs_names(struct inode *dir)
{
	return &tmpfs_i(dir)->names;
}

bool tmpfs_opaque(struct inode *dir)
{
	return tmpfs_i(dir)->opaque;
}

void tmpfs_set_opaque(struct inode *dir, bool opaque)
{
	tmpfs_i(dir)->opaque = opaque;
}

struct nament *tmpfs_find(struct inode *dir, const char *name, size_t len)
{
	return nametab_find(tmpfs_names(dir), name, len);
}

static u32 tmpfs_count(struct inode *dir)
{
	struct tmpfs_inode *ti = tmpfs_i(dir);

	return ti->names.count - ti->whiteouts;
}

static void tmpfs_dir_links(struct inode *dir)
{
	struct tmpfs_inode *ti = tmpfs_i(dir);

	dir->nlink = ti->places ? 2 + ti->subdirs : 0;
}

/* An object takes (1) or loses (-1) a place in dir; while it moves it has two. */
static void tmpfs_place_changed(struct inode *dir, struct inode *inode, int change)
{
	if (inode_is_dir(inode)) {
		tmpfs_i(inode)->places += (u32)change;
		tmpfs_dir_links(inode);
		tmpfs_i(dir)->subdirs += (u32)change;
		tmpfs_dir_links(dir);
	} else {
		inode->nlink += (u32)change;
	}
	dir->size += (u64)(s64)(change * TMPFS_NAME_BYTES);
	inode->ctime = inode_now();
	dir->mtime = dir->ctime = inode->ctime;
}

int tmpfs_enter(struct inode *dir, const char *name, size_t len, struct inode *inode)
{
	struct tmpfs_inode *ti = tmpfs_i(dir);
	struct nament *e = tmpfs_find(dir, name, len);
	struct inode *old;

	if (!e) {
		e = nametab_add(&ti->names, name, len);
		if (!e)
			return -ENOMEM;
		ti->whiteouts++;	/* a whiteout until it gets its inode */
	}
	old = e->inode;
	e->inode = inode;
	if (inode) {
		e->type = (u8)mode_to_dtype(inode->mode);
		inode_get(inode);
		tmpfs_place_changed(dir, inode, 1);
		ti->whiteouts--;
	}
	if (old) {
		ti->whiteouts++;
		tmpfs_place_changed(dir, old, -1);
		inode_put(old);
	}
	return 0;
}

void tmpfs_remove(struct inode *dir, const char *name, size_t len)
{
	struct tmpfs_inode *ti = tmpfs_i(dir);
	struct nament *e = tmpfs_find(dir, name, len);
	struct inode *inode;

	if (!e)
		return;
	inode = e->inode;
	nametab_del(&ti->names, e);
	if (!inode) {
		ti->whiteouts--;
		return;
	}
	tmpfs_place_changed(dir, inode, -1);
	inode_put(inode);
}

/* --- operations with dentries --- */

static int tmpfs_lookup(struct inode *dir, struct dentry *dentry)
{
	struct nament *e = tmpfs_find(dir, dentry->name, dentry->len);

	if (e && e->inode) {
		inode_get(e->inode);
		dentry->inode = e->inode;
	}
	return 0;
}

/* Enter a new object and give its first reference to the dentry. */
static int tmpfs_place(struct inode *dir, struct dentry *dentry, struct inode *inode)
{
	int err = tmpfs_enter(dir, dentry->name, dentry->len, inode);

	if (err) {
		inode_put(inode);
		return err;
	}
	dentry_instantiate(dentry, inode);
	return 0;
}

static int tmpfs_create(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev)
{
	struct inode *inode = tmpfs_inode_new(dir->sb, mode, rdev);

	if (!inode)
		return -ENOSPC;
	inode_init_owner(inode, dir, mode);
	return tmpfs_place(dir, dentry, inode);
}

static int tmpfs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct inode *inode;
	int err = tmpfs_symlink_new(dir->sb, target, &inode);

	if (err)
		return err;
	inode_init_owner(inode, dir, inode->mode);
	return tmpfs_place(dir, dentry, inode);
}

static int tmpfs_link(struct inode *dir, struct dentry *dentry, struct inode *target)
{
	inode_get(target);
	return tmpfs_place(dir, dentry, target);
}

static int tmpfs_tmpfile(struct inode *dir, struct dentry *dentry, u32 mode)
{
	struct inode *inode = tmpfs_inode_new(dir->sb, mode, 0);

	if (!inode)
		return -ENOSPC;
	inode_init_owner(inode, dir, mode);
	dentry_instantiate(dentry, inode);
	return 0;
}

static int tmpfs_unlink(struct inode *dir, struct dentry *dentry)
{
	tmpfs_remove(dir, dentry->name, dentry->len);
	return 0;
}

static int tmpfs_rmdir(struct inode *dir, struct dentry *dentry)
{
	if (tmpfs_count(dentry->inode))
		return -ENOTEMPTY;
	tmpfs_remove(dir, dentry->name, dentry->len);
	return 0;
}

static int tmpfs_exchange(struct inode *olddir, struct dentry *old, struct inode *newdir,
			  struct dentry *new)
{
	struct inode *a = old->inode, *b = new->inode;

	/* Both names exist, so entering cannot run out of memory. */
	inode_get(a);
	inode_get(b);
	tmpfs_enter(olddir, old->name, old->len, b);
	tmpfs_enter(newdir, new->name, new->len, a);
	inode_put(a);
	inode_put(b);
	return 0;
}

static int tmpfs_rename(struct inode *olddir, struct dentry *old, struct inode *newdir,
			struct dentry *new, unsigned flags)
{
	struct inode *inode = old->inode;
	int err;

	if (flags & ~(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	if (flags & RENAME_EXCHANGE)
		return tmpfs_exchange(olddir, old, newdir, new);
	if (new->inode && inode_is_dir(new->inode) && tmpfs_count(new->inode))
		return -ENOTEMPTY;
	inode_get(inode);
	err = tmpfs_enter(newdir, new->name, new->len, inode);
	if (!err)
		tmpfs_remove(olddir, old->name, old->len);
	inode_put(inode);
	return err;
}

static int tmpfs_iterate(struct file *file, struct dir_context *ctx)
{
	struct nametab *t = tmpfs_names(file->inode);
	struct nament *e;

	if (!dir_emit_dots(file, ctx))
		return 0;
	inode_touch_atime(file->inode);
	for (e = nametab_from(t, file->pos); e; e = nametab_next(t, e)) {
		if (!e->inode)
			continue;
		if (ctx->emit(ctx, e->name, e->len, e->inode->ino, e->type, e->cookie + 1))
			break;
		file->pos = e->cookie + 1;
	}
	return 0;
}

const struct file_ops tmpfs_dir_ops = {
	.llseek = dir_llseek,
	.iterate = tmpfs_iterate,
};

const struct inode_ops tmpfs_dir_inode_ops = {
	.lookup = tmpfs_lookup,
	.create = tmpfs_create,
	.symlink = tmpfs_symlink,
	.link = tmpfs_link,
	.tmpfile = tmpfs_tmpfile,
	.unlink = tmpfs_unlink,
	.rmdir = tmpfs_rmdir,
	.rename = tmpfs_rename,
	.setattr = tmpfs_setattr,
	.statfs = tmpfs_statfs,
	.getxattr = tmpfs_getxattr,
	.listxattr = tmpfs_listxattr,
	.setxattr = tmpfs_setxattr,
	.removexattr = tmpfs_removexattr,
	.evict = tmpfs_evict,
};
