/* SPDX-License-Identifier: Apache-2.0 */
/* Ends: threads, processes, the first program (and with it the VM); orphans. */
#include "proc/exit.h"
#include "proc/futex.h"
#include "proc/misc.h"
#include "proc/posix_timer.h"
#include "proc/process.h"
#include "proc/signal_send.h"
#include "proc/syscalls.h"
#include "core/print.h"
#include "core/sched.h"
#include "core/time.h"
#include "fs/kfs.h"
#include "fs/vfs.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "husk/system.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <linux/errno.h>
#include <linux/reboot.h>



#define STATUS_SIGNALED(status) ((status) & 0x7f)

/* The first program is the VM's purpose: its end is the end, before anything is torn down. */
static void vm_end(u32 status)
{
	if (STATUS_SIGNALED(status))
		system_exit(HUSK_EXIT_SIGNAL, STATUS_SIGNALED(status));
	system_exit(HUSK_EXIT_CODE, status >> 8 & 0xff);
}

void vfork_release(struct process *proc)
{
	if (!proc->vfork_waiter)
		return;
	*proc->vfork_done = true;
	task_wake(proc->vfork_waiter);
	proc->vfork_waiter = NULL;
}

static void orphans_adopt(struct process *proc)
{
	struct process *child, *tmp;

	list_for_each_safe(child, tmp, &proc->children, sibling) {
		list_del(&child->sibling);
		child->parent = &kernel_process;
		if (child->pdeath_signal && !child->zombie)
			signal_send_process(child, child->pdeath_signal);
		list_add_tail(&kernel_process.children, &child->sibling);
		if (child->zombie)
			process_free(child);
	}
}

/* Leave the address space: nobody frees the tables that are loaded. */
static void mm_leave(struct process *proc)
{
	struct mm *mm = proc->mm;

	proc->mm = NULL;
	vfork_release(proc);
	if (mm->users == 1) {
		cpu_this()->loaded_cr3 = HUSK_BOOT_TABLES;
		nucleus_call(nc_cr3, HUSK_BOOT_TABLES, 0);
	}
	mm_put(mm);
}

static void zombie_report(struct process *proc)
{
	struct process *parent = proc->parent;
	u32 status = proc->exit_status;
	struct sigaction_k *act;

	proc->zombie = true;
	if (parent == &kernel_process) {
		process_free(proc);
		return;
	}
	act = &parent->sighand->action[SIGCHLD - 1];
	if (proc->exit_signal == SIGCHLD && (act->handler == 1 || (act->flags & SA_NOCLDWAIT))) {
		/* POSIX: nobody will wait for it. */
		wake_all(&parent->child_wait);
		process_free(proc);
		return;
	}
	if (STATUS_SIGNALED(status))
		signal_child(proc, status & 0x80 ? CLD_DUMPED : CLD_KILLED, (int)STATUS_SIGNALED(status));
	else
		signal_child(proc, CLD_EXITED, (int)(status >> 8 & 0xff));
}

void signal_child(struct process *child, int code, int status)
{
	struct process *parent = child->parent;
	struct siginfo_k info = {
		.signo = child->exit_signal && child->zombie ? child->exit_signal : SIGCHLD, .code = code,
		.child = { .pid = child->pid, .uid = child->cred.uid, .status = status },
	};

	if (parent == &kernel_process)
		return;
	if ((child->zombie && child->exit_signal) ||
	    (!child->zombie && !(parent->sighand->action[SIGCHLD - 1].flags & SA_NOCLDSTOP)))
		signal_send_info(parent, &info);
	wake_all(&parent->child_wait);
}

static void process_end(struct process *proc)
{
	trace(HUSK_TRACE_SCHED, "process %d (%s) ends with status 0x%x", proc->pid, proc->comm,
	      proc->exit_status);
	if (proc->pid == FIRST_PID)
		vm_end(proc->exit_status);
	itimer_exit(proc);
	posix_timers_exit(proc);
	if (proc->tty && proc->sid == proc->pid)
		tty_disassociate(proc);
	files_put(proc->files);
	fs_put(proc->fs);
	mm_leave(proc);
	sighand_put(proc->sighand);
	proc->sighand = NULL;
	proc->files = NULL;
	proc->fs = NULL;
	orphans_adopt(proc);
	zombie_report(proc);
}

static void thread_end(void)
{
	struct task *task = current;
	struct process *proc = task->proc;
	u32 zero = 0;

	futex_robust_exit(task);
	if (task->clear_child_tid && proc->mm->users + proc->nthreads > 2 &&
	    !copy_to_user(task->clear_child_tid, &zero, 4))
		futex_wake(task->clear_child_tid, 1);
	task->utime_ns += time_monotonic_ns() - task->run_since_ns;
	proc->utime_ns += task->utime_ns;
	list_del(&task->thread_link);
	proc->nthreads--;
	if (!proc->nthreads)
		process_end(proc);
	else
		wake_all(&proc->child_wait);	/* execve waits for the others to go */
	task->proc = &kernel_process;
	task->state = TASK_DEAD;
	schedule();
	panic("a dead task runs");
}

void exit_thread(void)
{
	thread_end();
	__builtin_unreachable();
}

void process_kill_threads(struct process *proc, struct task *except)
{
	struct task *t;

	proc->group_exit = true;
	list_for_each(t, &proc->threads, thread_link)
		if (t != except)
			task_wake(t);
}

void exit_group(u32 status)
{
	struct process *proc = current->proc;

	if (!proc->group_exit)
		proc->exit_status = status;
	process_kill_threads(proc, current);
	exit_thread();
}

void exit_group_signal(int sig)
{
	exit_group((u32)sig);
}

long sys_exit(int code)
{
	if (current->proc->nthreads == 1 && !current->proc->group_exit)
		exit_group((u32)(code & 0xff) << 8);
	exit_thread();
}

/* The machine goes down: husk ends with status 0. */
long sys_reboot(u32 magic, u32 magic2, u32 cmd, u64 arg)
{
	if (!capable_root())
		return -EPERM;
	if (magic != LINUX_REBOOT_MAGIC1 || (magic2 != LINUX_REBOOT_MAGIC2 && magic2 != LINUX_REBOOT_MAGIC2A &&
					     magic2 != LINUX_REBOOT_MAGIC2B && magic2 != LINUX_REBOOT_MAGIC2C))
		return -EINVAL;
	switch (cmd) {
	case LINUX_REBOOT_CMD_RESTART:
	case LINUX_REBOOT_CMD_HALT:
	case LINUX_REBOOT_CMD_POWER_OFF:
		system_exit(HUSK_EXIT_REBOOT, 0);
	case LINUX_REBOOT_CMD_CAD_ON:
	case LINUX_REBOOT_CMD_CAD_OFF:
		return 0;
	default:
		return -EINVAL;
	}
}

long sys_exit_group(int code)
{
	exit_group((u32)(code & 0xff) << 8);
}
