/* SPDX-License-Identifier: Apache-2.0 */
/* One-shot kernel timers; fn runs with the kernel lock, outside any task's system call. */
#pragma once

#include "core/list.h"

struct ktimer {
	struct list link;	/* zeroed: idle */
	u64 deadline_ns;	/* monotonic */
	void (*fn)(struct ktimer *timer);
};

void ktimer_start(struct ktimer *timer, u64 deadline_ns);	/* also moves a running one */
void ktimer_cancel(struct ktimer *timer);
