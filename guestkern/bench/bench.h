/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `husk bench` inside the guest: a row is a name, a loop and what prepares it. The driver in bench.c
 * runs one row in batches and reports each (husk/bench.h).
 */
#pragma once

#include "core/types.h"
#include "husk/bench.h"

struct fdt;
struct bench_row;

/* Instead of the first program, as the first task. */
void bench_run(const struct fdt *fdt) __attribute__((noreturn));
/* A further vCPU, once the first has booted. */
void bench_secondary(unsigned id) __attribute__((noreturn));

enum bench_kind {
	BENCH_ONE,		/* a ring-0 loop on vCPU 0 */
	BENCH_ALL,		/* the same loop on all vCPUs at once */
	BENCH_RING,		/* ditto, and its argument is the vCPU and their number */
	BENCH_KERNEL,		/* `batch` below, ring-3 kernel code */
	BENCH_PROGRAM,		/* system calls of a program */
};

/* One row being measured. */
struct bench {
	const struct bench_row *row;
	u64 arg;		/* of the loop; prepare() may change it */
	const char *routine;
	u32 ncpus, batches;
	u64 batch_cycles;	/* aim */
	u64 flags;		/* HUSK_BENCH_F_* */
	u64 (*loop)(u64 n);	/* BENCH_PROGRAM */
};

struct bench_row {
	const char *name;
	enum bench_kind kind;
	const char *routine;
	u64 arg;
	unsigned (*prepare)(struct bench *b);		/* HUSK_BENCH_S_*; may be NULL */
	u64 (*batch)(struct bench *b, u64 n);		/* cycles of n operations */
};

const struct bench_row *bench_row_find(const char *name);

/* A ring-0 loop: its cycles, or BENCH_FAULT_*. */
#define BENCH_FAULT_GP	(~0ull)
#define BENCH_FAULT_UD	(~1ull)
u64 bench_loop(const char *routine, u64 n, u64 arg, u64 data);
/* Any routine of loops.S that returns a value in rax. */
u64 bench_call(const char *routine, u64 a, u64 b);

/* Calibrates, measures, reports; the row is prepared. Also runs as (part of) a program. */
void bench_measure(struct bench *b, u64 (*batch)(struct bench *b, u64 n));
void bench_done(unsigned status) __attribute__((noreturn));

u64 bench_tsc(void);
void bench_cpuid(u32 leaf, u32 index, u32 out[4]);	/* eax ebx ecx edx */

/* apic.c: preparation of interrupt rows, and a further vCPU's part. */
unsigned bench_prepare_xapic(struct bench *b);
unsigned bench_prepare_x2apic(struct bench *b);
unsigned bench_prepare_deadline(struct bench *b);
unsigned bench_prepare_ipi(struct bench *b);
void bench_ipi_target(void) __attribute__((noreturn));
extern u32 bench_ipi_mode;		/* what vCPU 1 shall do: 0 wait for jobs, else BENCH_IPI_* */
#define BENCH_IPI_XAPIC		1
#define BENCH_IPI_X2APIC	2

/* testdev.c. arg of the row: BENCH_TEST_IO | number of the test. */
#define BENCH_TEST_IO	8
unsigned bench_prepare_testdev(struct bench *b);

/* tasks.c: the rows of our own kernel. */
unsigned bench_prepare_cr3(struct bench *b);
unsigned bench_prepare_tasks(struct bench *b);
u64 bench_batch_fault(struct bench *b, u64 n);
u64 bench_batch_cr3(struct bench *b, u64 n);
u64 bench_batch_nucleus(struct bench *b, u64 n);
u64 bench_batch_tasks(struct bench *b, u64 n);
/* Runs the row as a program in a process with memory of its own; arg 1: its call site is patched. */
void bench_program(struct bench *b) __attribute__((noreturn));

