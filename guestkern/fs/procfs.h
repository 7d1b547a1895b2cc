/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of /proc: what each file supplies to the tree in procfs.c. */
#pragma once

#include "fs/pseudo.h"
#include "proc/task.h"

#define PROC_FILE(n, perm, fn)	{ .name = n, .mode = S_IFREG | (perm), .show = fn }
#define PROC_RW(n, perm, get, set) \
	{ .name = n, .mode = S_IFREG | (perm), .show = get, .store = set }
#define PROC_DIR(n, table)	{ .name = n, .mode = S_IFDIR | 0555, PSEUDO_CHILDREN(table) }

/* procfs.c */
bool proc_parse_number(const char *name, s32 *out);
struct process *proc_process(const struct pseudo *self);	/* alive, as pseudo.c has checked */
struct task *proc_task(const struct pseudo *self);	/* the thread shown, or NULL: a zombie */

/* proc_pid.c */
extern const struct pseudo_node proc_pid_dir;

/* proc_fd.c */
int proc_fd_find(const struct pseudo *dir, const char *name, struct pseudo *child);
bool proc_fd_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child);
int proc_fdinfo_find(const struct pseudo *dir, const char *name, struct pseudo *child);
bool proc_fdinfo_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child);

/* proc_stat.c: numbers about one process or thread */
int proc_pid_stat(struct seq *seq, const struct pseudo *self);
int proc_pid_statm(struct seq *seq, const struct pseudo *self);
int proc_pid_status(struct seq *seq, const struct pseudo *self);
int proc_pid_limits(struct seq *seq, const struct pseudo *self);

/* proc_mem.c: memory of one process */
int proc_pid_maps(struct seq *seq, const struct pseudo *self);
int proc_pid_smaps(struct seq *seq, const struct pseudo *self);
int proc_pid_cmdline(struct seq *seq, const struct pseudo *self);
int proc_pid_environ(struct seq *seq, const struct pseudo *self);
int proc_pid_auxv(struct seq *seq, const struct pseudo *self);

/* proc_mounts.c */
int proc_mounts(struct seq *seq, const struct pseudo *self);
int proc_mountinfo(struct seq *seq, const struct pseudo *self);
int mount_id(const struct mount *mount);

/* proc_system.c and proc_cpu.c: the whole system */
int proc_cpuinfo(struct seq *seq, const struct pseudo *self);
int proc_meminfo(struct seq *seq, const struct pseudo *self);
int proc_system_stat(struct seq *seq, const struct pseudo *self);
int proc_uptime(struct seq *seq, const struct pseudo *self);
int proc_loadavg(struct seq *seq, const struct pseudo *self);
int proc_version(struct seq *seq, const struct pseudo *self);
int proc_filesystems(struct seq *seq, const struct pseudo *self);
int proc_cmdline(struct seq *seq, const struct pseudo *self);

/* proc_sys.c */
#define PROC_SYS_DIRS 4
extern const struct pseudo_node proc_sys_dirs[PROC_SYS_DIRS];
