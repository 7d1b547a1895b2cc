/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of threads and processes. */
#pragma once

#include "core/types.h"

struct process;
struct task;

#define KERNEL_PID 1	/* the kernel itself: parent of the first program and of orphans */
#define FIRST_PID 2

void exit_thread(void) __attribute__((noreturn));		/* the current thread, group is exiting */
void exit_group(u32 status) __attribute__((noreturn));		/* status as wait4(2) reports it */
void exit_group_signal(int sig) __attribute__((noreturn));
void process_free(struct process *proc);			/* a reaped one */
/* Make every other thread end; they are gone when proc->nthreads says so (proc->child_wait). */
void process_kill_threads(struct process *proc, struct task *except);
void vfork_release(struct process *proc);			/* it execs or ends: the parent goes on */

/* The VM's end (include/husk/system.h). */
void system_exit(unsigned kind, unsigned value) __attribute__((noreturn));
