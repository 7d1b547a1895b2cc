/* SPDX-License-Identifier: Apache-2.0 */
/* Making processes and threads. */
#pragma once

#include "proc/task.h"

void process_init(void);			/* the kernel's own process, parent of the first program */
/* A process without threads, child of parent, pid assigned; NULL: no memory. */
struct process *process_new(struct process *parent);
/* A thread of proc with a kernel stack; not yet runnable. NULL: no memory. */
struct task *task_new(struct process *proc, s32 tid);
s32 pid_alloc(void);
extern struct process kernel_process;
