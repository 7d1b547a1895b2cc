/* SPDX-License-Identifier: Apache-2.0 */
/* utimensat(2) and its four older forms. */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#ifndef UTIME_NOW		/* <sys/stat.h>, not in the UAPI headers */
#define UTIME_NOW	((1l << 30) - 1)
#define UTIME_OMIT	((1l << 30) - 2)
#endif

static bool times_nsec_ok(s64 nsec)
{
	return nsec == UTIME_NOW || nsec == UTIME_OMIT || (nsec >= 0 && nsec < 1000000000);
}

static void times_attr(const struct timespec64 t[2], struct attr *attr)
{
	struct timespec64 now = inode_now();

	attr->valid = 0;
	if (t[0].nsec != UTIME_OMIT) {
		attr->valid |= ATTR_ATIME;
		attr->atime = t[0].nsec == UTIME_NOW ? now : t[0];
	}
	if (t[1].nsec != UTIME_OMIT) {
		attr->valid |= ATTR_MTIME;
		attr->mtime = t[1].nsec == UTIME_NOW ? now : t[1];
	}
}

/* "Now" for both asks for write permission or ownership, anything else for ownership. */
static int times_permission(struct inode *inode, const struct timespec64 t[2])
{
	if (inode_owner_or_root(inode))
		return 0;
	if (t[0].nsec == UTIME_NOW && t[1].nsec == UTIME_NOW)
		return inode_permission(inode, MAY_WRITE);
	return -EPERM;
}

static int times_set(struct inode *inode, bool readonly, const struct timespec64 t[2])
{
	struct attr attr;
	int err;

	if (readonly)
		return -EROFS;
	err = times_permission(inode, t);
	if (err)
		return err;
	times_attr(t, &attr);
	mutex_lock(&inode->lock);
	err = inode_setattr(inode, &attr);
	mutex_unlock(&inode->lock);
	return err;
}

static long times_fd(int fd, const struct timespec64 t[2])
{
	struct file *file;
	int err = file_get_fd(fd, &file);

	if (err)
		return err;
	err = times_set(file_attr_inode(file), file->dentry && mount_readonly(file->dentry), t);
	file_put(file);
	return err;
}

static long times_at(int dfd, u64 path, const struct timespec64 t[2], int flags)
{
	struct dentry *d;
	int err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (!path && dfd != AT_FDCWD)
		return flags ? -EINVAL : times_fd(dfd, t);
	err = namei_at(dfd, path, flags, &d);
	if (err)
		return err;
	err = times_set(d->inode, mount_readonly(d), t);
	dentry_put(d);
	return err;
}

static const struct timespec64 times_now[2] = { { 0, UTIME_NOW }, { 0, UTIME_NOW } };

long sys_utimensat(int dfd, u64 path, u64 utimes, int flags)
{
	struct timespec64 t[2] = { times_now[0], times_now[1] };

	if (utimes) {
		if (copy_from_user(t, utimes, sizeof(t)))
			return -EFAULT;
		if (t[0].nsec == UTIME_OMIT && t[1].nsec == UTIME_OMIT)
			return 0;
		if (!times_nsec_ok(t[0].nsec) || !times_nsec_ok(t[1].nsec))
			return -EINVAL;
	}
	return times_at(dfd, path, t, flags);
}

long sys_futimesat(int dfd, u64 path, u64 utimes)
{
	struct timespec64 t[2] = { times_now[0], times_now[1] };
	s64 tv[4];

	if (utimes) {
		if (copy_from_user(tv, utimes, sizeof(tv)))
			return -EFAULT;
		if (tv[1] < 0 || tv[1] >= 1000000 || tv[3] < 0 || tv[3] >= 1000000)
			return -EINVAL;
		t[0] = (struct timespec64){ tv[0], tv[1] * 1000 };
		t[1] = (struct timespec64){ tv[2], tv[3] * 1000 };
	}
	return times_at(dfd, path, t, 0);
}

long sys_utimes(u64 path, u64 utimes)
{
	return sys_futimesat(AT_FDCWD, path, utimes);
}

long sys_utime(u64 path, u64 utimbuf)
{
	struct timespec64 t[2] = { times_now[0], times_now[1] };
	s64 sec[2];

	if (utimbuf) {
		if (copy_from_user(sec, utimbuf, sizeof(sec)))
			return -EFAULT;
		t[0] = (struct timespec64){ sec[0], 0 };
		t[1] = (struct timespec64){ sec[1], 0 };
	}
	return times_at(AT_FDCWD, path, t, 0);
}
