/* SPDX-License-Identifier: Apache-2.0 */
/* stat(2) and its kin, statx(2), statfs(2): x86-64 layouts from the UAPI headers. */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <asm/stat.h>
#include <asm/statfs.h>
#include <linux/mount.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000u
#endif


static void stat_fill(const struct inode *inode, struct stat *st)
{
	memset(st, 0, sizeof(*st));
	st->st_dev = inode->sb ? inode->sb->dev : 0;
	st->st_ino = inode->ino;
	st->st_nlink = inode->nlink;
	st->st_mode = inode->mode;
	st->st_uid = inode->uid;
	st->st_gid = inode->gid;
	st->st_rdev = inode->rdev;
	st->st_size = (__kernel_long_t)inode->size;
	st->st_blksize = inode->blksize;
	st->st_blocks = (__kernel_long_t)inode->blocks;
	st->st_atime = (__kernel_ulong_t)inode->atime.sec;
	st->st_atime_nsec = (__kernel_ulong_t)inode->atime.nsec;
	st->st_mtime = (__kernel_ulong_t)inode->mtime.sec;
	st->st_mtime_nsec = (__kernel_ulong_t)inode->mtime.nsec;
	st->st_ctime = (__kernel_ulong_t)inode->ctime.sec;
	st->st_ctime_nsec = (__kernel_ulong_t)inode->ctime.nsec;
}

static long stat_inode(struct inode *inode, u64 ust)
{
	struct stat st;
	int err = inode_refresh(inode);

	if (err)
		return err;
	stat_fill(inode, &st);
	return copy_to_user(ust, &st, sizeof(st));
}

static long stat_fd(int fd, u64 ust)
{
	struct file *file = fd_file(fd);
	long err;

	if (!file)
		return -EBADF;
	err = stat_inode(file_attr_inode(file), ust);
	file_put(file);
	return err;
}

/* "" with AT_EMPTY_PATH on a descriptor: also for files without a name. */
static bool path_is_empty(u64 path)
{
	char c;

	return !path || (!copy_from_user(&c, path, 1) && !c);
}

long sys_newfstatat(int dfd, u64 path, u64 ust, int flags)
{
	struct dentry *d;
	long err;

	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && dfd >= 0 && path_is_empty(path))
		return stat_fd(dfd, ust);
	err = namei_at(dfd, path, flags, &d);
	if (err)
		return err;
	err = stat_inode(d->inode, ust);
	dentry_put(d);
	return err;
}

long sys_stat(u64 path, u64 ust)
{
	return sys_newfstatat(AT_FDCWD, path, ust, 0);
}

long sys_lstat(u64 path, u64 ust)
{
	return sys_newfstatat(AT_FDCWD, path, ust, AT_SYMLINK_NOFOLLOW);
}

long sys_fstat(int fd, u64 ust)
{
	return stat_fd(fd, ust);
}

static struct statx_timestamp statx_time(struct timespec64 t)
{
	return (struct statx_timestamp){ .tv_sec = t.sec, .tv_nsec = (u32)t.nsec };
}

/* Major and minor as <linux/kdev_t.h> packs them for user space (12 + 20 bits, minor split). */
static u32 dev_major(u64 dev)
{
	return (u32)((dev >> 8) & 0xfff) | (u32)((dev >> 32) & ~0xfffull);
}

static u32 dev_minor(u64 dev)
{
	return (u32)(dev & 0xff) | (u32)((dev >> 12) & ~0xffull);
}

static long statx_inode(struct inode *inode, bool is_root, u64 ustx)
{
	struct statx stx;
	int err = inode_refresh(inode);

	if (err)
		return err;
	memset(&stx, 0, sizeof(stx));
	stx.stx_mask = STATX_BASIC_STATS;
	stx.stx_blksize = inode->blksize;
	stx.stx_nlink = inode->nlink;
	stx.stx_uid = inode->uid;
	stx.stx_gid = inode->gid;
	stx.stx_mode = (u16)inode->mode;
	stx.stx_ino = inode->ino;
	stx.stx_size = inode->size;
	stx.stx_blocks = inode->blocks;
	stx.stx_atime = statx_time(inode->atime);
	stx.stx_mtime = statx_time(inode->mtime);
	stx.stx_ctime = statx_time(inode->ctime);
	stx.stx_rdev_major = dev_major(inode->rdev);
	stx.stx_rdev_minor = dev_minor(inode->rdev);
	if (inode->sb) {
		stx.stx_dev_major = dev_major(inode->sb->dev);
		stx.stx_dev_minor = dev_minor(inode->sb->dev);
	}
	stx.stx_attributes_mask = STATX_ATTR_MOUNT_ROOT;
	stx.stx_attributes = is_root ? STATX_ATTR_MOUNT_ROOT : 0;
	return copy_to_user(ustx, &stx, sizeof(stx));
}

long sys_statx(int dfd, u64 path, int flags, u32 mask, u64 ustx)
{
	struct file *file;
	struct dentry *d;
	long err;

	if ((flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT |
		       AT_STATX_SYNC_TYPE)) ||
	    (flags & AT_STATX_SYNC_TYPE) == AT_STATX_SYNC_TYPE || (mask & STATX__RESERVED))
		return -EINVAL;
	if ((flags & AT_EMPTY_PATH) && dfd >= 0 && path_is_empty(path)) {
		file = fd_file(dfd);
		if (!file)
			return -EBADF;
		d = file->dentry;
		err = statx_inode(file_attr_inode(file), d && d->parent == d && d->mount, ustx);
		file_put(file);
		return err;
	}
	err = namei_at(dfd, path, flags, &d);
	if (err)
		return err;
	err = statx_inode(d->inode, d->parent == d && d->mount, ustx);
	dentry_put(d);
	return err;
}

/* ST_* of statvfs(3) are the MS_* bits below this, and ST_VALID. */
#define ST_VALID	0x20
#define ST_MS_BITS	(MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC)

static long statfs_inode(struct inode *inode, const struct dentry *d, u64 ust)
{
	struct statfs st;
	int err = 0;

	memset(&st, 0, sizeof(st));
	st.f_bsize = st.f_frsize = PAGE_SIZE;
	st.f_namelen = NAME_MAX;
	if (inode->ops && inode->ops->statfs)
		err = inode->ops->statfs(inode, &st);
	if (err)
		return err;
	if (inode->sb) {
		st.f_type = (__kernel_long_t)inode->sb->magic;
		st.f_fsid.val[0] = (int)inode->sb->dev;
	}
	st.f_flags = ST_VALID;
	if (d && d->mount)
		st.f_flags |= d->mount->flags & ST_MS_BITS;
	if (inode->sb && inode->sb->readonly)
		st.f_flags |= MS_RDONLY;
	return copy_to_user(ust, &st, sizeof(st));
}

long sys_statfs(u64 path, u64 ust)
{
	struct dentry *d;
	long err = namei(AT_FDCWD, path, LOOKUP_FOLLOW, &d);

	if (err)
		return err;
	err = statfs_inode(d->inode, d, ust);
	dentry_put(d);
	return err;
}

long sys_fstatfs(int fd, u64 ust)
{
	struct file *file = fd_file(fd);
	long err;

	if (!file)
		return -EBADF;
	err = statfs_inode(file_attr_inode(file), file->dentry, ust);
	file_put(file);
	return err;
}
