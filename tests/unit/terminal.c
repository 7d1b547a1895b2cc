/* SPDX-License-Identifier: Apache-2.0 */
/* Raw mode on a pseudo-terminal, and its end: by call, by exit, by a fatal signal. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "tests/unit/tap.h"
#include "vmm/terminal.h"

static int master;

enum ending { END_CLOSE, END_EXIT, END_ABORT, END_SEGV, END_BACKGROUND };

static bool is_raw(void)
{
	struct termios t;

	return tcgetattr(master, &t) == 0 && !(t.c_lflag & (ICANON | ECHO | ISIG)) && !(t.c_oflag & OPOST);
}

/* In the child: the slave is the controlling terminal and stdin. Bits of the result: see below. */
static void child_run(enum ending end, const char *slave)
{
	struct rlimit none = { 0, 0 };
	unsigned rows, cols;

	setrlimit(RLIMIT_CORE, &none);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	setsid();
	close(STDIN_FILENO);
	if (open(slave, O_RDWR) != STDIN_FILENO)
		_exit(90);
	ioctl(STDIN_FILENO, TIOCSCTTY, 0);
	if (end == END_BACKGROUND && fork() == 0) {
		/* A group of its own, not in the foreground: must neither stop nor change modes. */
		setpgid(0, 0);
		_exit(terminal_open() || terminal_is_raw() || is_raw() ? 92 : 0);
	}
	if (end == END_BACKGROUND) {
		int status;

		wait(&status);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 93);
	}
	if (terminal_open() || !terminal_is_raw() || !is_raw())
		_exit(91);
	if (!terminal_size(&rows, &cols) || rows != 33 || cols != 77)
		_exit(94);
	switch (end) {
	case END_CLOSE:
		terminal_close();
		terminal_close();
		_exit(terminal_is_raw() || is_raw() ? 95 : 0);
	case END_ABORT:
		abort();
	case END_SEGV:
		raise(SIGSEGV);
		_exit(96);
	default:
		exit(0);
	}
}

static int child(enum ending end)
{
	struct winsize ws = { .ws_row = 33, .ws_col = 77 };
	char slave[64];
	int status, keep;
	pid_t pid;

	master = posix_openpt(O_RDWR | O_NOCTTY);
	if (master < 0 || grantpt(master) || unlockpt(master))
		return -1;
	snprintf(slave, sizeof(slave), "%s", ptsname(master));
	keep = open(slave, O_RDWR | O_NOCTTY);	/* modes last as long as someone has it open */
	ioctl(master, TIOCSWINSZ, &ws);
	pid = fork();
	if (pid == 0)
		child_run(end, slave);
	waitpid(pid, &status, 0);
	if (is_raw())
		status = 0x7f00;
	close(keep);
	close(master);
	return status;
}

int main(void)
{
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDIN_FILENO);
	close(null);
	tap_ok(terminal_open() == 0 && !terminal_is_raw(), "stdin is no terminal: nothing to do");
	tap_ok(child(END_CLOSE) == 0, "raw and back");
	tap_ok(child(END_EXIT) == 0, "exit() restores");
	tap_ok(WTERMSIG(child(END_ABORT)) == SIGABRT, "abort() restores and kills");
	tap_ok(WTERMSIG(child(END_SEGV)) == SIGSEGV, "SIGSEGV restores and kills");
	tap_ok(child(END_BACKGROUND) == 0, "in the background hands off");
	return tap_done();
}
