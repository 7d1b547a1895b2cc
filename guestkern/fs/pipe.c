/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipes and FIFOs (pipe(7), fifo(7)): opening, waiting, signals, poll. A pipe(2) pair and a FIFO
 * differ only in how they are opened; both keep their struct pipe in inode->pipe for as long as
 * an open file refers to it.
 */
#include "fs/pipe.h"
#include <asm/ioctls.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/stat.h>
#include "fs/kfs.h"
#include "fs/syscalls_kfs.h"
#include "mm/uaccess.h"
#include "proc/signo.h"
#include "proc/task.h"

#define PIPEFS_MAGIC 0x50495045

static struct super pipefs_super = { .type = "pipefs", .dev = 0xd, .magic = PIPEFS_MAGIC };

struct inode *pipefs_inode(const struct file_ops *fops)
{
	static u64 next_ino = 1;
	struct inode *inode = inode_new(&pipefs_super, S_IFIFO | 0600);

	if (!inode)
		return NULL;
	inode->ino = next_ino++;
	inode->blksize = PAGE_SIZE;
	inode->uid = current->proc->cred.fsuid;
	inode->gid = current->proc->cred.fsgid;
	inode->fops = fops;
	return inode;
}

static bool pipe_reads(const struct file *file)
{
	return (file->flags & O_ACCMODE) != O_WRONLY;
}

static bool pipe_writes(const struct file *file)
{
	return (file->flags & O_ACCMODE) != O_RDONLY;
}

/* A new open file joins; the other side's openers and pollers notice. */
static void pipe_join(struct pipe *pipe, struct file *file)
{
	file->priv = pipe;
	pipe->files++;
	if (pipe_reads(file)) {
		pipe->readers++;
		pipe->r_counter++;
	}
	if (pipe_writes(file)) {
		pipe->writers++;
		pipe->w_counter++;
	}
	wake_all(&pipe->rd_wait);
	wake_all(&pipe->wr_wait);
}

static void pipe_leave(struct pipe *pipe, struct file *file)
{
	if (pipe_reads(file))
		pipe->readers--;
	if (pipe_writes(file))
		pipe->writers--;
	if (--pipe->files == 0) {
		file->inode->pipe = NULL;
		pipe_free(pipe);
		return;
	}
	wake_all(&pipe->rd_wait);
	wake_all(&pipe->wr_wait);
}

/* fifo(7): wait for the other side unless O_RDWR or O_NONBLOCK. */
static int fifo_open_wait(struct pipe *pipe, struct file *file)
{
	u32 seen;

	switch (file->flags & O_ACCMODE) {
	case O_RDONLY:
		/* No HUP for a reader before it has seen a writer: poll compares this count. */
		file->version_ra = pipe->writers ? 0 : pipe->w_counter;
		if (pipe->writers || file->flags & O_NONBLOCK)
			return 0;
		file->version_ra = 0;
		seen = pipe->w_counter;
		return wait_event(&pipe->rd_wait, pipe->w_counter != seen, WAIT_FOREVER);
	case O_WRONLY:
		if (pipe->readers)
			return 0;
		if (file->flags & O_NONBLOCK)
			return -ENXIO;
		seen = pipe->r_counter;
		return wait_event(&pipe->wr_wait, pipe->r_counter != seen, WAIT_FOREVER);
	case O_RDWR:
		return 0;
	default:
		return -EINVAL;
	}
}

static int fifo_open(struct inode *inode, struct file *file)
{
	struct pipe *pipe = inode->pipe;
	int err;

	if (!pipe) {
		pipe = pipe_new();
		if (!pipe)
			return -ENOMEM;
		inode->pipe = pipe;
	}
	file->version_ra = 0;
	pipe_join(pipe, file);
	/* A pipe opened again through /proc/<pid>/fd waits for nobody. */
	err = inode->sb == &pipefs_super ? 0 : fifo_open_wait(pipe, file);
	if (err)
		pipe_leave(pipe, file);
	return err;
}

static void pipe_release(struct file *file)
{
	pipe_leave(file->priv, file);
}

static int pipe_wait_readable(struct pipe *pipe)
{
	int err;

	mutex_unlock(&pipe->lock);
	err = wait_event(&pipe->rd_wait, !pipe_empty(pipe) || !pipe->writers, WAIT_FOREVER);
	mutex_lock(&pipe->lock);
	return err;
}

static long pipe_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	struct pipe *pipe = file->priv;
	long n = 0;

	if (!len)
		return 0;
	mutex_lock(&pipe->lock);
	while (n == 0) {
		bool was_full = pipe_full(pipe);

		n = pipe_take(pipe, buf, len);
		if (was_full && !pipe_full(pipe))
			wake_all(&pipe->wr_wait);
		if (n || !pipe->writers)
			break;
		n = file->flags & O_NONBLOCK ? -EAGAIN : pipe_wait_readable(pipe);
	}
	mutex_unlock(&pipe->lock);
	return n;
}

static int pipe_wait_writable(struct pipe *pipe)
{
	int err;

	mutex_unlock(&pipe->lock);
	err = wait_event(&pipe->wr_wait, !pipe_full(pipe) || !pipe->readers, WAIT_FOREVER);
	mutex_lock(&pipe->lock);
	return err;
}

static long pipe_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	struct pipe *pipe = file->priv;
	size_t done = 0;
	bool merge = true;
	long n = 0;

	if (!len)
		return 0;
	mutex_lock(&pipe->lock);
	for (;;) {
		if (!pipe->readers) {
			signal_send_current(SIGPIPE);
			n = -EPIPE;
			break;
		}
		n = pipe_put(pipe, (const u8 *)buf + done, len - done, merge,
			     file->flags & O_DIRECT);
		merge = false;
		if (n > 0) {
			done += (size_t)n;
			wake_all(&pipe->rd_wait);
		}
		if (n < 0 || done == len)
			break;
		if (!pipe_full(pipe))	/* the copy stopped short: the next round says why */
			continue;
		n = file->flags & O_NONBLOCK ? -EAGAIN : pipe_wait_writable(pipe);
		if (n)
			break;
	}
	mutex_unlock(&pipe->lock);
	return done ? (long)done : n;
}

static u32 pipe_poll(struct file *file, struct poll_table *pt)
{
	struct pipe *pipe = file->priv;
	u32 mask = 0;

	if (pipe_reads(file)) {
		poll_wait(pt, &pipe->rd_wait);
		if (!pipe_empty(pipe))
			mask |= POLLIN | POLLRDNORM;
		if (!pipe->writers && (u32)file->version_ra != pipe->w_counter)
			mask |= POLLHUP;
	}
	if (pipe_writes(file)) {
		poll_wait(pt, &pipe->wr_wait);
		if (!pipe_full(pipe))
			mask |= POLLOUT | POLLWRNORM;
		if (!pipe->readers)
			mask |= POLLERR;
	}
	return mask;
}

static long pipe_ioctl(struct file *file, unsigned cmd, u64 arg)
{
	struct pipe *pipe = file->priv;
	int bytes;

	if (cmd != FIONREAD)
		return -ENOTTY;
	bytes = (int)pipe_bytes(pipe);
	return copy_to_user(arg, &bytes, sizeof(bytes));
}

const struct file_ops fifo_ops = {
	.open = fifo_open,
	.release = pipe_release,
	.read = pipe_read,
	.write = pipe_write,
	.poll = pipe_poll,
	.ioctl = pipe_ioctl,
};

static long pipe_set_size(struct pipe *pipe, u64 size)
{
	u32 nslots = 1;
	int err;

	if (size > 1u << 31)
		return -EINVAL;
	while (nslots * PAGE_SIZE < size)
		nslots *= 2;
	if (nslots > PIPE_MAX_SLOTS)
		return -EPERM;
	mutex_lock(&pipe->lock);
	err = pipe_resize(pipe, nslots);
	mutex_unlock(&pipe->lock);
	wake_all(&pipe->wr_wait);
	return err ? err : (long)(nslots * PAGE_SIZE);
}

long pipe_fcntl(struct file *file, unsigned cmd, u64 arg)
{
	struct pipe *pipe = file->priv;

	if (file->ops != &fifo_ops)
		return -EBADF;
	switch (cmd) {
	case F_GETPIPE_SZ:
		return (long)(pipe->nslots * PAGE_SIZE);
	case F_SETPIPE_SZ:
		return pipe_set_size(pipe, (u32)arg);
	default:
		return -EINVAL;
	}
}

/* One end. */
static struct file *pipe_file(struct inode *inode, u32 flags)
{
	struct file *file = file_new_inode(inode, &fifo_ops, "pipe", NULL, flags);

	if (file)
		pipe_join(inode->pipe, file);
	return file;
}

static int pipe_make(struct file *ends[2], u32 flags)
{
	struct inode *inode = pipefs_inode(&fifo_ops);
	struct pipe *pipe = inode ? pipe_new() : NULL;

	if (!pipe)
		goto no_pipe;
	inode->pipe = pipe;
	ends[0] = pipe_file(inode, O_RDONLY | (flags & O_NONBLOCK));
	if (!ends[0])
		goto no_file;
	ends[1] = pipe_file(inode, O_WRONLY | (flags & (O_NONBLOCK | O_DIRECT)));
	if (!ends[1]) {
		file_put(ends[0]);
		inode_put(inode);
		return -ENFILE;
	}
	inode_put(inode);	/* the files keep it */
	return 0;

no_file:
	inode->pipe = NULL;
	pipe_free(pipe);
no_pipe:
	if (inode)
		inode_put(inode);
	return -ENFILE;
}

/* Both descriptors or none. */
static int pipe_install(struct file *ends[2], int fd[2], u32 flags)
{
	unsigned cloexec = !!(flags & O_CLOEXEC);

	fd[0] = fd_install(ends[0], cloexec);
	if (fd[0] < 0) {
		file_put(ends[0]);
		file_put(ends[1]);
		return fd[0];
	}
	fd[1] = fd_install(ends[1], cloexec);
	if (fd[1] < 0) {
		fd_close(fd[0]);
		file_put(ends[1]);
		return fd[1];
	}
	return 0;
}

long sys_pipe2(u64 fds, u32 flags)
{
	struct file *ends[2];
	int fd[2], err;

	if (flags & ~(u32)(O_CLOEXEC | O_NONBLOCK | O_DIRECT))
		return -EINVAL;
	err = pipe_make(ends, flags);
	if (err)
		return err;
	err = pipe_install(ends, fd, flags);
	if (err)
		return err;
	if (copy_to_user(fds, fd, sizeof(fd))) {
		fd_close(fd[0]);
		fd_close(fd[1]);
		return -EFAULT;
	}
	return 0;
}

long sys_pipe(u64 fds)
{
	return sys_pipe2(fds, 0);
}
