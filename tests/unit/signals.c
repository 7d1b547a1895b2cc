/* SPDX-License-Identifier: Apache-2.0 */
/* Forwarded signals, and guests that do not fetch them. The loop is a fake that calls on demand. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "devices/loop.h"
#include "tests/unit/tap.h"
#include "vmm/signals.h"

struct watch { int fd; loop_fn *fn; void *arg; };
struct loop { struct watch watch[4]; unsigned n; };

static int raised[16], stopped;
static unsigned nraised, resizes;
static bool fetches;		/* the fake guest's kernel works */
static uint64_t pending;	/* what it has not fetched */

int loop_add(struct loop *loop, int fd, uint32_t events, loop_fn *fn, void *arg)
{
	loop->watch[loop->n++] = (struct watch){ fd, fn, arg };
	return 0;
}

void loop_del(struct loop *loop, int fd)
{
	loop->n--;
}

/* Runs what is ready within timeout_ms. */
static void loop_turn(struct loop *loop, int timeout_ms)
{
	struct pollfd fds[4];

	for (unsigned i = 0; i < loop->n; i++)
		fds[i] = (struct pollfd){ .fd = loop->watch[i].fd, .events = POLLIN };
	poll(fds, loop->n, timeout_ms);
	for (unsigned i = 0; i < loop->n; i++)
		if (fds[i].revents)
			loop->watch[i].fn(loop->watch[i].arg, fds[i].revents);
}

static void guest_raise(void *arg, int sig)
{
	if (nraised < 16)
		raised[nraised++] = sig;
	if (!fetches)
		pending |= 1ull << (sig - 1);
}

static bool guest_taken(void *arg, int sig)
{
	return !(pending >> (sig - 1) & 1);
}

static void guest_stop(void *arg, int sig)
{
	stopped = sig;
}

static void guest_resize(void *arg, unsigned rows, unsigned cols)
{
	resizes++;
}

static const struct signals_ops ops = { guest_raise, guest_taken, guest_stop, guest_resize };

static void guest_reset(bool working)
{
	nraised = 0;
	stopped = 0;
	fetches = working;
	pending = 0;
}

static void send(struct loop *loop, int sig)
{
	raise(sig);
	loop_turn(loop, 0);
}

int main(void)
{
	static const int plain[] = { SIGUSR1, SIGUSR2, SIGCONT, SIGHUP, SIGQUIT, SIGINT, SIGTERM };
	struct loop loop = { .n = 0 };
	struct signals *s;
	int fds[2];

	tap_ok(signals_block() == 0, "block");
	s = signals_new(&loop, &ops, NULL);
	tap_ok(s && loop.n == 2, "watch");
	for (unsigned i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		guest_reset(true);
		send(&loop, plain[i]);
		tap_ok(nraised == 1 && raised[0] == plain[i] && !stopped, "%s arrives", strsignal(plain[i]));
	}
	guest_reset(true);
	send(&loop, SIGINT);
	send(&loop, SIGINT);
	send(&loop, SIGTERM);
	tap_ok(nraised == 3 && !stopped, "a guest that fetches them gets as many as are sent");

	guest_reset(false);
	send(&loop, SIGINT);
	tap_ok(nraised == 1 && !stopped, "a wedged guest gets the first");
	send(&loop, SIGTERM);
	tap_ok(nraised == 1 && stopped == SIGINT, "and ends with the second");

	guest_reset(false);
	send(&loop, SIGTERM);
	loop_turn(&loop, 5000);		/* until the timer */
	tap_ok(stopped == SIGTERM, "a wedged guest ends by itself after one SIGTERM");

	guest_reset(false);
	send(&loop, SIGUSR1);
	send(&loop, SIGUSR1);
	tap_ok(!stopped, "other signals do not end it");

	send(&loop, SIGWINCH);
	tap_ok(nraised == 2 && resizes <= 1, "SIGWINCH is for the console, not for the program");

	signals_free(s);
	tap_ok(loop.n == 0, "free");
	tap_ok(pipe(fds) == 0 && close(fds[0]) == 0 && write(fds[1], "x", 1) < 0 && errno == EPIPE,
	       "SIGPIPE is ignored");
	close(fds[1]);
	return tap_done();
}
