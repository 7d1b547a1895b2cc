/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row in one VM: the child's side (bench_vm.c) sends messages through a pipe, the parent's side
 * (bench_child.c) gathers them under a time budget.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include "vmm/bench_rows.h"

#define BENCH_COUNTERS	64	/* of KVM's; there are about 45 */
#define BENCH_NAME	32
#define BENCH_REASON	128

enum bench_msg_kind {
	BENCH_MSG_COUNTER,	/* text: name of counter `value` */
	BENCH_MSG_READY,	/* value: HUSK_BENCH_F_* */
	BENCH_MSG_BATCH,	/* operations, cycles, count[] */
	BENCH_MSG_DONE,		/* value: HUSK_BENCH_S_*, or BENCH_ELSEWHERE */
	BENCH_MSG_FAILED,	/* text: why there is no VM, or why it stopped */
	BENCH_MSG_HOST,		/* value: TSC kHz; the VM is about to start */
};
#define BENCH_ELSEWHERE	100	/* user space had to serve what KVM should */

struct bench_msg {
	uint32_t kind, value;
	uint64_t operations, cycles;
	union {
		char text[BENCH_REASON];
		uint64_t count[BENCH_COUNTERS];
	};
};

struct bench_job {
	const struct bench_row_info *row;
	unsigned cpus, time_ms, batches;
	bool pin, no_halt_poll;
	bool loud;		/* the VM's own messages go to stderr */
};

/* The child: runs the VM and ends the process. */
void bench_vm_run(const struct bench_job *job, int pipe_fd) __attribute__((noreturn));

enum bench_status { BENCH_OK, BENCH_UNSUPPORTED, BENCH_NO_ANSWER, BENCH_STATUSES };
extern const char *const bench_status_name[BENCH_STATUSES];

/* One VM's answer. */
struct bench_run {
	enum bench_status status;
	char reason[BENCH_REASON];
	bool no_vm;			/* it could not even be made: every other row will fail, too */
	bool x2apic;
	uint32_t tsc_khz;
	unsigned nbatches;
	double cycles[64];		/* an operation, in each batch */
	uint64_t operations;		/* of all batches, on all vCPUs */
	unsigned ncounters;
	char counter[BENCH_COUNTERS][BENCH_NAME];
	double count[BENCH_COUNTERS];	/* an operation */
};

/*
 * Fork, measure, gather. *stop: a signal arrived, give up. 0, or -errno when the host refuses a
 * process, -EINTR when stopped.
 */
int bench_child_run(const struct bench_job *job, const volatile sig_atomic_t *stop,
		    struct bench_run *run);
