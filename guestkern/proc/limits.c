/* SPDX-License-Identifier: Apache-2.0 */
/* Resource limits (getrlimit(2)): kept and reported here, enforced where the resource is. */
#include <asm/resource.h>
#include <linux/errno.h>
#include "core/fdt.h"
#include "husk/fdt.h"
#include "mm/page.h"
#include "mm/uaccess.h"
#include "proc/misc.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define UNLIMITED		(~0ull)
#define STACK_DEFAULT		(8ull << 20)
#define MEMLOCK_DEFAULT		(8ull << 20)
#define MSGQUEUE_DEFAULT	819200ull
#define NOFILE_SOFT		1024ull
#define NOFILE_HARD		1048576ull

const char *const rlimit_names[RLIM_COUNT] = {
	[RLIMIT_CPU] = "Max cpu time",
	[RLIMIT_FSIZE] = "Max file size",
	[RLIMIT_DATA] = "Max data size",
	[RLIMIT_STACK] = "Max stack size",
	[RLIMIT_CORE] = "Max core file size",
	[RLIMIT_RSS] = "Max resident set",
	[RLIMIT_NPROC] = "Max processes",
	[RLIMIT_NOFILE] = "Max open files",
	[RLIMIT_MEMLOCK] = "Max locked memory",
	[RLIMIT_AS] = "Max address space",
	[RLIMIT_LOCKS] = "Max file locks",
	[RLIMIT_SIGPENDING] = "Max pending signals",
	[RLIMIT_MSGQUEUE] = "Max msgqueue size",
	[RLIMIT_NICE] = "Max nice priority",
	[RLIMIT_RTPRIO] = "Max realtime priority",
	[RLIMIT_RTTIME] = "Max realtime timeout",
};

void rlimits_init(struct process *proc, const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");
	int init = chosen < 0 ? -1 : fdt_find(fdt, chosen, HUSK_FDT_INIT);
	u64 tasks = page_total_count() / 64, nofile = NOFILE_SOFT, stack = STACK_DEFAULT;

	if (init >= 0) {
		nofile = fdt_u32(fdt, init, HUSK_FDT_NOFILE, NOFILE_SOFT);
		stack = fdt_u64(fdt, init, HUSK_FDT_STACK, STACK_DEFAULT);
	}
	for (int i = 0; i < RLIM_COUNT; i++)
		proc->rlim[i] = (struct rlim){ UNLIMITED, UNLIMITED };
	proc->rlim[RLIMIT_STACK].cur = stack;
	proc->rlim[RLIMIT_CORE].cur = 0;
	proc->rlim[RLIMIT_NPROC] = (struct rlim){ tasks, tasks };
	proc->rlim[RLIMIT_NOFILE] = (struct rlim){ MIN(nofile, NOFILE_HARD), NOFILE_HARD };
	proc->rlim[RLIMIT_MEMLOCK] = (struct rlim){ MEMLOCK_DEFAULT, MEMLOCK_DEFAULT };
	proc->rlim[RLIMIT_SIGPENDING] = (struct rlim){ tasks, tasks };
	proc->rlim[RLIMIT_MSGQUEUE] = (struct rlim){ MSGQUEUE_DEFAULT, MSGQUEUE_DEFAULT };
	proc->rlim[RLIMIT_NICE] = (struct rlim){ 0, 0 };
	proc->rlim[RLIMIT_RTPRIO] = (struct rlim){ 0, 0 };
}

static struct process *limits_target(int pid, int *err)
{
	const struct cred *mine = &current->proc->cred, *theirs;
	struct process *proc = current->proc;
	struct task *task;

	*err = 0;
	if (!pid || pid == proc->pid)
		return proc;
	task = task_find(pid);
	proc = task ? task->proc : process_find(pid);
	*err = -ESRCH;
	if (!proc)
		return NULL;
	theirs = &proc->cred;
	*err = -EPERM;
	if (proc != current->proc && !capable_root() &&
	    (mine->uid != theirs->uid || mine->uid != theirs->euid || mine->uid != theirs->suid ||
	     mine->gid != theirs->gid || mine->gid != theirs->egid || mine->gid != theirs->sgid))
		return NULL;
	*err = 0;
	return proc;
}

static int limit_set(struct process *proc, u32 resource, const struct rlim *new)
{
	struct rlim *limit = &proc->rlim[resource];

	if (new->cur > new->max)
		return -EINVAL;
	if (resource == RLIMIT_NOFILE && new->max > NR_OPEN)
		return -EPERM;
	if (new->max > limit->max && !capable_root())
		return -EPERM;
	*limit = *new;
	return 0;
}

long sys_prlimit64(int pid, u32 resource, u64 new_limit, u64 old_limit)
{
	struct rlim new, old;
	struct process *proc;
	int err;

	if (resource >= RLIM_COUNT)
		return -EINVAL;
	if (new_limit && copy_from_user(&new, new_limit, sizeof(new)))
		return -EFAULT;
	proc = limits_target(pid, &err);
	if (!proc)
		return err;
	old = proc->rlim[resource];
	if (new_limit)
		err = limit_set(proc, resource, &new);
	if (!err && old_limit && copy_to_user(old_limit, &old, sizeof(old)))
		err = -EFAULT;
	return err;
}

long sys_getrlimit(u32 resource, u64 rlim)
{
	if (resource >= RLIM_COUNT)
		return -EINVAL;
	return copy_to_user(rlim, &current->proc->rlim[resource], sizeof(struct rlim));
}

long sys_setrlimit(u32 resource, u64 rlim)
{
	struct rlim new;

	if (copy_from_user(&new, rlim, sizeof(new)))
		return -EFAULT;
	if (resource >= RLIM_COUNT)
		return -EINVAL;
	return limit_set(current->proc, resource, &new);
}
