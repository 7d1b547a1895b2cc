/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc (proc(5)): the root directory. Processes are found by number when looked up; nothing is
 * made when one starts.
 */
#include "fs/procfs.h"
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/print.h"
#include "fs/kfs.h"

#define PROC_SUPER_MAGIC 0x9fa0

bool proc_parse_number(const char *name, s32 *out)
{
	s64 n = 0;

	if (!*name || (*name == '0' && name[1]))
		return false;
	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return false;
		n = n * 10 + (*name - '0');
		if (n > INT32_MAX)
			return false;
	}
	*out = (s32)n;
	return true;
}

struct process *proc_process(const struct pseudo *self)
{
	return process_find(self->pid);
}

struct task *proc_task(const struct pseudo *self)
{
	struct process *proc = process_find(self->pid);
	struct task *task = task_find(self->tid ? self->tid : self->pid);

	if (task && task->proc == proc)
		return task;
	if (self->tid || !proc || list_empty(&proc->threads))
		return NULL;
	return list_first(&proc->threads, struct task, thread_link);	/* the leader has ended */
}

static int root_find(const struct pseudo *dir, const char *name, struct pseudo *child)
{
	struct task *task;
	s32 n;

	if (!proc_parse_number(name, &n))
		return -ENOENT;
	child->node = &proc_pid_dir;
	child->pid = n;
	if (process_find(n))
		return 0;
	task = task_find(n);		/* a thread's number works too, though it is not listed */
	if (!task)
		return -ENOENT;
	child->pid = task->proc->pid;
	child->tid = n;
	return 0;
}

/* The process with the lowest number from *key on. */
static bool root_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child)
{
	struct process *proc, *best = NULL;

	list_for_each(proc, &process_list, all_link)
		if ((u64)proc->pid >= *key && (!best || proc->pid < best->pid))
			best = proc;
	if (!best)
		return false;
	*key = (u64)best->pid;
	child->node = &proc_pid_dir;
	child->pid = best->pid;
	snprintf(name, PSEUDO_NAME_MAX, "%d", best->pid);
	return true;
}

static int self_readlink(const struct pseudo *self, char *buf, size_t size)
{
	return MIN(snprintf(buf, size, "%d", current->proc->pid), (int)size);
}

static int thread_self_readlink(const struct pseudo *self, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%d/task/%d", current->proc->pid, current->tid);

	return MIN(n, (int)size);
}

static const struct pseudo_node root_nodes[] = {
	PROC_FILE("cmdline", 0444, proc_cmdline),
	PROC_FILE("cpuinfo", 0444, proc_cpuinfo),
	PROC_FILE("filesystems", 0444, proc_filesystems),
	PROC_FILE("loadavg", 0444, proc_loadavg),
	PROC_FILE("meminfo", 0444, proc_meminfo),
	PROC_FILE("stat", 0444, proc_system_stat),
	PROC_FILE("uptime", 0444, proc_uptime),
	PROC_FILE("version", 0444, proc_version),
	{ .name = "mounts", .mode = S_IFLNK | 0777, .link = "self/mounts" },
	{ .name = "net", .mode = S_IFLNK | 0777, .link = "self/net" },
	{ .name = "self", .mode = S_IFLNK | 0777, .readlink = self_readlink },
	{ .name = "thread-self", .mode = S_IFLNK | 0777, .readlink = thread_self_readlink },
	{ .name = "sys", .mode = S_IFDIR | 0555, PSEUDO_CHILDREN(proc_sys_dirs) },
};

static const struct pseudo_node proc_root = {
	.name = "proc", .mode = S_IFDIR | 0555, PSEUDO_CHILDREN(root_nodes),
	.find = root_find, .next = root_next,
};

static struct super proc_super = { .type = "proc", .dev = 0x6, .magic = PROC_SUPER_MAGIC };

int procfs_mount(struct super **out)
{
	*out = &proc_super;
	return pseudo_mount(&proc_super, &proc_root);
}
