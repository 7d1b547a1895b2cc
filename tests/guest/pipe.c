/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes and waiting on them: end of file, EPIPE, blocking, poll, select, epoll, eventfd. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int got_sigpipe;

static void on_sigpipe(int sig)
{
	got_sigpipe++;
}

static void check_basic(void)
{
	struct iovec iov[2] = { { "hello ", 6 }, { "world", 5 } };
	int fds[2], left = 0;
	char buf[64];

	check(pipe(fds) == 0, "pipe");
	check(writev(fds[1], iov, 2) == 11, "writev");
	check(ioctl(fds[0], FIONREAD, &left) == 0 && left == 11, "FIONREAD");
	check(read(fds[0], buf, 5) == 5 && read(fds[0], buf + 5, 50) == 6 &&
	      !memcmp(buf, "hello world", 11), "read in two pieces");
	check_errno(lseek(fds[0], 0, SEEK_SET), ESPIPE, "lseek");
	check_errno(pread(fds[0], buf, 1, 0), ESPIPE, "pread");
	check_errno(read(fds[1], buf, 1), EBADF, "read of the writing end");
	check_errno(write(fds[0], buf, 1), EBADF, "write to the reading end");
	check(write(fds[1], "x", 1) == 1 && close(fds[1]) == 0 && read(fds[0], buf, 9) == 1 &&
	      read(fds[0], buf, 9) == 0, "what was written, then end of file");
	close(fds[0]);
	check_errno(pipe2(fds, 0x1), EINVAL, "pipe2 with a bad flag");
}

static void check_broken(void)
{
	int fds[2];

	signal(SIGPIPE, on_sigpipe);
	if (pipe(fds) < 0)
		exit(1);
	close(fds[0]);
	check_errno(write(fds[1], "x", 1), EPIPE, "write without a reader");
	check(got_sigpipe == 1, "... and SIGPIPE");
	close(fds[1]);
	signal(SIGPIPE, SIG_DFL);
}

static void check_nonblocking(void)
{
	static char big[70000];
	int fds[2];
	ssize_t n;

	if (pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0)
		exit(1);
	check(fcntl(fds[0], F_GETFD) == FD_CLOEXEC && fcntl(fds[0], F_GETFL) & O_NONBLOCK,
	      "pipe2 sets both flags");
	check_errno(read(fds[0], big, 1), EAGAIN, "read of an empty one");
	n = write(fds[1], big, sizeof(big));
	check(n == 65536, "64 KiB fit");
	check_errno(write(fds[1], big, 1), EAGAIN, "... and no more");
	check(read(fds[0], big, 4096) == 4096 && write(fds[1], big, 4096) == 4096,
	      "a page out, a page in");
	check(fcntl(fds[0], F_GETPIPE_SZ) == 65536, "F_GETPIPE_SZ");
	close(fds[0]);
	close(fds[1]);
}

static void check_big(void)
{
	static char buf[10000];
	unsigned sent = 0, got = 0;
	size_t total = 0;
	int fds[2], status;
	ssize_t n;

	if (pipe(fds) < 0)
		exit(1);
	if (!fork()) {
		close(fds[0]);
		for (int i = 0; i < 200; i++) {
			memset(buf, i, sizeof(buf));
			if (write(fds[1], buf, sizeof(buf)) != sizeof(buf))
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	for (int i = 0; i < 200; i++)
		sent += (unsigned)(unsigned char)i * sizeof(buf);
	while ((n = read(fds[0], buf, 7777)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			got += (unsigned char)buf[i];
		total += n;
	}
	wait(&status);
	check(n == 0 && total == 2000000 && got == sent && status == 0, "2 MB from a child");
	close(fds[0]);
}

static void check_poll(void)
{
	struct timeval tv = { 0, 1000 };
	struct pollfd p[2];
	int fds[2];
	fd_set set;
	char c;

	if (pipe(fds) < 0)
		exit(1);
	p[0] = (struct pollfd){ .fd = fds[0], .events = POLLIN };
	p[1] = (struct pollfd){ .fd = fds[1], .events = POLLOUT };
	check(poll(p, 2, 0) == 1 && p[0].revents == 0 && p[1].revents == POLLOUT, "poll, empty");
	check(poll(p, 1, 10) == 0, "poll times out");
	FD_ZERO(&set);
	FD_SET(fds[0], &set);
	check(select(fds[0] + 1, &set, NULL, NULL, &tv) == 0 && !FD_ISSET(fds[0], &set),
	      "select times out");
	if (write(fds[1], "x", 1) != 1)
		exit(1);
	check(poll(p, 2, -1) == 2 && p[0].revents == POLLIN, "poll, one byte");
	FD_SET(fds[0], &set);
	check(select(fds[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(fds[0], &set), "select");
	if (read(fds[0], &c, 1) != 1)
		exit(1);
	if (!fork()) {
		usleep(20000);
		_exit(write(fds[1], "y", 1) != 1);
	}
	check(poll(p, 1, 10000) == 1 && p[0].revents == POLLIN, "poll waits for a child");
	wait(NULL);
	if (read(fds[0], &c, 1) != 1)
		exit(1);
	close(fds[1]);
	check(poll(p, 1, -1) == 1 && p[0].revents == POLLHUP, "POLLHUP after the writer closed");
	close(fds[0]);
	p[0].fd = 99;
	check(poll(p, 1, 0) == 1 && p[0].revents == POLLNVAL, "POLLNVAL");
}

static void check_epoll(void)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u64 = 0x123456789ull }, got[4];
	int ep = epoll_create1(EPOLL_CLOEXEC), event = eventfd(0, EFD_NONBLOCK), fds[2];
	uint64_t value = 3;

	if (pipe(fds) < 0)
		exit(1);
	check(ep >= 0 && event >= 0, "epoll_create1, eventfd");
	check_errno(read(event, &value, 8), EAGAIN, "read of an eventfd at 0");
	check(epoll_ctl(ep, EPOLL_CTL_ADD, event, &ev) == 0, "EPOLL_CTL_ADD");
	check_errno(epoll_ctl(ep, EPOLL_CTL_ADD, event, &ev), EEXIST, "... twice");
	check_errno(epoll_ctl(ep, EPOLL_CTL_MOD, fds[0], &ev), ENOENT, "EPOLL_CTL_MOD of nothing");
	check(epoll_wait(ep, got, 4, 0) == 0, "nothing ready");
	value = 3;
	if (write(event, &value, 8) != 8 || write(event, &value, 8) != 8)
		exit(1);
	check(epoll_wait(ep, got, 4, -1) == 1 && got[0].events == EPOLLIN &&
	      got[0].data.u64 == 0x123456789ull, "the eventfd is ready");
	check(epoll_wait(ep, got, 4, -1) == 1, "... level-triggered");
	check(read(event, &value, 8) == 8 && value == 6, "it counted to 6");
	ev.events = EPOLLIN | EPOLLET;
	epoll_ctl(ep, EPOLL_CTL_ADD, fds[0], &ev);
	if (write(fds[1], "x", 1) != 1)
		exit(1);
	check(epoll_wait(ep, got, 4, 0) == 1 && epoll_wait(ep, got, 4, 0) == 0, "edge-triggered");
	ev.events = EPOLLOUT | EPOLLONESHOT;
	epoll_ctl(ep, EPOLL_CTL_ADD, fds[1], &ev);
	check(epoll_wait(ep, got, 4, 0) == 1 && epoll_wait(ep, got, 4, 0) == 0, "one shot");
	close(fds[0]);
	close(fds[1]);
	check(epoll_wait(ep, got, 4, 0) == 0, "a closed file leaves the set");
	close(ep);
	close(event);
}

static void check_fifo(void)
{
	char name[] = "/tmp/pipe.XXXXXX", buf[8];
	int fd, status;

	close(mkstemp(name));
	unlink(name);
	check(mkfifo(name, 0600) == 0, "mkfifo");
	check_errno(open(name, O_WRONLY | O_NONBLOCK), ENXIO, "no reader yet");
	fflush(NULL);
	if (!fork()) {
		fd = open(name, O_WRONLY);
		_exit(write(fd, "fifo", 4) != 4);
	}
	fd = open(name, O_RDONLY);
	check(fd >= 0 && read(fd, buf, 8) == 4 && !memcmp(buf, "fifo", 4) &&
	      read(fd, buf, 8) == 0, "both ends of a fifo");
	wait(&status);
	check(status == 0, "... the child as well");
	close(fd);
	unlink(name);
}

int main(void)
{
	check_basic();
	check_broken();
	check_nonblocking();
	check_big();
	check_poll();
	check_epoll();
	check_fifo();
	return checks_done();
}
