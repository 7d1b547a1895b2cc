/* SPDX-License-Identifier: Apache-2.0 */
/* fcntl(2). Record locks work in locks.c, seals in memfd.c. */
#include "fs/locks.h"
#include "fs/syscalls.h"

#include <asm/resource.h>

#define SETFL_MASK (O_APPEND | O_NONBLOCK | O_DIRECT | O_NOATIME | FASYNC)

struct flock_user {		/* struct flock on x86-64 */
	s16 type, whence;
	u32 pad;
	s64 start, len;
	s32 pid;
	u32 pad2;
};

struct owner_ex { s32 type, pid; };

/* User's description to absolute, inclusive bounds. */
static int lock_range_get(struct file *file, const struct flock_user *fl, struct lock_range *r)
{
	s64 start, end;

	switch (fl->whence) {
	case 0:
		start = 0;
		break;
	case 1:
		start = (s64)file->pos;
		break;
	case 2:
		start = (s64)file->inode->size;
		break;
	default:
		return -EINVAL;
	}
	if (__builtin_add_overflow(start, fl->start, &start))
		return -EOVERFLOW;
	if (fl->len > 0) {
		if (__builtin_add_overflow(start, fl->len - 1, &end))
			return -EOVERFLOW;
	} else if (fl->len < 0) {
		end = start - 1;
		start += fl->len;
	} else {
		end = (s64)MAX_OFFSET;
	}
	if (start < 0 || fl->type < 0 || fl->type > LOCK_TYPE_NONE)
		return -EINVAL;
	r->start = (u64)start;
	r->end = end == (s64)MAX_OFFSET ? ~0ull : (u64)end;
	r->type = fl->type;
	return 0;
}

static long lock_get(struct file *file, const void *owner, struct flock_user *fl,
		     struct lock_range *r, u64 arg)
{
	if (fl->type == LOCK_TYPE_NONE)
		return -EINVAL;
	locks_test(file_attr_inode(file), owner, r);
	if (r->type == LOCK_TYPE_NONE) {
		fl->type = LOCK_TYPE_NONE;
	} else {
		fl->type = (s16)r->type;
		fl->whence = 0;
		fl->start = (s64)r->start;
		fl->len = r->end == ~0ull ? 0 : (s64)(r->end - r->start + 1);
		fl->pid = r->pid;
	}
	return copy_to_user(arg, fl, sizeof(*fl));
}

static long fcntl_lock(struct file *file, u32 cmd, u64 arg)
{
	bool ofd = cmd == F_OFD_GETLK || cmd == F_OFD_SETLK || cmd == F_OFD_SETLKW;
	const void *owner = ofd ? (const void *)file : current->proc->files;
	struct flock_user fl;
	struct lock_range r;
	int err;

	if (copy_from_user(&fl, arg, sizeof(fl)))
		return -EFAULT;
	if (ofd && fl.pid)
		return -EINVAL;
	r.pid = ofd ? -1 : current->proc->pid;
	err = lock_range_get(file, &fl, &r);
	if (err)
		return err;
	if (cmd == F_GETLK || cmd == F_OFD_GETLK)
		return lock_get(file, owner, &fl, &r, arg);
	if ((r.type == LOCK_TYPE_READ && !FILE_READABLE(file)) ||
	    (r.type == LOCK_TYPE_WRITE && !FILE_WRITABLE(file)))
		return -EBADF;
	return locks_set(file_attr_inode(file), owner, &r, cmd == F_SETLKW || cmd == F_OFD_SETLKW);
}

static long fcntl_dupfd(struct file *file, u64 from, bool cloexec)
{
	int fd;

	if (from >= current->proc->rlim[RLIMIT_NOFILE].cur)
		return -EINVAL;
	file_get(file);
	fd = fd_install_from(file, (u32)from, cloexec);
	if (fd < 0)
		file_put(file);
	return fd;
}

static long fcntl_setfl(struct file *file, u64 arg)
{
	if ((arg & O_NOATIME) && !(file->flags & O_NOATIME) &&
	    !inode_owner_or_root(file_attr_inode(file)))
		return -EPERM;
	file->flags = (file->flags & ~(u32)SETFL_MASK) | ((u32)arg & SETFL_MASK);
	return 0;
}

static long fcntl_owner_ex(struct file *file, u32 cmd, u64 arg)
{
	struct owner_ex ex;

	if (cmd == F_GETOWN_EX) {
		ex.type = file->owner_pgid < 0 ? F_OWNER_PGRP : F_OWNER_PID;
		ex.pid = file->owner_pgid < 0 ? -file->owner_pgid : file->owner_pgid;
		return copy_to_user(arg, &ex, sizeof(ex));
	}
	if (copy_from_user(&ex, arg, sizeof(ex)))
		return -EFAULT;
	if (ex.type < F_OWNER_TID || ex.type > F_OWNER_PGRP)
		return -EINVAL;
	file->owner_pgid = ex.type == F_OWNER_PGRP ? -ex.pid : ex.pid;
	return 0;
}

/* What also works on O_PATH descriptors: -ENOSYS for the rest. */
static long fcntl_any(int fd, struct file *file, u32 cmd, u64 arg)
{
	switch (cmd) {
	case F_DUPFD:
		return fcntl_dupfd(file, arg, false);
	case F_DUPFD_CLOEXEC:
		return fcntl_dupfd(file, arg, true);
	case F_GETFD:
		return fd_cloexec(current->proc->files, fd) ? FD_CLOEXEC : 0;
	case F_SETFD:
		fd_set_cloexec(fd, arg & FD_CLOEXEC);
		return 0;
	case F_GETFL:
		return file->flags;
	default:
		return -ENOSYS;
	}
}

static long fcntl_file(struct file *file, u32 cmd, u64 arg)
{
	switch (cmd) {
	case F_SETFL:
		return fcntl_setfl(file, arg);
	case F_GETLK:
	case F_SETLK:
	case F_SETLKW:
	case F_OFD_GETLK:
	case F_OFD_SETLK:
	case F_OFD_SETLKW:
		return fcntl_lock(file, cmd, arg);
	case F_GETOWN:
		return file->owner_pgid;
	case F_SETOWN:
		file->owner_pgid = (s32)arg;
		return 0;
	case F_GETOWN_EX:
	case F_SETOWN_EX:
		return fcntl_owner_ex(file, cmd, arg);
	case F_GETSIG:
		return file->owner_sig;
	case F_SETSIG:
		if (arg > 64)
			return -EINVAL;
		file->owner_sig = (s32)arg;
		return 0;
	case F_GETPIPE_SZ:
		return vfs_pipe_size ? vfs_pipe_size(file, 0) : -EBADF;
	case F_SETPIPE_SZ:
		if (!arg || arg > 0x7fffffff)
			return -EINVAL;
		return vfs_pipe_size ? vfs_pipe_size(file, arg) : -EBADF;
	case F_ADD_SEALS:
	case F_GET_SEALS:
		return memfd_seals(file, (int)cmd, arg);
	case F_GETLEASE:
		return LOCK_TYPE_NONE;
	default:
		return -EINVAL;
	}
}

long sys_fcntl(int fd, u32 cmd, u64 arg)
{
	struct file *file = fd_file(fd);
	long r;

	if (!file)
		return -EBADF;
	r = fcntl_any(fd, file, cmd, arg);
	if (r == -ENOSYS)
		r = file->flags & O_PATH ? -EBADF : fcntl_file(file, cmd, arg);
	file_put(file);
	return r;
}
