/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execve(2): read the file's head, follow #! lines, build a new address space with program,
 * interpreter, stack and vDSO, and only then let the old one go.
 */
#include "proc/exec.h"
#include "proc/elf.h"
#include "proc/exec_load.h"
#include "proc/exit.h"
#include "proc/fpu.h"
#include "proc/posix_timer.h"
#include "proc/signal_send.h"
#include "proc/syscalls.h"
#include "core/print.h"
#include "core/string.h"
#include "fs/vfs.h"
#include "husk/layout.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/limits.h>

#define ARGS_MAX (2ul << 20)
#define INTERPRETER_DEPTH 5
#define HEAD_SIZE 256		/* BINPRM_BUF_SIZE: how much of a #! line counts */

int exec_strings_add(struct exec_strings *s, const char *str)
{
	size_t n = strlen(str) + 1, cap = s->cap ? s->cap : 4096;
	char *buf;

	while (cap < s->len + n)
		cap *= 2;
	if (cap > ARGS_MAX)
		return -E2BIG;
	if (cap != s->cap) {
		buf = kmalloc(cap);
		if (!buf)
			return -ENOMEM;
		memcpy(buf, s->buf, s->len);
		kfree(s->buf);
		s->buf = buf;
		s->cap = cap;
	}
	memcpy(s->buf + s->len, str, n);
	s->len += n;
	s->n++;
	return 0;
}

void exec_strings_free(struct exec_strings *s)
{
	kfree(s->buf);
	*s = (struct exec_strings){ 0 };
}

/* argv becomes: interpreter, its one argument, the script's path, and the rest of the old argv. */
static int script_args(struct exec_strings *argv, const char *interp, const char *arg, const char *path)
{
	struct exec_strings out = { 0 };
	const char *s = argv->buf;
	int ret = exec_strings_add(&out, interp);

	if (!ret && *arg)
		ret = exec_strings_add(&out, arg);
	if (!ret)
		ret = exec_strings_add(&out, path);
	for (unsigned i = 0; !ret && i < argv->n; i++, s += strlen(s) + 1)
		if (i)
			ret = exec_strings_add(&out, s);
	if (ret) {
		exec_strings_free(&out);
		return ret;
	}
	exec_strings_free(argv);
	*argv = out;
	return 0;
}

/* "#! interpreter [argument]" in head, NUL-terminated: split in place. 0 or -ENOEXEC. */
static int script_split(char *head, char **interp, char **arg)
{
	char *p = head + 2, *end = strchr(p, '\n');

	if (!end)
		end = p + strlen(p);
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*end = 0;
	while (*p == ' ' || *p == '\t')
		p++;
	if (!*p)
		return -ENOEXEC;
	*interp = p;
	while (*p && *p != ' ' && *p != '\t')
		p++;
	*arg = p;
	if (*p) {
		*p++ = 0;
		while (*p == ' ' || *p == '\t')
			p++;
		*arg = p;
	}
	return 0;
}

static void comm_set(const char *path)
{
	const char *name = strrchr(path, '/');
	struct process *proc = current->proc;

	memset(proc->comm, 0, sizeof(proc->comm));
	snprintf(proc->comm, sizeof(proc->comm), "%s", name ? name + 1 : path);
	memcpy(current->comm, proc->comm, sizeof(proc->comm));
}

static void threads_end(struct process *proc)
{
	if (proc->nthreads == 1)
		return;
	process_kill_threads(proc, current);
	while (proc->nthreads > 1)
		wait_event_nointr(&proc->child_wait, proc->nthreads == 1);
	proc->group_exit = false;
	current->tid = proc->pid;
}

/* The point of no return: the new address space and identity replace the old ones. */
static void exec_commit(struct exec_image *im, struct file *file, const char *path)
{
	struct process *proc = current->proc;
	struct regs *regs = task_regs(current);
	struct mm *old = proc->mm;
	char buf[256], *name = dentry_path(file->dentry, buf, sizeof(buf));

	threads_end(proc);
	proc->mm = im->mm;
	mm_activate(proc->mm);
	vfork_release(proc);
	if (old)
		mm_put(old);
	if (proc->sighand->refs > 1) {
		struct sighand *own = sighand_new(proc->sighand);

		kassert(own);
		sighand_put(proc->sighand);
		proc->sighand = own;
	}
	sighand_exec(proc);
	posix_timers_exit(proc);
	files_close_on_exec(proc->files);
	comm_set(path);
	kfree(proc->exe);
	proc->exe = kstrdup(name ? name : path);
	proc->execed = true;
	cred_exec(file);
	current->altstack_size = 0;
	current->clear_child_tid = 0;
	current->robust_list = 0;
	current->regs_changed = true;
	fpu_reset();
	fsbase_write(0);
	*regs = (struct regs){
		.rip = im->entry, .rsp = im->stack, .cs = HUSK_USER_CS, .ss = HUSK_USER_DS,
		.rflags = 0x202, .orig_rax = ~0ull,
	};
}

/* Follow #! until there is an ELF file; *file and path are replaced on the way. */
static int exec_open(const char *path, struct file **out, struct exec_strings *argv, char *final)
{
	char head[HEAD_SIZE + 1], *interp, *arg;
	struct file *file = *out;
	int ret = 0;

	snprintf(final, PATH_MAX, "%s", path);
	for (unsigned depth = 0; !ret; depth++) {
		long n = file_read_kernel(file, head, HEAD_SIZE, 0);

		if (n < 0)
			return (int)n;
		head[n] = 0;
		if (n < 2 || head[0] != '#' || head[1] != '!')
			return 0;
		if (depth >= INTERPRETER_DEPTH)
			return -ELOOP;
		ret = script_split(head, &interp, &arg);
		if (!ret)
			ret = script_args(argv, interp, arg, final);
		if (ret)
			return ret;
		snprintf(final, PATH_MAX, "%s", interp);
		file_put(file);
		*out = NULL;
		ret = file_open_exec(final, &file);
		if (!ret)
			*out = file;
	}
	return ret;
}

static int exec_file(const char *path, struct file **file, struct exec_strings *argv,
		     struct exec_strings *envp)
{
	char *final = kmalloc(PATH_MAX);
	struct exec_image im = { 0 };
	int ret;

	if (!final)
		return -ENOMEM;
	ret = exec_open(path, file, argv, final);
	if (!ret)
		ret = exec_load(&im, *file, path, argv, envp);
	if (!ret)
		exec_commit(&im, *file, path);
	kfree(final);
	return ret;
}

int exec_run(const char *path, struct exec_strings *argv, struct exec_strings *envp)
{
	struct file *file;
	int ret = file_open_exec(path, &file);

	if (ret)
		return ret;
	ret = exec_file(path, &file, argv, envp);
	if (file)
		file_put(file);
	return ret;
}

/* A program's NULL-terminated array of string pointers. */
static int strings_from_user(struct exec_strings *s, u64 array)
{
	char *str = kmalloc(ARG_MAX_STRLEN);
	u64 at = 0;
	int ret = str ? 0 : -ENOMEM;

	for (; array && !ret; array += 8) {
		ret = copy_from_user(&at, array, 8);
		if (ret || !at)
			break;
		long n = strncpy_from_user(str, at, ARG_MAX_STRLEN);

		ret = n == -ENAMETOOLONG ? -E2BIG : n < 0 ? (int)n : exec_strings_add(s, str);
	}
	kfree(str);
	return ret;
}

static long exec_user(int dirfd, u64 upath, u64 uargv, u64 uenvp, int flags)
{
	struct exec_strings argv = { 0 }, envp = { 0 };
	struct file *file = NULL;
	char *path = kmalloc(PATH_MAX);
	long ret = path ? strncpy_from_user(path, upath, PATH_MAX) : -ENOMEM;

	if (ret >= 0)
		ret = strings_from_user(&argv, uargv);
	if (!ret && !argv.n)
		ret = exec_strings_add(&argv, "");	/* as Linux does since 5.18 */
	if (!ret)
		ret = strings_from_user(&envp, uenvp);
	if (!ret)
		ret = file_open_exec_at(dirfd, path, flags, &file);
	if (!ret) {
		if (!*path && (flags & AT_EMPTY_PATH))
			snprintf(path, PATH_MAX, "/dev/fd/%d", dirfd);
		ret = exec_file(path, &file, &argv, &envp);
	}
	if (file)
		file_put(file);
	exec_strings_free(&argv);
	exec_strings_free(&envp);
	kfree(path);
	return ret;
}

long sys_execve(u64 path, u64 argv, u64 envp)
{
	return exec_user(AT_FDCWD, path, argv, envp, 0);
}

long sys_execveat(int dirfd, u64 path, u64 argv, u64 envp, int flags)
{
	if (flags & ~(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
		return -EINVAL;
	return exec_user(dirfd, path, argv, envp, flags);
}
