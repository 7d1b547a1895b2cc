/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver: finds the row that the FDT names, prepares it, measures, and ends the VM. Everything
 * but the loops is ring-3 code. Nothing here runs, or is even read, in an ordinary run.
 */
#include "bench/bench.h"
#include "core/fdt.h"
#include "core/print.h"
#include "core/time.h"
#include "core/vvar.h"
#include "drivers/mmio.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "husk/system.h"
#include "nucleus/percpu.h"
#include "proc/exit.h"

#define TSC_KHZ_ASSUMED	1000000		/* no usable TSC: batches are only longer or shorter */
#define OPERATIONS_MAX	(1ull << 40)

extern const char bench_fault_gp[], bench_fault_ud[];

/* What the further vCPUs do together with vCPU 0. */
static struct {
	u32 round;			/* a new number: a new job */
	u32 left;			/* vCPUs that have not finished it */
	const char *routine;
	u64 n, arg, ring;		/* ring: the number of vCPUs, when the argument names them */
} job;
static u32 cpus_ready;

u64 bench_tsc(void)
{
	return rdtsc_ordered();
}

void bench_cpuid(u32 leaf, u32 index, u32 out[4])
{
	out[0] = leaf;
	out[2] = index;
	__asm__ volatile("cpuid" : "+a"(out[0]), "=b"(out[1]), "+c"(out[2]), "=d"(out[3]));
}

u64 bench_loop(const char *routine, u64 n, u64 arg, u64 data)
{
	register u64 r9 __asm__("r9") = data;
	u64 cycles = (u64)routine, fault;

	__asm__ volatile("int3"
			 : "+a"(cycles), "+D"(n), "+S"(arg), "=d"(fault), "+r"(r9)
			 : : "rbx", "rcx", "r8", "r10", "r11", "memory", "cc");
	return fault ? fault : cycles;
}

u64 bench_call(const char *routine, u64 a, u64 b)
{
	u64 ret = (u64)routine;

	__asm__ volatile("int3" : "+a"(ret), "+D"(a), "+S"(b) : : "rcx", "rdx", "memory", "cc");
	return ret;
}

static void report(unsigned reg, u64 val)
{
	mmio_write64((void *)(HUSK_DIRECT_MAP + HUSK_BENCH_MMIO + reg), val);
}

void bench_done(unsigned status)
{
	report(HUSK_BENCH_DONE, status);
	system_exit(HUSK_EXIT_CODE, 0);
}

static u64 ring_arg(unsigned id, u64 ncpus)
{
	return id | ncpus << 32;
}

/* --- several vCPUs -------------------------------------------------------------------------- */

void bench_secondary(unsigned id)
{
	u32 seen = 0;

	__atomic_fetch_add(&cpus_ready, 1, __ATOMIC_RELEASE);
	for (;;) {
		u32 round = __atomic_load_n(&job.round, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&bench_ipi_mode, __ATOMIC_ACQUIRE) && id == 1)
			bench_ipi_target();
		if (round == seen) {
			__builtin_ia32_pause();
			continue;
		}
		seen = round;
		bench_loop(job.routine, job.n, job.ring ? ring_arg(id, job.ring) : job.arg, 0);
		__atomic_fetch_sub(&job.left, 1, __ATOMIC_RELEASE);
	}
}

static u64 batch_all(struct bench *b, u64 n)
{
	bool ring = b->row->kind == BENCH_RING;
	u64 cycles;

	job.routine = b->routine;
	job.n = n;
	job.arg = b->arg;
	job.ring = ring ? b->ncpus : 0;
	job.left = b->ncpus - 1;
	__atomic_fetch_add(&job.round, 1, __ATOMIC_RELEASE);
	cycles = bench_loop(b->routine, n, ring ? ring_arg(0, b->ncpus) : b->arg, 0);
	while (__atomic_load_n(&job.left, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	return cycles;
}

static u64 batch_one(struct bench *b, u64 n)
{
	return bench_loop(b->routine, n, b->arg, b->flags >> 32);
}

/* --- measuring ------------------------------------------------------------------------------ */

/* So many operations that a batch takes about as long as it should. Warms everything up, too. */
static u64 calibrate(struct bench *b, u64 (*batch)(struct bench *b, u64 n))
{
	u64 n = 1, cycles;

	for (;;) {
		cycles = batch(b, n);
		if (cycles == BENCH_FAULT_GP)
			bench_done(HUSK_BENCH_S_GP);
		if (cycles == BENCH_FAULT_UD)
			bench_done(HUSK_BENCH_S_UD);
		if (cycles >= b->batch_cycles / 4 || n >= OPERATIONS_MAX)
			break;
		n *= 2;
	}
	if (cycles > b->batch_cycles)
		n = n * b->batch_cycles / cycles;
	else
		n = n * (b->batch_cycles / (cycles ? cycles : 1));
	return n ? n : 1;
}

void bench_measure(struct bench *b, u64 (*batch)(struct bench *b, u64 n))
{
	u64 n = calibrate(b, batch);

	for (u32 i = 0; i < HUSK_BENCH_EMPTY + b->batches; i++) {
		u64 ops = i < HUSK_BENCH_EMPTY ? 0 : n;

		report(HUSK_BENCH_BEGIN, ops);
		report(HUSK_BENCH_END, batch(b, ops));
	}
}

static void faults_take(void)
{
	gate_set(13, (u64)bench_fault_gp);
	gate_set(6, (u64)bench_fault_ud);
}

static void measure(struct bench *b)
{
	switch (b->row->kind) {
	case BENCH_ONE:
		bench_measure(b, batch_one);
		break;
	case BENCH_ALL:
	case BENCH_RING:
		bench_measure(b, batch_all);
		break;
	case BENCH_KERNEL:
		bench_measure(b, b->row->batch);
		break;
	case BENCH_PROGRAM:
		bench_program(b);
	}
}

static u32 cpus_count(const struct fdt *fdt)
{
	int cpus = fdt_find(fdt, fdt_root(fdt), "cpus");
	u32 n = 0;

	for (int node = fdt_child(fdt, cpus); node >= 0; node = fdt_next(fdt, node))
		n++;
	return n;
}

void bench_run(const struct fdt *fdt)
{
	int node = fdt_find(fdt, fdt_find(fdt, fdt_root(fdt), "chosen"), HUSK_FDT_BENCH);
	const char *name = node < 0 ? NULL : fdt_str(fdt, node, HUSK_FDT_BENCH_ROW);
	u64 khz = time_tsc_khz();
	static struct bench b;
	unsigned status;

	if (!name)
		panic("the device tree has neither a program nor a row to measure");
	b.row = bench_row_find(name);
	if (!b.row)
		bench_done(HUSK_BENCH_S_UNKNOWN);
	b.routine = b.row->routine;
	b.arg = b.row->arg;
	b.ncpus = cpus_count(fdt);
	b.batches = (u32)fdt_u32(fdt, node, HUSK_FDT_BENCH_BATCHES, 5);
	b.batch_cycles = fdt_u32(fdt, node, HUSK_FDT_BENCH_TIME, 10000) *
			 (khz ? khz : TSC_KHZ_ASSUMED) / 1000;
	faults_take();
	while (__atomic_load_n(&cpus_ready, __ATOMIC_ACQUIRE) < b.ncpus - 1)
		__builtin_ia32_pause();
	status = b.row->prepare ? b.row->prepare(&b) : HUSK_BENCH_S_OK;
	if (status)
		bench_done(status);
	report(HUSK_BENCH_READY, (u32)b.flags);
	measure(&b);
	bench_done(HUSK_BENCH_S_OK);
}
