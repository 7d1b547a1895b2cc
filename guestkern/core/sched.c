/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduler: one run queue, round robin with time slices. A task runs in the kernel until it
 * sleeps or returns to its program. There is no idle task: the last one to sleep waits for
 * interrupts on its own stack.
 */
#include "core/sched.h"
#include "core/print.h"
#include "core/time.h"
#include "core/wait.h"
#include "husk/fdt.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"
#include "proc/fpu.h"
#include "proc/task.h"
#include <linux/errno.h>

#define SLICE_NS 10000000ull

static struct list run_queue = LIST_INIT(run_queue);
static unsigned run_count;

void switch_stacks(u64 *save, u64 load);	/* nucleus/entry.S */

unsigned sched_runnable(void)
{
	return run_count;
}

void task_enqueue(struct task *task)
{
	task->state = TASK_RUNNABLE;
	list_add_tail(&run_queue, &task->run_link);
	run_count++;
}

void task_wake(struct task *task)
{
	if (task->state != TASK_SLEEPING && task->state != TASK_SLEEPING_NOINTR)
		return;
	if (task == current)		/* about to sleep, or idling on its own stack */
		task->state = TASK_RUNNABLE;
	else
		task_enqueue(task);
}

static struct task *run_queue_pop(void)
{
	struct task *task = list_first(&run_queue, struct task, run_link);

	list_del(&task->run_link);
	run_count--;
	return task;
}

/* vCPU 0 runs everything; see secondary_park() in core/main.c. */
unsigned cpu_online_count(void)
{
	return 1;
}

void task_cpu_times(const struct task *task, u64 *utime_ns, u64 *stime_ns)
{
	*utime_ns = task->utime_ns;
	*stime_ns = task->stime_ns;
	if (task == current)
		*utime_ns += time_monotonic_ns() - task->run_since_ns;
}

/* Nothing is runnable: run what interrupts bring until something is. */
static struct task *idle_wait(struct task *prev)
{
	while (list_empty(&run_queue)) {
		if (prev->state == TASK_RUNNABLE)
			return prev;
		if (!irq_pending()) {
			timers_arm();
			nucleus_call(nc_idle, 0, 0);
		}
		irq_run_pending();
	}
	return run_queue_pop();
}

/* The time asleep is nobody's. */
static struct task *idle(struct task *prev)
{
	struct task *next;

	prev->utime_ns += time_monotonic_ns() - prev->run_since_ns;
	next = idle_wait(prev);
	prev->run_since_ns = time_monotonic_ns();
	return next;
}

static void account(struct task *prev, struct task *next)
{
	u64 now = time_monotonic_ns();

	prev->utime_ns += now - prev->run_since_ns;
	if (prev->state == TASK_RUNNABLE)
		prev->proc->nivcsw++;
	else
		prev->proc->nvcsw++;
	next->run_since_ns = now;
	next->slice_end_ns = now + SLICE_NS;
}

static void task_switch(struct task *prev, struct task *next)
{
	struct percpu *cpu = cpu_this();

	trace(HUSK_TRACE_SCHED, "switch %d -> %d", prev->tid, next->tid);
	account(prev, next);
	if (prev->state != TASK_DEAD)
		fpu_save(prev);
	cpu->prev = prev;
	cpu->task = next;
	cpu->kstack = (u64)next->kstack + KSTACK_SIZE - 8;
	if (next->proc->mm)
		mm_activate(next->proc->mm);
	switch_stacks(&prev->ksp, next->ksp);
	schedule_tail();
}

/* On the new task's stack. */
void schedule_tail(void)
{
	struct percpu *cpu = cpu_this();
	struct task *prev = cpu->prev;

	fpu_restore(current);
	current->need_resched = false;
	if (prev && prev->state == TASK_DEAD)
		task_free(prev);
	cpu->prev = NULL;
	if (current->set_child_tid) {
		copy_to_user(current->set_child_tid, &current->tid, 4);
		current->set_child_tid = 0;
	}
}

void schedule(void)
{
	struct task *prev = current, *next;

	if (prev->state == TASK_RUNNABLE) {
		if (list_empty(&run_queue)) {
			prev->slice_end_ns = time_monotonic_ns() + SLICE_NS;
			prev->need_resched = false;
			return;
		}
		task_enqueue(prev);
	}
	next = list_empty(&run_queue) ? idle(prev) : run_queue_pop();
	if (next != prev)
		task_switch(prev, next);
	else
		prev->need_resched = false;
}

void sched_yield_current(void)
{
	schedule();
}

/* --- wait queues ---------------------------------------------------------------------------- */

void waiter_add(struct wait_queue *wq, struct waiter *w)
{
	if (!wq->waiters.next)
		wait_queue_init(wq);
	w->task = current;
	list_add_tail(&wq->waiters, &w->link);
}

void waiter_del(struct waiter *w)
{
	list_del(&w->link);
}

void wake_all(struct wait_queue *wq)
{
	struct waiter *w;

	if (!wq->waiters.next)
		return;
	list_for_each(w, &wq->waiters, link) {
		if (w->task)
			task_wake(w->task);
		else
			w->fn(w);
	}
}

void wake_one(struct wait_queue *wq)
{
	struct waiter *w;
	bool woken = false;

	if (!wq->waiters.next)
		return;
	list_for_each(w, &wq->waiters, link) {
		if (!w->task) {		/* an epoll watch: hears of it, but does not consume it */
			w->fn(w);
			continue;
		}
		if (woken || (w->task->state != TASK_SLEEPING && w->task->state != TASK_SLEEPING_NOINTR))
			continue;
		task_wake(w->task);
		woken = true;
	}
}

struct sleep_timer {
	struct ktimer timer;
	struct task *task;
	bool fired;
};

static void sleep_timer_fire(struct ktimer *timer)
{
	struct sleep_timer *st = container_of(timer, struct sleep_timer, timer);

	st->fired = true;
	task_wake(st->task);
}

int wait_sleep(bool interruptible, u64 deadline_ns)
{
	struct sleep_timer st = { .timer.fn = sleep_timer_fire, .task = current };

	if (interruptible && signal_pending())
		return -ERESTARTSYS;
	if (deadline_ns != WAIT_FOREVER) {
		if (time_monotonic_ns() >= deadline_ns)
			return -ETIMEDOUT;
		ktimer_start(&st.timer, deadline_ns);
	}
	current->state = interruptible ? TASK_SLEEPING : TASK_SLEEPING_NOINTR;
	schedule();
	ktimer_cancel(&st.timer);
	return st.fired ? -ETIMEDOUT : 0;
}

/* --- mutex ----------------------------------------------------------------------------------- */

void mutex_init(struct mutex *m)
{
	m->owner = NULL;
	wait_queue_init(&m->wq);
}

void mutex_lock(struct mutex *m)
{
	kassert(m->owner != current);
	wait_event_nointr(&m->wq, !m->owner);
	m->owner = current;
}

void mutex_unlock(struct mutex *m)
{
	kassert(m->owner == current);
	m->owner = NULL;
	wake_one(&m->wq);
}
