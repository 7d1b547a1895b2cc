/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX per-process timers: timer_create(2) and relatives, on kernel timers. Clocks: realtime
 * (taken as monotonic from the moment it is set) and monotonic. One signal of a timer is pending at
 * a time; expiries meanwhile count as overruns.
 */
#include "proc/posix_timer.h"
#include "proc/signal_send.h"
#include "proc/signo.h"
#include "core/ktimer.h"
#include "core/time.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include <linux/errno.h>
#include <linux/time.h>

#define TIMERS_MAX 1024
#define NOTIFY_SIGNAL 0
#define NOTIFY_NONE 1
#define NOTIFY_THREAD_ID 4
#define CODE_TIMER (-2)		/* SI_TIMER */

struct posix_timer {
	struct list link;	/* process.posix_timers */
	struct ktimer ktimer;
	struct process *proc;
	s32 id, clock, notify, sig, tid;
	u64 value, interval_ns;
	u32 overrun;
};

struct sigevent_k { u64 value; s32 sig, notify, tid; s32 pad[11]; };
struct itimerspec_k { struct timespec64 interval, value; };

_Static_assert(sizeof(struct sigevent_k) == 64, "struct sigevent");

static struct list *timers_of(struct process *proc)
{
	if (!proc->posix_timers.next)
		list_init(&proc->posix_timers);
	return &proc->posix_timers;
}

static struct posix_timer *timer_find(s32 id)
{
	struct posix_timer *t;

	list_for_each(t, timers_of(current->proc), link)
		if (t->id == id)
			return t;
	return NULL;
}

static void timer_signal(struct posix_timer *t)
{
	struct { s32 id; u32 overrun; u64 value; } body = { t->id, t->overrun, t->value };
	struct siginfo_k info = { .signo = t->sig, .code = CODE_TIMER };
	struct task *task = t->notify == NOTIFY_THREAD_ID ? task_find(t->tid) : NULL;

	__builtin_memcpy(info.raw, &body, sizeof(body));
	if (t->notify == NOTIFY_SIGNAL)
		signal_send_info(t->proc, &info);
	else if (task)
		signal_send_task(task, &info);
}

static void timer_fire(struct ktimer *k)
{
	struct posix_timer *t = container_of(k, struct posix_timer, ktimer);
	u64 now = time_monotonic_ns(), late;

	t->overrun = 0;
	if (t->interval_ns) {
		late = now > k->deadline_ns ? (now - k->deadline_ns) / t->interval_ns : 0;
		t->overrun = (u32)MIN(late, 0x7fffffffull);
		ktimer_start(k, k->deadline_ns + (late + 1) * t->interval_ns);
	}
	timer_signal(t);
}

static void timer_free(struct posix_timer *t)
{
	ktimer_cancel(&t->ktimer);
	list_del(&t->link);
	kfree(t);
}

void posix_timers_exit(struct process *proc)
{
	struct posix_timer *t, *tmp;

	list_for_each_safe(t, tmp, timers_of(proc), link)
		timer_free(t);
}

static int event_check(const struct sigevent_k *ev)
{
	struct task *task;

	switch (ev->notify) {
	case NOTIFY_NONE:
		return 0;
	case NOTIFY_THREAD_ID:
		task = task_find(ev->tid);
		if (!task || task->proc != current->proc)
			return -EINVAL;
		/* fall through */
	case NOTIFY_SIGNAL:
		return ev->sig < 1 || ev->sig > SIGNALS ? -EINVAL : 0;
	default:
		return -EINVAL;
	}
}

static s32 timer_id_free(void)
{
	for (s32 id = 0; id < TIMERS_MAX; id++)
		if (!timer_find(id))
			return id;
	return -EAGAIN;
}

long sys_timer_create(int clock, u64 event, u64 id_out)
{
	struct sigevent_k ev = { .sig = SIGALRM, .notify = NOTIFY_SIGNAL };
	struct posix_timer *t;
	s32 id = timer_id_free();
	int ret;

	if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME)
		return -EINVAL;
	if (event && copy_from_user(&ev, event, sizeof(ev)))
		return -EFAULT;
	ret = event_check(&ev);
	if (ret || id < 0)
		return ret ? ret : id;
	if (!event)
		ev.value = (u64)id;
	t = kzalloc(sizeof(*t));
	if (!t)
		return -EAGAIN;
	*t = (struct posix_timer){ .proc = current->proc, .id = id, .clock = clock, .sig = ev.sig,
				   .notify = ev.notify, .tid = ev.tid, .value = ev.value };
	ktimer_init(&t->ktimer, timer_fire);
	list_add_tail(timers_of(current->proc), &t->link);
	if (copy_to_user(id_out, &id, sizeof(id))) {
		timer_free(t);
		return -EFAULT;
	}
	return 0;
}

static struct itimerspec_k timer_state(const struct posix_timer *t)
{
	u64 now = time_monotonic_ns(), at = t->ktimer.deadline_ns;
	u64 left = !ktimer_armed(&t->ktimer) ? 0 : at > now ? at - now : 1;

	return (struct itimerspec_k){ time_from_ns(t->interval_ns), time_from_ns(left) };
}

static int spec_ns(const struct timespec64 *ts, u64 *ns)
{
	if (ts->sec < 0 || ts->nsec < 0 || ts->nsec >= (s64)NSEC_PER_SEC)
		return -EINVAL;
	*ns = (u64)ts->sec > 0xffffffffull ? 0xffffffffull * NSEC_PER_SEC :
					     (u64)ts->sec * NSEC_PER_SEC + (u64)ts->nsec;
	return 0;
}

long sys_timer_settime(s32 id, int flags, u64 new, u64 old)
{
	struct posix_timer *t = timer_find(id);
	struct itimerspec_k spec, prev;
	u64 value, interval, now;

	if (copy_from_user(&spec, new, sizeof(spec)))
		return -EFAULT;
	if (!t || spec_ns(&spec.value, &value) || spec_ns(&spec.interval, &interval))
		return -EINVAL;
	prev = timer_state(t);
	ktimer_cancel(&t->ktimer);
	t->interval_ns = interval;
	t->overrun = 0;
	if (value) {
		now = time_monotonic_ns();
		if (!(flags & TIMER_ABSTIME))
			value += now;
		else if (t->clock == CLOCK_REALTIME)
			value = now + (u64)MAX((s64)(value - time_realtime_ns()), 0);
		ktimer_start(&t->ktimer, value);
	}
	return old ? copy_to_user(old, &prev, sizeof(prev)) : 0;
}

long sys_timer_gettime(s32 id, u64 out)
{
	struct posix_timer *t = timer_find(id);
	struct itimerspec_k spec;

	if (!t)
		return -EINVAL;
	spec = timer_state(t);
	return copy_to_user(out, &spec, sizeof(spec));
}

long sys_timer_getoverrun(s32 id)
{
	struct posix_timer *t = timer_find(id);

	return t ? (long)t->overrun : -EINVAL;
}

long sys_timer_delete(s32 id)
{
	struct posix_timer *t = timer_find(id);

	if (!t)
		return -EINVAL;
	timer_free(t);
	return 0;
}
