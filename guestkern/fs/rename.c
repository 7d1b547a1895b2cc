/* SPDX-License-Identifier: Apache-2.0 */
/* rename(2), renameat(2), renameat2(2). */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/fs.h>

#define RENAME_KNOWN (RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT)

static struct mutex rename_mutex;	/* held while an entry moves between directories */

void rename_init(void)
{
	mutex_init(&rename_mutex);
}

/* Locks of both directories; an ancestor first, since others lock from the top down. */
static void rename_lock(struct dentry *a, struct dentry *b)
{
	if (a->inode == b->inode) {
		mutex_lock(&a->inode->lock);
		return;
	}
	mutex_lock(&rename_mutex);
	if (dentry_is_below(a, b) || (!dentry_is_below(b, a) && a > b)) {
		struct dentry *t = a;

		a = b;
		b = t;
	}
	mutex_lock(&a->inode->lock);
	mutex_lock(&b->inode->lock);
}

static void rename_unlock(struct dentry *a, struct dentry *b)
{
	mutex_unlock(&a->inode->lock);
	if (a->inode == b->inode)
		return;
	mutex_unlock(&b->inode->lock);
	mutex_unlock(&rename_mutex);
}

static int rename_check_old(struct nameidata *from, struct dentry *old, struct nameidata *to,
			    struct dentry *new, unsigned flags)
{
	if (!old->inode)
		return -ENOENT;
	if ((flags & RENAME_NOREPLACE) && new->inode)
		return -EEXIST;
	if ((flags & RENAME_EXCHANGE) && !new->inode)
		return -ENOENT;
	if ((flags & RENAME_EXCHANGE) && !inode_is_dir(new->inode) && to->slash)
		return -ENOTDIR;
	if (!inode_is_dir(old->inode) &&
	    (from->slash || (to->slash && !(flags & RENAME_EXCHANGE))))
		return -ENOTDIR;
	return 0;
}

/* No directory into itself. */
static int rename_check_loop(struct nameidata *from, struct dentry *old, struct nameidata *to,
			     struct dentry *new, unsigned flags)
{
	if (dentry_is_below(to->at, old))
		return -EINVAL;
	if (new->inode && dentry_is_below(from->at, new))
		return flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	return 0;
}

static int rename_check_dirs(struct nameidata *from, struct dentry *old, struct nameidata *to,
			     struct dentry *new, unsigned flags)
{
	bool is_dir = inode_is_dir(old->inode);
	int err = may_delete(from->at, old, is_dir);

	if (err)
		return err;
	if (!new->inode)
		err = may_create(to->at);
	else if (flags & RENAME_EXCHANGE)
		err = may_delete(to->at, new, inode_is_dir(new->inode));
	else
		err = may_delete(to->at, new, is_dir);
	if (err)
		return err;
	/* ".." of a directory that changes its parent is written to. */
	if (from->at != to->at && is_dir)
		err = inode_permission(old->inode, MAY_WRITE);
	if (!err && from->at != to->at && (flags & RENAME_EXCHANGE) && inode_is_dir(new->inode))
		err = inode_permission(new->inode, MAY_WRITE);
	return err;
}

static int rename_dentries(struct nameidata *from, struct dentry *old, struct nameidata *to,
			   struct dentry *new, unsigned flags)
{
	struct inode *olddir = from->at->inode, *newdir = to->at->inode, *gone = new->inode;
	int err = rename_check_old(from, old, to, new, flags);

	if (!err)
		err = rename_check_loop(from, old, to, new, flags);
	if (!err && old->inode == new->inode)
		return 0;	/* two links of one file: nothing happens */
	if (!err)
		err = rename_check_dirs(from, old, to, new, flags);
	if (!err && (old->mounted || new->mounted))
		err = -EBUSY;
	if (!err && !olddir->ops->rename)
		err = -EPERM;
	if (err)
		return err;
	if (gone)
		inode_get(gone);
	err = olddir->ops->rename(olddir, old, newdir, new, flags);
	if (!err && (flags & RENAME_EXCHANGE))
		dentry_exchange(old, new);
	else if (!err)
		dentry_move(old, new);
	if (gone)
		inode_put(gone);
	return err;
}

/* Both parents are locked. */
static int rename_locked(struct nameidata *from, struct nameidata *to, unsigned flags)
{
	struct dentry *old, *new;
	int err;

	if ((from->at->flags | to->at->flags) & DENTRY_DELETED)
		return -ENOENT;
	err = nd_lookup_last(from, true, &old);
	if (err)
		return err;
	err = nd_lookup_last(to, true, &new);
	if (!err) {
		err = rename_dentries(from, old, to, new, flags);
		dentry_put(new);
	}
	dentry_put(old);
	return err;
}

static int rename_text(int olddfd, const char *oldpath, int newdfd, const char *newpath,
		       unsigned flags)
{
	struct nameidata from, to;
	int err = nd_begin(&from, olddfd, oldpath, 0);

	if (err)
		return err;
	err = nd_parent(&from);
	if (err)
		goto out_from;
	err = nd_begin(&to, newdfd, newpath, 0);
	if (err)
		goto out_from;
	err = nd_parent(&to);
	if (err)
		goto out_to;
	if (from.at->mount != to.at->mount)
		err = -EXDEV;
	else if (from.type != LAST_NORM)
		err = -EBUSY;
	else if (to.type != LAST_NORM)
		err = flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (err)
		goto out_to;
	rename_lock(from.at, to.at);
	err = rename_locked(&from, &to, flags);
	rename_unlock(from.at, to.at);
out_to:
	nd_end(&to);
out_from:
	nd_end(&from);
	return err;
}

long sys_renameat2(int olddfd, u64 oldpath, int newdfd, u64 newpath, u32 flags)
{
	struct pathname old, new;
	int err;

	if ((flags & ~RENAME_KNOWN) || ((flags & RENAME_EXCHANGE) &&
					(flags & (RENAME_NOREPLACE | RENAME_WHITEOUT))))
		return -EINVAL;
	err = pathname_get(&old, oldpath);
	if (err)
		return err;
	err = pathname_get(&new, newpath);
	if (!err) {
		err = rename_text(olddfd, old.s, newdfd, new.s, flags);
		pathname_put(&new);
	}
	pathname_put(&old);
	return err;
}

long sys_renameat(int olddfd, u64 oldpath, int newdfd, u64 newpath)
{
	return sys_renameat2(olddfd, oldpath, newdfd, newpath, 0);
}

long sys_rename(u64 oldpath, u64 newpath)
{
	return sys_renameat2(AT_FDCWD, oldpath, AT_FDCWD, newpath, 0);
}
