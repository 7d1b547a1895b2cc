/* SPDX-License-Identifier: Apache-2.0 */
/* The local APIC for rows that measure interrupts. Vector HUSK_VECTOR_BENCH gets a gate of its own. */
#include "bench/bench.h"
#include "core/lapic.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"

#define LAPIC_ICR2		0x310
#define LVT_TSC_DEADLINE	(2u << 17)	/* Intel SDM volume 3, 11.5.1 */
#define MSR_APIC_BASE		0x1b
#define APIC_BASE_X2APIC	(1u << 10)
#define MSR_X2APIC_SVR		0x80f
#define CPUID1_ECX_X2APIC	(1u << 21)
#define CPUID1_ECX_DEADLINE	(1u << 24)

extern const char bench_isr_xapic[], bench_isr_x2apic[], bench_wait[];
extern const char bench_ipi_xapic[], bench_ipi_x2apic[], bench_ipi_halt_xapic[], bench_ipi_halt_x2apic[];

u32 bench_ipi_mode;
static u32 target_ready;

static u32 cpuid1_ecx(void)
{
	u32 r[4];

	bench_cpuid(1, 0, r);
	return r[2];
}

unsigned bench_prepare_xapic(struct bench *b)
{
	gate_set(HUSK_VECTOR_BENCH, (u64)bench_isr_xapic);
	return HUSK_BENCH_S_OK;
}

/* This vCPU into x2APIC mode. From here on the registers of core/lapic.h are gone on it. */
static bool x2apic_enable(void)
{
	u64 base;

	if (!(cpuid1_ecx() & CPUID1_ECX_X2APIC) || nucleus_rdmsr(MSR_APIC_BASE, &base) ||
	    nucleus_wrmsr(MSR_APIC_BASE, base | APIC_BASE_X2APIC))
		return false;
	return !nucleus_wrmsr(MSR_X2APIC_SVR, LAPIC_SVR_ENABLE | HUSK_VECTOR_SPURIOUS);
}

unsigned bench_prepare_x2apic(struct bench *b)
{
	if (!x2apic_enable())
		return HUSK_BENCH_S_X2APIC;
	gate_set(HUSK_VECTOR_BENCH, (u64)bench_isr_x2apic);
	b->flags |= HUSK_BENCH_F_X2APIC;
	return HUSK_BENCH_S_OK;
}

unsigned bench_prepare_deadline(struct bench *b)
{
	if (!(cpuid1_ecx() & CPUID1_ECX_DEADLINE))
		return HUSK_BENCH_S_DEADLINE;
	gate_set(HUSK_VECTOR_BENCH, (u64)bench_isr_xapic);
	lapic_write(LAPIC_LVT_TIMER, LVT_TSC_DEADLINE | HUSK_VECTOR_BENCH);
	return HUSK_BENCH_S_OK;
}

/* arg 1: ipi_halt. x2APIC mode where there is one, as the original suite does. */
unsigned bench_prepare_ipi(struct bench *b)
{
	bool x2apic;

	if (b->ncpus < 2)
		return HUSK_BENCH_S_CPUS;
	x2apic = bench_prepare_x2apic(b) == HUSK_BENCH_S_OK;
	if (x2apic) {
		b->routine = b->arg ? bench_ipi_halt_x2apic : bench_ipi_x2apic;
	} else {
		bench_prepare_xapic(b);
		lapic_write(LAPIC_ICR2, 1u << 24);
		b->routine = b->arg ? bench_ipi_halt_xapic : bench_ipi_xapic;
	}
	__atomic_store_n(&bench_ipi_mode, x2apic ? BENCH_IPI_X2APIC : BENCH_IPI_XAPIC, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&target_ready, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	return HUSK_BENCH_S_OK;
}

void bench_ipi_target(void)
{
	if (bench_ipi_mode == BENCH_IPI_X2APIC)
		x2apic_enable();
	else
		lapic_write(LAPIC_SVR, LAPIC_SVR_ENABLE | HUSK_VECTOR_SPURIOUS);
	__atomic_store_n(&target_ready, 1, __ATOMIC_RELEASE);
	for (;;)
		nucleus_call(bench_wait, 0, 0);
}
