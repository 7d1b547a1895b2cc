/* SPDX-License-Identifier: Apache-2.0 */
/* What the small system calls keep and share: names, identity, limits, timers. */
#pragma once

#include "core/types.h"

struct fdt;
struct process;
struct task;

#define UTS_SYSNAME	"Linux"
#define UTS_RELEASE	"6.1.0-husk"
#define UTS_VERSION	"#1 SMP husk"
#define UTS_MACHINE	"x86_64"
#define UTS_LEN		65

struct uts_names {
	char hostname[UTS_LEN], domainname[UTS_LEN];
};
extern struct uts_names uts_names;

void misc_init(const struct fdt *fdt);			/* hostname from the FDT */
/* Limits of the first program: Linux's defaults, then what the FDT says. */
void rlimits_init(struct process *proc, const struct fdt *fdt);
extern const char *const rlimit_names[];		/* as in /proc/<pid>/limits */

/* Capability sets as bit masks of capabilities(7); root has all that it has not dropped. */
#define CAP_LAST	40u
#define CAP_ALL		((1ull << (CAP_LAST + 1)) - 1)
u64 cap_permitted(const struct process *proc);
u64 cap_effective(const struct process *proc);
u64 cap_bounding(const struct process *proc);

void itimer_exit(struct process *proc);			/* the process ends: no more SIGALRM */

/* CPU time of a process, threads that have ended included. */
void process_cpu_times(const struct process *proc, u64 *utime_ns, u64 *stime_ns);

#define PID_MAX		4194304
#define NR_OPEN		1048576u
#define USER_HZ		100
#define NS_PER_TICK	(1000000000ull / USER_HZ)
