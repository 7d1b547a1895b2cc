/* SPDX-License-Identifier: Apache-2.0 */
/* System calls: from the registers to the function and back. */
#include "proc/syscall.h"
#include "proc/patch.h"
#include "proc/task.h"
#include "core/print.h"
#include "core/sched.h"
#include "husk/fdt.h"
#include "nucleus/percpu.h"
#include <linux/errno.h>

static u64 unknown_named[NSYSCALLS / 64 + 1];

/* Once in the log, so that a failing program explains itself. */
static long syscall_unknown(u64 nr)
{
	if (nr >= NSYSCALLS) {
		klog("%s: unknown system call %lu", current->comm, nr);
	} else if (!(unknown_named[nr / 64] & 1ull << nr % 64)) {
		unknown_named[nr / 64] |= 1ull << nr % 64;
		klog("%s: system call %lu (%s) is not implemented", current->comm, nr,
		     syscall_table[nr].name ? syscall_table[nr].name : "unknown");
	}
	return -ENOSYS;
}

static bool work_pending(const struct task *task, long ret)
{
	const struct process *proc = task->proc;

	return ((task->pending.set | proc->pending.set) & ~task->sigmask) || task->need_resched ||
	       task->regs_changed || task->restore_sigmask || proc->group_exit || proc->stopped ||
	       (ret <= -ERESTARTSYS && ret >= -ERESTARTNOHAND) ||
	       (sched_runnable() && !cpu_this()->timer_deadline_ns);
}

static inline long syscall_run(const struct syscall *call, const struct regs *regs)
{
	if (likely(regs->orig_rax < NSYSCALLS && call->fn))
		return call->fn((long)regs->rdi, (long)regs->rsi, (long)regs->rdx, (long)regs->r10,
				(long)regs->r8, (long)regs->r9);
	return syscall_unknown(regs->orig_rax);
}

static __attribute__((noinline)) long syscall_traced(const struct syscall *call,
						     const struct regs *regs)
{
	struct trace_line line;
	long ret;

	syscall_trace_enter(regs->orig_rax < NSYSCALLS ? call : NULL, regs, &line);
	ret = syscall_run(call, regs);
	syscall_trace_leave(&line, ret);
	return ret;
}

int syscall_dispatch(struct regs *regs)
{
	u64 nr = regs->orig_rax;
	const struct syscall *call = &syscall_table[nr < NSYSCALLS ? nr : 0];
	struct task *task = current;
	long ret;

	if (unlikely(trace_mask & HUSK_TRACE_SYSCALL))
		ret = syscall_traced(call, regs);
	else
		ret = syscall_run(call, regs);
	if (!task->regs_changed)
		regs->rax = (u64)ret;
	if (likely(!work_pending(task, ret)))
		return 0;
	task->regs_changed = false;
	return 1;
}

int syscall_trapped(struct regs *regs)
{
	patch_site(regs);
	return syscall_dispatch(regs);
}
