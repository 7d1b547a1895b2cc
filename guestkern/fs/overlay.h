/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the overlay share.
 *
 * The upper part is a tmpfs without dentries: its directories are tables of names, and a name
 * without an inode is a whiteout. The lower part is a read-only super with a dentry tree of its
 * own, so that what was looked up there once stays known. Rules:
 *  - an upper directory is opaque (made here) or a copy of a lower one, with which it is merged;
 *  - an upper object of another kind hides the lower one of its name;
 *  - a lower-only inode belongs to one dentry, through which it finds its parents for copy-up;
 *  - st_ino is the lower object's and stays so after copy-up; st_dev is the overlay's.
 */
#pragma once

#include "fs/nametab.h"
#include "fs/vfs_internal.h"

struct overlay_super {
	struct super *upper, *lower;
	struct mount *lower_mount;	/* a tree of its own, mounted nowhere */
};

struct overlay_inode {
	struct inode *upper;	/* referenced, or NULL: only lower */
	/* referenced positive dentry, or NULL; directories and not copied up */
	struct dentry *lower;
	struct dentry *self;	/* while lower-only: the dentry; not a reference */
};

extern const struct inode_ops overlay_inode_ops, overlay_dir_inode_ops;
extern const struct file_ops overlay_file_ops, overlay_dir_ops;

static inline struct overlay_inode *overlay_i(const struct inode *inode)
{
	return inode->priv;
}

static inline struct overlay_super *overlay_s(const struct inode *inode)
{
	return inode->sb->priv;
}

/* The object that counts: upper if there is one. */
static inline struct inode *overlay_real(const struct inode *inode)
{
	struct overlay_inode *oi = overlay_i(inode);

	return oi->upper ? oi->upper : oi->lower->inode;
}

void overlay_sync(struct inode *inode);		/* attributes from the real object */
/* Takes over both references; the one overlay inode of an upper object that is not a directory. */
struct inode *overlay_inode(struct super *sb, struct inode *upper, struct dentry *lower);
bool overlay_inode_is(const struct inode *inode);

/* overlay_copyup.c: make the upper part; data false: contents are about to be truncated. */
int overlay_copy_up(struct inode *inode, bool data);

/* overlay_dir.c */
bool overlay_merged(const struct inode *dir);	/* has names of both sides */
int overlay_create(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev);
int overlay_symlink(struct inode *dir, struct dentry *dentry, const char *target);
int overlay_link(struct inode *dir, struct dentry *dentry, struct inode *target);
int overlay_tmpfile(struct inode *dir, struct dentry *dentry, u32 mode);
int overlay_unlink(struct inode *dir, struct dentry *dentry);
int overlay_rmdir(struct inode *dir, struct dentry *dentry);
int overlay_rename(struct inode *olddir, struct dentry *old, struct inode *newdir,
		   struct dentry *new, unsigned flags);

/* overlay_readdir.c: is the directory empty to its users? 1, 0 or -errno. */
int overlay_dir_empty(struct inode *dir);
