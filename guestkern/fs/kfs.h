/* SPDX-License-Identifier: Apache-2.0 */
/* What pipes, epoll, the terminal, /dev, /proc and /sys offer to the rest of the kernel. */
#pragma once

#include "fs/vfs.h"

struct fdt;

/* pipe.c: operations of every FIFO. */
extern const struct file_ops fifo_ops;
long pipe_fcntl(struct file *file, unsigned cmd, u64 arg);	/* F_GETPIPE_SZ, F_SETPIPE_SZ */
struct inode *pipefs_inode(const struct file_ops *fops);	/* S_IFIFO inode without a name */

/* epoll.c: the last reference to a file goes; called before ops->release. */
void epoll_file_gone(struct file *file);

/* devfs.c: operations for a character device node by number, wherever it was made with mknod. */
const struct file_ops *chrdev_ops(u64 rdev);
const char *chrdev_name(u64 rdev);		/* path of a device that a nameless file may be, or NULL */
struct inode *devfs_inode(u64 rdev);		/* referenced inode of the node in /dev, or NULL */

/* With devfs_mount() and procfs_mount() of vfs.h: */
int sysfs_mount(struct super **out);

/* stdio.c: descriptors 0, 1, 2 of the first program; runs as that program's first task. */
int stdio_setup(struct files *files, const struct fdt *fdt);

/* tty.c: a session leader exits or gives up its terminal: SIGHUP and SIGCONT to the foreground. */
void tty_disassociate(struct process *proc);
