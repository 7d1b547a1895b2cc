/* SPDX-License-Identifier: Apache-2.0 */
/* prctl(2): attributes of the process; options that are not here are EINVAL, as on Linux. */
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/prctl.h>
#include <linux/securebits.h>
#include "core/string.h"
#include "mm/uaccess.h"
#include "proc/misc.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define TIMER_SLACK_NS 50000

static long name_set(u64 addr)
{
	char name[sizeof(current->comm)] = { 0 };
	long n = strncpy_from_user(name, addr, sizeof(name));

	if (n == -EFAULT)
		return n;
	name[sizeof(name) - 1] = 0;	/* a longer one is cut */
	memcpy(current->comm, name, sizeof(name));
	if (current->tid == current->proc->pid)
		memcpy(current->proc->comm, name, sizeof(name));
	return 0;
}

static long put_int(u64 addr, int value)
{
	return copy_to_user(addr, &value, sizeof(value));
}

static long bounding_drop(u64 cap)
{
	struct process *proc = current->proc;

	if (!(cap_effective(proc) >> CAP_SETPCAP & 1))
		return -EPERM;
	if (cap > CAP_LAST)
		return -EINVAL;
	proc->cap_bounding_dropped |= 1ull << cap;
	return 0;
}

static long securebits_set(u64 bits)
{
	struct process *proc = current->proc;

	if (!(cap_effective(proc) >> CAP_SETPCAP & 1))
		return -EPERM;
	if (bits & ~(u64)(SECURE_ALL_BITS | SECURE_ALL_LOCKS))
		return -EPERM;
	proc->securebits = (u32)bits;
	return 0;
}

static long pdeath_set(u64 sig)
{
	if (sig > SIGNALS)
		return -EINVAL;
	current->proc->pdeath_signal = (s32)sig;
	return 0;
}

/* Each value that may be set to 0 or 1. */
static long flag_set(bool *flag, u64 value)
{
	if (value > 1)
		return -EINVAL;
	*flag = value;
	return 0;
}

static long no_new_privs(int option, u64 a2, u64 a3, u64 a4, u64 a5)
{
	struct process *proc = current->proc;

	if (option == PR_GET_NO_NEW_PRIVS)
		return a2 | a3 | a4 | a5 ? -EINVAL : proc->no_new_privs;
	if (a2 != 1 || a3 | a4 | a5)
		return -EINVAL;
	proc->no_new_privs = true;
	return 0;
}

static long prctl_caps(int option, u64 a2)
{
	struct process *proc = current->proc;

	switch (option) {
	case PR_GET_KEEPCAPS:
		return proc->keepcaps;
	case PR_SET_KEEPCAPS:
		return flag_set(&proc->keepcaps, a2);
	case PR_GET_SECUREBITS:
		return proc->securebits;
	case PR_SET_SECUREBITS:
		return securebits_set(a2);
	case PR_CAPBSET_READ:
		return a2 > CAP_LAST ? -EINVAL : (long)(cap_bounding(proc) >> a2 & 1);
	case PR_CAPBSET_DROP:
		return bounding_drop(a2);
	default:
		return -EINVAL;
	}
}

long sys_prctl(int option, u64 a2, u64 a3, u64 a4, u64 a5)
{
	struct process *proc = current->proc;

	switch (option) {
	case PR_SET_NAME:
		return name_set(a2);
	case PR_GET_NAME:
		return copy_to_user(a2, current->comm, sizeof(current->comm));
	case PR_SET_PDEATHSIG:
		return pdeath_set(a2);
	case PR_GET_PDEATHSIG:
		return put_int(a2, proc->pdeath_signal);
	case PR_GET_DUMPABLE:
		return proc->dumpable;
	case PR_SET_DUMPABLE:
		return flag_set(&proc->dumpable, a2);
	case PR_SET_NO_NEW_PRIVS:
	case PR_GET_NO_NEW_PRIVS:
		return no_new_privs(option, a2, a3, a4, a5);
	case PR_SET_CHILD_SUBREAPER:
		proc->subreaper = a2 != 0;
		return 0;
	case PR_GET_CHILD_SUBREAPER:
		return put_int(a2, proc->subreaper);
	case PR_GET_TID_ADDRESS:
		return copy_to_user(a2, &current->clear_child_tid, sizeof(u64));
	case PR_GET_TIMERSLACK:
		return TIMER_SLACK_NS;
	case PR_SET_TIMERSLACK:		/* deadlines are exact: nothing to relax */
		return 0;
	case PR_GET_SECCOMP:
		return 0;
	default:
		return prctl_caps(option, a2);
	}
}
