/* SPDX-License-Identifier: Apache-2.0 */
/* Processes and threads: allocation, identity, process groups and sessions. */
#include "proc/process.h"
#include "proc/exit.h"
#include "proc/fpu.h"
#include "proc/misc.h"
#include "proc/signal_send.h"
#include "proc/syscalls.h"
#include "core/print.h"
#include "core/string.h"
#include "core/time.h"
#include "mm/kmalloc.h"
#include "mm/page.h"
#include <linux/errno.h>
#include <linux/resource.h>

#define KSTACK_ORDER 2

struct list process_list = LIST_INIT(process_list);
struct process kernel_process = { .pid = KERNEL_PID, .pgid = KERNEL_PID, .sid = KERNEL_PID,
				  .comm = "husk" };

void process_init(void)
{
	list_init(&kernel_process.children);
	list_init(&kernel_process.sibling);
	list_init(&kernel_process.threads);
	list_init(&kernel_process.all_link);
	sigqueue_init(&kernel_process.pending);
	kernel_process.sighand = sighand_new(NULL);
	for (unsigned i = 0; i < RLIM_COUNT; i++)
		kernel_process.rlim[i] = (struct rlim){ ~0ull, ~0ull };
	kernel_process.rlim[RLIMIT_CORE].cur = 0;
	kernel_process.rlim[RLIMIT_STACK].cur = 8ul << 20;
	kernel_process.rlim[RLIMIT_NOFILE] = (struct rlim){ 1024, 1048576 };
}

struct process *process_find(s32 pid)
{
	struct process *p;

	list_for_each(p, &process_list, all_link)
		if (p->pid == pid)
			return p;
	return NULL;
}

struct task *task_find(s32 tid)
{
	struct process *p;
	struct task *t;

	list_for_each(p, &process_list, all_link)
		list_for_each(t, &p->threads, thread_link)
			if (t->tid == tid)
				return t;
	return NULL;
}

static bool pid_used(s32 pid)
{
	struct process *p;

	list_for_each(p, &process_list, all_link)
		if (p->pid == pid || p->pgid == pid || p->sid == pid)
			return true;
	return task_find(pid);
}

s32 pid_alloc(void)
{
	static s32 last = KERNEL_PID;
	static bool wrapped;

	do {
		if (++last >= PID_MAX) {
			last = FIRST_PID;
			wrapped = true;
		}
	} while (wrapped && pid_used(last));
	return last;
}

struct process *process_new(struct process *parent)
{
	struct process *proc = kzalloc(sizeof(*proc));

	if (!proc)
		return NULL;
	proc->pid = pid_alloc();
	proc->pgid = parent->pgid;
	proc->sid = parent->sid;
	proc->parent = parent;
	proc->tty = parent->tty;
	proc->cred = parent->cred;
	proc->patch = parent->patch;
	proc->dumpable = true;
	proc->cap_dropped = parent->cap_dropped;
	proc->cap_kept = parent->cap_kept;
	proc->cap_ineffective = parent->cap_ineffective;
	proc->cap_inheritable = parent->cap_inheritable;
	proc->cap_bounding_dropped = parent->cap_bounding_dropped;
	proc->securebits = parent->securebits;
	proc->personality = parent->personality;
	proc->nice = parent->nice;
	proc->ioprio = parent->ioprio;
	proc->sched_policy = parent->sched_policy;
	proc->sched_priority = parent->sched_priority;
	proc->no_new_privs = parent->no_new_privs;
	memcpy(proc->rlim, parent->rlim, sizeof(proc->rlim));
	memcpy(proc->comm, parent->comm, sizeof(proc->comm));
	proc->exe = parent->exe ? kstrdup(parent->exe) : NULL;
	proc->start_ns = time_monotonic_ns();
	list_init(&proc->children);
	list_init(&proc->threads);
	sigqueue_init(&proc->pending);
	wait_queue_init(&proc->child_wait);
	wait_queue_init(&proc->signal_wait);
	list_add_tail(&parent->children, &proc->sibling);
	list_add_tail(&process_list, &proc->all_link);
	return proc;
}

struct task *task_new(struct process *proc, s32 tid)
{
	struct task *task = kzalloc(sizeof(*task));
	struct page *stack = page_alloc(KSTACK_ORDER, 0);

	if (task)
		task->fpu = fpu_alloc();
	if (!task || !stack || !task->fpu) {
		if (stack)
			page_put(stack);
		if (task)
			kfree(task->fpu);
		kfree(task);
		return NULL;
	}
	task->tid = tid;
	task->proc = proc;
	task->kstack = page_addr(stack);
	memcpy(task->comm, proc->comm, sizeof(task->comm));
	list_init(&task->run_link);
	sigqueue_init(&task->pending);
	list_add_tail(&proc->threads, &task->thread_link);
	proc->nthreads++;
	return task;
}

void task_free(struct task *task)
{
	sigqueue_flush(&task->pending, ~0ull);
	page_put(page_of(task->kstack));
	kfree(task->fpu);
	kfree(task);
}

void process_free(struct process *proc)
{
	list_del(&proc->sibling);
	list_del(&proc->all_link);
	sigqueue_flush(&proc->pending, ~0ull);
	kfree(proc->exe);
	kfree(proc);
}

long sys_getpid(void)
{
	return current->proc->pid;
}

long sys_gettid(void)
{
	return current->tid;
}

long sys_getppid(void)
{
	return current->proc->parent->pid;
}

static struct process *process_or_self(s32 pid)
{
	return pid ? process_find(pid) : current->proc;
}

long sys_getpgrp(void)
{
	return current->proc->pgid;
}

long sys_getpgid(s32 pid)
{
	struct process *p = process_or_self(pid);

	return p ? p->pgid : -ESRCH;
}

long sys_getsid(s32 pid)
{
	struct process *p = process_or_self(pid);

	return p ? p->sid : -ESRCH;
}

long sys_setpgid(s32 pid, s32 pgid)
{
	struct process *me = current->proc, *p = process_or_self(pid), *other;
	bool exists = false;

	if (pgid < 0)
		return -EINVAL;
	if (!p || (p != me && p->parent != me))
		return -ESRCH;
	if (p != me && p->execed)
		return -EACCES;
	if (p->sid != me->sid || p->pid == p->sid)
		return -EPERM;
	if (!pgid)
		pgid = p->pid;
	list_for_each(other, &process_list, all_link)
		exists = exists || (other->pgid == pgid && other->sid == me->sid);
	if (pgid != p->pid && !exists)
		return -EPERM;
	p->pgid = pgid;
	return 0;
}

long sys_setsid(void)
{
	struct process *me = current->proc, *p;

	list_for_each(p, &process_list, all_link)
		if (p->pgid == me->pid)
			return -EPERM;
	me->sid = me->pgid = me->pid;
	me->tty = NULL;
	return me->pid;
}
