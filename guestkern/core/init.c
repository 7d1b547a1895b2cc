/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first program: its files, identity, arguments, and the search along PATH as execvp(3) does
 * it. What prevents it from starting is the VM's exit reason.
 */
#include "core/init.h"
#include "bench/bench.h"
#include "core/fdt.h"
#include "core/print.h"
#include "core/stamp.h"
#include "core/string.h"
#include "fs/kfs.h"
#include "fs/vfs.h"
#include "husk/fdt.h"
#include "husk/system.h"
#include "proc/exec.h"
#include "proc/exit.h"
#include "proc/misc.h"
#include "proc/process.h"
#include "proc/signal_send.h"
#include "proc/signo.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/stat.h>

#define DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

void task_enter(struct regs *regs) __attribute__((noreturn));	/* nucleus/entry.S */

int init_node(const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");

	return chosen < 0 ? chosen : fdt_find(fdt, chosen, HUSK_FDT_INIT);
}

static void strings_get(const struct fdt *fdt, int node, const char *name, struct exec_strings *out)
{
	u32 len = 0;
	const char *p = fdt_prop(fdt, node, name, &len), *end = p + len;
	int ret = 0;

	if (p && len && end[-1])
		panic("%s in the device tree is not terminated", name);
	for (; p && p < end && !ret; p += strlen(p) + 1)
		ret = exec_strings_add(out, p);
	if (ret)
		system_exit(HUSK_EXIT_EXEC, (unsigned)-ret);
}

static const char *env_find(const struct exec_strings *envp, const char *name)
{
	const char *s = envp->buf;
	size_t n = strlen(name);

	for (unsigned i = 0; i < envp->n; i++, s += strlen(s) + 1)
		if (!strncmp(s, name, n) && s[n] == '=')
			return s + n + 1;
	return NULL;
}

/* Each PATH entry in turn; a file that may not be executed is remembered, as execvp(3) does. */
static int path_search(const char *name, struct exec_strings *argv, struct exec_strings *envp)
{
	const char *p = env_find(envp, "PATH");
	static char full[PATH_MAX];
	int ret = -ENOENT, r;

	for (p = p ? p : DEFAULT_PATH;; p++) {
		size_t n = 0;

		while (p[n] && p[n] != ':')
			n++;
		snprintf(full, sizeof(full), "%.*s%s%s", (int)n, p, n ? "/" : "", name);
		r = exec_run(full, argv, envp);
		if (!r)
			return 0;
		if (r != -ENOENT && r != -ENOTDIR && r != -EACCES)
			return r;
		if (r == -EACCES)
			ret = r;
		p += n;
		if (!*p)
			return ret;
	}
}

static int program_exec(const struct fdt *fdt, int node)
{
	struct exec_strings argv = { 0 }, envp = { 0 };
	static char name[PATH_MAX];
	int ret;

	strings_get(fdt, node, HUSK_FDT_ARGV, &argv);
	strings_get(fdt, node, HUSK_FDT_ENVP, &envp);
	if (!argv.n)
		panic("the device tree names no program");
	snprintf(name, sizeof(name), "%s", argv.buf);
	ret = strchr(name, '/') ? exec_run(name, &argv, &envp) : path_search(name, &argv, &envp);
	exec_strings_free(&argv);
	exec_strings_free(&envp);
	return ret;
}

static void identity_set(const struct fdt *fdt, int node, struct process *proc)
{
	u32 uid = (u32)fdt_u32(fdt, node, HUSK_FDT_UID, 0), gid = (u32)fdt_u32(fdt, node, HUSK_FDT_GID, 0);
	u32 len;

	proc->cred = (struct cred){ .uid = uid, .euid = uid, .suid = uid, .fsuid = uid,
				    .gid = gid, .egid = gid, .sgid = gid, .fsgid = gid };
	proc->patch = !fdt_prop(fdt, node, HUSK_FDT_NO_PATCH, &len);
	rlimits_init(proc, fdt);
	/* Leader of its own session, as under a login shell. */
	proc->pgid = proc->sid = proc->pid;
	proc->exit_signal = SIGCHLD;
}

static int cwd_set(struct process *proc, const char *path)
{
	struct dentry *dentry;
	int ret = path_lookup(AT_FDCWD, path, true, &dentry);

	if (ret)
		return ret;
	if (!dentry->inode || !S_ISDIR(dentry->inode->mode)) {
		dentry_put(dentry);
		return dentry->inode ? -ENOTDIR : -ENOENT;
	}
	dentry_put(proc->fs->cwd);
	proc->fs->cwd = dentry;
	return 0;
}

static void files_set(const struct fdt *fdt, int node, struct process *proc)
{
	const char *cwd = fdt_str(fdt, node, HUSK_FDT_CWD);
	int ret = vfs_mount_root(fdt);

	if (ret)
		panic("cannot mount the root file system: error %d", -ret);
	boot_stamp("mounts");
	proc->fs = fs_new();		/* root and current directory: what is mounted now */
	proc->files = files_new();
	if (!proc->fs || !proc->files || stdio_setup(proc->files, fdt))
		panic("cannot open standard input and output");
	if (cwd && *cwd) {
		ret = vfs_make_path(cwd, 0755, proc->cred.uid, proc->cred.gid);
		if (!ret || ret == -EEXIST)
			ret = cwd_set(proc, cwd);
		if (ret) {
			klog("cannot change to %s: error %d", cwd, -ret);
			system_exit(HUSK_EXIT_EXEC, (unsigned)-ret);
		}
	}
}

void init_run(const struct fdt *fdt)
{
	struct process *proc = current->proc;
	int node = init_node(fdt), ret;

	if (node < 0)
		bench_run(fdt);
	proc->sighand = sighand_new(NULL);
	if (!proc->sighand)
		panic("no memory for the first process");
	boot_stamp("first task");
	files_set(fdt, node, proc);
	boot_stamp("standard streams");
	identity_set(fdt, node, proc);
	misc_init(fdt);
	ret = program_exec(fdt, node);
	if (ret)
		system_exit(HUSK_EXIT_EXEC, (unsigned)-ret);
	boot_stamp("exec");
	boot_stamps_print();
	current->regs_changed = false;
	task_enter(task_regs(current));
}
