/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities as programs see and drop them. The kernel itself decides by capable_root(); the
 * sets are kept so that what a program gave up reads back as given up. A process stores what
 * differs from "root has all, others none", so that zero is the right start.
 */
#include <linux/capability.h>
#include <linux/errno.h>
#include "mm/uaccess.h"
#include "proc/misc.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

static bool has_root_id(const struct process *proc)
{
	return !proc->cred.uid || !proc->cred.euid || !proc->cred.suid;
}

u64 cap_permitted(const struct process *proc)
{
	return has_root_id(proc) ? CAP_ALL & ~proc->cap_dropped : proc->cap_kept;
}

u64 cap_effective(const struct process *proc)
{
	if (has_root_id(proc) && proc->cred.euid)
		return 0;
	return cap_permitted(proc) & ~proc->cap_ineffective;
}

u64 cap_bounding(const struct process *proc)
{
	return CAP_ALL & ~proc->cap_bounding_dropped;
}

/* Words of the data array for this version, or -EINVAL after telling the version we prefer. */
static int cap_words(u64 header, struct __user_cap_header_struct *h)
{
	u32 prefer = _LINUX_CAPABILITY_VERSION_3;

	if (copy_from_user(h, header, sizeof(*h)))
		return -EFAULT;
	switch (h->version) {
	case _LINUX_CAPABILITY_VERSION_1:
		return 1;
	case _LINUX_CAPABILITY_VERSION_2:
	case _LINUX_CAPABILITY_VERSION_3:
		return 2;
	default:
		return copy_to_user(header, &prefer, sizeof(prefer)) ? -EFAULT : -EINVAL;
	}
}

long sys_capget(u64 header, u64 data)
{
	struct __user_cap_header_struct h;
	struct __user_cap_data_struct d[2];
	struct process *proc;
	int words = cap_words(header, &h);
	struct task *task;

	if (words < 0)
		return words == -EINVAL && !data ? 0 : words;	/* asked for the version only */
	if (h.pid < 0)
		return -EINVAL;
	task = h.pid ? task_find(h.pid) : current;
	if (!task)
		return -ESRCH;
	proc = task->proc;
	for (int i = 0; i < 2; i++) {
		d[i].effective = (u32)(cap_effective(proc) >> 32 * i);
		d[i].permitted = (u32)(cap_permitted(proc) >> 32 * i);
		d[i].inheritable = (u32)(proc->cap_inheritable >> 32 * i);
	}
	return copy_to_user(data, d, (size_t)words * sizeof(d[0]));
}

long sys_capset(u64 header, u64 data)
{
	struct process *proc = current->proc;
	struct __user_cap_header_struct h;
	struct __user_cap_data_struct d[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
	int words = cap_words(header, &h);
	u64 eff, perm, inh, old = cap_permitted(proc);

	if (words < 0)
		return words;
	if (h.pid && h.pid != current->tid)
		return -EPERM;
	if (copy_from_user(d, data, (size_t)words * sizeof(d[0])))
		return -EFAULT;
	eff = (d[0].effective | (u64)d[1].effective << 32) & CAP_ALL;
	perm = (d[0].permitted | (u64)d[1].permitted << 32) & CAP_ALL;
	inh = (d[0].inheritable | (u64)d[1].inheritable << 32) & CAP_ALL;
	if (perm & ~old || eff & ~perm ||
	    inh & ~(proc->cap_inheritable | (cap_bounding(proc) & old)))
		return -EPERM;
	if (has_root_id(proc))
		proc->cap_dropped = CAP_ALL & ~perm;
	else
		proc->cap_kept = perm;
	proc->cap_ineffective = perm & ~eff;
	proc->cap_inheritable = inh;
	return 0;
}
