/* SPDX-License-Identifier: Apache-2.0 */
/* Bad pointers in system calls are -EFAULT: never a signal, never a crash, nothing half done. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PAGE	4096ul

struct call {
	const char *name;
	long nr, a[6];
};

#define P	((long)0xdead0bad)	/* stands for the bad pointer under test */
#define F	((long)0xdead0f11)	/* a file open for reading */
#define W	((long)0xdead0f22)	/* the writing end of a pipe */

static const struct call calls[] = {
	{ "read", SYS_read, { F, P, 16 } },
	{ "write", SYS_write, { W, P, 16 } },
	{ "pread64", SYS_pread64, { F, P, 16, 0 } },
	{ "readv", SYS_readv, { F, P, 2 } },
	{ "writev", SYS_writev, { W, P, 2 } },
	{ "open", SYS_open, { P, O_RDONLY } },
	{ "openat", SYS_openat, { AT_FDCWD, P, O_RDONLY } },
	{ "stat", SYS_stat, { P, 0 } },
	{ "fstat", SYS_fstat, { F, P } },
	{ "newfstatat", SYS_newfstatat, { AT_FDCWD, P, 0, 0 } },
	{ "access", SYS_access, { P, R_OK } },
	{ "mkdir", SYS_mkdir, { P, 0755 } },
	{ "unlink", SYS_unlink, { P } },
	{ "rename", SYS_rename, { P, P } },
	{ "symlink", SYS_symlink, { P, P } },
	{ "readlink", SYS_readlink, { P, P, 16 } },
	{ "chdir", SYS_chdir, { P } },
	{ "chmod", SYS_chmod, { P, 0644 } },
	{ "truncate", SYS_truncate, { P, 0 } },
	{ "getcwd", SYS_getcwd, { P, 4096 } },
	{ "pipe", SYS_pipe, { P } },
	{ "pipe2", SYS_pipe2, { P, 0 } },
	{ "poll", SYS_poll, { P, 1, 0 } },
	{ "select", SYS_select, { 1, P, 0, 0, 0 } },
	{ "execve", SYS_execve, { P, 0, 0 } },
	{ "uname", SYS_uname, { P } },
	{ "getrlimit", SYS_getrlimit, { RLIMIT_NOFILE, P } },
	{ "setrlimit", SYS_setrlimit, { RLIMIT_CORE, P } },
	{ "getrusage", SYS_getrusage, { RUSAGE_SELF, P } },
	{ "sysinfo", SYS_sysinfo, { P } },
	{ "times", SYS_times, { P } },
	{ "nanosleep", SYS_nanosleep, { P, 0 } },
	{ "clock_gettime", SYS_clock_gettime, { CLOCK_MONOTONIC, P } },
	{ "clock_getres", SYS_clock_getres, { CLOCK_MONOTONIC, P } },
	{ "gettimeofday", SYS_gettimeofday, { P, 0 } },
	{ "setitimer", SYS_setitimer, { ITIMER_REAL, P, 0 } },
	{ "rt_sigaction", SYS_rt_sigaction, { SIGUSR1, P, 0, 8 } },
	{ "rt_sigaction, old", SYS_rt_sigaction, { SIGUSR1, 0, P, 8 } },
	{ "rt_sigprocmask", SYS_rt_sigprocmask, { SIG_BLOCK, P, 0, 8 } },
	{ "rt_sigprocmask, old", SYS_rt_sigprocmask, { SIG_BLOCK, 0, P, 8 } },
	{ "rt_sigpending", SYS_rt_sigpending, { P, 8 } },
	{ "sigaltstack", SYS_sigaltstack, { P, 0 } },
	{ "getdents64", SYS_getdents64, { F, P, 1024 } },
	{ "statfs", SYS_statfs, { P, P } },
	{ "fstatfs", SYS_fstatfs, { F, P } },
	{ "getrandom", SYS_getrandom, { P, 16, 0 } },
	{ "futex", SYS_futex, { P, 0, 0, 0 } },
	{ "set_robust_list", SYS_set_robust_list, { P, 24 } },
	{ "sched_getaffinity", SYS_sched_getaffinity, { 0, 128, P } },
	{ "prlimit64", SYS_prlimit64, { 0, RLIMIT_NOFILE, 0, P } },
	{ "epoll_ctl", SYS_epoll_ctl, { F, 1, F, P } },
	{ "arch_prctl", SYS_arch_prctl, { 0x1003, P } },
	{ "utimensat", SYS_utimensat, { AT_FDCWD, P, 0, 0 } },
	{ "linkat", SYS_linkat, { AT_FDCWD, P, AT_FDCWD, P, 0 } },
};

static int file_fd, dir_fd, pipe_fds[2];

static long argument(long a, void *bad, long nr)
{
	if (a == P)
		return (long)bad;
	if (a == F)
		return nr == SYS_getdents64 ? dir_fd : file_fd;
	return a == W ? pipe_fds[1] : a;
}

static long run_call(const struct call *c, void *bad)
{
	long a[6];

	for (int i = 0; i < 6; i++)
		a[i] = argument(c->a[i], bad, c->nr);
	lseek(dir_fd, 0, SEEK_SET);
	return syscall(c->nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static void check_calls(const char *kind, void *bad)
{
	char line[96];

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		long ret = run_call(&calls[i], bad);
		bool good = ret == -1 && errno == EFAULT;

		/* These do not touch the pointer, or look at another argument first. */
		if (calls[i].nr == SYS_set_robust_list)
			good = ret == 0;
		if (calls[i].nr == SYS_epoll_ctl)
			good = ret == -1 && (errno == EFAULT || errno == EPERM);
		snprintf(line, sizeof(line), "%s: %s", kind, calls[i].name);
		check(good, line);
		if (!good)
			fprintf(stderr, "# %s: returned %ld, errno %d\n", line, ret, errno);
	}
	syscall(SYS_set_robust_list, NULL, 24);
}

/* A buffer that ends before the data does: what fits is done, or nothing is. */
static void check_partial(char *end)
{
	char *name = end - 3, buf[64];
	int fds[2];

	memset(end - PAGE, 'A', PAGE);
	check_errno(open(name, O_RDONLY), EFAULT, "a path that runs off its page");
	if (pipe2(fds, O_NONBLOCK) < 0)
		exit(1);
	check(pread(file_fd, end - 4, 16, 0) == 4 && !memcmp(end - 4, "\177ELF", 4),
	      "pread into a buffer that runs off its page: what fits");
	check(write(fds[1], end - 8, 16) <= 8, "write from a buffer that runs off its page");
	check(read(fds[0], buf, sizeof(buf)) <= 8, "... no more than there was");
	memcpy(end - 9, "/bin/sh", 8);
	check(access(end - 9, R_OK) == 0, "a path that ends just before");
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	char *p = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte;

	file_fd = open("/bin/sh", O_RDONLY);
	dir_fd = open("/", O_RDONLY | O_DIRECTORY);
	if (file_fd < 0 || dir_fd < 0 || pipe(pipe_fds) < 0)
		return 1;
	munmap(p + PAGE, PAGE);
	check_calls("unmapped", p + PAGE);
	check_calls("upper half", (void *)0xffffffff81000000);
	check_calls("non-canonical", (void *)0x8000000000000000);
	mprotect(p, PAGE, PROT_NONE);
	check_calls("PROT_NONE", p);
	mprotect(p, PAGE, PROT_READ);
	check_errno(read(file_fd, p, 16), EFAULT, "read into a read-only page");
	check_errno(syscall(SYS_fstat, file_fd, p), EFAULT, "fstat into a read-only page");
	mprotect(p, PAGE, PROT_READ | PROT_WRITE);
	check_partial(p + PAGE);
	fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
	check_errno(read(pipe_fds[0], &byte, 1), EAGAIN, "nothing was written by the bad writes");
	return checks_done();
}
