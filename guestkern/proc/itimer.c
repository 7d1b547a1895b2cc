/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ITIMER_REAL (setitimer(2), alarm(2)): one kernel timer a process that sends SIGALRM. The timers
 * on CPU time are not implemented: EINVAL, as for a kind that does not exist.
 */
#include <linux/errno.h>
#include <linux/time.h>
#include <linux/time_types.h>
#include "core/time.h"
#include "mm/uaccess.h"
#include "proc/misc.h"
#include "proc/signo.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define USEC_PER_SEC 1000000
#define ITIMER_MAX_NS (1ull << 62)

static void itimer_fire(struct ktimer *timer)
{
	struct process *proc = container_of(timer, struct process, real_timer);

	if (proc->real_interval_ns) {
		u64 next = timer->deadline_ns + proc->real_interval_ns, now = time_monotonic_ns();

		ktimer_start(timer, next > now ? next : now + proc->real_interval_ns);
	}
	signal_send_process(proc, SIGALRM);
}

void itimer_exit(struct process *proc)
{
	if (ktimer_armed(&proc->real_timer))
		ktimer_cancel(&proc->real_timer);
	proc->real_interval_ns = 0;
}

/* Time to the next expiry; an armed timer that is just due still says 1. */
static u64 itimer_left(const struct process *proc)
{
	u64 now = time_monotonic_ns(), at = proc->real_timer.deadline_ns;

	if (!ktimer_armed(&proc->real_timer))
		return 0;
	return at > now ? at - now : 1;
}

static void itimer_set(struct process *proc, u64 value_ns, u64 interval_ns)
{
	itimer_exit(proc);
	if (!value_ns)
		return;
	if (!proc->real_timer.fn)
		ktimer_init(&proc->real_timer, itimer_fire);
	proc->real_interval_ns = interval_ns;
	ktimer_start(&proc->real_timer, time_monotonic_ns() + MIN(value_ns, ITIMER_MAX_NS));
}

long sys_alarm(u32 seconds)
{
	u64 left = itimer_left(current->proc), whole = left / NSEC_PER_SEC;

	itimer_set(current->proc, seconds * NSEC_PER_SEC, 0);
	/* Rounded to the nearest second, but a running timer is never 0. */
	if (left % NSEC_PER_SEC >= NSEC_PER_SEC / 2 || (left && !whole))
		whole++;
	return (long)whole;
}

static struct __kernel_old_timeval itimer_timeval(u64 ns)
{
	u64 us = (ns + 999) / 1000;

	return (struct __kernel_old_timeval){ (long)(us / USEC_PER_SEC), (long)(us % USEC_PER_SEC) };
}

static int itimer_ns(const struct __kernel_old_timeval *tv, u64 *ns)
{
	if (tv->tv_sec < 0 || tv->tv_usec < 0 || tv->tv_usec >= USEC_PER_SEC)
		return -EINVAL;
	*ns = (u64)tv->tv_sec >= ITIMER_MAX_NS / NSEC_PER_SEC ? ITIMER_MAX_NS
	    : (u64)tv->tv_sec * NSEC_PER_SEC + (u64)tv->tv_usec * 1000;
	return 0;
}

long sys_getitimer(int which, u64 curr_value)
{
	struct __kernel_old_itimerval it = {
		.it_interval = itimer_timeval(current->proc->real_interval_ns),
		.it_value = itimer_timeval(itimer_left(current->proc)),
	};

	if (which != ITIMER_REAL)
		return -EINVAL;
	return copy_to_user(curr_value, &it, sizeof(it));
}

long sys_setitimer(int which, u64 new_value, u64 old_value)
{
	struct __kernel_old_itimerval it = { { 0, 0 }, { 0, 0 } };
	u64 value, interval;
	long err = 0;

	if (which != ITIMER_REAL)
		return -EINVAL;
	if (new_value && copy_from_user(&it, new_value, sizeof(it)))
		return -EFAULT;
	if (itimer_ns(&it.it_value, &value) || itimer_ns(&it.it_interval, &interval))
		return -EINVAL;
	if (old_value)
		err = sys_getitimer(which, old_value);
	if (!err)
		itimer_set(current->proc, value, interval);
	return err;
}
