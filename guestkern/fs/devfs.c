/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /dev: a fixed table of character devices, links and empty directories (tmpfs is mounted on
 * /dev/shm). ptmx is there, but there are no pseudo-terminals: opening it is ENXIO.
 */
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/stat.h>
#include "core/string.h"
#include "drivers/drivers.h"
#include "fs/kfs.h"
#include "fs/pseudo.h"
#include "fs/tty.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "proc/task.h"

#define TMPFS_MAGIC	0x01021994
#define DEV(major, minor) ((u64)(major) << 8 | (minor))
#define RANDOM_CHUNK	4096u

static long null_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	return 0;
}

static long null_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	return (long)len;
}

static s64 null_llseek(struct file *file, s64 off, int whence)
{
	return (s64)(file->pos = 0);
}

static long zero_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	return clear_out(buf, len) ? -EFAULT : (long)len;
}

/* A private mapping is anonymous memory; a shared one too, among those who inherit it. */
static int zero_mmap(struct file *file, struct vma *vma)
{
	vma->inode = NULL;
	return 0;
}

static long full_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	return -ENOSPC;
}

static long random_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	u8 small[256], *chunk = small;
	size_t size = sizeof(small), done = 0;

	if (len > sizeof(small)) {
		chunk = kmalloc(RANDOM_CHUNK);
		size = RANDOM_CHUNK;
		if (!chunk)
			return -ENOMEM;
	}
	while (done < len) {
		size_t n = MIN(len - done, size);

		random_bytes(chunk, n);
		if (copy_out((u8 *)buf + done, chunk, n))
			break;
		done += n;
		if (done < len && signal_pending())
			break;
	}
	if (chunk != small)
		kfree(chunk);
	return done || !len ? (long)done : -EFAULT;
}

static u32 random_poll(struct file *file, struct poll_table *pt)
{
	return POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;
}

static int ptmx_open(struct inode *inode, struct file *file)
{
	return -ENXIO;
}

static const struct file_ops null_fops = {
	.read = null_read, .write = null_write, .llseek = null_llseek,
};
static const struct file_ops zero_fops = {
	.read = zero_read, .write = null_write, .llseek = null_llseek, .mmap = zero_mmap,
};
static const struct file_ops full_fops = {
	.read = zero_read, .write = full_write, .llseek = null_llseek,
};
static const struct file_ops random_fops = {
	.read = random_read, .write = null_write, .llseek = null_llseek, .poll = random_poll,
};
static const struct file_ops ptmx_fops = { .open = ptmx_open };

#define CHR(n, perm, ops, maj, min) \
	{ .name = n, .mode = S_IFCHR | (perm), .fops = &(ops), .rdev = DEV(maj, min) }
#define LNK(n, to) { .name = n, .mode = S_IFLNK | 0777, .link = to }
#define DIR(n, perm) { .name = n, .mode = S_IFDIR | (perm) }

static const struct pseudo_node dev_nodes[] = {
	CHR("null", 0666, null_fops, 1, 3),
	CHR("zero", 0666, zero_fops, 1, 5),
	CHR("full", 0666, full_fops, 1, 7),
	CHR("random", 0666, random_fops, 1, 8),
	CHR("urandom", 0666, random_fops, 1, 9),
	CHR("tty", 0666, devtty_fops, 5, 0),
	CHR("console", 0620, tty_fops, 5, 1),
	CHR("ptmx", 0666, ptmx_fops, 5, 2),
	LNK("fd", "/proc/self/fd"),
	LNK("stdin", "/proc/self/fd/0"),
	LNK("stdout", "/proc/self/fd/1"),
	LNK("stderr", "/proc/self/fd/2"),
	DIR("pts", 0755),
	DIR("shm", 01777),
};

static const struct pseudo_node dev_root = {
	.name = "dev", .mode = S_IFDIR | 0755, PSEUDO_CHILDREN(dev_nodes),
};

/* Its first lookup makes an inode; nothing is built at boot. */
static struct super dev_super = { .type = "devtmpfs", .dev = 0x5, .magic = TMPFS_MAGIC };

static const struct pseudo_node *dev_find(u64 rdev)
{
	for (unsigned i = 0; i < ARRAY_SIZE(dev_nodes); i++)
		if (S_ISCHR(dev_nodes[i].mode) && dev_nodes[i].rdev == rdev)
			return &dev_nodes[i];
	return NULL;
}

const struct file_ops *chrdev_ops(u64 rdev)
{
	const struct pseudo_node *node = dev_find(rdev);

	return node ? node->fops : NULL;
}

const char *chrdev_name(u64 rdev)
{
	switch (rdev) {
	case DEV(1, 3):
		return "/dev/null";
	case DEV(5, 1):
		return "/dev/console";
	default:
		return NULL;
	}
}

struct inode *devfs_inode(u64 rdev)
{
	struct pseudo what = { .node = dev_find(rdev) };

	return what.node ? pseudo_inode(&dev_super, &what) : NULL;
}

int devfs_mount(struct super **out)
{
	*out = &dev_super;
	return pseudo_mount(&dev_super, &dev_root);
}
