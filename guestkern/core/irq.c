/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interrupts as the ring-3 kernel sees them: bits in percpu.pending, set by the nucleus, run on
 * the way back to the program and while idle. Device vectors are handed out here.
 */
#include "core/sched.h"
#include "core/lapic.h"
#include "core/print.h"
#include "drivers/drivers.h"
#include "husk/system.h"
#include "nucleus/percpu.h"
#include "proc/signal_send.h"
#include <linux/errno.h>

#define NVECTORS (HUSK_VECTOR_SYSTEM - HUSK_VECTOR_BASE)

static struct { void (*fn)(void *arg); void *arg; } handlers[NVECTORS];

void irq_init(void)
{
	lapic_write(LAPIC_SVR, LAPIC_SVR_ENABLE | HUSK_VECTOR_SPURIOUS);
}

int irq_request(void (*fn)(void *arg), void *arg)
{
	for (unsigned i = 0; i < NVECTORS; i++) {
		if (handlers[i].fn)
			continue;
		handlers[i].arg = arg;
		handlers[i].fn = fn;
		return (int)(HUSK_VECTOR_BASE + i);
	}
	return -ENOSPC;
}

void *mmio_map(u64 gpa, u64 size)
{
	kassert(gpa + size <= HUSK_DIRECT_MAX);
	return (void *)(HUSK_DIRECT_MAP + gpa);
}

bool irq_pending(void)
{
	return *(volatile u64 *)&cpu_this()->pending;
}

/* Signals that were sent to the husk process go to the program. */
static void irq_system(void)
{
	u64 set = *(volatile u64 *)(HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_SIGNALS);

	for (int sig = 1; sig <= SIGNALS; sig++)
		if (set & (1ull << (sig - 1)))
			signal_from_host(sig);
}

static void irq_run(unsigned n)
{
	unsigned vector = HUSK_VECTOR_BASE + n;

	if (vector == HUSK_VECTOR_TIMER) {
		cpu_this()->timer_deadline_ns = 0;
		timers_run();
	} else if (vector == HUSK_VECTOR_SYSTEM) {
		irq_system();
	} else if (n < NVECTORS && handlers[n].fn) {
		handlers[n].fn(handlers[n].arg);
	} else if (vector != HUSK_VECTOR_IPI) {
		klog("interrupt on vector 0x%x that nobody asked for", vector);
	}
}

void irq_run_pending(void)
{
	u64 set = __atomic_exchange_n(&cpu_this()->pending, 0, __ATOMIC_RELAXED);

	while (set) {
		irq_run((unsigned)__builtin_ctzll(set));
		set &= set - 1;
	}
}
