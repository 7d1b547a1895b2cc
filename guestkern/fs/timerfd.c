/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timerfd(2). A periodic timer is not restarted by its own expiry but when its count is read or
 * asked for: the expirations in between are arithmetic, so an unread one costs nothing.
 * Absolute times of the realtime clocks are turned into monotonic ones when set.
 */
#include "fs/poll.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/time.h>
#include <linux/timerfd.h>
#include "core/ktimer.h"
#include "fs/kfs.h"
#include "fs/syscalls_kfs.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"

#define TIMERFD_SET_FLAGS (TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)

struct timerfd {
	struct ktimer timer;
	struct wait_queue wq;
	int clockid;
	bool set;			/* armed or with an interval running */
	u64 next_ns;			/* monotonic time of the next expiry not yet counted */
	u64 interval_ns;
	u64 ticks;
};

static void timerfd_fire(struct ktimer *timer)
{
	struct timerfd *tfd = container_of(timer, struct timerfd, timer);

	wake_all(&tfd->wq);
}

/* Count what has expired up to now and start the timer for the next one. */
static void timerfd_update(struct timerfd *tfd)
{
	u64 now = time_monotonic_ns(), n = 1;

	if (!tfd->set || now < tfd->next_ns)
		return;
	if (tfd->interval_ns) {
		n = (now - tfd->next_ns) / tfd->interval_ns + 1;
		tfd->next_ns += n * tfd->interval_ns;
	} else {
		tfd->set = false;
	}
	tfd->ticks += n;
}

static bool timerfd_due(const struct timerfd *tfd)
{
	return tfd->ticks || (tfd->set && time_monotonic_ns() >= tfd->next_ns);
}

static void timerfd_rearm(struct timerfd *tfd)
{
	if (tfd->set && !ktimer_armed(&tfd->timer))
		ktimer_start(&tfd->timer, tfd->next_ns);
}

static long timerfd_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	struct timerfd *tfd = file->priv;
	u64 ticks;
	int err;

	if (len < sizeof(ticks))
		return -EINVAL;
	if (!timerfd_due(tfd)) {
		if (file->flags & O_NONBLOCK)
			return -EAGAIN;
		err = wait_event(&tfd->wq, timerfd_due(tfd), WAIT_FOREVER);
		if (err)
			return err;
	}
	timerfd_update(tfd);
	timerfd_rearm(tfd);
	ticks = tfd->ticks;
	tfd->ticks = 0;
	return copy_out(buf, &ticks, sizeof(ticks)) ? -EFAULT : (long)sizeof(ticks);
}

static u32 timerfd_poll(struct file *file, struct poll_table *pt)
{
	struct timerfd *tfd = file->priv;

	poll_wait(pt, &tfd->wq);
	return timerfd_due(tfd) ? POLLIN : 0;
}

static void timerfd_release(struct file *file)
{
	struct timerfd *tfd = file->priv;

	ktimer_cancel(&tfd->timer);
	kfree(tfd);
}

static const struct file_ops timerfd_ops = {
	.release = timerfd_release,
	.read = timerfd_read,
	.poll = timerfd_poll,
};

static bool timerfd_clock_ok(int clockid)
{
	return clockid == CLOCK_REALTIME || clockid == CLOCK_MONOTONIC ||
	       clockid == CLOCK_BOOTTIME || clockid == CLOCK_REALTIME_ALARM ||
	       clockid == CLOCK_BOOTTIME_ALARM;
}

long sys_timerfd_create(int clockid, u32 flags)
{
	struct timerfd *tfd;
	struct file *file;
	int fd;

	if (flags & ~(u32)(TFD_CLOEXEC | TFD_NONBLOCK) || !timerfd_clock_ok(clockid))
		return -EINVAL;
	tfd = kzalloc(sizeof(*tfd));
	if (!tfd)
		return -ENOMEM;
	ktimer_init(&tfd->timer, timerfd_fire);
	wait_queue_init(&tfd->wq);
	tfd->clockid = clockid;
	file = file_new_anon(&timerfd_ops, "[timerfd]", tfd, O_RDWR | (flags & O_NONBLOCK));
	if (!file) {
		kfree(tfd);
		return -ENFILE;
	}
	fd = fd_install(file, !!(flags & TFD_CLOEXEC));
	if (fd < 0)
		file_put(file);
	return fd;
}

static struct file *timerfd_file(int fd, int *err)
{
	struct file *file = fd_file(fd);

	*err = file ? 0 : -EBADF;
	if (file && file->ops != &timerfd_ops) {
		file_put(file);
		*err = -EINVAL;
		return NULL;
	}
	return file;
}

static void timerfd_get(struct timerfd *tfd, struct __kernel_itimerspec *its)
{
	struct timespec64 left = { 0, 0 }, interval = time_from_ns(tfd->interval_ns);
	u64 now;

	timerfd_update(tfd);
	timerfd_rearm(tfd);
	now = time_monotonic_ns();
	if (tfd->set)
		left = time_from_ns(tfd->next_ns > now ? tfd->next_ns - now : 1);
	its->it_value.tv_sec = left.sec;
	its->it_value.tv_nsec = left.nsec;
	its->it_interval.tv_sec = interval.sec;
	its->it_interval.tv_nsec = interval.nsec;
}

static bool timerfd_spec_ok(const struct __kernel_timespec *ts)
{
	return ts->tv_sec >= 0 && ts->tv_nsec >= 0 && ts->tv_nsec < (s64)NSEC_PER_SEC;
}

static u64 timerfd_ns(const struct __kernel_timespec *ts)
{
	if ((u64)ts->tv_sec >= WAIT_FOREVER / NSEC_PER_SEC / 2)
		return WAIT_FOREVER / 2;
	return (u64)ts->tv_sec * NSEC_PER_SEC + (u64)ts->tv_nsec;
}

static void timerfd_set(struct timerfd *tfd, u32 flags, const struct __kernel_itimerspec *its)
{
	u64 value = timerfd_ns(&its->it_value), now = time_monotonic_ns();

	ktimer_cancel(&tfd->timer);
	tfd->ticks = 0;
	tfd->interval_ns = timerfd_ns(&its->it_interval);
	tfd->set = value != 0;
	if (!tfd->set)
		return;
	if (!(flags & TFD_TIMER_ABSTIME)) {
		value += now;
	} else if (tfd->clockid == CLOCK_REALTIME || tfd->clockid == CLOCK_REALTIME_ALARM) {
		u64 real = time_realtime_ns();

		value = value > real ? now + (value - real) : now;
	}
	tfd->next_ns = value;
	ktimer_start(&tfd->timer, value);
}

long sys_timerfd_settime(int fd, u32 flags, u64 new_value, u64 old_value)
{
	struct __kernel_itimerspec its, old;
	struct file *file;
	int err;

	if (copy_from_user(&its, new_value, sizeof(its)))
		return -EFAULT;
	if (flags & ~(u32)TIMERFD_SET_FLAGS || !timerfd_spec_ok(&its.it_value) ||
	    !timerfd_spec_ok(&its.it_interval))
		return -EINVAL;
	file = timerfd_file(fd, &err);
	if (!file)
		return err;
	timerfd_get(file->priv, &old);
	timerfd_set(file->priv, flags, &its);
	file_put(file);
	if (old_value && copy_to_user(old_value, &old, sizeof(old)))
		return -EFAULT;
	return 0;
}

long sys_timerfd_gettime(int fd, u64 cur_value)
{
	struct __kernel_itimerspec its;
	struct file *file;
	int err;

	file = timerfd_file(fd, &err);
	if (!file)
		return err;
	timerfd_get(file->priv, &its);
	file_put(file);
	return copy_to_user(cur_value, &its, sizeof(its));
}
