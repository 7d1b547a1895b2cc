/* SPDX-License-Identifier: Apache-2.0 */
/* fork(2), vfork, clone, clone3. */
#include "proc/process.h"
#include "proc/exit.h"
#include "proc/fpu.h"
#include "proc/signal_send.h"
#include "proc/syscalls.h"
#include "core/sched.h"
#include "core/string.h"
#include "fs/vfs.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include <asm/signal.h>
#include <linux/errno.h>
#include <linux/sched.h>

void task_first_run(void);		/* nucleus/entry.S */

/* Namespaces are not there; the VM is the container. */
#define CLONE_NAMESPACES (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | \
			  CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)

struct clone {
	u64 flags, stack, tls;
	u64 parent_tid, child_tid;
	int exit_signal;
};

static int clone_check(const struct clone *c)
{
	u64 f = c->flags;

	if ((f & CLONE_THREAD) && !(f & CLONE_SIGHAND))
		return -EINVAL;
	if ((f & CLONE_SIGHAND) && !(f & CLONE_VM))
		return -EINVAL;
	if (f & (CLONE_NAMESPACES | CLONE_PIDFD | CLONE_INTO_CGROUP))
		return -EINVAL;
	return 0;
}

/* What a new process shares with, or copies from, its parent. 0 or -ENOMEM. */
static int process_share(struct process *child, struct process *parent, u64 flags)
{
	if (flags & CLONE_VM) {
		child->mm = parent->mm;
		mm_get(child->mm);
	} else {
		child->mm = mm_fork(parent->mm);
	}
	if (flags & CLONE_FILES) {
		child->files = parent->files;
		files_get(child->files);
	} else {
		child->files = files_fork(parent->files);
	}
	if (flags & CLONE_FS) {
		child->fs = parent->fs;
		fs_get(child->fs);
	} else {
		child->fs = fs_fork(parent->fs);
	}
	if (flags & CLONE_SIGHAND) {
		child->sighand = parent->sighand;
		child->sighand->refs++;
	} else {
		child->sighand = sighand_new(parent->sighand);
		if (child->sighand && (flags & CLONE_CLEAR_SIGHAND))
			sighand_exec(child);
	}
	return child->mm && child->files && child->fs && child->sighand ? 0 : -ENOMEM;
}

static void process_unshare(struct process *child)
{
	if (child->mm)
		mm_put(child->mm);
	if (child->files)
		files_put(child->files);
	if (child->fs)
		fs_put(child->fs);
	if (child->sighand)
		sighand_put(child->sighand);
	process_free(child);
}

/* The child's first stack frame: it returns to its program with 0. */
static void task_prepare(struct task *child, const struct clone *c)
{
	struct regs *regs = task_regs(child);
	u64 *sp;

	*regs = *task_regs(current);
	regs->rax = 0;
	regs->orig_rax = ~0ull;
	if (c->stack)
		regs->rsp = c->stack;
	sp = (u64 *)regs;
	*--sp = 0;			/* alignment, task_first_run() */
	*--sp = (u64)task_first_run;
	for (unsigned i = 0; i < 6; i++)
		*--sp = 0;
	child->ksp = (u64)sp;
	fpu_save(current);
	memcpy(child->fpu, current->fpu, fpu_size);
	child->fs_base = c->flags & CLONE_SETTLS ? c->tls : current->fs_base;
	child->sigmask = current->sigmask;
	if (!(c->flags & CLONE_VM) || (c->flags & CLONE_VFORK)) {
		child->altstack_sp = current->altstack_sp;
		child->altstack_size = current->altstack_size;
		child->altstack_flags = current->altstack_flags;
	}
	memcpy(child->comm, current->comm, sizeof(child->comm));
}

/* CLONE_CHILD_SETTID writes in the child's memory: before it runs, from the parent's tables. */
static void child_tid_set(struct task *child, const struct clone *c)
{
	struct mm *mine = current->proc->mm;

	if (c->flags & CLONE_CHILD_CLEARTID)
		child->clear_child_tid = c->child_tid;
	if (!(c->flags & CLONE_CHILD_SETTID))
		return;
	if (child->proc->mm == mine) {
		copy_to_user(c->child_tid, &child->tid, 4);
		return;
	}
	child->set_child_tid = c->child_tid;	/* schedule_tail() does it, in its own address space */
}

static long clone_run(const struct clone *c)
{
	struct process *parent = current->proc, *proc = parent;
	bool thread = c->flags & CLONE_THREAD, vfork_done = false;
	struct task *child;
	s32 tid;
	int ret = clone_check(c);

	if (ret)
		return ret;
	if (!thread) {
		proc = process_new((c->flags & CLONE_PARENT) ? parent->parent : parent);
		if (!proc)
			return -EAGAIN;
		ret = process_share(proc, parent, c->flags);
		if (ret) {
			process_unshare(proc);
			return ret;
		}
		proc->exit_signal = c->exit_signal;
	}
	tid = thread ? pid_alloc() : proc->pid;
	child = task_new(proc, tid);
	if (!child) {
		if (!thread)
			process_unshare(proc);
		return -EAGAIN;
	}
	task_prepare(child, c);
	if (c->flags & CLONE_PARENT_SETTID)
		copy_to_user(c->parent_tid, &tid, 4);
	child_tid_set(child, c);
	if (c->flags & CLONE_VFORK) {
		proc->vfork_done = &vfork_done;
		proc->vfork_waiter = current;
	}
	task_enqueue(child);
	while ((c->flags & CLONE_VFORK) && !vfork_done) {
		current->state = TASK_SLEEPING_NOINTR;
		schedule();
	}
	return tid;
}

long sys_clone(u64 flags, u64 stack, u64 ptid, u64 ctid, u64 tls)
{
	struct clone c = {
		.flags = flags & 0xffffff00ull & ~(u64)CLONE_DETACHED, .stack = stack, .tls = tls,
		.parent_tid = ptid, .child_tid = ctid, .exit_signal = (int)(flags & CSIGNAL),
	};

	return clone_run(&c);
}

long sys_clone3(u64 args, u64 size)
{
	struct clone_args a = { 0 };
	struct clone c;

	if (size < CLONE_ARGS_SIZE_VER0)
		return -EINVAL;
	if (size > sizeof(a))
		return -E2BIG;
	if (copy_from_user(&a, args, size))
		return -EFAULT;
	if ((a.flags & CSIGNAL) || a.exit_signal > SIGNALS || !!a.stack != !!a.stack_size ||
	    (a.set_tid_size && a.set_tid))
		return -EINVAL;
	c = (struct clone){
		.flags = a.flags, .stack = a.stack ? a.stack + a.stack_size : 0, .tls = a.tls,
		.parent_tid = a.parent_tid, .child_tid = a.child_tid,
		.exit_signal = (int)a.exit_signal,
	};
	return clone_run(&c);
}

long sys_fork(void)
{
	return sys_clone(SIGCHLD, 0, 0, 0, 0);
}

long sys_vfork(void)
{
	return sys_clone(CLONE_VFORK | CLONE_VM | SIGCHLD, 0, 0, 0, 0);
}
