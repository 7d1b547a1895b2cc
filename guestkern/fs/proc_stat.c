/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/<pid>: stat, statm, status, limits, in the formats of proc(5). */
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/string.h"
#include "fs/procfs.h"
#include "fs/tty.h"
#include "mm/vm.h"
#include "proc/misc.h"
#include "proc/signo.h"

#define CONSOLE_TTY_NR	0x501		/* 5:1 */
#define PF_NO_FLAGS	0u

typedef unsigned long long ull;

static char task_state_letter(const struct process *proc, const struct task *task)
{
	if (!task || proc->zombie)
		return 'Z';
	switch (task->state) {
	case TASK_RUNNABLE:
		return 'R';
	case TASK_SLEEPING:
		return 'S';
	case TASK_SLEEPING_NOINTR:
		return 'D';
	case TASK_STOPPED:
		return 'T';
	default:
		return 'X';
	}
}

struct signal_sets { u64 ignored, caught; };

static struct signal_sets signal_sets(const struct process *proc)
{
	struct signal_sets sets = { 0, 0 };

	for (int sig = 1; proc->sighand && sig <= SIGNALS; sig++) {
		u64 handler = proc->sighand->action[sig - 1].handler;

		if (handler == SIG_HANDLER_IGN)
			sets.ignored |= SIGBIT(sig);
		else if (handler != SIG_HANDLER_DFL)
			sets.caught |= SIGBIT(sig);
	}
	return sets;
}

static void stat_times(struct seq *seq, const struct process *proc, const struct task *thread)
{
	u64 utime = 0, stime = 0;

	if (thread)
		task_cpu_times(thread, &utime, &stime);
	else
		process_cpu_times(proc, &utime, &stime);
	seq_printf(seq, " %llu 0 %llu 0", (ull)proc->min_faults, (ull)proc->maj_faults);
	seq_printf(seq, " %llu %llu %lld %lld", (ull)(utime / NS_PER_TICK),
		   (ull)(stime / NS_PER_TICK), (long long)(proc->cutime_ns / NS_PER_TICK),
		   (long long)(proc->cstime_ns / NS_PER_TICK));
}

static void stat_memory(struct seq *seq, const struct process *proc)
{
	const struct mm *mm = proc->mm;

	seq_printf(seq, " %llu %llu %llu", mm ? (ull)mm->total_pages << PAGE_SHIFT : 0ull,
		   mm ? (ull)mm->rss_pages : 0ull, (ull)proc->rlim[5].cur);	/* RLIMIT_RSS */
	/* startcode endcode startstack kstkesp kstkeip */
	seq_printf(seq, " %llu %llu %llu 0 0", mm ? (ull)mm->code_start : 0ull,
		   mm ? (ull)mm->code_start : 0ull, mm ? (ull)mm->stack_top : 0ull);
}

int proc_pid_stat(struct seq *seq, const struct pseudo *self)
{
	struct process *proc = proc_process(self);
	struct task *task = proc_task(self);
	const struct mm *mm = proc->mm;
	struct signal_sets sets = signal_sets(proc);
	bool thread = self->tid != 0;

	seq_printf(seq, "%d (%s) %c %d %d %d %d %d %u", thread ? self->tid : proc->pid,
		   task ? task->comm : proc->comm, task_state_letter(proc, task),
		   proc->parent ? proc->parent->pid : 0, proc->pgid, proc->sid,
		   proc->tty ? CONSOLE_TTY_NR : 0, proc->tty ? proc->tty->pgrp : -1, PF_NO_FLAGS);
	stat_times(seq, proc, thread ? task : NULL);
	seq_printf(seq, " %d %d %u 0 %llu", 20 + proc->nice, proc->nice, proc->nthreads,
		   (ull)(proc->start_ns / NS_PER_TICK));
	stat_memory(seq, proc);
	seq_printf(seq, " %llu %llu %llu %llu 0 0 0",
		   (ull)((task ? task->pending.set : 0) & 0x7fffffff),
		   (ull)((task ? task->sigmask : 0) & 0x7fffffff),
		   (ull)(sets.ignored & 0x7fffffff), (ull)(sets.caught & 0x7fffffff));
	seq_printf(seq, " %d 0 %u %u 0 0 0", proc->exit_signal, proc->sched_priority,
		   proc->sched_policy);
	seq_printf(seq, " 0 0 %llu %llu %llu %llu %llu %u\n", mm ? (ull)mm->brk_start : 0ull,
		   mm ? (ull)mm->arg_start : 0ull, mm ? (ull)mm->arg_end : 0ull,
		   mm ? (ull)mm->env_start : 0ull, mm ? (ull)mm->env_end : 0ull,
		   proc->zombie ? proc->exit_status : 0);
	return 0;
}

struct mm_sizes { u64 total, rss, exec, data, stack, file; };	/* pages */

static struct mm_sizes mm_sizes(struct mm *mm)
{
	struct mm_sizes sizes = { 0 };
	struct vma *vma;

	if (!mm)
		return sizes;
	sizes.rss = mm->rss_pages;
	list_for_each(vma, &mm->vmas, link) {
		u64 n = (vma->end - vma->start) >> PAGE_SHIFT;

		sizes.total += n;
		if (vma->flags & VM_EXEC)
			sizes.exec += n;
		else if (vma->flags & VM_GROWSDOWN)
			sizes.stack += n;
		else if (vma->flags & VM_WRITE && !(vma->flags & VM_SHARED))
			sizes.data += n;
		if (vma->inode)
			sizes.file += n;
	}
	return sizes;
}

int proc_pid_statm(struct seq *seq, const struct pseudo *self)
{
	struct mm_sizes m = mm_sizes(proc_process(self)->mm);

	seq_printf(seq, "%llu %llu 0 %llu 0 %llu 0\n", (ull)m.total, (ull)m.rss, (ull)m.exec,
		   (ull)(m.data + m.stack));
	return 0;
}

static const char *state_name(char letter)
{
	switch (letter) {
	case 'R':
		return "R (running)";
	case 'S':
		return "S (sleeping)";
	case 'D':
		return "D (disk sleep)";
	case 'T':
		return "T (stopped)";
	case 'Z':
		return "Z (zombie)";
	default:
		return "X (dead)";
	}
}

static void status_identity(struct seq *seq, const struct process *proc, const struct task *task,
			    s32 tid)
{
	const struct cred *c = &proc->cred;

	seq_printf(seq, "Name:\t%s\nUmask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n",
		   task ? task->comm : proc->comm, proc->fs ? proc->fs->umask : 0,
		   state_name(task_state_letter(proc, task)), proc->pid, tid ? tid : proc->pid);
	seq_printf(seq, "PPid:\t%d\nTracerPid:\t0\nUid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\n",
		   proc->parent ? proc->parent->pid : 0, c->uid, c->euid, c->suid, c->fsuid,
		   c->gid, c->egid, c->sgid, c->fsgid);
	seq_puts(seq, "FDSize:\t64\nGroups:\t");
	for (u32 i = 0; i < c->ngroups; i++)
		seq_printf(seq, "%u ", c->groups[i]);
	seq_puts(seq, "\n");
}

static void status_memory(struct seq *seq, const struct process *proc)
{
	struct mm_sizes m = mm_sizes(proc->mm);

	if (!proc->mm)
		return;
	seq_printf(seq, "VmSize:\t%8llu kB\nVmLck:\t       0 kB\nVmPin:\t       0 kB\n"
		   "VmRSS:\t%8llu kB\nVmData:\t%8llu kB\nVmStk:\t%8llu kB\nVmExe:\t%8llu kB\n"
		   "VmSwap:\t       0 kB\n", (ull)m.total * 4, (ull)m.rss * 4, (ull)m.data * 4,
		   (ull)m.stack * 4, (ull)m.exec * 4);
}

static unsigned pending_count(u64 set)
{
	unsigned n = 0;

	for (; set; set &= set - 1)
		n++;
	return n;
}

static void status_signals(struct seq *seq, const struct process *proc, const struct task *task)
{
	struct signal_sets sets = signal_sets(proc);

	seq_printf(seq, "Threads:\t%u\nSigQ:\t%u/%llu\n", proc->nthreads,
		   pending_count(proc->pending.set), (ull)proc->rlim[11].cur);
	seq_printf(seq, "SigPnd:\t%016llx\nShdPnd:\t%016llx\nSigBlk:\t%016llx\n",
		   (ull)(task ? task->pending.set : 0), (ull)proc->pending.set,
		   (ull)(task ? task->sigmask : 0));
	seq_printf(seq, "SigIgn:\t%016llx\nSigCgt:\t%016llx\n", (ull)sets.ignored,
		   (ull)sets.caught);
	seq_printf(seq, "CapInh:\t%016llx\nCapPrm:\t%016llx\nCapEff:\t%016llx\nCapBnd:\t%016llx\n"
		   "CapAmb:\t%016llx\n", (ull)proc->cap_inheritable, (ull)cap_permitted(proc),
		   (ull)cap_effective(proc), (ull)cap_bounding(proc), 0ull);
}

static void status_cpus(struct seq *seq, const struct process *proc)
{
	unsigned cpus = cpu_online_count();

	seq_printf(seq, "NoNewPrivs:\t%d\nSeccomp:\t0\n", proc->no_new_privs);
	seq_printf(seq, "Cpus_allowed:\t%llx\n", cpus >= 64 ? ~0ull : (1ull << cpus) - 1);
	if (cpus > 1)
		seq_printf(seq, "Cpus_allowed_list:\t0-%u\n", cpus - 1);
	else
		seq_puts(seq, "Cpus_allowed_list:\t0\n");
	seq_printf(seq, "Mems_allowed:\t1\nMems_allowed_list:\t0\nvoluntary_ctxt_switches:\t%llu\n"
		   "nonvoluntary_ctxt_switches:\t%llu\n", (ull)proc->nvcsw, (ull)proc->nivcsw);
}

int proc_pid_status(struct seq *seq, const struct pseudo *self)
{
	struct process *proc = proc_process(self);
	struct task *task = proc_task(self);

	status_identity(seq, proc, task, self->tid);
	status_memory(seq, proc);
	status_signals(seq, proc, task);
	status_cpus(seq, proc);
	return 0;
}

static void limits_value(struct seq *seq, u64 value)
{
	size_t start = seq->len;

	if (value == ~0ull)
		seq_puts(seq, "unlimited");
	else
		seq_printf(seq, "%llu", (ull)value);
	seq_pad(seq, start, 21);
}

int proc_pid_limits(struct seq *seq, const struct pseudo *self)
{
	static const char *const units[RLIM_COUNT] = {
		"seconds", "bytes", "bytes", "bytes", "bytes", "bytes", "processes", "files",
		"bytes", "bytes", "locks", "signals", "bytes", "", "", "us",
	};
	const struct process *proc = proc_process(self);

	seq_printf(seq, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit", "Hard Limit", "Units");
	for (int i = 0; i < RLIM_COUNT; i++) {
		seq_printf(seq, "%-25s ", rlimit_names[i]);
		limits_value(seq, proc->rlim[i].cur);
		limits_value(seq, proc->rlim[i].max);
		if (*units[i])
			seq_printf(seq, "%-10s", units[i]);
		seq_puts(seq, "\n");
	}
	return 0;
}
