/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input, output and error of the first program. A terminal becomes the console with this
 * program's session on it; pipes and files of the host become streams over the virtio console.
 * A host file is shown as a pipe too: its position is the host's, it cannot seek.
 */
#include <asm/ioctls.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/stat.h>
#include "core/fdt.h"
#include "core/string.h"
#include "drivers/drivers.h"
#include "fs/kfs.h"
#include "fs/tty.h"
#include "husk/fdt.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "proc/signo.h"
#include "proc/task.h"

#define STREAM_BOUNCE	65536u
#define STREAM_SMALL	512u
#define NULL_RDEV	0x103u
#define CONSOLE_RDEV	0x501u

struct bounce {
	u8 small[STREAM_SMALL];
	u8 *p;
	size_t size;
};

static int bounce_get(struct bounce *b, size_t len)
{
	b->p = b->small;
	b->size = MIN(len, STREAM_BOUNCE);
	if (b->size > sizeof(b->small))
		b->p = kmalloc(b->size);
	return b->p ? 0 : -ENOMEM;
}

static void bounce_put(struct bounce *b)
{
	if (b->p != b->small)
		kfree(b->p);
}

static long stream_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	struct bounce b;
	long n;

	if (!len)
		return 0;
	if (bounce_get(&b, len))
		return -ENOMEM;
	n = console_read(b.p, b.size, file->flags & O_NONBLOCK);
	if (n > 0 && copy_out(buf, b.p, (size_t)n))
		n = -EFAULT;
	bounce_put(&b);
	return n;
}

static long stream_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	unsigned port = (unsigned)(uintptr_t)file->priv;
	struct bounce b;
	size_t done = 0;
	long n = 0;

	if (!len)
		return 0;
	if (bounce_get(&b, len))
		return -ENOMEM;
	while (done < len) {
		size_t chunk = MIN(len - done, b.size);

		if (done && signal_pending())
			break;
		n = copy_in(b.p, (const u8 *)buf + done, chunk);
		if (!n)
			n = console_write(port, b.p, chunk);
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	bounce_put(&b);
	if (n == -EPIPE)
		signal_send_current(SIGPIPE);
	return done ? (long)done : n;
}

static u32 stream_in_poll(struct file *file, struct poll_table *pt)
{
	poll_wait(pt, console_read_queue());
	return console_readable() ? POLLIN | POLLRDNORM : 0;
}

static u32 stream_out_poll(struct file *file, struct poll_table *pt)
{
	return POLLOUT | POLLWRNORM;
}

/* Opened anew through /dev/stdin and the like: the same stream. */
static int stream_open(struct inode *inode, struct file *file)
{
	file->priv = inode->priv;
	return 0;
}

static const struct file_ops stream_in_ops = {
	.open = stream_open, .read = stream_read, .poll = stream_in_poll,
};
static const struct file_ops stream_out_ops = {
	.open = stream_open, .write = stream_write, .poll = stream_out_poll,
};

/* A nameless file on an inode; consumes the reference to the inode. */
static struct file *stdio_file(struct inode *inode, u32 flags)
{
	struct file *file;

	if (!inode)
		return NULL;
	file = file_new_inode(inode, inode->fops, "stdio", inode->priv, flags);
	inode_put(inode);
	return file;
}

static struct file *stdio_stream(int fd)
{
	struct inode *inode = pipefs_inode(fd == 0 ? &stream_in_ops : &stream_out_ops);

	if (inode)
		inode->priv = (void *)(uintptr_t)(fd == 2 ? CONSOLE_STDERR : CONSOLE_STDOUT);
	return stdio_file(inode, fd == 0 ? O_RDONLY : O_WRONLY);
}

static struct file *stdio_open(int fd, const char *kind)
{
	struct file *file;

	if (!strcmp(kind, HUSK_STDIO_NULL))
		return stdio_file(devfs_inode(NULL_RDEV), O_RDWR);
	if (strcmp(kind, HUSK_STDIO_TTY))
		return stdio_stream(fd);
	file = stdio_file(devfs_inode(CONSOLE_RDEV), O_RDWR);	/* not opened: set up by hand */
	if (file)
		file->priv = tty_console();
	return file;
}

/* The three strings of the property; what is missing is the null device. */
static void stdio_kinds(const struct fdt *fdt, int init, const char *kinds[3])
{
	u32 len = 0, at = 0;
	const char *list = init < 0 ? NULL : fdt_prop(fdt, init, HUSK_FDT_STDIO, &len);

	for (int fd = 0; fd < 3; fd++) {
		kinds[fd] = HUSK_STDIO_NULL;
		if (!list || at >= len || strnlen(list + at, len - at) == len - at)
			continue;
		kinds[fd] = list + at;
		at += (u32)strlen(list + at) + 1;
	}
}

static int stdio_attach_tty(const struct fdt *fdt, int init, const char *kinds[3])
{
	bool is_tty[3];
	u32 len = 0;
	const u8 *size = fdt_prop(fdt, init, HUSK_FDT_TTY_SIZE, &len);
	u16 rows = 0, cols = 0;
	int err;

	for (int fd = 0; fd < 3; fd++)
		is_tty[fd] = !strcmp(kinds[fd], HUSK_STDIO_TTY);
	if (!is_tty[0] && !is_tty[1] && !is_tty[2])
		return 0;
	if (size && len >= 8) {		/* two big-endian cells */
		rows = (u16)(size[2] << 8 | size[3]);
		cols = (u16)(size[6] << 8 | size[7]);
	}
	err = tty_attach(is_tty, rows, cols);
	if (err)
		return err;
	/* The first program leads a session of its own, also when it is told so only later. */
	current->proc->sid = current->proc->pgid = current->proc->pid;
	tty_set_session(tty_console(), current->proc);
	return 0;
}

int stdio_setup(struct files *files, const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");
	int init = chosen < 0 ? -1 : fdt_find(fdt, chosen, HUSK_FDT_INIT);
	const char *kinds[3];
	int err;

	stdio_kinds(fdt, init, kinds);
	err = stdio_attach_tty(fdt, init, kinds);
	for (int fd = 0; fd < 3 && !err; fd++) {
		struct file *file = stdio_open(fd, kinds[fd]);

		if (!file)
			return -ENOMEM;
		err = fd_install_at(files, fd, file);
		if (err < 0)
			file_put(file);
		else
			err = 0;
	}
	return err;
}
