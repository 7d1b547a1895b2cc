/* SPDX-License-Identifier: Apache-2.0 */
/* System calls on signals: rt_sigaction(2) and relatives, kill family, waiting for signals. */
#include "proc/signal_send.h"
#include "proc/syscalls.h"
#include "core/sched.h"
#include "core/time.h"
#include "mm/uaccess.h"
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <linux/errno.h>

long sys_rt_sigaction(int sig, u64 new, u64 old, u64 size)
{
	struct sigaction_k act, prev;

	if (size != 8 || sig < 1 || sig > SIGNALS)
		return -EINVAL;
	if (new && copy_from_user(&act, new, sizeof(act)))
		return -EFAULT;
	if (new && (sig == SIGKILL || sig == SIGSTOP))
		return -EINVAL;
	prev = current->proc->sighand->action[sig - 1];
	if (new) {
		act.mask &= ~(SIGMASK(SIGKILL) | SIGMASK(SIGSTOP));
		current->proc->sighand->action[sig - 1] = act;
		/* Setting it to be ignored discards what is pending (POSIX). */
		if (act.handler == 1 || (act.handler == 0 && (sig == SIGCHLD || sig == SIGCONT ||
							      sig == SIGURG || sig == SIGWINCH))) {
			sigqueue_flush(&current->proc->pending, SIGMASK(sig));
			sigqueue_flush(&current->pending, SIGMASK(sig));
		}
	}
	return old ? copy_to_user(old, &prev, sizeof(prev)) : 0;
}

long sys_rt_sigprocmask(int how, u64 set, u64 old, u64 size)
{
	u64 prev = current->sigmask, mask;

	if (size != 8)
		return -EINVAL;
	if (set) {
		if (copy_from_user(&mask, set, 8))
			return -EFAULT;
		switch (how) {
		case SIG_BLOCK:
			signal_set_mask(prev | mask);
			break;
		case SIG_UNBLOCK:
			signal_set_mask(prev & ~mask);
			break;
		case SIG_SETMASK:
			signal_set_mask(mask);
			break;
		default:
			return -EINVAL;
		}
	}
	return old ? copy_to_user(old, &prev, 8) : 0;
}

long sys_rt_sigpending(u64 set, u64 size)
{
	u64 pending = (current->pending.set | current->proc->pending.set) & current->sigmask;

	return size > 8 ? -EINVAL : copy_to_user(set, &pending, size);
}

static long sleep_for_signal(void)
{
	for (;;) {
		int ret = wait_sleep(true, WAIT_FOREVER);

		if (ret)
			return -ERESTARTNOHAND;
	}
}

long sys_rt_sigsuspend(u64 set, u64 size)
{
	u64 mask;

	if (size != 8)
		return -EINVAL;
	if (copy_from_user(&mask, set, 8))
		return -EFAULT;
	current->saved_sigmask = current->sigmask;
	current->restore_sigmask = true;
	signal_set_mask(mask);
	return sleep_for_signal();
}

long sys_pause(void)
{
	return sleep_for_signal();
}

long sys_rt_sigtimedwait(u64 set, u64 info, u64 timeout, u64 size)
{
	u64 mask, deadline = WAIT_FOREVER;
	struct timespec64 ts;
	struct siginfo_k si;
	int sig = 0, ret;

	if (size != 8)
		return -EINVAL;
	if (copy_from_user(&mask, set, 8) || (timeout && copy_from_user(&ts, timeout, sizeof(ts))))
		return -EFAULT;
	mask &= ~(SIGMASK(SIGKILL) | SIGMASK(SIGSTOP));
	if (timeout) {
		if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= (s64)NSEC_PER_SEC)
			return -EINVAL;
		deadline = time_monotonic_ns() + (u64)ts.sec * NSEC_PER_SEC + (u64)ts.nsec;
	}
	ret = wait_event(&current->proc->signal_wait, (sig = signal_dequeue(mask, &si)), deadline);
	if (!sig)
		return ret == -ETIMEDOUT ? -EAGAIN : -EINTR;
	if (info && copy_to_user(info, &si, sizeof(si)))
		return -EFAULT;
	return sig;
}

static bool kill_allowed(const struct process *target, int sig)
{
	const struct cred *me = &current->proc->cred, *t = &target->cred;

	if (sig == SIGCONT && target->sid == current->proc->sid)
		return true;
	return !me->euid || me->euid == t->uid || me->euid == t->suid || me->uid == t->uid ||
	       me->uid == t->suid;
}

static struct siginfo_k info_user(int sig, int code)
{
	return (struct siginfo_k){ .signo = sig, .code = code, .rt.pid = current->proc->pid,
				   .rt.uid = current->proc->cred.uid };
}

static int kill_one(struct process *proc, const struct siginfo_k *info, int sig)
{
	if (!kill_allowed(proc, sig))
		return -EPERM;
	return sig ? signal_send_info(proc, info) : 0;
}

long sys_kill(s32 pid, int sig)
{
	struct siginfo_k info = info_user(sig, SI_USER);
	s32 pgid = pid == 0 ? current->proc->pgid : -pid;
	struct process *p, *tmp;
	int ret = -ESRCH, r;

	if (sig < 0 || sig > SIGNALS)
		return -EINVAL;
	if (pid > 0) {
		p = process_find(pid);
		return p ? kill_one(p, &info, sig) : -ESRCH;
	}
	list_for_each_safe(p, tmp, &process_list, all_link) {
		if (pid == -1 ? p == current->proc : p->pgid != pgid)
			continue;
		r = kill_one(p, &info, sig);
		if (!r || ret == -ESRCH)
			ret = r;
	}
	return ret;
}

static long kill_thread(s32 tgid, s32 tid, int sig, const struct siginfo_k *info)
{
	struct task *task = task_find(tid);

	if (tid <= 0 || sig < 0 || sig > SIGNALS)
		return -EINVAL;
	if (!task || (tgid >= 0 && task->proc->pid != tgid))
		return -ESRCH;
	if (!kill_allowed(task->proc, sig))
		return -EPERM;
	return sig ? signal_send_task(task, info) : 0;
}

long sys_tkill(s32 tid, int sig)
{
	struct siginfo_k info = info_user(sig, SI_TKILL);

	return kill_thread(-1, tid, sig, &info);
}

long sys_tgkill(s32 tgid, s32 tid, int sig)
{
	struct siginfo_k info = info_user(sig, SI_TKILL);

	return tgid <= 0 ? -EINVAL : kill_thread(tgid, tid, sig, &info);
}

static int info_get(u64 uinfo, int sig, struct siginfo_k *info, s32 target)
{
	if (copy_from_user(info, uinfo, sizeof(*info)))
		return -EFAULT;
	info->signo = sig;
	/* What the kernel says of itself cannot be forged towards others. */
	return (info->code >= 0 || info->code == SI_TKILL) && target != current->proc->pid ? -EPERM : 0;
}

long sys_rt_sigqueueinfo(s32 pid, int sig, u64 uinfo)
{
	struct siginfo_k info;
	int ret = info_get(uinfo, sig, &info, pid);
	struct process *proc = process_find(pid);

	if (ret)
		return ret;
	if (sig < 0 || sig > SIGNALS)
		return -EINVAL;
	return proc ? kill_one(proc, &info, sig) : -ESRCH;
}

long sys_rt_tgsigqueueinfo(s32 tgid, s32 tid, int sig, u64 uinfo)
{
	struct siginfo_k info;
	int ret = info_get(uinfo, sig, &info, tgid);

	return ret ? ret : kill_thread(tgid, tid, sig, &info);
}
