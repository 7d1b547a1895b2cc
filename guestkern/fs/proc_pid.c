/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/<pid>: the directory, its threads, and the small files. */
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/print.h"
#include "core/string.h"
#include "fs/kfs.h"
#include "fs/procfs.h"
#include "proc/misc.h"

static int pid_comm(struct seq *seq, const struct pseudo *self)
{
	struct task *task = proc_task(self);

	seq_printf(seq, "%s\n", task ? task->comm : proc_process(self)->comm);
	return 0;
}

static long pid_comm_set(const struct pseudo *self, const char *text, size_t len)
{
	struct task *task = proc_task(self);
	size_t n = MIN(len, sizeof(task->comm) - 1);

	if (!task || task->proc != current->proc)
		return -EINVAL;
	if (n && text[n - 1] == '\n')
		n--;
	memset(task->comm, 0, sizeof(task->comm));
	memcpy(task->comm, text, n);
	if (task->tid == task->proc->pid)
		memcpy(task->proc->comm, task->comm, sizeof(task->comm));
	return (long)len;
}

static int pid_oom_score_adj(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "0\n");
	return 0;
}

/* There is one tenant and no other victim: taken and not used. */
static long pid_ignore(const struct pseudo *self, const char *text, size_t len)
{
	return (long)len;
}

static int pid_cgroup(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "0::/\n");
	return 0;
}

/* Not accounted: as a kernel without task I/O accounting would be, but with the names. */
static int pid_io(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\nwrite_bytes: 0\n"
		      "cancelled_write_bytes: 0\n");
	return 0;
}

static int pid_wchan(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "0");
	return 0;
}

static int pid_personality(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%08x\n", proc_process(self)->personality);
	return 0;
}

static int pid_loginuid(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "4294967295");
	return 0;
}

static int pid_id_map(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "         0          0 4294967295\n");
	return 0;
}

static int pid_exe(const struct pseudo *self, char *buf, size_t size)
{
	const char *exe = proc_process(self)->exe;
	size_t n = exe ? MIN(strlen(exe), size) : 0;

	if (!exe)
		return -ENOENT;
	memcpy(buf, exe, n);
	return (int)n;
}

static int pid_path(struct dentry *dentry, char *buf, size_t size)
{
	char *path = dentry_path(dentry, buf, size);
	size_t n;

	if (!path)
		return -ENAMETOOLONG;
	n = strlen(path);
	memmove(buf, path, n);
	return (int)n;
}

static struct dentry *pid_dir_dentry(const struct pseudo *self, bool root)
{
	struct process *proc = proc_process(self);

	if (!proc->fs)
		return NULL;
	return root ? proc->fs->root : proc->fs->cwd;
}

static int pid_dir_link(const struct pseudo *self, bool root, char *buf, size_t size)
{
	struct dentry *dentry = pid_dir_dentry(self, root);

	return dentry ? pid_path(dentry, buf, size) : -ENOENT;
}

static int pid_dir_follow(const struct pseudo *self, bool root, struct dentry **target)
{
	struct dentry *dentry = pid_dir_dentry(self, root);

	if (!dentry)
		return -ENOENT;
	dentry_get(dentry);
	*target = dentry;
	return 0;
}

static int pid_cwd(const struct pseudo *self, char *buf, size_t size)
{
	return pid_dir_link(self, false, buf, size);
}

static int pid_cwd_follow(const struct pseudo *self, struct dentry **target)
{
	return pid_dir_follow(self, false, target);
}

static int pid_root(const struct pseudo *self, char *buf, size_t size)
{
	return pid_dir_link(self, true, buf, size);
}

static int pid_root_follow(const struct pseudo *self, struct dentry **target)
{
	return pid_dir_follow(self, true, target);
}

/* --- task/ ---------------------------------------------------------------------------------- */

/* What a thread has of its own; the rest is the process's, so most names work here too. */
#define PID_COMMON_NODES							\
	PROC_RW("comm", 0644, pid_comm, pid_comm_set),				\
	PROC_FILE("cmdline", 0444, proc_pid_cmdline),				\
	PROC_FILE("environ", 0400, proc_pid_environ),				\
	PROC_FILE("auxv", 0400, proc_pid_auxv),					\
	PROC_FILE("maps", 0444, proc_pid_maps),					\
	PROC_FILE("smaps", 0444, proc_pid_smaps),				\
	PROC_FILE("stat", 0444, proc_pid_stat),					\
	PROC_FILE("statm", 0444, proc_pid_statm),				\
	PROC_FILE("status", 0444, proc_pid_status),				\
	PROC_FILE("limits", 0444, proc_pid_limits),				\
	PROC_FILE("mounts", 0444, proc_mounts),					\
	PROC_FILE("mountinfo", 0444, proc_mountinfo),				\
	PROC_RW("oom_score_adj", 0644, pid_oom_score_adj, pid_ignore),		\
	PROC_FILE("oom_score", 0444, pid_oom_score_adj),			\
	PROC_FILE("cgroup", 0444, pid_cgroup),					\
	PROC_FILE("io", 0400, pid_io),						\
	PROC_FILE("wchan", 0444, pid_wchan),					\
	PROC_FILE("personality", 0400, pid_personality),			\
	PROC_RW("loginuid", 0644, pid_loginuid, pid_ignore),			\
	PROC_FILE("uid_map", 0444, pid_id_map),					\
	PROC_FILE("gid_map", 0444, pid_id_map),					\
	{ .name = "exe", .mode = S_IFLNK | 0777, .readlink = pid_exe },		\
	{ .name = "cwd", .mode = S_IFLNK | 0777, .readlink = pid_cwd,		\
	  .follow = pid_cwd_follow },						\
	{ .name = "root", .mode = S_IFLNK | 0777, .readlink = pid_root,		\
	  .follow = pid_root_follow },						\
	{ .name = "fd", .mode = S_IFDIR | 0500, .find = proc_fd_find,		\
	  .next = proc_fd_next },						\
	{ .name = "fdinfo", .mode = S_IFDIR | 0500, .find = proc_fdinfo_find,	\
	  .next = proc_fdinfo_next }

static const struct pseudo_node thread_nodes[] = { PID_COMMON_NODES };

static const struct pseudo_node thread_dir = {
	.mode = S_IFDIR | 0555, PSEUDO_CHILDREN(thread_nodes),
};

static int task_dir_find(const struct pseudo *dir, const char *name, struct pseudo *child)
{
	struct task *task;
	s32 tid;

	if (!proc_parse_number(name, &tid))
		return -ENOENT;
	task = task_find(tid);
	if (!task || task->proc->pid != dir->pid)
		return -ENOENT;
	child->node = &thread_dir;
	child->tid = tid;
	return 0;
}

static bool task_dir_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child)
{
	struct process *proc = proc_process(dir);
	struct task *task, *best = NULL;

	list_for_each(task, &proc->threads, thread_link)
		if ((u64)task->tid >= *key && (!best || task->tid < best->tid))
			best = task;
	if (!best)
		return false;
	*key = (u64)best->tid;
	child->node = &thread_dir;
	child->tid = best->tid;
	snprintf(name, PSEUDO_NAME_MAX, "%d", best->tid);
	return true;
}

static const struct pseudo_node pid_nodes[] = {
	PID_COMMON_NODES,
	{ .name = "task", .mode = S_IFDIR | 0555, .find = task_dir_find, .next = task_dir_next },
	{ .name = "net", .mode = S_IFDIR | 0555 },
};

const struct pseudo_node proc_pid_dir = {
	.mode = S_IFDIR | 0555, PSEUDO_CHILDREN(pid_nodes),
};
