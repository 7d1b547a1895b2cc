/* SPDX-License-Identifier: Apache-2.0 */
/* chmod, chown, truncate, access, fallocate in all their forms. Times are in times.c. */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/falloc.h>
#include <asm/resource.h>

#define SIGXFSZ_NR	25	/* <asm/signal.h> does not go with proc/signal.h */
#define ID_KEEP		0xffffffffu	/* (uid_t)-1 */

static int attr_change(struct dentry *d, const struct attr *attr)
{
	struct inode *inode = d->inode;
	int err;

	if (mount_readonly(d))
		return -EROFS;
	mutex_lock(&inode->lock);
	err = inode_setattr(inode, attr);
	mutex_unlock(&inode->lock);
	return err;
}

/* The same for an open file, which may have no dentry. */
static int attr_change_file(struct file *file, int (*change)(struct inode *, struct attr *),
			    struct attr *attr)
{
	struct inode *inode = file_attr_inode(file);
	int err = change(inode, attr);

	if (err)
		return err;
	if (file->dentry && mount_readonly(file->dentry))
		return -EROFS;
	mutex_lock(&inode->lock);
	err = inode_setattr(inode, attr);
	mutex_unlock(&inode->lock);
	return err;
}

/* attr->mode as the caller gave it becomes what may be set. */
static int chmod_prepare(struct inode *inode, struct attr *attr)
{
	if (!inode_owner_or_root(inode))
		return -EPERM;
	attr->valid = ATTR_MODE;
	attr->mode &= 07777;
	if (current->proc->cred.fsuid && !group_member(inode->gid))
		attr->mode &= ~(u32)S_ISGID;
	return 0;
}

/* attr->uid and ->gid as given; takes set-ID bits away. */
static int chown_prepare(struct inode *inode, struct attr *attr)
{
	bool root = current->proc->cred.fsuid == 0;

	if (attr->uid != ID_KEEP) {
		if (!root && !(inode_owner_or_root(inode) && attr->uid == inode->uid))
			return -EPERM;
		attr->valid |= ATTR_UID;
	}
	if (attr->gid != ID_KEEP) {
		if (!root && !(inode_owner_or_root(inode) &&
			       (group_member(attr->gid) || attr->gid == inode->gid)))
			return -EPERM;
		attr->valid |= ATTR_GID;
	}
	if (!inode_is_dir(inode) && (inode->mode & (S_ISUID | S_ISGID))) {
		attr->valid |= ATTR_MODE;
		attr->mode = inode_mode_dropped(inode);
	}
	return 0;
}

static long attr_at(int dfd, u64 path, int flags, int (*change)(struct inode *, struct attr *),
		    struct attr *attr)
{
	struct dentry *d;
	int err = namei_at(dfd, path, flags, &d);

	if (err)
		return err;
	if (change == chmod_prepare && S_ISLNK(d->inode->mode))
		err = -EOPNOTSUPP;
	if (!err && mount_readonly(d))
		err = -EROFS;
	if (!err)
		err = change(d->inode, attr);
	if (!err)
		err = attr_change(d, attr);
	dentry_put(d);
	return err;
}

static long attr_fd(int fd, int (*change)(struct inode *, struct attr *), struct attr *attr)
{
	struct file *file;
	int err = file_get_fd(fd, &file);

	if (err)
		return err;
	err = attr_change_file(file, change, attr);
	file_put(file);
	return err;
}

long sys_fchmodat2(int dfd, u64 path, u32 mode, u32 flags)
{
	struct attr attr = { .mode = mode };

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return attr_at(dfd, path, (int)flags, chmod_prepare, &attr);
}

long sys_fchmodat(int dfd, u64 path, u32 mode)
{
	return sys_fchmodat2(dfd, path, mode, 0);
}

long sys_chmod(u64 path, u32 mode)
{
	return sys_fchmodat2(AT_FDCWD, path, mode, 0);
}

long sys_fchmod(int fd, u32 mode)
{
	struct attr attr = { .mode = mode };

	return attr_fd(fd, chmod_prepare, &attr);
}

long sys_fchownat(int dfd, u64 path, u32 uid, u32 gid, int flags)
{
	struct attr attr = { .uid = uid, .gid = gid };

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	return attr_at(dfd, path, flags, chown_prepare, &attr);
}

long sys_chown(u64 path, u32 uid, u32 gid)
{
	return sys_fchownat(AT_FDCWD, path, uid, gid, 0);
}

long sys_lchown(u64 path, u32 uid, u32 gid)
{
	return sys_fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

long sys_fchown(int fd, u32 uid, u32 gid)
{
	struct attr attr = { .uid = uid, .gid = gid };

	return attr_fd(fd, chown_prepare, &attr);
}

static int truncate_limit(const struct inode *inode, s64 size)
{
	if ((u64)size <= current->proc->rlim[RLIMIT_FSIZE].cur || (u64)size <= inode->size)
		return 0;
	signal_send_current(SIGXFSZ_NR);
	return -EFBIG;
}

static int truncate_inode(struct inode *inode, s64 size)
{
	int err = truncate_limit(inode, size);

	if (err)
		return err;
	mutex_lock(&inode->lock);
	err = inode_truncate(inode, (u64)size);
	mutex_unlock(&inode->lock);
	return err;
}

long sys_truncate(u64 path, s64 size)
{
	struct dentry *d;
	int err;

	if (size < 0)
		return -EINVAL;
	err = namei(AT_FDCWD, path, LOOKUP_FOLLOW, &d);
	if (err)
		return err;
	if (inode_is_dir(d->inode))
		err = -EISDIR;
	else if (!S_ISREG(d->inode->mode))
		err = -EINVAL;
	else if (mount_readonly(d))
		err = -EROFS;
	else
		err = inode_permission(d->inode, MAY_WRITE);
	if (!err)
		err = truncate_inode(d->inode, size);
	dentry_put(d);
	return err;
}

long sys_ftruncate(int fd, s64 size)
{
	struct file *file;
	int err;

	if (size < 0)
		return -EINVAL;
	err = file_get_fd(fd, &file);
	if (err)
		return err;
	if (!S_ISREG(file->inode->mode) || !FILE_WRITABLE(file))
		err = -EINVAL;
	else
		err = truncate_inode(file_attr_inode(file), size);
	file_put(file);
	return err;
}

long sys_faccessat2(int dfd, u64 path, u32 mode, int flags)
{
	const struct cred *cred = &current->proc->cred;
	bool effective = flags & AT_EACCESS;
	struct dentry *d;
	int err;

	if ((mode & ~7u) || (flags & ~(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH)))
		return -EINVAL;
	err = namei_at(dfd, path, flags, &d);
	if (err)
		return err;
	err = inode_permission_as(d->inode, mode, effective ? cred->fsuid : cred->uid,
				  effective ? cred->fsgid : cred->gid);
	if (!err && (mode & MAY_WRITE) && mount_readonly(d) &&
	    (S_ISREG(d->inode->mode) || S_ISDIR(d->inode->mode) || S_ISLNK(d->inode->mode)))
		err = -EROFS;
	dentry_put(d);
	return err;
}

long sys_faccessat(int dfd, u64 path, u32 mode)
{
	return sys_faccessat2(dfd, path, mode, 0);
}

long sys_access(u64 path, u32 mode)
{
	return sys_faccessat2(AT_FDCWD, path, mode, 0);
}

static int fallocate_check(const struct file *file, int mode, s64 off, s64 len)
{
	u32 type = file->inode->mode & S_IFMT;

	if (mode & ~(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_COLLAPSE_RANGE |
		     FALLOC_FL_ZERO_RANGE | FALLOC_FL_INSERT_RANGE | FALLOC_FL_UNSHARE_RANGE))
		return -EOPNOTSUPP;
	if ((mode & FALLOC_FL_PUNCH_HOLE) && !(mode & FALLOC_FL_KEEP_SIZE))
		return -EOPNOTSUPP;
	if ((mode & FALLOC_FL_PUNCH_HOLE) && (mode & FALLOC_FL_ZERO_RANGE))
		return -EOPNOTSUPP;
	if (!FILE_WRITABLE(file))
		return -EBADF;
	if (type == S_IFIFO)
		return -ESPIPE;
	if (type == S_IFDIR)
		return -EISDIR;
	if (type != S_IFREG)
		return -ENODEV;
	if ((u64)off + (u64)len > MAX_OFFSET)
		return -EFBIG;
	return file->ops->fallocate ? 0 : -EOPNOTSUPP;
}

long sys_fallocate(int fd, int mode, s64 off, s64 len)
{
	struct file *file;
	int err;

	err = file_get_fd(fd, &file);
	if (err)
		return err;
	err = off < 0 || len <= 0 ? -EINVAL : fallocate_check(file, mode, off, len);
	if (!err) {
		mutex_lock(&file->inode->lock);
		err = file->ops->fallocate(file, mode, (u64)off, (u64)len);
		mutex_unlock(&file->inode->lock);
		if (!err)
			inode_remove_suid(file_attr_inode(file));
	}
	file_put(file);
	return err;
}
