/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making and removing names: mkdir, mknod, symlink, link, unlink, rmdir, readlink. What the file
 * systems see has passed all checks here. rename is in rename.c, reading directories in dirs.c.
 */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

int may_create(struct dentry *parent)
{
	if (parent->flags & DENTRY_DELETED)
		return -ENOENT;
	if (mount_readonly(parent))
		return -EROFS;
	return inode_permission(parent->inode, MAY_WRITE | MAY_EXEC);
}

int may_delete(struct dentry *parent, struct dentry *victim, bool is_dir)
{
	struct inode *dir = parent->inode, *inode = victim->inode;
	int err;

	if (mount_readonly(parent))
		return -EROFS;
	err = inode_permission(dir, MAY_WRITE | MAY_EXEC);
	if (err)
		return err;
	if ((dir->mode & S_ISVTX) && !inode_owner_or_root(inode) && !inode_owner_or_root(dir))
		return -EPERM;
	if (is_dir && !inode_is_dir(inode))
		return -ENOTDIR;
	if (!is_dir && inode_is_dir(inode))
		return -EISDIR;
	return victim->mounted || (victim->parent == victim) ? -EBUSY : 0;
}

int create_begin(struct nameidata *nd, bool want_dir, struct dentry **out)
{
	int err = nd_parent(nd);

	if (err)
		return err;
	if (nd->type != LAST_NORM)
		return -EEXIST;
	mutex_lock(&nd->at->inode->lock);
	err = nd_lookup_last(nd, true, out);
	if (err)
		goto out_unlock;
	if (nd->at->flags & DENTRY_DELETED)
		err = -ENOENT;
	else if ((*out)->inode)
		err = -EEXIST;
	else if (nd->slash && !want_dir)
		err = -ENOENT;
	else if (mount_readonly(nd->at))
		err = -EROFS;
	if (!err)
		return 0;
	dentry_put(*out);
out_unlock:
	mutex_unlock(&nd->at->inode->lock);
	return err;
}

void create_end(struct nameidata *nd, struct dentry *d)
{
	mutex_unlock(&nd->at->inode->lock);
	dentry_put(d);
}

static int make_node(int dfd, const char *path, u32 mode, u64 rdev, struct dentry **out)
{
	struct nameidata nd;
	struct dentry *d;
	struct inode *dir;
	int err = nd_begin(&nd, dfd, path, 0);

	if (err)
		return err;
	err = create_begin(&nd, S_ISDIR(mode), &d);
	if (!err) {
		dir = nd.at->inode;
		err = may_create(nd.at);
		if (!err)
			err = dir->ops->create ? dir->ops->create(dir, d, mode, rdev) : -EPERM;
		if (!err && out) {
			dentry_get(d);
			*out = d;
		}
		create_end(&nd, d);
	}
	nd_end(&nd);
	return err;
}

int path_mknod(const char *path, u32 mode, u64 rdev, struct dentry **out)
{
	int err = make_node(AT_FDCWD, path, mode & ~current->proc->fs->umask, rdev, out);

	return err == -EEXIST ? -EADDRINUSE : err;
}

static long node_user(int dfd, u64 path, u32 mode, u64 rdev)
{
	struct pathname pn;
	int err = pathname_get(&pn, path);

	if (err)
		return err;
	err = make_node(dfd, pn.s, mode & ~current->proc->fs->umask, rdev, NULL);
	pathname_put(&pn);
	return err;
}

long sys_mkdirat(int dfd, u64 path, u32 mode)
{
	return node_user(dfd, path, S_IFDIR | (mode & 01777), 0);
}

long sys_mkdir(u64 path, u32 mode)
{
	return sys_mkdirat(AT_FDCWD, path, mode);
}

long sys_mknodat(int dfd, u64 path, u32 mode, u32 dev)
{
	if (!(mode & S_IFMT))
		mode |= S_IFREG;
	switch (mode & S_IFMT) {
	case S_IFREG:
	case S_IFIFO:
	case S_IFSOCK:
		return node_user(dfd, path, mode, 0);
	case S_IFCHR:
	case S_IFBLK:
		return capable_root() ? node_user(dfd, path, mode, dev) : -EPERM;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

long sys_mknod(u64 path, u32 mode, u32 dev)
{
	return sys_mknodat(AT_FDCWD, path, mode, dev);
}

static int make_symlink(const char *target, int dfd, const char *path)
{
	struct nameidata nd;
	struct dentry *d;
	struct inode *dir;
	int err;

	if (!*target)
		return -ENOENT;
	err = nd_begin(&nd, dfd, path, 0);
	if (err)
		return err;
	err = create_begin(&nd, false, &d);
	if (!err) {
		dir = nd.at->inode;
		err = may_create(nd.at);
		if (!err)
			err = dir->ops->symlink ? dir->ops->symlink(dir, d, target) : -EPERM;
		create_end(&nd, d);
	}
	nd_end(&nd);
	return err;
}

long sys_symlinkat(u64 target, int dfd, u64 path)
{
	struct pathname text, pn;
	int err = pathname_get(&text, target);

	if (err)
		return err;
	err = pathname_get(&pn, path);
	if (!err) {
		err = make_symlink(text.s, dfd, pn.s);
		pathname_put(&pn);
	}
	pathname_put(&text);
	return err;
}

long sys_symlink(u64 target, u64 path)
{
	return sys_symlinkat(target, AT_FDCWD, path);
}

/* What /proc/sys/fs/protected_hardlinks = 1 allows: one's own, and files one may read and write. */
static int may_link(struct inode *inode)
{
	u32 mode = inode->mode;

	if (inode_owner_or_root(inode))
		return 0;
	if (!S_ISREG(mode) || (mode & S_ISUID) ||
	    (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) ||
	    inode_permission(inode, MAY_READ | MAY_WRITE))
		return -EPERM;
	return 0;
}

static int make_link(struct dentry *old, int dfd, const char *path)
{
	struct inode *inode = old->inode, *dir;
	struct nameidata nd;
	struct dentry *d;
	int err = nd_begin(&nd, dfd, path, 0);

	if (err)
		return err;
	err = create_begin(&nd, false, &d);
	if (err)
		goto out_nd;
	dir = nd.at->inode;
	err = old->mount == d->mount ? may_link(inode) : -EXDEV;
	if (!err)
		err = may_create(nd.at);
	if (err)
		goto out_create;
	if (inode->sb != dir->sb)
		err = -EXDEV;
	else if (inode_is_dir(inode) || !dir->ops->link)
		err = -EPERM;
	else if ((old->flags & DENTRY_DELETED) && !(old->flags & DENTRY_LINKABLE) && !inode->nlink)
		err = -ENOENT;
	else
		err = dir->ops->link(dir, d, inode);
out_create:
	create_end(&nd, d);
out_nd:
	nd_end(&nd);
	return err;
}

long sys_linkat(int olddfd, u64 oldpath, int newdfd, u64 newpath, int flags)
{
	struct pathname pn;
	struct dentry *old;
	int err;

	if (flags & ~(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	err = namei(olddfd, oldpath, (flags & AT_SYMLINK_FOLLOW ? LOOKUP_FOLLOW : 0) |
				     (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0), &old);
	if (err)
		return err;
	err = pathname_get(&pn, newpath);
	if (!err) {
		err = make_link(old, newdfd, pn.s);
		pathname_put(&pn);
	}
	dentry_put(old);
	return err;
}

long sys_link(u64 oldpath, u64 newpath)
{
	return sys_linkat(AT_FDCWD, oldpath, AT_FDCWD, newpath, 0);
}

/* What is wrong with a path that does not end in a name. */
static int remove_type_error(const struct nameidata *nd, bool is_dir)
{
	switch (nd->type) {
	case LAST_NORM:
		return 0;
	case LAST_DOT:
		return is_dir ? -EINVAL : -EISDIR;
	case LAST_DOTDOT:
		return is_dir ? -ENOTEMPTY : -EISDIR;
	default:
		return is_dir ? -EBUSY : -EISDIR;
	}
}

static int remove_locked(struct nameidata *nd, bool is_dir)
{
	struct inode *dir = nd->at->inode, *inode;
	int (*op)(struct inode *, struct dentry *);
	struct dentry *d;
	int err = nd_lookup_last(nd, true, &d);

	if (err)
		return err;
	inode = d->inode;
	if (!inode)
		err = -ENOENT;
	else if (nd->slash && !is_dir)
		err = inode_is_dir(inode) ? -EISDIR : -ENOTDIR;
	else if (d->parent == d)	/* the root of a mount: nd_child() went across */
		err = is_dir ? -EBUSY : -EISDIR;
	else
		err = may_delete(nd->at, d, is_dir);
	op = is_dir ? dir->ops->rmdir : dir->ops->unlink;
	if (!err && !op)
		err = -EPERM;
	if (!err) {
		inode_get(inode);
		err = op(dir, d);
		if (!err)
			dentry_delete(d);
		inode_put(inode);
	}
	dentry_put(d);
	return err;
}

static int remove_text(int dfd, const char *path, bool is_dir)
{
	struct nameidata nd;
	int err = nd_begin(&nd, dfd, path, 0);

	if (err)
		return err;
	err = nd_parent(&nd);
	if (!err)
		err = remove_type_error(&nd, is_dir);
	if (!err) {
		mutex_lock(&nd.at->inode->lock);
		err = remove_locked(&nd, is_dir);
		mutex_unlock(&nd.at->inode->lock);
	}
	nd_end(&nd);
	return err;
}

long sys_unlinkat(int dfd, u64 path, int flags)
{
	struct pathname pn;
	int err;

	if (flags & ~AT_REMOVEDIR)
		return -EINVAL;
	err = pathname_get(&pn, path);
	if (err)
		return err;
	err = remove_text(dfd, pn.s, flags & AT_REMOVEDIR);
	pathname_put(&pn);
	return err;
}

long sys_unlink(u64 path)
{
	return sys_unlinkat(AT_FDCWD, path, 0);
}

long sys_rmdir(u64 path)
{
	return sys_unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

static long readlink_inode(struct inode *inode, u64 buf, int size)
{
	const char *text;
	char *tmp = NULL;
	long n;

	if (!S_ISLNK(inode->mode))
		return -EINVAL;
	if (inode->ops && inode->ops->follow && inode->ops->readlink) {
		/* A magic link's text changes: it is not kept. */
		tmp = kmalloc(PATH_MAX);
		if (!tmp)
			return -ENOMEM;
		n = inode->ops->readlink(inode, tmp, PATH_MAX);
		text = tmp;
	} else {
		n = inode_link_text(inode, &text);
	}
	if (n >= 0) {
		n = MIN(n, (long)size);
		if (copy_to_user(buf, text, (size_t)n))
			n = -EFAULT;
	}
	kfree(tmp);
	return n;
}

long sys_readlinkat(int dfd, u64 path, u64 buf, int size)
{
	struct dentry *d;
	long n;

	if (size <= 0)
		return -EINVAL;
	n = namei(dfd, path, LOOKUP_EMPTY, &d);
	if (n)
		return n;
	if (!S_ISLNK(d->inode->mode)) {
		char c = 1;

		/* "" names what dfd is: not a link is ENOENT then. */
		n = !copy_from_user(&c, path, 1) && !c ? -ENOENT : -EINVAL;
	} else {
		n = readlink_inode(d->inode, buf, size);
	}
	dentry_put(d);
	return n;
}

long sys_readlink(u64 path, u64 buf, int size)
{
	return sys_readlinkat(AT_FDCWD, path, buf, size);
}
