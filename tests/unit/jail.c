/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jail from inside: each case forks, enters, tries one thing. Not sanitized: a sanitizer
 * makes system calls of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "vmm/config.h"
#include "vmm/jail.h"

static char top[] = "/tmp/husk-jail.XXXXXX";
static int ro_fd, rw_fd, file_fd, etc_fd;	/* etc_fd is no share */
static bool have_landlock;

static bool jail_enter(void)
{
	struct config cfg = { .cpus = 1 };
	int ro[] = { ro_fd, file_fd };

	return !jail_prepare(&cfg, ro, 2, &rw_fd, 1) && !jail_enter_process() && !jail_enter_vcpu();
}

/* Runs fn in a jailed child: its exit status, or -signal. */
static int jailed(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(jail_enter() ? fn() : 99);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

/* Nonzero exit statuses of cases are errno values, so that a failure explains itself. */
static int result(long ret)
{
	return ret < 0 ? errno : 0;
}

static int do_execve(void) { char *v[] = { "/bin/true", NULL }; return result(execv(v[0], v)); }
static int do_fork(void) { return result(syscall(SYS_fork)); }
static int do_clone(void) { return result(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)); }
static int do_socket(void) { return result(socket(AF_INET, SOCK_STREAM, 0)); }
static int do_ptrace(void) { return result(ptrace(PTRACE_TRACEME, 0, 0, 0)); }
static int do_mount(void) { return result(syscall(SYS_mount, "a", "/", "tmpfs", 0, 0)); }
static int do_unshare(void) { return result(syscall(SYS_unshare, 0)); }
static int do_kill(void) { return result(kill(getpid(), 0)); }
static int do_chroot(void) { return result(chroot("/")); }
static int do_setuid(void) { return result(setuid(getuid())); }
static int do_uring(void) { return result(syscall(SYS_io_uring_setup, 1, NULL)); }
static int do_bpf(void) { return result(syscall(SYS_bpf, 0, NULL, 0)); }
static int do_vmread(void) { return result(syscall(SYS_process_vm_readv, getpid(), 0, 0, 0, 0, 0)); }
static int do_x32(void) { return result(syscall(0x40000000 | SYS_getpid)); }
static int do_int80(void) { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20)); return 0; }
static int do_tiocsti(void) { return result(ioctl(0, 0x5412, "x")); }
static int do_prctl(void) { return result(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)); }
static int do_exec_map(void)
{
	return result((long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

static int do_open_old(void) { return result(syscall(SYS_open, "/etc/passwd", O_RDONLY)); }
static int do_read_ro(void) { return result(openat(ro_fd, "file", O_RDONLY)); }
static int do_list_ro(void) { return result(openat(ro_fd, ".", O_RDONLY | O_DIRECTORY)); }
static int do_write_ro(void) { return result(openat(ro_fd, "file", O_WRONLY)); }
static int do_create_ro(void) { return result(openat(ro_fd, "new", O_WRONLY | O_CREAT, 0600)); }
static int do_unlink_ro(void) { return result(unlinkat(ro_fd, "file", 0)); }
static int do_mkdir_ro(void) { return result(mkdirat(ro_fd, "d", 0700)); }
static int do_outside(void) { return result(openat(etc_fd, "passwd", O_RDONLY)); }
static int do_absolute(void) { return result(openat(AT_FDCWD, "/etc/passwd", O_RDONLY)); }
static int do_dotdot(void) { return result(openat(ro_fd, "../secret", O_RDONLY)); }
static int do_reopen_file(void)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file_fd);
	return result(openat(AT_FDCWD, path, O_RDONLY));
}

static int do_write_rw(void)
{
	int fd = openat(rw_fd, "new", O_WRONLY | O_CREAT, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1 || ftruncate(fd, 0) || fsync(fd))
		return errno;
	if (mkdirat(rw_fd, "d", 0700) || renameat(rw_fd, "new", rw_fd, "d/new"))
		return errno;
	return result(unlinkat(rw_fd, "d/new", 0) | unlinkat(rw_fd, "d", AT_REMOVEDIR));
}

static int do_device_rw(void)
{
	return result(mknodat(rw_fd, "null", S_IFCHR | 0666, 0x103));
}

static void *thread_run(void *arg)
{
	/* Born inside: as confined as its maker. */
	*(int *)arg = jail_enter_vcpu() || openat(etc_fd, "passwd", O_RDONLY) >= 0 ? 1 : errno;
	return NULL;
}

static int do_thread(void)
{
	pthread_t t;
	int got = 0;

	if (pthread_create(&t, NULL, thread_run, &got) || pthread_join(t, NULL))
		return 98;
	return got;
}

static int do_caps(void)
{
	/* Of root's privileges only those for files are left: no raw clock, no chroot, no nice. */
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1;
}

static const struct { const char *name; int (*fn)(void); } deadly[] = {
	{ "execve", do_execve }, { "fork", do_fork }, { "clone without CLONE_THREAD", do_clone },
	{ "socket", do_socket }, { "ptrace", do_ptrace }, { "mount", do_mount },
	{ "unshare", do_unshare }, { "kill", do_kill }, { "chroot", do_chroot }, { "setuid", do_setuid },
	{ "io_uring_setup", do_uring }, { "bpf", do_bpf }, { "process_vm_readv", do_vmread },
	{ "an x32 call", do_x32 }, { "int $0x80", do_int80 }, { "ioctl TIOCSTI", do_tiocsti },
	{ "prctl PR_SET_DUMPABLE", do_prctl }, { "mmap PROT_EXEC", do_exec_map },
};

static const struct { const char *name; int (*fn)(void); int want; bool landlock; } cases[] = {
	{ "read a file of a read-only share", do_read_ro, 0, false },
	{ "list a read-only share", do_list_ro, 0, false },
	{ "reopen a shared file through /proc/self/fd", do_reopen_file, 0, false },
	{ "create, write, rename, remove in a writable share", do_write_rw, 0, false },
	{ "no_new_privs is set", do_caps, 0, false },
	{ "write a file of a read-only share", do_write_ro, EACCES, true },
	{ "create in a read-only share", do_create_ro, EACCES, true },
	{ "remove from a read-only share", do_unlink_ro, EACCES, true },
	{ "mkdir in a read-only share", do_mkdir_ro, EACCES, true },
	{ "open beneath a descriptor that is no share", do_outside, EACCES, true },
	{ "open an absolute path", do_absolute, EACCES, true },
	{ "the same by open(2)", do_open_old, EACCES, true },
	{ "leave a share by ..", do_dotdot, EACCES, true },
	{ "make a device node", do_device_rw, EACCES, true },
	{ "a thread made inside is inside", do_thread, EACCES, true },
};

static void file_make(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		abort();
	close(fd);
}

static void world_make(void)
{
	int dir;

	if (!mkdtemp(top))
		abort();
	dir = open(top, O_RDONLY | O_DIRECTORY);
	if (dir < 0 || mkdirat(dir, "ro", 0755) || mkdirat(dir, "rw", 0755))
		abort();
	file_make(dir, "secret");
	file_make(dir, "ro/file");
	file_make(dir, "single");
	ro_fd = openat(dir, "ro", O_PATH | O_DIRECTORY);
	rw_fd = openat(dir, "rw", O_PATH | O_DIRECTORY);
	file_fd = openat(dir, "single", O_PATH);
	etc_fd = open("/etc", O_PATH | O_DIRECTORY);
	close(dir);
}

static void world_remove(void)
{
	char cmd[80];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", top);
	if (system(cmd))
		puts("# the test's folder is still there");
}

static void no_jail_test(void)
{
	struct config cfg = { .no_jail = true };
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(jail_prepare(&cfg, NULL, 0, NULL, 0) || jail_enter_process() ||
		      jail_enter_vcpu() || do_absolute());
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "--no-jail leaves everything as it is");
	pid = fork();
	if (pid == 0)
		_exit(jail_enter_vcpu() == -EPERM ? 0 : 1);
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "a vCPU outside of a jail that should be is refused");
}

/* The same for someone without privileges (who may open /dev/kvm). */
static void user_test(void)
{
	int status;
	pid_t pid;

	if (getuid()) {
		tap_ok(true, "an ordinary user enters (all of the above) # SKIP not root");
		return;
	}
	pid = fork();
	if (pid == 0) {
		if (setgid(65534) || setuid(65534))
			_exit(97);
		_exit(jail_enter() ? do_read_ro() : 99);
	}
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "an ordinary user enters");
}

int main(void)
{
	have_landlock = syscall(SYS_landlock_create_ruleset, NULL, 0, 1) > 0;
	world_make();
	for (size_t i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++) {
		int got = jailed(deadly[i].fn);

		tap_ok(got == -SIGSYS, "%s is death by SIGSYS (%d)", deadly[i].name, got);
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (cases[i].landlock && !have_landlock) {
			tap_ok(true, "%s # SKIP no Landlock on this host", cases[i].name);
			continue;
		}
		int got = jailed(cases[i].fn);

		tap_ok(got == cases[i].want, "%s: %s", cases[i].name, got < 0 ? "killed" : strerror(got));
	}
	no_jail_test();
	user_test();
	world_remove();
	return tap_done();
}
