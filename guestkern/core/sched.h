/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler and the interrupts it waits for. */
#pragma once

#include "core/types.h"

struct task;
struct fdt;

void schedule(void);			/* run something else, or sleep until something can run */
void schedule_tail(void);		/* first thing a new task does */
void task_enqueue(struct task *task);	/* make runnable (a new task) */
void task_wake(struct task *task);	/* if it sleeps */
void sched_yield_current(void);
unsigned sched_runnable(void);		/* tasks waiting to run */

void timers_init(const struct fdt *fdt);
void timers_run(void);			/* expired timers */
void timers_arm(void);			/* program the LAPIC for the next deadline, if it must be */

void irq_init(void);			/* LAPIC on */
void irq_run_pending(void);		/* handlers of all pending vectors */
bool irq_pending(void);
