/* SPDX-License-Identifier: Apache-2.0 */
/* fork, vfork, wait: copy-on-write memory, what a child inherits, what its parent learns. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <signal.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	4096ul
#define PAGES	256

static int global = 1;

/* The exit status of a child that runs `action`, or -signal. */
static int in_child(int (*action)(void *), void *arg)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(action(arg));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1000;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int child_writes(void *arg)
{
	char *p = arg;

	for (int i = 0; i < PAGES; i++) {
		if (p[i * PAGE] != (char)i)
			return 1;
		p[i * PAGE] = ~i;
	}
	global = 2;
	for (int i = 0; i < PAGES; i++)
		if (p[i * PAGE] != (char)~i)
			return 2;
	return 0;
}

static void check_cow(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	char *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool same = true;
	pid_t pid;

	for (int i = 0; i < PAGES; i++)
		p[i * PAGE] = i;
	check(in_child(child_writes, p) == 0, "a child sees and changes its copy");
	for (int i = 0; i < PAGES; i++)
		same &= p[i * PAGE] == (char)i;
	check(same && global == 1, "... the parent's is unchanged");
	pid = fork();
	if (!pid) {
		for (int i = 0; i < PAGES; i++)
			if (p[i * PAGE] != (char)i)
				_exit(1);
		while (!*(volatile char *)shared)
			sched_yield();
		for (int i = 0; i < PAGES; i++)
			if (p[i * PAGE] != (char)i)
				_exit(2);
		_exit(0);
	}
	for (int i = 0; i < PAGES; i++)
		p[i * PAGE] = 99;
	*(volatile char *)shared = 1;
	waitpid(pid, &global, 0);
	check(global == 0, "what the parent writes the child does not see");
	global = 1;
	munmap(p, PAGES * PAGE);
	munmap(shared, PAGE);
}

static int child_grandchild(void *arg)
{
	for (int depth = 0; depth < 5; depth++) {
		int status;
		pid_t pid = fork();

		if (pid) {
			waitpid(pid, &status, 0);
			return WEXITSTATUS(status) + 1;
		}
		global++;
	}
	return global == 6 ? 10 : 100;
}

static int child_ids(void *arg)
{
	pid_t *parent = arg;

	return getppid() == *parent && getpid() != *parent ? 42 : 1;
}

static int child_signal(void *arg)
{
	raise(*(int *)arg);
	return 1;
}

static void check_status(void)
{
	pid_t self = getpid();
	int sig, status;

	check(in_child(child_ids, &self) == 42, "process ids and exit status");
	check(in_child(child_grandchild, NULL) == 15, "five generations");
	sig = SIGTERM;
	check(in_child(child_signal, &sig) == -SIGTERM, "death by SIGTERM");
	sig = SIGKILL;
	check(in_child(child_signal, &sig) == -SIGKILL, "death by SIGKILL");
	sig = SIGABRT;
	check(in_child(child_signal, &sig) == -SIGABRT, "death by SIGABRT");
	check_errno(waitpid(-1, &status, 0), ECHILD, "wait without children");
	check_errno(waitpid(self, &status, 0), ECHILD, "wait for oneself");
}

static void check_wait(void)
{
	int fds[2], status;
	siginfo_t si = { 0 };
	struct rusage usage;
	pid_t a, b;
	char c;

	if (pipe(fds) < 0)
		exit(1);
	a = fork();
	if (!a) {
		close(fds[1]);
		_exit(read(fds[0], &c, 1) ? 1 : 11);
	}
	check(waitpid(a, &status, WNOHANG) == 0, "WNOHANG while it runs");
	check(waitid(P_PID, a, &si, WEXITED | WNOHANG) == 0 && si.si_pid == 0, "waitid likewise");
	close(fds[1]);
	check(waitid(P_PID, a, &si, WEXITED | WNOWAIT) == 0 && si.si_pid == a &&
	      si.si_code == CLD_EXITED && si.si_status == 11, "waitid with WNOWAIT");
	check(wait4(a, &status, 0, &usage) == a && WEXITSTATUS(status) == 11, "then wait4");
	close(fds[0]);
	a = fork();
	if (!a)
		_exit(1);
	b = fork();
	if (!b) {
		setpgid(0, 0);
		_exit(2);
	}
	check(waitpid(b, &status, 0) == b && WEXITSTATUS(status) == 2, "wait for one of two");
	check(wait(&status) == a && WEXITSTATUS(status) == 1, "then for any");
}

static void check_stop(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		raise(SIGSTOP);
		_exit(5);
	}
	check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status) &&
	      WSTOPSIG(status) == SIGSTOP, "a stopped child with WUNTRACED");
	kill(pid, SIGCONT);
	check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5,
	      "... continued");
}

static int child_inherits(void *arg)
{
	int *fd = arg;
	char cwd[64];
	sigset_t set;

	sigprocmask(SIG_BLOCK, NULL, &set);
	if (!sigismember(&set, SIGUSR2) || !getcwd(cwd, sizeof(cwd)) || strcmp(cwd, "/usr"))
		return 1;
	if (lseek(*fd, 0, SEEK_CUR) != 100)
		return 2;
	lseek(*fd, 200, SEEK_SET);
	chdir("/");
	return umask(0) == 027 ? 0 : 3;
}

static void check_inheritance(void)
{
	int fd = open("/bin/sh", O_RDONLY);
	char *old = getcwd(NULL, 0), cwd[64];
	mode_t mask = umask(027);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	chdir("/usr");
	lseek(fd, 100, SEEK_SET);
	check(in_child(child_inherits, &fd) == 0, "mask, directory, umask, offset are inherited");
	check(lseek(fd, 0, SEEK_CUR) == 200, "the file offset is shared");
	check(getcwd(cwd, sizeof(cwd)) && !strcmp(cwd, "/usr"), "the directory is not");
	chdir(old);
	umask(mask);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	close(fd);
}

static void check_vfork(void)
{
	static volatile int shared;
	int status;
	pid_t pid = vfork();

	if (!pid) {
		shared = 77;
		execl("/bin/sh", "sh", "-c", "exit 9", (char *)NULL);
		_exit(1);
	}
	check(shared == 77, "a vfork child shares memory");
	check(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 9, "... and executes");
	pid = vfork();
	if (!pid) {
		execl("/no/such/file", "x", (char *)NULL);
		_exit(errno == ENOENT ? 3 : 4);
	}
	check(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3, "... or fails to");
}

static void check_orphan(void)
{
	int fds[2];
	pid_t self = getpid(), pid, now;

	if (pipe(fds) < 0)
		exit(1);
	pid = fork();
	if (!pid) {
		pid = getpid();
		if (!fork()) {
			while ((now = getppid()) == pid)
				sched_yield();
			now = now > 0 && now != pid && now != self;
			_exit(write(fds[1], &now, sizeof(now)) != sizeof(now));
		}
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(fds[1]);
	check(read(fds[0], &now, sizeof(now)) == sizeof(now), "an orphan lives on");
	close(fds[0]);
}

static void check_many(void)
{
	int good = 0, status;

	for (int i = 0; i < 50; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(i);
		good += pid > 0;
	}
	for (int i = 0; i < 50; i++)
		good += wait(&status) > 0;
	check(good == 100, "fifty children");
}

int main(void)
{
	check_cow();
	check_status();
	check_wait();
	check_stop();
	check_inheritance();
	check_vfork();
	check_orphan();
	check_many();
	return checks_done();
}
