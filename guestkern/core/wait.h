/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sleeping. The kernel is non-preemptive and runs under one lock that is given up only inside
 * schedule(): between two calls that can sleep nothing else runs in the kernel, so a condition
 * checked before sleeping cannot go stale, and most structures need no lock of their own. What
 * must hold across a sleep takes a struct mutex.
 */
#pragma once

#include "core/list.h"

struct task;

struct wait_queue { struct list waiters; };
struct waiter {
	struct list link;
	struct task *task;		/* NULL: call fn instead of waking a task (epoll) */
	void (*fn)(struct waiter *w);	/* must not sleep, add to or take from this queue */
};

#define WAIT_QUEUE_INIT(name) { LIST_INIT((name).waiters) }
#define WAIT_FOREVER (~0ull)

static inline void wait_queue_init(struct wait_queue *wq)
{
	list_init(&wq->waiters);
}

void wake_all(struct wait_queue *wq);
void wake_one(struct wait_queue *wq);

/* The pieces of the macros below; a poll over several queues uses them directly. */
void waiter_add(struct wait_queue *wq, struct waiter *w);	/* w->task = current */
void waiter_del(struct waiter *w);

static inline void waiter_add_fn(struct wait_queue *wq, struct waiter *w,
				 void (*fn)(struct waiter *w))
{
	if (!wq->waiters.next)
		wait_queue_init(wq);
	w->task = NULL;
	w->fn = fn;
	list_add_tail(&wq->waiters, &w->link);
}

/*
 * Sleep until woken through any queue joined, a signal (if interruptible) or the monotonic
 * deadline. 0, -ERESTARTSYS or -ETIMEDOUT; check the condition again whatever it says.
 */
int wait_sleep(bool interruptible, u64 deadline_ns);

/*
 * Wait until cond holds: 0, -ERESTARTSYS (a signal is pending), -ETIMEDOUT. deadline_ns is
 * monotonic or WAIT_FOREVER.
 */
#define wait_event(wq, cond, deadline_ns) wait_event_(wq, cond, true, deadline_ns)
/* The same but not interruptible: for device completions. */
#define wait_event_nointr(wq, cond) wait_event_(wq, cond, false, WAIT_FOREVER)

#define wait_event_(wq, cond, intr, deadline) ({					\
	struct waiter w_;								\
	int ret_ = 0;									\
	waiter_add(wq, &w_);								\
	while (!(cond)) {								\
		ret_ = wait_sleep(intr, deadline);					\
		if (ret_ && (cond))							\
			ret_ = 0;							\
		if (ret_)								\
			break;								\
	}										\
	waiter_del(&w_);								\
	ret_;										\
})

/* A sleeping lock, for what must hold across a sleep. Not recursive, FIFO. */
struct mutex {
	struct task *owner;
	struct wait_queue wq;
};

void mutex_init(struct mutex *m);
void mutex_lock(struct mutex *m);
void mutex_unlock(struct mutex *m);
