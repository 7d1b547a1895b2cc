/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler, clock and tasks of the test kernel (kfs_fake.h). kfs_fake_fs.c has the rest. */
#define _GNU_SOURCE
#include "kfs_fake.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_task {
	struct task task;
	pthread_t thread;
	pthread_cond_t cond;
	struct list sleep;
	bool asleep, interruptible, signal, done, woken, timed_out;
	u64 deadline_ns;
	long (*fn)(void *arg);
	void *arg;
	long result;
	struct wait_queue exit_wq;
};

static pthread_mutex_t kernel = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;
static struct list sleepers = LIST_INIT(sleepers), timers = LIST_INIT(timers);
static int running;
static bool settling;
static u64 now_ns = 5 * NSEC_PER_SEC;
static s32 next_pid = 1;

struct list process_list = LIST_INIT(process_list);
struct fake_sent fake_sent[64];
unsigned fake_nsent;

/* What the test kernel holds at its end is not a leak; the tests count what matters. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static __thread struct task *this_task;

struct task *current_task(void)
{
	return this_task;
}

static struct fake_task *fake_current(void)
{
	return container_of(current, struct fake_task, task);
}

u64 time_monotonic_ns(void)
{
	return now_ns;
}

u64 time_realtime_ns(void)
{
	return 1800000000 * NSEC_PER_SEC + now_ns;
}

u64 time_tsc_khz(void)
{
	return 2100000;
}

unsigned cpu_online_count(void)
{
	return 2;
}

static void fake_wake(struct fake_task *ft)
{
	if (!ft->asleep)
		return;
	ft->asleep = false;
	ft->task.state = TASK_RUNNABLE;
	list_del(&ft->sleep);
	running++;
	pthread_cond_signal(&ft->cond);
}

static void wake_waiter(struct waiter *w)
{
	struct fake_task *ft;

	if (!w->task) {
		w->fn(w);
		return;
	}
	ft = container_of(w->task, struct fake_task, task);
	ft->woken = true;
	fake_wake(ft);
}

void wake_all(struct wait_queue *wq)
{
	struct waiter *w, *next;

	list_for_each_safe(w, next, &wq->waiters, link)
		wake_waiter(w);
}

void wake_one(struct wait_queue *wq)
{
	if (!list_empty(&wq->waiters))
		wake_waiter(list_first(&wq->waiters, struct waiter, link));
}

void waiter_add(struct wait_queue *wq, struct waiter *w)
{
	w->task = current;
	list_add_tail(&wq->waiters, &w->link);
}

void waiter_del(struct waiter *w)
{
	list_del(&w->link);
}

void ktimer_start(struct ktimer *timer, u64 deadline_ns)
{
	list_del(&timer->link);
	timer->deadline_ns = deadline_ns;
	list_add_tail(&timers, &timer->link);
}

void ktimer_cancel(struct ktimer *timer)
{
	list_del(&timer->link);
}

static u64 fake_next_deadline(void)
{
	struct fake_task *ft;
	struct ktimer *timer;
	u64 next = WAIT_FOREVER;

	list_for_each(ft, &sleepers, sleep)
		next = MIN(next, ft->deadline_ns);
	list_for_each(timer, &timers, link)
		next = MIN(next, timer->deadline_ns);
	return next;
}

static void fake_expire(void)
{
	struct fake_task *ft, *next;
	struct ktimer *timer;
	bool fired;

	do {
		fired = false;
		list_for_each(timer, &timers, link) {
			if (timer->deadline_ns > now_ns)
				continue;
			list_del(&timer->link);
			timer->fn(timer);
			fired = true;
			break;
		}
	} while (fired);
	list_for_each_safe(ft, next, &sleepers, sleep) {
		if (ft->deadline_ns > now_ns)
			continue;
		ft->timed_out = true;
		fake_wake(ft);
	}
}

void fake_advance(u64 ns)
{
	u64 end = now_ns + ns;

	while (fake_next_deadline() <= end) {
		now_ns = MAX(now_ns, fake_next_deadline());
		fake_expire();
	}
	now_ns = end;
}

/* The current task stops running; if it was the last one, time goes on to the next deadline. */
static void fake_stop_running(void)
{
	running--;
	if (settling && running == 1)
		pthread_cond_signal(&settled);
	while (!running && !settling) {
		u64 next = fake_next_deadline();

		if (next == WAIT_FOREVER) {
			printf("Bail out! every task sleeps for ever\n");
			fflush(stdout);
			abort();
		}
		now_ns = MAX(now_ns, next);
		fake_expire();
	}
}

int wait_sleep(bool interruptible, u64 deadline_ns)
{
	struct fake_task *ft = fake_current();

	if (interruptible && ft->signal)
		return -ERESTARTSYS;
	if (ft->woken) {
		ft->woken = false;
		return 0;
	}
	ft->timed_out = false;
	ft->deadline_ns = deadline_ns;
	ft->asleep = true;
	ft->interruptible = interruptible;
	ft->task.state = interruptible ? TASK_SLEEPING : TASK_SLEEPING_NOINTR;
	list_add_tail(&sleepers, &ft->sleep);
	fake_stop_running();
	while (ft->asleep)
		pthread_cond_wait(&ft->cond, &kernel);
	ft->woken = false;
	if (interruptible && ft->signal)
		return -ERESTARTSYS;
	return ft->timed_out ? -ETIMEDOUT : 0;
}

void mutex_init(struct mutex *m)
{
	m->owner = NULL;
	wait_queue_init(&m->wq);
}

void mutex_lock(struct mutex *m)
{
	wait_event_nointr(&m->wq, !m->owner);
	m->owner = current;
}

void mutex_unlock(struct mutex *m)
{
	if (m->owner != current)
		abort();
	m->owner = NULL;
	wake_all(&m->wq);
}

static struct fake_task *fake_task_new(struct process *proc)
{
	struct fake_task *ft = calloc(1, sizeof(*ft));

	list_init(&ft->sleep);
	wait_queue_init(&ft->exit_wq);
	pthread_cond_init(&ft->cond, NULL);
	ft->task.proc = proc;
	ft->task.tid = list_empty(&proc->threads) ? proc->pid : next_pid++;
	strcpy(ft->task.comm, proc->comm);
	list_add_tail(&proc->threads, &ft->task.thread_link);
	proc->nthreads++;
	running++;
	return ft;
}

struct process *fake_process(s32 pid, s32 pgid, s32 sid, struct process *parent)
{
	struct process *proc = calloc(1, sizeof(*proc));

	proc->pid = pid;
	proc->pgid = pgid;
	proc->sid = sid;
	proc->parent = parent;
	proc->exit_signal = 17;
	proc->dumpable = true;
	strcpy(proc->comm, "tester");
	proc->sighand = calloc(1, sizeof(*proc->sighand));
	proc->files = parent ? parent->files : files_new();
	proc->start_ns = now_ns;
	for (int i = 0; i < RLIM_COUNT; i++)
		proc->rlim[i] = (struct rlim){ ~0ull, ~0ull };
	list_init(&proc->children);
	list_init(&proc->threads);
	list_init(&proc->pending.infos);
	wait_queue_init(&proc->child_wait);
	list_add_tail(&process_list, &proc->all_link);
	next_pid = MAX(next_pid, pid + 1);
	return proc;
}

struct process *fake_enter(struct process *proc)
{
	struct process *old = current->proc;

	list_del(&current->thread_link);
	list_add_tail(&proc->threads, &current->thread_link);
	current->proc = proc;
	return old;
}

void fake_init(void)
{
	struct fake_task *ft;

	pthread_mutex_lock(&kernel);
	ft = fake_task_new(fake_process(100, 100, 100, NULL));
	this_task = &ft->task;
}

static void *fake_main(void *arg)
{
	struct fake_task *ft = arg;

	pthread_mutex_lock(&kernel);
	this_task = &ft->task;
	ft->result = ft->fn(ft->arg);
	ft->done = true;
	wake_all(&ft->exit_wq);
	list_del(&ft->task.thread_link);
	ft->task.proc->nthreads--;
	fake_stop_running();
	pthread_mutex_unlock(&kernel);
	return NULL;
}

struct fake_task *fake_spawn(long (*fn)(void *arg), void *arg)
{
	struct fake_task *ft = fake_task_new(current->proc);

	ft->fn = fn;
	ft->arg = arg;
	pthread_create(&ft->thread, NULL, fake_main, ft);
	return ft;
}

long fake_join(struct fake_task *ft)
{
	long result;

	wait_event_nointr(&ft->exit_wq, ft->done);
	pthread_mutex_unlock(&kernel);
	pthread_join(ft->thread, NULL);
	pthread_mutex_lock(&kernel);
	result = ft->result;
	free(ft);
	return result;
}

struct task *fake_task_of(struct fake_task *ft)
{
	return &ft->task;
}

void fake_settle(void)
{
	settling = true;
	while (running > 1)
		pthread_cond_wait(&settled, &kernel);
	settling = false;
}

void fake_signal(struct task *task)
{
	struct fake_task *ft = container_of(task, struct fake_task, task);

	ft->signal = true;
	if (ft->interruptible)
		fake_wake(ft);
}

void fake_signal_done(struct task *task)
{
	container_of(task, struct fake_task, task)->signal = false;
}

bool signal_pending(void)
{
	return fake_current()->signal;
}

static void fake_record(s32 pgid, int sig)
{
	if (fake_nsent < ARRAY_SIZE(fake_sent))
		fake_sent[fake_nsent++] = (struct fake_sent){ pgid, sig };
}

void signal_send_current(int sig)
{
	fake_record(0, sig);
}

int signal_send_group(s32 pgid, int sig)
{
	fake_record(pgid, sig);
	return 0;
}

int signal_send_process(struct process *proc, int sig)
{
	fake_record(-proc->pid, sig);
	return 0;
}

struct process *process_find(s32 pid)
{
	struct process *proc;

	list_for_each(proc, &process_list, all_link)
		if (proc->pid == pid)
			return proc;
	return NULL;
}

struct task *task_find(s32 tid)
{
	struct process *proc;
	struct task *task;

	list_for_each(proc, &process_list, all_link)
		list_for_each(task, &proc->threads, thread_link)
			if (task->tid == tid)
				return task;
	return NULL;
}

void task_cpu_times(const struct task *task, u64 *utime_ns, u64 *stime_ns)
{
	*utime_ns = task->utime_ns;
	*stime_ns = task->stime_ns;
}
