/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay-call [-b SEC] [-t SEC] SOCKET CMD ARGS...   run CMD inside the software host
 * relay-call -p SOCKET                              power it off
 *
 * The outer end: connects to the socket that QEMU joined to the inner end's port, passes stdin,
 * stdout, stderr and signals, and ends with CMD's status. 124: -t ran out; 125: no host answered
 * within -b seconds, or it went away. Called by tests/hosts/tcg-svm.
 */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define STATUS_TIMEOUT	124
#define STATUS_HOST	125

extern char **environ;

struct call {
	int sock, sigfd;
	uint32_t job;
	bool ready, want_stdin, stdin_done;
	double boot_s, limit_s, deadline;
	int timed_out;
	struct frame_reader reader;
};

static double now_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void fail(const char *what)
{
	fprintf(stderr, "tcg-svm: %s\n", what);
	exit(STATUS_HOST);
}

static void write_all(int fd, const void *data, size_t len)
{
	const char *at = data;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			perror("tcg-svm: write");
			exit(STATUS_HOST);
		}
		at += n;
		len -= n;
	}
}

static void call_send(struct call *c, uint8_t type, const void *data, uint32_t len)
{
	size_t bytes;
	unsigned char *buf = frame_encode(type, c->job, data, len, &bytes);

	if (!buf)
		fail("out of memory");
	write_all(c->sock, buf, bytes);
	free(buf);
}

static int connect_unix(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof(sa.sun_path))
		fail("the path of the socket is too long");
	strcpy(sa.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		fprintf(stderr, "tcg-svm: no host at %s: %s\n", path, strerror(errno));
		exit(STATUS_HOST);
	}
	return fd;
}

static size_t put_string(unsigned char *buf, size_t at, const char *s)
{
	size_t len = strlen(s) + 1;

	if (at + len > FRAME_MAX)
		fail("arguments and environment are over 1 MiB");
	memcpy(buf + at, s, len);
	return at + len;
}

static void call_start(struct call *c, int argc, char **argv)
{
	static unsigned char buf[FRAME_MAX];
	char *cwd = getcwd(NULL, 0), count[16];
	size_t len;

	len = put_string(buf, 0, cwd ? cwd : "/");
	snprintf(count, sizeof(count), "%d", argc);
	len = put_string(buf, len, count);
	for (int i = 0; i < argc; i++)
		len = put_string(buf, len, argv[i]);
	for (char **e = environ; *e; e++)
		len = put_string(buf, len, *e);
	free(cwd);
	call_send(c, FRAME_START, buf, len);
}

static void call_frame(struct call *c, const struct frame *f)
{
	if (f->job != c->job)
		return;
	switch (f->type) {
	case FRAME_READY:
		c->ready = true;
		c->deadline = c->limit_s ? now_s() + c->limit_s : 0;
		break;
	case FRAME_WANT:
		c->want_stdin = true;
		break;
	case FRAME_STDOUT:
		write_all(1, f->data, f->len);
		break;
	case FRAME_STDERR:
		write_all(2, f->data, f->len);
		break;
	case FRAME_EXIT:
		exit(c->timed_out ? c->timed_out : f->data[0]);
	}
}

static void call_read_socket(struct call *c)
{
	unsigned char buf[65536];
	ssize_t n = read(c->sock, buf, sizeof(buf));

	if (n < 0 && errno == EINTR)
		return;
	if (n <= 0)
		fail("the host went away (its console log says why)");
	for (ssize_t i = 0; i < n; i++)
		if (frame_feed(&c->reader, buf[i]))
			call_frame(c, &c->reader.frame);
}

static void call_read_stdin(struct call *c)
{
	static unsigned char buf[FRAME_CHUNK];
	ssize_t n = read(0, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		c->stdin_done = true;
		n = 0;
	}
	c->want_stdin = false;
	call_send(c, FRAME_STDIN, buf, n);
}

static void call_signal(struct call *c)
{
	struct signalfd_siginfo si;
	uint8_t sig;

	if (read(c->sigfd, &si, sizeof(si)) != sizeof(si))
		return;
	sig = si.ssi_signo;
	if (!c->ready)
		exit(128 + sig);
	call_send(c, FRAME_SIGNAL, &sig, 1);
}

/* The limit first kills the job; a host that does not even report that is given up. */
static void call_expired(struct call *c)
{
	uint8_t sig = SIGKILL;

	if (!c->ready)
		fail("the host did not answer in time (its console log may say why)");
	if (c->timed_out)
		exit(STATUS_TIMEOUT);
	fprintf(stderr, "tcg-svm: timeout after %g s\n", c->limit_s);
	c->timed_out = STATUS_TIMEOUT;
	c->deadline = now_s() + 5;
	call_send(c, FRAME_SIGNAL, &sig, 1);
}

static void call_loop(struct call *c)
{
	for (;;) {
		double left = c->deadline ? c->deadline - now_s() : 3600;
		bool take_stdin = c->want_stdin && !c->stdin_done;
		struct pollfd p[3] = {
			{ .fd = c->sock, .events = POLLIN },
			{ .fd = c->sigfd, .events = POLLIN },
			{ .fd = take_stdin ? 0 : -1, .events = POLLIN },
		};

		if (left <= 0) {
			call_expired(c);
			continue;
		}
		if (poll(p, 3, (int)(left * 1000) + 1) < 0 && errno != EINTR)
			fail(strerror(errno));
		if (p[0].revents)
			call_read_socket(c);
		if (p[1].revents)
			call_signal(c);
		if (p[2].revents)
			call_read_stdin(c);
	}
}

static int call_poweroff(struct call *c)
{
	char byte;

	call_send(c, FRAME_POWEROFF, NULL, 0);
	alarm(10);		/* the caller kills a host that hangs */
	while (read(c->sock, &byte, 1) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	static struct call c = { .boot_s = 120 };
	bool poweroff = false;
	sigset_t set;
	int opt;

	while ((opt = getopt(argc, argv, "+b:t:p")) != -1) {
		if (opt == 'b')
			c.boot_s = atof(optarg);
		else if (opt == 't')
			c.limit_s = atof(optarg);
		else if (opt == 'p')
			poweroff = true;
		else
			return STATUS_HOST;
	}
	if (argc - optind < (poweroff ? 1 : 2))
		fail("usage: relay-call [-b SEC] [-t SEC] SOCKET CMD ARGS...");
	c.job = (uint32_t)getpid() ^ (uint32_t)(now_s() * 1e6);
	c.sock = connect_unix(argv[optind]);
	if (poweroff)
		return call_poweroff(&c);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	c.sigfd = signalfd(-1, &set, SFD_CLOEXEC);
	c.deadline = now_s() + c.boot_s;
	call_start(&c, argc - optind - 1, argv + optind + 1);
	call_loop(&c);
}
