/* SPDX-License-Identifier: Apache-2.0 */
/* System calls on the current thread: TLS, exit notification, affinity, yielding. */
#include "proc/fpu.h"
#include "proc/syscalls.h"
#include "proc/task.h"
#include "core/sched.h"
#include "core/string.h"
#include "fs/vfs.h"
#include "mm/uaccess.h"
#include <asm/prctl.h>
#include <linux/errno.h>
#include <linux/membarrier.h>

#define ROBUST_HEAD_SIZE 24

long sys_set_tid_address(u64 addr)
{
	current->clear_child_tid = addr;
	return current->tid;
}

long sys_set_robust_list(u64 head, u64 len)
{
	if (len != ROBUST_HEAD_SIZE)
		return -EINVAL;
	current->robust_list = head;
	return 0;
}

long sys_get_robust_list(s32 pid, u64 head, u64 len)
{
	struct task *task = pid ? task_find(pid) : current;
	u64 size = ROBUST_HEAD_SIZE;

	if (!task)
		return -ESRCH;
	if (copy_to_user(len, &size, 8) || copy_to_user(head, &task->robust_list, 8))
		return -EFAULT;
	return 0;
}

/* GS base is the kernel's (core/percpu.h): a program cannot have one of its own. */
long sys_arch_prctl(int code, u64 addr)
{
	u64 base;

	switch (code) {
	case ARCH_SET_FS:
		if (addr >= USER_TOP)
			return -EPERM;
		fsbase_write(addr);
		return 0;
	case ARCH_GET_FS:
		base = fsbase_read();
		return copy_to_user(addr, &base, 8);
	case ARCH_GET_GS:
		base = 0;
		return copy_to_user(addr, &base, 8);
	case ARCH_SET_GS:
		return addr ? -EPERM : 0;
	default:
		return -EINVAL;
	}
}

long sys_sched_yield(void)
{
	sched_yield_current();
	return 0;
}

/* One vCPU runs programs. */
long sys_sched_getaffinity(s32 pid, u32 len, u64 mask)
{
	u64 cpus = 1;

	if (pid && !task_find(pid))
		return -ESRCH;
	if (len < 8 || len & 7)
		return -EINVAL;
	return copy_to_user(mask, &cpus, 8) ? -EFAULT : 8;
}

long sys_sched_setaffinity(s32 pid, u32 len, u64 mask)
{
	u64 cpus = 0;

	if (pid && !task_find(pid))
		return -ESRCH;
	if (copy_from_user(&cpus, mask, MIN(len, 8)))
		return -EFAULT;
	return cpus & 1 ? 0 : -EINVAL;
}

/*
 * Restartable sequences are not there. Every glibc program asks, and does without; so this is said
 * in COMPATIBILITY.md instead of in the log.
 */
long sys_rseq(u64 area, u32 len, int flags, u32 sig)
{
	return -ENOSYS;
}

/* No family is there, as in a kernel built without networking; programs know how to do without. */
long sys_socket(int family, int type, int protocol)
{
	return -EAFNOSUPPORT;
}

long sys_socketpair(int family, int type, int protocol, u64 fds)
{
	return -EAFNOSUPPORT;
}

/* The other calls on sockets: no descriptor is one. */
long sys_not_socket(int fd)
{
	struct file *file = fd_file(fd);

	if (!file)
		return -EBADF;
	file_put(file);
	return -ENOTSOCK;
}

/* On one vCPU every system call orders memory for all threads. */
long sys_membarrier(int cmd, u32 flags, int cpu)
{
	const int known = MEMBARRIER_CMD_GLOBAL | MEMBARRIER_CMD_GLOBAL_EXPEDITED |
			  MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED | MEMBARRIER_CMD_PRIVATE_EXPEDITED |
			  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED |
			  MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE |
			  MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE;

	if (flags)
		return -EINVAL;
	if (cmd == MEMBARRIER_CMD_QUERY)
		return known;
	return cmd & known && !(cmd & (cmd - 1)) ? 0 : -EINVAL;
}
