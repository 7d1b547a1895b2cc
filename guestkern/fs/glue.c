/* SPDX-License-Identifier: Apache-2.0 */
/* Where the VFS meets what is not a file system: pipes, device nodes, epoll, the page tables. */
#include "fs/glue.h"
#include "fs/kfs.h"
#include "fs/vfs.h"
#include "mm/vm.h"
#include <linux/errno.h>
#include <linux/fcntl.h>

static int open_with(const struct file_ops *ops, struct inode *inode, struct file *file)
{
	if (!ops)
		return -ENXIO;
	file->ops = ops;
	return ops->open ? ops->open(inode, file) : 0;
}

static int fifo_open(struct inode *inode, struct file *file)
{
	return open_with(&fifo_ops, inode, file);
}

static int device_open(struct inode *inode, struct file *file)
{
	return open_with(chrdev_ops(inode->rdev), inode, file);
}

static long pipe_size(struct file *file, u64 size)
{
	return pipe_fcntl(file, size ? F_SETPIPE_SZ : F_GETPIPE_SZ, size);
}

void vfs_glue_init(void)
{
	vfs_fifo_open = fifo_open;
	vfs_device_open = device_open;
	vfs_pipe_size = pipe_size;
	vfs_epoll_release = epoll_file_gone;
	vfs_unmap = mm_unmap_inode;
}
