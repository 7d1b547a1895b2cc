/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in directories of the FUSE client: looking up one, making, linking, removing, renaming.
 * Called with the directory's lock held.
 */
#include "fs/fusefs.h"

static int entry_put(struct super *sb, struct dentry *dentry, const struct fuse_entry_out *entry)
{
	struct inode *inode;

	dentry->expires_ns = fuse_expiry(entry->entry_valid, entry->entry_valid_nsec);
	if (!entry->nodeid)
		return 0;
	inode = fuse_iget(sb, entry);
	if (!inode)
		return -ENOMEM;
	dentry_instantiate(dentry, inode);
	return 0;
}

int fusefs_lookup(struct inode *dir, struct dentry *dentry)
{
	struct fuse_entry_out entry;
	int err = fuse_simple(FUSE_LOOKUP, fuse_node_of(dir)->nodeid, NULL, 0, dentry->name, &entry,
			      sizeof(entry));

	if (err == -ENOENT) {
		dentry->expires_ns = 0;
		return 0;
	}
	return err < 0 ? err : entry_put(dir->sb, dentry, &entry);
}

/* What a directory shows of itself changes with its names. */
static void dir_changed(struct inode *dir)
{
	fuse_attr_expire(dir);
}

static int made(struct inode *dir, struct dentry *dentry, const struct fuse_entry_out *entry)
{
	dir_changed(dir);
	return entry->nodeid ? entry_put(dir->sb, dentry, entry) : -EIO;
}

/*
 * A regular file is made by CREATE, and its handle kept for the open that follows: only this one
 * may write a file whose mode forbids it.
 */
static int create_file(struct inode *dir, struct dentry *dentry, u32 mode)
{
	struct fuse_create_in in = { .flags = O_RDWR | O_CREAT | O_EXCL, .mode = mode };
	struct { struct fuse_entry_out entry; struct fuse_open_out open; } out;
	struct fuse_node *node;
	int err = fuse_simple(FUSE_CREATE, fuse_node_of(dir)->nodeid, &in, sizeof(in), dentry->name,
			      &out, sizeof(out));

	if (err < 0)
		return err;
	err = made(dir, dentry, &out.entry);
	if (err < 0)
		return err;
	node = fuse_node_of(dentry->inode);
	if (!node->created)
		node->created = fuse_handle_new(node, out.open.fh, O_RDWR);
	return 0;
}

int fusefs_create(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev)
{
	struct fuse_mkdir_in mkdir_in = { .mode = mode & 07777 };
	struct fuse_mknod_in mknod_in = { .mode = mode, .rdev = (u32)rdev };
	struct fuse_entry_out entry;
	u64 nodeid = fuse_node_of(dir)->nodeid;
	int err;

	if (S_ISREG(mode))
		return create_file(dir, dentry, mode);
	if (S_ISDIR(mode))
		err = fuse_simple(FUSE_MKDIR, nodeid, &mkdir_in, sizeof(mkdir_in), dentry->name,
				  &entry, sizeof(entry));
	else
		err = fuse_simple(FUSE_MKNOD, nodeid, &mknod_in, sizeof(mknod_in), dentry->name,
				  &entry, sizeof(entry));
	return err < 0 ? err : made(dir, dentry, &entry);
}

int fusefs_symlink(struct inode *dir, struct dentry *dentry, const char *target)
{
	struct fuse_entry_out entry;
	/* Both strings with their NUL: the name goes where other requests have an argument. */
	int err = fuse_simple(FUSE_SYMLINK, fuse_node_of(dir)->nodeid, dentry->name, dentry->len + 1,
			      target, &entry, sizeof(entry));

	return err < 0 ? err : made(dir, dentry, &entry);
}

int fusefs_link(struct inode *dir, struct dentry *dentry, struct inode *target)
{
	struct fuse_link_in in = { .oldnodeid = fuse_node_of(target)->nodeid };
	struct fuse_entry_out entry;
	int err;

	if (target->sb != dir->sb)
		return -EXDEV;
	err = fuse_simple(FUSE_LINK, fuse_node_of(dir)->nodeid, &in, sizeof(in), dentry->name, &entry,
			  sizeof(entry));
	return err < 0 ? err : made(dir, dentry, &entry);
}

/* One name less. Without any the server has nothing to fetch attributes by: they are ours now. */
static void name_lost(struct inode *inode)
{
	if (S_ISDIR(inode->mode) || inode->nlink <= 1)
		inode->nlink = 0;
	else
		inode->nlink--;
	fuse_attr_expire(inode);
}

static int name_remove(struct inode *dir, struct dentry *dentry, u32 opcode)
{
	int err = fuse_simple(opcode, fuse_node_of(dir)->nodeid, NULL, 0, dentry->name, NULL, 0);

	if (err < 0)
		return err;
	dir_changed(dir);
	name_lost(dentry->inode);
	return 0;
}

int fusefs_unlink(struct inode *dir, struct dentry *dentry)
{
	return name_remove(dir, dentry, FUSE_UNLINK);
}

int fusefs_rmdir(struct inode *dir, struct dentry *dentry)
{
	return name_remove(dir, dentry, FUSE_RMDIR);
}

int fusefs_rename(struct inode *olddir, struct dentry *old, struct inode *newdir,
		  struct dentry *new, unsigned flags)
{
	struct fuse_rename2_in in = { .newdir = fuse_node_of(newdir)->nodeid, .flags = flags };
	struct fuse_args args;
	long err;

	fuse_args_init(&args, FUSE_RENAME2, fuse_node_of(olddir)->nodeid);
	fuse_in(&args, &in, sizeof(in));
	fuse_in(&args, old->name, old->len + 1);
	fuse_in(&args, new->name, new->len + 1);
	err = fuse_send(&args);
	if (err < 0)
		return (int)err;
	dir_changed(olddir);
	dir_changed(newdir);
	fuse_attr_expire(old->inode);
	if (new->inode && (flags & RENAME_EXCHANGE))
		fuse_attr_expire(new->inode);
	else if (new->inode && new->inode != old->inode)
		name_lost(new->inode);
	return 0;
}
