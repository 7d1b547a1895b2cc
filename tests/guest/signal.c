/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: handlers and what they may change, masks, restarts, timers, waiting. */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile int count, nested, deepest;
static volatile siginfo_t last;
static volatile bool blocked_inside;

static void on_count(int sig)
{
	count++;
}

static void on_info(int sig, siginfo_t *si, void *context)
{
	sigset_t set;

	last = *si;
	sigprocmask(SIG_BLOCK, NULL, &set);
	blocked_inside = sigismember(&set, sig);
	count++;
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = flags };

	sigaction(sig, &sa, NULL);
}

static void check_info(void)
{
	struct sigaction sa = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO }, old;
	union sigval value = { .sival_int = 1234 };

	check(sigaction(SIGUSR1, &sa, NULL) == 0, "sigaction");
	check(sigaction(SIGUSR1, NULL, &old) == 0 && old.sa_sigaction == on_info, "... read back");
	count = 0;
	kill(getpid(), SIGUSR1);
	check(count == 1 && last.si_signo == SIGUSR1 && last.si_code == SI_USER &&
	      last.si_pid == getpid() && last.si_uid == getuid(), "kill: siginfo");
	check(blocked_inside, "the signal is blocked in its handler");
	sigqueue(getpid(), SIGUSR1, value);
	check(count == 2 && last.si_code == SI_QUEUE && last.si_value.sival_int == 1234,
	      "sigqueue: siginfo");
	raise(SIGUSR1);
	check(count == 3 && last.si_code == SI_TKILL, "raise: siginfo");
	check_errno(kill(getpid(), 99), EINVAL, "kill with a bad signal");
	check(kill(getpid(), 0) == 0, "kill with signal 0");
	check_errno(kill(0x3fffffff, SIGTERM), ESRCH, "kill of nobody");
	check_errno(sigaction(SIGKILL, &sa, NULL), EINVAL, "a handler for SIGKILL");
}

static void check_mask(void)
{
	sigset_t set, old, pending;
	struct timespec none = { 0 };
	siginfo_t si;

	handle(SIGUSR1, on_count, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	count = 0;
	sigprocmask(SIG_BLOCK, &set, &old);
	kill(getpid(), SIGUSR1);
	kill(getpid(), SIGUSR1);
	check(count == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1),
	      "a blocked signal is pending");
	sigprocmask(SIG_SETMASK, &old, NULL);
	check(count == 1, "... and comes once");
	sigprocmask(SIG_BLOCK, &set, NULL);
	kill(getpid(), SIGUSR1);
	check(sigsuspend(&old) == -1 && errno == EINTR && count == 2, "sigsuspend");
	kill(getpid(), SIGUSR1);
	check(sigtimedwait(&set, &si, &none) == SIGUSR1 && si.si_pid == getpid() && count == 2,
	      "sigtimedwait takes it");
	check_errno(sigtimedwait(&set, &si, &none), EAGAIN, "... there is no other");
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	handle(SIGRTMIN, on_count, 0);
	sigprocmask(SIG_BLOCK, &set, NULL);
	count = 0;
	for (int i = 0; i < 3; i++)
		kill(getpid(), SIGRTMIN);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	check(count == 3, "real-time signals queue");
}

static void on_nested(int sig)
{
	nested++;
	if (nested > deepest)
		deepest = nested;
	if (deepest < 5)
		raise(sig);
	nested--;
}

static void check_flags(void)
{
	struct sigaction old;
	int status;
	pid_t pid;

	nested = deepest = 0;
	handle(SIGUSR1, on_nested, SA_NODEFER);
	raise(SIGUSR1);
	check(deepest == 5 && nested == 0, "SA_NODEFER nests");
	handle(SIGUSR1, on_count, SA_RESETHAND);
	count = 0;
	raise(SIGUSR1);
	sigaction(SIGUSR1, NULL, &old);
	check(count == 1 && old.sa_handler == SIG_DFL, "SA_RESETHAND");
	handle(SIGUSR1, SIG_IGN, 0);
	raise(SIGUSR1);
	check(count == 1, "SIG_IGN");
	fflush(NULL);
	pid = fork();
	if (!pid) {
		handle(SIGUSR1, on_count, 0);
		execl("/bin/sh", "sh", "-c", "kill -USR1 $$; exit 3", (char *)NULL);
	}
	waitpid(pid, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1, "exec resets handlers");
	pid = fork();
	if (!pid)
		execl("/bin/sh", "sh", "-c", "kill -USR1 $$; exit 3", (char *)NULL);
	waitpid(pid, &status, 0);
	check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "... and keeps what is ignored");
	handle(SIGUSR1, SIG_DFL, 0);
}

/* A child writes to the pipe after it has interrupted the parent's read. */
static ssize_t interrupted_read(int flags, char *c)
{
	pid_t parent = getpid(), pid;
	int fds[2], err;
	ssize_t n;

	if (pipe(fds) < 0)
		exit(1);
	count = 0;
	handle(SIGUSR1, on_count, flags);
	pid = fork();
	if (!pid) {
		usleep(50000);
		kill(parent, SIGUSR1);
		usleep(50000);
		_exit(write(fds[1], "r", 1) != 1);
	}
	n = read(fds[0], c, 1);
	err = errno;
	waitpid(pid, NULL, 0);
	close(fds[0]);
	close(fds[1]);
	errno = err;
	return n;
}

static void check_restart(void)
{
	struct timespec ts = { 5, 0 }, left;
	pid_t parent = getpid(), pid;
	bool slept;
	char c = 0;

	check_errno(interrupted_read(0, &c), EINTR, "read is interrupted");
	check(interrupted_read(SA_RESTART, &c) == 1 && c == 'r' && count == 1,
	      "with SA_RESTART it goes on");
	check(interrupted_read(SA_RESTART, &c) == 1 && count == 1, "... again, at the same site");
	handle(SIGUSR1, on_count, SA_RESTART);
	pid = fork();
	if (!pid) {
		usleep(50000);
		_exit(kill(parent, SIGUSR1));
	}
	slept = nanosleep(&ts, &left) == -1 && errno == EINTR && left.tv_sec < 5;
	check(slept, "nanosleep is interrupted even so, and says what is left");
	waitpid(pid, NULL, 0);
}

static void on_regs(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	__asm__ volatile("pcmpeqd %%xmm0, %%xmm0; movdqa %%xmm0, %%xmm7; movdqa %%xmm0, %%xmm15"
			 : : : "xmm0", "xmm7", "xmm15");
	uc->uc_mcontext.gregs[REG_RIP] += 2;	/* past the ud2 */
	uc->uc_mcontext.gregs[REG_R13] = 0x1313;
	count++;
}

static void check_context(void)
{
	struct sigaction sa = { .sa_sigaction = on_regs, .sa_flags = SA_SIGINFO };
	uint64_t r12 = 0, r13 = 0, low = 0, high = 0, red = 0;

	sigaction(SIGILL, &sa, NULL);
	count = 0;
	__asm__ volatile("mov $0x1212, %%r12; mov $1, %%r13\n"
			 "mov $0x7777777777, %%rax; movq %%rax, %%xmm7; movq %%rax, %%xmm15\n"
			 "movq $0x4444, -64(%%rsp)\n"
			 "ud2\n"
			 "mov -64(%%rsp), %4\n"
			 "mov %%r12, %0; mov %%r13, %1; movq %%xmm7, %2; movq %%xmm15, %3"
			 : "=r"(r12), "=r"(r13), "=r"(low), "=r"(high), "=r"(red)
			 : : "rax", "r12", "r13", "xmm7", "xmm15", "memory");
	check(count == 1 && r12 == 0x1212, "registers survive a handler");
	check(r13 == 0x1313, "... which may change them");
	check(low == 0x7777777777 && high == 0x7777777777, "XMM registers survive a handler");
	check(red == 0x4444, "the red zone survives a handler");
	signal(SIGILL, SIG_DFL);
}

static void check_child(void)
{
	struct sigaction sa = { .sa_sigaction = on_info, .sa_flags = SA_SIGINFO | SA_RESTART };
	int status;
	pid_t pid;

	sigaction(SIGCHLD, &sa, NULL);
	count = 0;
	pid = fork();
	if (!pid)
		_exit(6);
	check(waitpid(pid, &status, 0) == pid && count == 1, "SIGCHLD");
	check(last.si_code == CLD_EXITED && last.si_pid == pid && last.si_status == 6,
	      "... its siginfo");
	handle(SIGCHLD, SIG_IGN, 0);
	pid = fork();
	if (!pid)
		_exit(6);
	check_errno(waitpid(pid, &status, 0), ECHILD, "SIGCHLD ignored: no zombie to wait for");
	handle(SIGCHLD, SIG_DFL, 0);
}

static void check_timers(void)
{
	struct itimerval repeat = { { 0, 20000 }, { 0, 20000 } }, off = { { 0, 0 }, { 0, 0 } };
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	struct itimerspec spec = { { 0, 0 }, { 0, 10000000 } };
	timer_t timer;

	handle(SIGALRM, on_count, 0);
	count = 0;
	setitimer(ITIMER_REAL, &repeat, NULL);
	while (count < 3)
		pause();
	setitimer(ITIMER_REAL, &off, NULL);
	check(count >= 3, "setitimer repeats");
	count = 0;
	check(alarm(1) == 0, "alarm");
	pause();
	check(count == 1 && alarm(0) == 0, "... comes");
	handle(SIGUSR2, on_count, 0);
	count = 0;
	check(timer_create(CLOCK_MONOTONIC, &ev, &timer) == 0, "timer_create");
	timer_settime(timer, 0, &spec, NULL);
	while (!count)
		usleep(1000);
	check(count == 1 && timer_delete(timer) == 0, "... comes");
}

static void check_interrupted_loop(void)
{
	struct itimerval repeat = { { 0, 2000 }, { 0, 2000 } }, off = { { 0, 0 }, { 0, 0 } };
	uint64_t x = 1, want = 1;
	double f = 1, g = 1;

	for (int i = 0; i < 3000000; i++) {
		want = want * 6364136223846793005ull + 1442695040888963407ull;
		g = g * 1.0000001 + 0.5;
	}
	handle(SIGALRM, on_count, SA_RESTART);
	count = 0;
	setitimer(ITIMER_REAL, &repeat, NULL);
	do {
		x = 1;
		f = 1;
		for (int i = 0; i < 3000000; i++) {
			x = x * 6364136223846793005ull + 1442695040888963407ull;
			f = f * 1.0000001 + 0.5;
			if (!(i & 0xffff))
				getppid();
		}
	} while (count < 5);
	setitimer(ITIMER_REAL, &off, NULL);
	check(x == want && f == g, "a computation interrupted by a timer is right");
}

int main(void)
{
	check_info();
	check_mask();
	check_flags();
	check_restart();
	check_context();
	check_child();
	check_timers();
	check_interrupted_loop();
	return checks_done();
}
