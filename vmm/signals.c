/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A signalfd on the event loop. What asks husk to end (SIGTERM, SIGINT, SIGQUIT, SIGHUP) is the
 * program's to answer, but a guest whose kernel does not even fetch it must not be able to stay:
 * it gets two seconds, or until the next of them arrives, whichever is sooner.
 */
#include "vmm/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "devices/loop.h"
#include "vmm/terminal.h"

#define ANSWER_SECONDS	2

static const int forwarded[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGALRM,
};

struct signals {
	struct loop *loop;
	const struct signals_ops *ops;
	void *arg;
	int fd, timer_fd;
	int waiting;		/* a request to end that the guest has not fetched, or 0 */
};

static void set_fill(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(set, forwarded[i]);
}

int signals_block(void)
{
	sigset_t set;

	/* A pipe that is closed on our side is an error of write(2), for the guest to see. */
	signal(SIGPIPE, SIG_IGN);
	set_fill(&set);
	return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static bool signal_ends(int sig)
{
	return sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT;
}

static void timer_set(struct signals *s, unsigned seconds)
{
	struct itimerspec when = { .it_value.tv_sec = seconds };

	timerfd_settime(s->timer_fd, 0, &when, NULL);
}

/* The guest had its time; true: it has not used it and the VM ends. */
static bool unanswered_stop(struct signals *s)
{
	int sig = s->waiting;

	s->waiting = 0;
	if (!sig || s->ops->taken(s->arg, sig))
		return false;
	s->ops->stop(s->arg, sig);
	return true;
}

static void signal_forward(struct signals *s, int sig)
{
	unsigned rows, cols;

	if (sig == SIGWINCH) {
		if (s->ops->resize && terminal_size(&rows, &cols))
			s->ops->resize(s->arg, rows, cols);
		return;		/* the guest's tty tells its own foreground group */
	}
	if (signal_ends(sig) && unanswered_stop(s))
		return;
	s->ops->raise(s->arg, sig);
	if (signal_ends(sig)) {
		s->waiting = sig;
		timer_set(s, ANSWER_SECONDS);
	}
}

static void signals_ready(void *arg, uint32_t events)
{
	struct signals *s = arg;
	struct signalfd_siginfo info;

	while (read(s->fd, &info, sizeof(info)) == sizeof(info))
		signal_forward(s, info.ssi_signo);
}

static void timer_ready(void *arg, uint32_t events)
{
	struct signals *s = arg;
	uint64_t n;

	if (read(s->timer_fd, &n, sizeof(n)) == sizeof(n))
		unanswered_stop(s);
}

struct signals *signals_new(struct loop *loop, const struct signals_ops *ops, void *arg)
{
	struct signals *s = calloc(1, sizeof(*s));
	sigset_t set;
	int ret;

	if (!s)
		return NULL;
	*s = (struct signals){ .loop = loop, .ops = ops, .arg = arg, .fd = -1, .timer_fd = -1 };
	set_fill(&set);
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (s->fd < 0 || s->timer_fd < 0) {
		ret = -errno;
		goto fail;
	}
	ret = loop_add(loop, s->fd, EPOLLIN, signals_ready, s);
	if (ret)
		goto fail;
	ret = loop_add(loop, s->timer_fd, EPOLLIN, timer_ready, s);
	if (ret) {
		loop_del(loop, s->fd);
		goto fail;
	}
	return s;
fail:
	if (s->fd >= 0)
		close(s->fd);
	if (s->timer_fd >= 0)
		close(s->timer_fd);
	free(s);
	errno = -ret;
	return NULL;
}

void signals_free(struct signals *s)
{
	if (!s)
		return;
	loop_del(s->loop, s->fd);
	loop_del(s->loop, s->timer_fd);
	close(s->fd);
	close(s->timer_fd);
	free(s);
}
