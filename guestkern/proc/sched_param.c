/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scheduling parameters: recorded and reported. The scheduler is fair to all tasks whatever they
 * say; sched_setscheduler(2) to a real-time policy needs root, as on Linux.
 */
#include <linux/errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include "core/string.h"
#include "core/time.h"
#include "mm/uaccess.h"
#include "proc/misc.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define RT_PRIO_MAX	99
#define RR_SLICE_NS	100000000ull
#define NICE_MIN	(-20)
#define NICE_MAX	19
#define PRIO_PROCESS	0
#define PRIO_PGRP	1
#define PRIO_USER	2
#define IOPRIO_WHO_PROCESS 1		/* the others are one more than PRIO_* */
#define IOPRIO_CLASS_SHIFT 13

static struct process *sched_target(int pid, int *err)
{
	struct task *task = pid > 0 ? task_find(pid) : pid == 0 ? current : NULL;

	*err = pid < 0 ? -EINVAL : task ? 0 : -ESRCH;
	return task ? task->proc : NULL;
}

static bool policy_is_realtime(int policy)
{
	return policy == SCHED_FIFO || policy == SCHED_RR;
}

static bool policy_is_normal(int policy)
{
	return policy == SCHED_NORMAL || policy == SCHED_BATCH || policy == SCHED_IDLE;
}

long sys_sched_getscheduler(int pid)
{
	int err;
	struct process *proc = sched_target(pid, &err);

	return proc ? (long)proc->sched_policy : err;
}

static long sched_set(int pid, int policy, u64 param, bool keep_policy)
{
	struct process *proc;
	s32 priority;
	int err;

	if (!param)
		return -EINVAL;
	if (copy_from_user(&priority, param, sizeof(priority)))
		return -EFAULT;
	proc = sched_target(pid, &err);
	if (!proc)
		return err;
	policy = keep_policy ? (int)proc->sched_policy : policy & ~SCHED_RESET_ON_FORK;
	if (policy_is_realtime(policy) ? priority < 1 || priority > RT_PRIO_MAX : priority != 0)
		return -EINVAL;
	if (!policy_is_realtime(policy) && !policy_is_normal(policy))
		return -EINVAL;
	if (policy_is_realtime(policy) && !capable_root())
		return -EPERM;
	proc->sched_policy = (u32)policy;
	proc->sched_priority = (u32)priority;
	return 0;
}

long sys_sched_setscheduler(int pid, int policy, u64 param)
{
	return policy < 0 ? -EINVAL : sched_set(pid, policy, param, false);
}

long sys_sched_setparam(int pid, u64 param)
{
	return sched_set(pid, 0, param, true);
}

long sys_sched_getparam(int pid, u64 param)
{
	int err;
	struct process *proc = sched_target(pid, &err);
	s32 priority;

	if (!param)
		return -EINVAL;
	if (!proc)
		return err;
	priority = (s32)proc->sched_priority;
	return copy_to_user(param, &priority, sizeof(priority));
}

long sys_sched_getattr(int pid, u64 attr, u32 size, u32 flags)
{
	struct sched_attr a;
	int err;
	struct process *proc = sched_target(pid, &err);

	if (!attr || flags || size < SCHED_ATTR_SIZE_VER0 || size > PAGE_SIZE)
		return -EINVAL;
	if (!proc)
		return err;
	memset(&a, 0, sizeof(a));
	a.size = MIN(size, (u32)sizeof(a));
	a.sched_policy = proc->sched_policy;
	a.sched_nice = proc->nice;
	a.sched_priority = proc->sched_priority;
	a.sched_util_max = 1024;
	return copy_to_user(attr, &a, a.size);
}

long sys_sched_get_priority_max(int policy)
{
	if (policy_is_realtime(policy))
		return RT_PRIO_MAX;
	return policy_is_normal(policy) || policy == SCHED_DEADLINE ? 0 : -EINVAL;
}

long sys_sched_get_priority_min(int policy)
{
	if (policy_is_realtime(policy))
		return 1;
	return policy_is_normal(policy) || policy == SCHED_DEADLINE ? 0 : -EINVAL;
}

long sys_sched_rr_get_interval(int pid, u64 interval)
{
	int err;
	struct process *proc = sched_target(pid, &err);
	struct timespec64 ts;

	if (!proc)
		return err;
	ts = time_from_ns(proc->sched_policy == SCHED_FIFO ? 0 : RR_SLICE_NS);
	return copy_to_user(interval, &ts, sizeof(ts));
}

/* Is proc among those that (which, who) names? */
static bool prio_names(const struct process *proc, int which, int who)
{
	switch (which) {
	case PRIO_PROCESS:
		return proc->pid == (who ? who : current->proc->pid);
	case PRIO_PGRP:
		return proc->pgid == (who ? who : current->proc->pgid);
	default:
		return proc->cred.uid == (who ? (u32)who : current->proc->cred.uid);
	}
}

long sys_getpriority(int which, int who)
{
	struct process *proc;
	long best = -ESRCH;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	list_for_each(proc, &process_list, all_link)
		if (prio_names(proc, which, who))
			best = MAX(best, 20 - (long)proc->nice);	/* the raw call's scale */
	return best;
}

static int nice_set(struct process *proc, int nice)
{
	const struct cred *mine = &current->proc->cred;

	if (!capable_root() && mine->euid != proc->cred.uid && mine->euid != proc->cred.euid)
		return -EPERM;
	if (nice < proc->nice && !capable_root())
		return -EACCES;
	proc->nice = nice;
	return 0;
}

long sys_setpriority(int which, int who, int nice)
{
	struct process *proc;
	int err = -ESRCH;

	if (which < PRIO_PROCESS || which > PRIO_USER)
		return -EINVAL;
	nice = MAX(MIN(nice, NICE_MAX), NICE_MIN);
	list_for_each(proc, &process_list, all_link) {
		int one;

		if (!prio_names(proc, which, who))
			continue;
		one = nice_set(proc, nice);
		if (one || err == -ESRCH)
			err = one;
	}
	return err;
}

long sys_ioprio_get(int which, int who)
{
	struct process *proc;

	if (which < IOPRIO_WHO_PROCESS || which > IOPRIO_WHO_PROCESS + PRIO_USER)
		return -EINVAL;
	list_for_each(proc, &process_list, all_link)
		if (prio_names(proc, which - IOPRIO_WHO_PROCESS, who))
			return proc->ioprio;
	return -ESRCH;
}

long sys_ioprio_set(int which, int who, int ioprio)
{
	int class = ioprio >> IOPRIO_CLASS_SHIFT, level = ioprio & ((1 << IOPRIO_CLASS_SHIFT) - 1);
	struct process *proc;
	long ret = -ESRCH;

	if (which < IOPRIO_WHO_PROCESS || which > IOPRIO_WHO_PROCESS + PRIO_USER)
		return -EINVAL;
	if (class < 0 || class > 3 || (class != 3 && level > 7) || (class == 0 && level))
		return -EINVAL;
	if (class == 1 && !capable_root())
		return -EPERM;
	list_for_each(proc, &process_list, all_link) {
		if (!prio_names(proc, which - IOPRIO_WHO_PROCESS, who))
			continue;
		proc->ioprio = (u32)ioprio;
		ret = 0;
	}
	return ret;
}
