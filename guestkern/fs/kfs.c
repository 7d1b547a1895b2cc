/* SPDX-License-Identifier: Apache-2.0 */
/* The VFS's hooks: FIFOs and device nodes on real file systems, pipe sizes, epoll. */
#include "fs/kfs.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>

static int kfs_fifo_open(struct inode *inode, struct file *file)
{
	file->ops = &fifo_ops;
	return fifo_ops.open(inode, file);
}

static int kfs_device_open(struct inode *inode, struct file *file)
{
	const struct file_ops *ops = S_ISCHR(inode->mode) ? chrdev_ops(inode->rdev) : NULL;

	if (!ops)
		return -ENXIO;
	file->ops = ops;
	return ops->open ? ops->open(inode, file) : 0;
}

static long kfs_pipe_size(struct file *file, u64 size)
{
	return pipe_fcntl(file, size ? F_SETPIPE_SZ : F_GETPIPE_SZ, size);
}

void kfs_init(void)
{
	vfs_fifo_open = kfs_fifo_open;
	vfs_device_open = kfs_device_open;
	vfs_pipe_size = kfs_pipe_size;
	vfs_epoll_release = epoll_file_gone;
}
