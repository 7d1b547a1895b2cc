/* SPDX-License-Identifier: Apache-2.0 */
/* ioctl(2): what every descriptor understands, then the file's own. */
#include "fs/vfs_internal.h"
#include "fs/syscalls.h"
#include <asm/ioctls.h>

static long fionbio(struct file *file, u64 arg)
{
	int on;

	if (copy_from_user(&on, arg, sizeof(on)))
		return -EFAULT;
	file->flags = on ? file->flags | O_NONBLOCK : file->flags & ~(u32)O_NONBLOCK;
	return 0;
}

/* Bytes up to the end of a regular file. */
static long fionread(struct file *file, u64 arg)
{
	u64 size = file->inode->size;
	int left = size > file->pos ? (int)MIN(size - file->pos, 0x7fffffffull) : 0;

	return copy_to_user(arg, &left, sizeof(left));
}

static long ioctl_file(struct file *file, int fd, unsigned cmd, u64 arg)
{
	switch (cmd) {
	case FIOCLEX:
		return sys_fcntl(fd, F_SETFD, FD_CLOEXEC);
	case FIONCLEX:
		return sys_fcntl(fd, F_SETFD, 0);
	case FIONBIO:
		return fionbio(file, arg);
	case FIONREAD:
		if (file->inode && S_ISREG(file->inode->mode))
			return fionread(file, arg);
		break;
	}
	return file->ops && file->ops->ioctl ? file->ops->ioctl(file, cmd, arg) : -ENOTTY;
}

long sys_ioctl(int fd, u32 cmd, u64 arg)
{
	struct file *file = fd_file(fd);
	long ret;

	if (!file || (file->flags & O_PATH)) {
		if (file)
			file_put(file);
		return -EBADF;
	}
	ret = ioctl_file(file, fd, cmd, arg);
	file_put(file);
	return ret;
}
