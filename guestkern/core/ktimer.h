/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One-shot timers on the monotonic clock. The scheduler keeps them (its list of deadlines is the
 * same); fn runs with the kernel lock, off any task's work: it must not sleep. The timer is off
 * the list when fn runs, so fn may start it again or free it.
 */
#pragma once

#include "core/list.h"

struct ktimer {
	struct list link;
	u64 deadline_ns;
	void (*fn)(struct ktimer *timer);
};

static inline void ktimer_init(struct ktimer *timer, void (*fn)(struct ktimer *timer))
{
	list_init(&timer->link);
	timer->fn = fn;
}

static inline bool ktimer_armed(const struct ktimer *timer)
{
	return timer->fn && !list_empty(&timer->link);
}

void ktimer_start(struct ktimer *timer, u64 deadline_ns);	/* restarts an armed one */
void ktimer_cancel(struct ktimer *timer);			/* nothing if it is not armed */
