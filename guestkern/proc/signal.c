/* SPDX-License-Identifier: Apache-2.0 */
/* Signal state: queues, sending, choosing what to do with the next one (signal(7)). */
#include "proc/signal_send.h"
#include "proc/exit.h"
#include "core/print.h"
#include "core/sched.h"
#include "core/string.h"
#include "mm/kmalloc.h"
#include <linux/errno.h>
#include <asm/siginfo.h>
#include <asm/signal.h>

#define QUEUE_MAX 4096		/* queued entries of one process */

struct sigentry {
	struct list link;
	struct siginfo_k info;
};

#define SIG_DFL_ 0ul
#define SIG_IGN_ 1ul

#define STOP_SIGNALS (SIGMASK(SIGSTOP) | SIGMASK(SIGTSTP) | SIGMASK(SIGTTIN) | SIGMASK(SIGTTOU))
#define IGNORED_BY_DEFAULT (SIGMASK(SIGCHLD) | SIGMASK(SIGCONT) | SIGMASK(SIGURG) | SIGMASK(SIGWINCH))
#define UNMASKABLE (SIGMASK(SIGKILL) | SIGMASK(SIGSTOP))

void sigqueue_init(struct sigqueue *q)
{
	q->set = 0;
	list_init(&q->infos);
}

void sigqueue_flush(struct sigqueue *q, u64 set)
{
	struct sigentry *e, *tmp;

	q->set &= ~set;
	list_for_each_safe(e, tmp, &q->infos, link) {
		if (!(set & SIGMASK(e->info.signo)))
			continue;
		list_del(&e->link);
		kfree(e);
	}
}

struct sighand *sighand_new(const struct sighand *copy)
{
	struct sighand *sh = kzalloc(sizeof(*sh));

	if (sh && copy)
		*sh = *copy;
	if (sh)
		sh->refs = 1;
	return sh;
}

void sighand_put(struct sighand *sh)
{
	if (!--sh->refs)
		kfree(sh);
}

void sighand_exec(struct process *proc)
{
	for (unsigned i = 0; i < SIGNALS; i++) {
		struct sigaction_k *act = &proc->sighand->action[i];

		*act = (struct sigaction_k){ .handler = act->handler == SIG_IGN_ ? SIG_IGN_ : SIG_DFL_ };
	}
}

void signal_set_mask(u64 mask)
{
	current->sigmask = mask & ~UNMASKABLE;
}

static u64 pending_set(const struct task *task)
{
	return (task->pending.set | task->proc->pending.set) & ~task->sigmask;
}

bool signal_pending(void)
{
	struct process *proc = current->proc;

	return pending_set(current) || proc->group_exit || proc->stopped;
}

static bool sig_ignored(const struct process *proc, int sig)
{
	u64 handler = proc->sighand->action[sig - 1].handler;

	if (SIGMASK(sig) & UNMASKABLE)
		return false;
	return handler == SIG_IGN_ || (handler == SIG_DFL_ && (SIGMASK(sig) & IGNORED_BY_DEFAULT));
}

static int sigqueue_add(struct sigqueue *q, const struct siginfo_k *info)
{
	struct sigentry *e;

	/* A standard signal is pending once; the first information stays. */
	if (info->signo < 32 && (q->set & SIGMASK(info->signo)))
		return 0;
	e = kmalloc(sizeof(*e));
	if (!e && info->signo >= 32)
		return -EAGAIN;
	q->set |= SIGMASK(info->signo);
	if (!e)
		return 0;
	e->info = *info;
	list_add_tail(&q->infos, &e->link);
	return 0;
}

static void proc_continue(struct process *proc)
{
	struct task *t;

	sigqueue_flush(&proc->pending, STOP_SIGNALS);
	list_for_each(t, &proc->threads, thread_link)
		sigqueue_flush(&t->pending, STOP_SIGNALS);
	if (!proc->stopped)
		return;
	proc->stopped = false;
	proc->continued = true;
	list_for_each(t, &proc->threads, thread_link)
		task_wake(t);
	signal_child(proc, CLD_CONTINUED, SIGCONT);
}

/* Effects that sending has whatever becomes of the signal. False: nothing is left to queue. */
static bool send_prepare(struct process *proc, struct task *task, int sig)
{
	bool blocked = false;

	if (proc->zombie)
		return false;
	if (sig == SIGCONT || sig == SIGKILL)
		proc_continue(proc);
	if (SIGMASK(sig) & STOP_SIGNALS) {
		sigqueue_flush(&proc->pending, SIGMASK(SIGCONT));
		if (task)
			sigqueue_flush(&task->pending, SIGMASK(SIGCONT));
	}
	if (task) {
		blocked = task->sigmask & SIGMASK(sig);
	} else {
		struct task *t;

		list_for_each(t, &proc->threads, thread_link)
			blocked = blocked || (t->sigmask & SIGMASK(sig));
	}
	return blocked || !sig_ignored(proc, sig);
}

static void task_notify(struct task *task)
{
	if (task->state == TASK_SLEEPING)
		task_wake(task);
}

int signal_send_task(struct task *task, const struct siginfo_k *info)
{
	int ret;

	if (!send_prepare(task->proc, task, info->signo))
		return 0;
	ret = sigqueue_add(&task->pending, info);
	if (!(task->sigmask & SIGMASK(info->signo)))
		task_notify(task);
	wake_all(&task->proc->signal_wait);
	return ret;
}

int signal_send_info(struct process *proc, const struct siginfo_k *info)
{
	struct task *t;
	int ret;

	if (!send_prepare(proc, NULL, info->signo))
		return 0;
	ret = sigqueue_add(&proc->pending, info);
	wake_all(&proc->signal_wait);
	/* One thread that does not block it is enough; SIGKILL reaches all by group exit. */
	list_for_each(t, &proc->threads, thread_link) {
		if (t->sigmask & SIGMASK(info->signo))
			continue;
		/* `current` may be asleep: the last to sleep idles on its own stack. */
		task_notify(t);
		if (t->state != TASK_SLEEPING_NOINTR)
			return ret;
	}
	return ret;
}

int signal_send_process(struct process *proc, int sig)
{
	struct siginfo_k info = { .signo = sig, .code = SI_KERNEL };

	return signal_send_info(proc, &info);
}

int signal_send_group(s32 pgid, int sig)
{
	struct process *p, *tmp;
	int ret = -ESRCH;

	list_for_each_safe(p, tmp, &process_list, all_link)
		if (p->pgid == pgid && !p->zombie)
			ret = signal_send_process(p, sig);
	return ret;
}

void signal_send_current(int sig)
{
	struct siginfo_k info = { .signo = sig, .code = SI_USER, .rt.pid = current->proc->pid,
				  .rt.uid = current->proc->cred.uid };

	signal_send_task(current, &info);
}

void signal_fault(int sig, int code, u64 addr)
{
	struct siginfo_k info = { .signo = sig, .code = code, .fault.addr = addr };
	struct sigaction_k *act = &current->proc->sighand->action[sig - 1];

	/* A fault that is blocked or ignored kills, as on Linux. */
	if ((current->sigmask & SIGMASK(sig)) || act->handler == SIG_IGN_) {
		act->handler = SIG_DFL_;
		current->sigmask &= ~SIGMASK(sig);
	}
	signal_send_task(current, &info);
}

void signal_from_host(int sig)
{
	struct process *proc = process_find(FIRST_PID);

	if (proc && sig == SIGINT)
		signal_send_group(proc->pgid, sig);
	else if (proc)
		signal_send_process(proc, sig);
}

static bool sigqueue_take(struct sigqueue *q, int sig, struct siginfo_k *info)
{
	struct sigentry *e, *found = NULL;
	bool more = false;

	if (!(q->set & SIGMASK(sig)))
		return false;
	*info = (struct siginfo_k){ .signo = sig, .code = SI_KERNEL };
	list_for_each(e, &q->infos, link) {
		if (e->info.signo != sig)
			continue;
		more = found;
		if (!found)
			found = e;
		if (more)
			break;
	}
	if (found) {
		*info = found->info;
		list_del(&found->link);
		kfree(found);
	}
	if (!more)
		q->set &= ~SIGMASK(sig);
	return true;
}

int signal_dequeue(u64 set, struct siginfo_k *info)
{
	u64 ready = (current->pending.set | current->proc->pending.set) & set;
	const u64 first = SIGMASK(SIGSEGV) | SIGMASK(SIGBUS) | SIGMASK(SIGILL) | SIGMASK(SIGTRAP) |
			  SIGMASK(SIGFPE) | SIGMASK(SIGSYS) | SIGMASK(SIGKILL);
	int sig;

	if (!ready)
		return 0;
	sig = __builtin_ctzll(ready & first ? ready & first : ready) + 1;
	if (!sigqueue_take(&current->pending, sig, info))
		sigqueue_take(&current->proc->pending, sig, info);
	return sig;
}

static void proc_stop(int sig)
{
	struct process *proc = current->proc;

	proc->stopped = true;
	proc->stop_signal = (u32)sig;
	proc->stop_reported = false;
	signal_child(proc, CLD_STOPPED, sig);
}

static void stop_wait(struct process *proc)
{
	while (proc->stopped && !proc->group_exit) {
		current->state = TASK_SLEEPING;
		schedule();
		if (current->pending.set & SIGMASK(SIGKILL) || proc->pending.set & SIGMASK(SIGKILL))
			break;
	}
	proc->stopped = proc->stopped && !proc->group_exit;
}

/* Back up to the syscall instruction, or report EINTR. */
static void syscall_restart(struct regs *regs, bool restart)
{
	if ((s64)regs->orig_rax >= 0) {
		s64 ret = (s64)regs->rax;

		if (ret == -ERESTARTSYS || ret == -ERESTARTNOHAND) {
			regs->rax = restart ? regs->orig_rax : (u64)-EINTR;
			if (restart)
				regs->rip -= 2;
		}
	}
	regs->orig_rax = ~0ull;
}

static void handler_enter(struct regs *regs, int sig, const struct siginfo_k *info)
{
	struct sigaction_k *slot = &current->proc->sighand->action[sig - 1], act = *slot;
	u64 oldmask = current->restore_sigmask ? current->saved_sigmask : current->sigmask;
	bool nohand = (s64)regs->rax == -ERESTARTNOHAND;

	syscall_restart(regs, (act.flags & SA_RESTART) && !nohand);
	current->restart_deadline_ns = 0;
	current->restore_sigmask = false;
	if (act.flags & SA_RESETHAND)
		slot->handler = SIG_DFL_;
	if (sigframe_push(regs, sig, &act, info, oldmask)) {
		slot->handler = SIG_DFL_;
		if (sig == SIGSEGV)
			exit_group_signal(SIGSEGV);
		signal_fault(SIGSEGV, SI_KERNEL, 0);
		return;
	}
	signal_set_mask(current->sigmask | act.mask | (act.flags & SA_NODEFER ? 0 : SIGMASK(sig)));
}

/* An orphaned or kernel-started group has nobody to continue it: terminal stops do nothing then. */
static bool stop_allowed(int sig)
{
	struct process *proc = current->proc;

	return sig == SIGSTOP || (proc->parent && proc->parent->pid != KERNEL_PID);
}

bool signal_deliver(struct regs *regs)
{
	struct process *proc = current->proc;
	struct siginfo_k info;
	u64 handler;
	int sig;

	if (proc->group_exit)
		exit_thread();
	if (proc->stopped)
		stop_wait(proc);
	sig = signal_dequeue(~current->sigmask, &info);
	if (!sig) {
		syscall_restart(regs, true);
		if (current->restore_sigmask) {
			current->restore_sigmask = false;
			current->sigmask = current->saved_sigmask;
		}
		return proc->group_exit;
	}
	handler = proc->sighand->action[sig - 1].handler;
	if (handler == SIG_IGN_ || sig_ignored(proc, sig))
		return true;
	if (handler != SIG_DFL_) {
		handler_enter(regs, sig, &info);
		return true;
	}
	if (SIGMASK(sig) & STOP_SIGNALS) {
		if (stop_allowed(sig))
			proc_stop(sig);
		return true;
	}
	exit_group_signal(sig);
}
