/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files: open(2), openat(2), openat2(2), creat(2), the kernel's own opens and those for
 * execve(2). By the time a file system's open() is called, permission has been checked.
 */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/mount.h>
#include <linux/openat2.h>

#define O_KEPT_BY_PATH	(O_DIRECTORY | O_NOFOLLOW | O_PATH | O_CLOEXEC)
/* Not kept in file->flags. */
#define O_ONCE		(O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC)
#define O_TMPFILE_BIT	020000000
#define O_VALID		(O_ACCMODE_MASK | O_ONCE | O_APPEND | O_NONBLOCK | O_DSYNC | FASYNC | \
			 O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | \
			 O_CLOEXEC | O_SYNC | O_PATH | O_TMPFILE_BIT)

static const struct file_ops path_ops;	/* O_PATH: nothing can be done with it */

static int open_ops(struct file *file)
{
	struct inode *inode = file->inode;

	file->ops = inode->fops;
	if (file->ops)
		return file->ops->open ? file->ops->open(inode, file) : 0;
	switch (inode->mode & S_IFMT) {
	case S_IFIFO:
		return vfs_fifo_open ? vfs_fifo_open(inode, file) : -ENXIO;
	case S_IFCHR:
	case S_IFBLK:
		return vfs_device_open ? vfs_device_open(inode, file) : -ENXIO;
	default:
		return -ENXIO;
	}
}

int file_open_dentry(struct dentry *dentry, u32 flags, struct file **out)
{
	struct file *file = file_alloc(dentry, dentry->inode, flags);
	int err;

	if (!file)
		return -ENOMEM;
	if (flags & O_PATH) {
		file->ops = &path_ops;
		file->flags &= ~(u32)O_CLOEXEC;
		*out = file;
		return 0;
	}
	err = open_ops(file);
	if (err) {
		file->ops = NULL;
		file->flags = O_PATH;	/* nothing of an open file to undo */
		file_put(file);
		return err;
	}
	file->flags &= ~(u32)O_ONCE;
	if (FILE_WRITABLE(file))
		file->inode->writers++;
	*out = file;
	return 0;
}

static unsigned open_mask(u32 flags)
{
	static const u8 mask[] = {
		MAY_READ, MAY_WRITE, MAY_READ | MAY_WRITE, MAY_READ | MAY_WRITE,
	};

	return mask[flags & O_ACCMODE_MASK] | (flags & O_TRUNC ? MAY_WRITE : 0u);
}

static int may_open(struct dentry *d, u32 flags)
{
	struct inode *inode = d->inode;
	unsigned mask = open_mask(flags);

	if (flags & O_PATH)
		return 0;
	if (S_ISLNK(inode->mode))
		return -ELOOP;
	if (inode_is_dir(inode) && (mask & MAY_WRITE))
		return -EISDIR;
	if (S_ISREG(inode->mode) && (mask & MAY_WRITE) && mount_readonly(d))
		return -EROFS;
	if ((flags & O_NOATIME) && !inode_owner_or_root(inode))
		return -EPERM;
	return inode_permission(inode, mask);
}

/* The missing name of O_CREAT, with the directory locked. */
static int open_make(struct nameidata *nd, struct dentry *d, u32 mode)
{
	struct inode *dir = nd->at->inode;
	int err = may_create(nd->at);

	if (err)
		return err;
	if (!dir->ops->create)
		return -EACCES;
	mode = S_IFREG | (mode & 07777 & ~current->proc->fs->umask);
	return dir->ops->create(dir, d, mode, 0);
}

static int open_create_last(struct nameidata *nd, u32 mode, struct dentry **out, bool *made)
{
	struct dentry *d;
	int err = nd_lookup_last(nd, false, &d);

	if (err)
		return err;
	if (!d->inode && nd->type == LAST_NORM) {
		dentry_put(d);
		mutex_lock(&nd->at->inode->lock);
		err = nd_lookup_last(nd, true, &d);
		if (!err && !d->inode) {
			err = open_make(nd, d, mode);
			*made = !err;
			if (err)
				dentry_put(d);
		}
		mutex_unlock(&nd->at->inode->lock);
		if (err)
			return err;
	}
	*out = d;
	return 0;
}

/* O_CREAT: find or make the last component. */
static int open_create(struct nameidata *nd, u32 flags, u32 mode, struct dentry **out, bool *made)
{
	struct dentry *d;
	int err;

	for (;;) {
		err = nd_parent(nd);
		if (err)
			return err;
		if (nd->slash && nd->type == LAST_NORM)
			return -EISDIR;
		err = open_create_last(nd, mode, &d, made);
		if (err)
			return err;
		if (*made)
			break;
		if (flags & O_EXCL)
			err = -EEXIST;
		else if (S_ISLNK(d->inode->mode) && nd->type == LAST_NORM && !(flags & O_NOFOLLOW))
			err = nd_follow(nd, d);
		else if (inode_is_dir(d->inode))
			err = -EISDIR;
		else
			break;
		dentry_put(d);
		if (err)
			return err;
	}
	*out = d;
	return 0;
}

static int open_truncate(struct file *file)
{
	struct inode *inode = file_attr_inode(file);

	return S_ISREG(inode->mode) ? inode_truncate(inode, 0) : 0;
}

static int open_found(struct dentry *d, u32 flags, bool made, struct file **out)
{
	int err = made ? 0 : may_open(d, flags);

	if (!err)
		err = file_open_dentry(d, flags, out);
	if (!err && !made && (flags & O_TRUNC)) {
		err = open_truncate(*out);
		if (err)
			file_put(*out);
	}
	return err;
}

static int open_tmpfile(struct nameidata *nd, u32 flags, u32 mode, struct file **out)
{
	struct dentry *dir, *d = NULL;
	int err = nd_lookup(nd, &dir);

	if (err)
		return err;
	err = may_create(dir);
	if (!err && !dir->inode->ops->tmpfile)
		err = -EOPNOTSUPP;
	if (!err) {
		d = dentry_new(NULL, "#tmpfile", 8);
		err = d ? 0 : -ENOMEM;
	}
	if (!err) {
		d->mount = dir->mount;
		d->flags = DENTRY_DELETED | (flags & O_EXCL ? 0 : DENTRY_LINKABLE);
		mode = S_IFREG | (mode & 07777 & ~current->proc->fs->umask);
		err = dir->inode->ops->tmpfile(dir->inode, d, mode);
	}
	if (!err)
		err = file_open_dentry(d, flags, out);
	if (d)
		dentry_put(d);
	dentry_put(dir);
	return err;
}

static int open_flags_check(u32 *flags)
{
	if (*flags & O_PATH)
		*flags &= O_KEPT_BY_PATH;
	if (*flags & O_TMPFILE_BIT) {
		if (!(*flags & O_DIRECTORY) || !(open_mask(*flags & ~(u32)O_TRUNC) & MAY_WRITE))
			return -EINVAL;
		if (*flags & O_CREAT)
			return -EINVAL;
	} else if ((*flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY)) {
		return -EINVAL;
	}
	return 0;
}

static int open_text(int dfd, const char *path, u32 flags, u32 mode, unsigned lookup,
		     struct file **out)
{
	struct nameidata nd;
	struct dentry *d;
	bool made = false;
	int err = open_flags_check(&flags);

	if (err)
		return err;
	/* O_EXCL with O_CREAT implies O_NOFOLLOW. */
	if (!(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL))
		lookup |= LOOKUP_FOLLOW;
	if (flags & O_DIRECTORY)
		lookup |= LOOKUP_DIRECTORY;
	err = nd_begin(&nd, dfd, path, lookup);
	if (err)
		return err;
	if (flags & O_TMPFILE_BIT) {
		err = open_tmpfile(&nd, flags, mode, out);
	} else {
		err = flags & O_CREAT ? open_create(&nd, flags, mode, &d, &made) :
					nd_lookup(&nd, &d);
		if (!err) {
			err = open_found(d, flags, made, out);
			dentry_put(d);
		}
	}
	nd_end(&nd);
	return err;
}

int file_open(const char *path, u32 flags, u32 mode, struct file **out)
{
	return open_text(AT_FDCWD, path, flags, mode, 0, out);
}

static long open_user(int dfd, u64 path, u32 flags, u32 mode, unsigned lookup)
{
	struct pathname pn;
	struct file *file;
	int err = pathname_get(&pn, path), fd;

	if (err)
		return err;
	err = open_text(dfd, pn.s, flags | (flags & O_PATH ? 0 : O_LARGEFILE), mode, lookup, &file);
	pathname_put(&pn);
	if (err)
		return err;
	fd = fd_install(file, flags & O_CLOEXEC);
	if (fd < 0)
		file_put(file);
	return fd;
}

long sys_openat(int dfd, u64 path, int flags, u32 mode)
{
	return open_user(dfd, path, (u32)flags & O_VALID, mode, 0);
}

long sys_open(u64 path, int flags, u32 mode)
{
	return sys_openat(AT_FDCWD, path, flags, mode);
}

long sys_creat(u64 path, u32 mode)
{
	return sys_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

static int open_how_get(u64 uhow, u64 size, struct open_how *how)
{
	u8 rest[64];

	if (size < sizeof(*how))
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	if (copy_from_user(how, uhow, sizeof(*how)))
		return -EFAULT;
	for (u64 at = sizeof(*how); at < size; at += sizeof(rest)) {
		u64 n = MIN(size - at, sizeof(rest));

		if (copy_from_user(rest, uhow + at, n))
			return -EFAULT;
		for (u64 i = 0; i < n; i++) {
			if (rest[i])
				return -E2BIG;
		}
	}
	return 0;
}

static int open_how_lookup(u64 resolve, unsigned *lookup)
{
	static const struct { u32 resolve, lookup; } map[] = {
		{ RESOLVE_NO_XDEV, LOOKUP_NO_XDEV },
		{ RESOLVE_NO_MAGICLINKS, LOOKUP_NO_MAGICLINKS },
		{ RESOLVE_NO_SYMLINKS, LOOKUP_NO_SYMLINKS | LOOKUP_NO_MAGICLINKS },
		{ RESOLVE_BENEATH, LOOKUP_BENEATH },
		{ RESOLVE_IN_ROOT, LOOKUP_IN_ROOT },
		{ RESOLVE_CACHED, 0 },
	};

	*lookup = 0;
	for (size_t i = 0; i < ARRAY_SIZE(map); i++) {
		if (resolve & map[i].resolve)
			*lookup |= map[i].lookup;
		resolve &= ~(u64)map[i].resolve;
	}
	if (resolve || (*lookup & (LOOKUP_BENEATH | LOOKUP_IN_ROOT)) ==
		       (LOOKUP_BENEATH | LOOKUP_IN_ROOT))
		return -EINVAL;
	return 0;
}

long sys_openat2(int dfd, u64 path, u64 uhow, u64 size)
{
	struct open_how how;
	unsigned lookup;
	int err = open_how_get(uhow, size, &how);

	if (err)
		return err;
	if (how.flags & ~(u64)O_VALID)
		return -EINVAL;
	if ((how.flags & O_PATH) && (how.flags & ~(u64)O_KEPT_BY_PATH))
		return -EINVAL;
	if (how.mode & (how.flags & (O_CREAT | O_TMPFILE_BIT) ? ~07777ull : ~0ull))
		return -EINVAL;
	err = open_how_lookup(how.resolve, &lookup);
	if (err)
		return err;
	if (how.resolve & RESOLVE_CACHED)
		return -EAGAIN;		/* "try again without": always allowed */
	return open_user(dfd, path, (u32)how.flags, (u32)how.mode, lookup);
}

static int open_exec_check(struct dentry *d)
{
	if (S_ISLNK(d->inode->mode))
		return -ELOOP;
	if (!S_ISREG(d->inode->mode) || (d->mount && (d->mount->flags & MS_NOEXEC)))
		return -EACCES;
	return inode_permission(d->inode, MAY_EXEC);
}

int file_open_exec_at(int dirfd, const char *path, int flags, struct file **out)
{
	struct nameidata nd;
	struct dentry *d;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	err = nd_begin(&nd, dirfd, path, (flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW) |
					 (flags & AT_EMPTY_PATH ? LOOKUP_EMPTY : 0));
	if (err)
		return err;
	err = nd_lookup(&nd, &d);
	nd_end(&nd);
	if (err)
		return err;
	err = open_exec_check(d);
	if (!err)
		err = file_open_dentry(d, O_RDONLY, out);
	dentry_put(d);
	if (!err && (*out)->inode->writers > 0) {
		file_put(*out);
		err = -ETXTBSY;
	}
	return err;
}

int file_open_exec(const char *path, struct file **out)
{
	return file_open_exec_at(AT_FDCWD, path, 0, out);
}
