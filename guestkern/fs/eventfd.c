/* SPDX-License-Identifier: Apache-2.0 */
/* eventfd(2): a counter that can be waited for. */
#include "fs/poll.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include "fs/kfs.h"
#include "fs/syscalls_kfs.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"

/* eventfd(2); older UAPI folders have no linux/eventfd.h. */
#define EFD_SEMAPHORE	1
#define EFD_CLOEXEC	O_CLOEXEC
#define EFD_NONBLOCK	O_NONBLOCK

#define EVENTFD_MAX	(~0ull - 1)

struct eventfd {
	u64 count;
	bool semaphore;
	struct wait_queue wq;
};

static long eventfd_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	struct eventfd *ev = file->priv;
	u64 value;
	int err;

	if (len < sizeof(value))
		return -EINVAL;
	if (!ev->count) {
		if (file->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event(&ev->wq, ev->count, WAIT_FOREVER);
		if (err)
			return err;
	}
	value = ev->semaphore ? 1 : ev->count;
	ev->count -= value;
	wake_all(&ev->wq);
	return copy_out(buf, &value, sizeof(value)) ? -EFAULT : (long)sizeof(value);
}

static long eventfd_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	struct eventfd *ev = file->priv;
	u64 value;
	int err;

	if (len < sizeof(value))
		return -EINVAL;
	if (copy_in(&value, buf, sizeof(value)))
		return -EFAULT;
	if (value == ~0ull)
		return -EINVAL;
	if (value > EVENTFD_MAX - ev->count) {
		if (file->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event(&ev->wq, value <= EVENTFD_MAX - ev->count, WAIT_FOREVER);
		if (err)
			return err;
	}
	ev->count += value;
	wake_all(&ev->wq);
	return sizeof(value);
}

static u32 eventfd_poll(struct file *file, struct poll_table *pt)
{
	struct eventfd *ev = file->priv;
	u32 mask = 0;

	poll_wait(pt, &ev->wq);
	if (ev->count)
		mask |= POLLIN;
	if (ev->count < EVENTFD_MAX)
		mask |= POLLOUT;
	return mask;
}

static void eventfd_release(struct file *file)
{
	kfree(file->priv);
}

static const struct file_ops eventfd_ops = {
	.release = eventfd_release,
	.read = eventfd_read,
	.write = eventfd_write,
	.poll = eventfd_poll,
};

long sys_eventfd2(u32 count, u32 flags)
{
	struct eventfd *ev;
	struct file *file;
	int fd;

	if (flags & ~(u32)(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK))
		return -EINVAL;
	ev = kzalloc(sizeof(*ev));
	if (!ev)
		return -ENOMEM;
	ev->count = count;
	ev->semaphore = flags & EFD_SEMAPHORE;
	wait_queue_init(&ev->wq);
	file = file_new_anon(&eventfd_ops, "[eventfd]", ev, O_RDWR | (flags & O_NONBLOCK));
	if (!file) {
		kfree(ev);
		return -ENFILE;
	}
	fd = fd_install(file, !!(flags & EFD_CLOEXEC));
	if (fd < 0)
		file_put(file);
	return fd;
}

long sys_eventfd(u32 count)
{
	return sys_eventfd2(count, 0);
}
