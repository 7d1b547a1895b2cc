/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw mode and its end. The saved modes are the second process-wide state of husk: a process has
 * one controlling terminal, and a signal handler takes no argument. A terminal that stays raw
 * after a crash is what people complain about most, so fatal signals restore it first; SIGKILL
 * and the jail's SIGSYS cannot (shells restore the terminal of a job that a signal killed).
 */
#include "vmm/terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static volatile sig_atomic_t raw;

static const int fatal_signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS };

void terminal_close(void)
{
	int err = errno;

	if (raw) {
		raw = 0;
		/* TCSANOW: what is queued for output must not be able to hold us up. */
		tcsetattr(STDIN_FILENO, TCSANOW, &saved);
	}
	errno = err;
}

bool terminal_is_raw(void)
{
	return raw;
}

/* SA_RESETHAND is set: the signal that comes again on return, or by raise(), kills. */
static void fatal_handle(int sig)
{
	terminal_close();
	raise(sig);
}

static void fatal_install(void)
{
	struct sigaction sa = { .sa_handler = fatal_handle, .sa_flags = SA_RESETHAND | SA_NODEFER };
	struct sigaction old;

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(fatal_signals) / sizeof(fatal_signals[0]); i++) {
		/* A sanitizer's handler reports more than ours would. */
		if (sigaction(fatal_signals[i], NULL, &old) || old.sa_handler != SIG_DFL)
			continue;
		sigaction(fatal_signals[i], &sa, NULL);
	}
}

int terminal_open(void)
{
	static bool hooked;
	struct termios t;

	if (raw || !isatty(STDIN_FILENO))
		return 0;
	/* In the background tcsetattr() would stop us, and the keys are not ours. */
	if (tcgetpgrp(STDIN_FILENO) != getpgrp())
		return 0;
	if (tcgetattr(STDIN_FILENO, &saved))
		return -errno;
	if (!hooked) {
		fatal_install();
		atexit(terminal_close);
		hooked = true;
	}
	t = saved;
	cfmakeraw(&t);
	raw = 1;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &t)) {
		raw = 0;
		return -errno;
	}
	return 0;
}

bool terminal_size(unsigned *rows, unsigned *cols)
{
	struct winsize ws;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_row && ws.ws_col) {
			*rows = ws.ws_row;
			*cols = ws.ws_col;
			return true;
		}
	}
	return false;
}
