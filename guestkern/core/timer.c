/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel timers on the LAPIC's one-shot timer (xAPIC registers: 6 us a write where MSR writes
 * from ring 3 cost twice that). The hardware is programmed only for a deadline earlier than the
 * one it already has; one that fires early finds nothing to do.
 */
#include "core/ktimer.h"
#include "core/sched.h"
#include "core/fdt.h"
#include "core/lapic.h"
#include "core/time.h"
#include "husk/fdt.h"
#include "nucleus/percpu.h"
#include "proc/task.h"

static struct list timers = LIST_INIT(timers);	/* by deadline */
static u64 apic_hz;

void timers_init(const struct fdt *fdt)
{
	apic_hz = fdt_u32(fdt, fdt_find(fdt, fdt_root(fdt), "chosen"), HUSK_FDT_APIC_HZ, NSEC_PER_SEC);
}

void ktimer_start(struct ktimer *timer, u64 deadline_ns)
{
	struct ktimer *at;

	ktimer_cancel(timer);
	timer->deadline_ns = deadline_ns;
	list_for_each(at, &timers, link)
		if (at->deadline_ns > deadline_ns)
			break;
	list_add_tail(&at->link, &timer->link);
	if (timers.next == &timer->link)
		cpu_this()->timer_stale = true;
}

void ktimer_cancel(struct ktimer *timer)
{
	if (timer->link.next)
		list_del(&timer->link);
	else
		list_init(&timer->link);
}

void timers_run(void)
{
	u64 now = time_monotonic_ns();

	while (!list_empty(&timers)) {
		struct ktimer *t = list_first(&timers, struct ktimer, link);

		if (t->deadline_ns > now)
			break;
		list_del(&t->link);
		t->fn(t);
	}
	if (current->state == TASK_RUNNABLE && sched_runnable() && now >= current->slice_end_ns)
		current->need_resched = true;
}

static void lapic_timer_start(struct percpu *cpu, u64 deadline_ns, u64 now)
{
	u64 ns = deadline_ns > now ? deadline_ns - now : 1, count;

	if (ns > NSEC_PER_SEC)
		ns = NSEC_PER_SEC;	/* keeps the count in 32 bits; it is armed again when it fires */
	count = ns * (apic_hz / 1000) / 1000000;
	if (!cpu->timer_on) {
		lapic_write(LAPIC_TIMER_DIVIDE, LAPIC_DIVIDE_BY_1);
		lapic_write(LAPIC_LVT_TIMER, HUSK_VECTOR_TIMER);
		cpu->timer_on = true;
	}
	cpu->timer_deadline_ns = now + ns;
	lapic_write(LAPIC_TIMER_COUNT, (u32)MAX(count, 1));
}

void timers_arm(void)
{
	struct percpu *cpu = cpu_this();
	u64 next = ~0ull, now;

	cpu->timer_stale = false;
	if (!list_empty(&timers))
		next = list_first(&timers, struct ktimer, link)->deadline_ns;
	if (current->state == TASK_RUNNABLE && sched_runnable())
		next = MIN(next, current->slice_end_ns);
	if (next == ~0ull || (cpu->timer_deadline_ns && cpu->timer_deadline_ns <= next))
		return;
	now = time_monotonic_ns();
	lapic_timer_start(cpu, next, now);
}
