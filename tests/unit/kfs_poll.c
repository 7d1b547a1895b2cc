/* SPDX-License-Identifier: Apache-2.0 */
/* poll, select, epoll, eventfd, timerfd: readiness, time-outs, signals and masks, nesting. */
#include <errno.h>
#include <string.h>
#include <linux/eventpoll.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <linux/time.h>
#include "kfs_fake.h"
#include "tap.h"
#include "fs/kfs.h"
#include "fs/syscalls_kfs.h"
#include "proc/signo.h"

#define MS 1000000ull

static int pfd[2];
static char buf[64];

static long do_write(int fd, const void *p, size_t len)
{
	u64 pos = 0;

	return fake_file(fd)->ops->write(fake_file(fd), p, len, &pos);
}

static long do_read(int fd, void *p, size_t len)
{
	u64 pos = 0;

	return fake_file(fd)->ops->read(fake_file(fd), p, len, &pos);
}

static long write_later(void *arg)
{
	struct wait_queue wq = WAIT_QUEUE_INIT(wq);

	wait_event(&wq, false, time_monotonic_ns() + (u64)(uintptr_t)arg * MS);
	return do_write(pfd[1], "!", 1);
}

static void close_from(int from)
{
	for (int fd = from; fd < 4000; fd++)
		fd_close(fd);
}

static void test_poll(void)
{
	static struct pollfd p[40];
	struct fake_task *t;
	u64 before;

	sys_pipe(U(pfd));
	p[0] = (struct pollfd){ pfd[0], POLLIN, 7 };
	p[1] = (struct pollfd){ pfd[1], POLLOUT, 7 };
	p[2] = (struct pollfd){ -5, POLLIN, 7 };
	p[3] = (struct pollfd){ 999, POLLIN, 7 };
	tap_ok(sys_poll(U(p), 2, -1) == 1 && !p[0].revents && p[1].revents == POLLOUT,
	       "poll: only the write end is ready");
	tap_ok(sys_poll(U(p), 4, 0) == 2 && !p[2].revents && p[3].revents == POLLNVAL,
	       "a negative fd is skipped, an unknown one is POLLNVAL");
	before = time_monotonic_ns();
	tap_ok(sys_poll(U(p), 1, 250) == 0 && time_monotonic_ns() - before == 250 * MS,
	       "a time-out is exact and 0");
	t = fake_spawn(write_later, (void *)30);
	before = time_monotonic_ns();
	tap_ok(sys_poll(U(p), 1, 1000) == 1 && p[0].revents == POLLIN &&
	       time_monotonic_ns() - before == 30 * MS, "woken by a write");
	fake_join(t);
	for (int i = 0; i < 40; i++)
		p[i] = (struct pollfd){ pfd[0], POLLIN | POLLRDNORM, 0 };
	do_read(pfd[0], buf, 64);
	t = fake_spawn(write_later, (void *)1);
	tap_ok(sys_poll(U(p), 40, -1) == 40 && p[39].revents == (POLLIN | POLLRDNORM),
	       "forty waiters on one pipe");
	fake_join(t);
	tap_ok(sys_poll(FAKE_BAD_ADDR, 1, 0) == -EFAULT, "EFAULT");
	current->proc->rlim[7].cur = 2;
	tap_ok(sys_poll(U(p), 3, 0) == -EINVAL, "more than RLIMIT_NOFILE is EINVAL");
	current->proc->rlim[7].cur = ~0ull;
	fd_close(pfd[1]);
	p[0].events = 0;
	tap_ok(sys_poll(U(p), 1, 0) == 1 && p[0].revents == POLLHUP, "POLLHUP needs no asking");
	close_from(0);
	before = time_monotonic_ns();
	tap_ok(sys_poll(0, 0, 5) == 0 && time_monotonic_ns() - before == 5 * MS, "poll as a sleep");
}

static struct task *victim;
static long signal_later(void *arg)
{
	struct wait_queue wq = WAIT_QUEUE_INIT(wq);

	wait_event(&wq, false, time_monotonic_ns() + 40 * MS);
	fake_signal(victim);
	return 0;
}

static void test_poll_signals(void)
{
	struct pollfd p;
	struct timespec64 ts = { 0, 100 * MS };
	u64 mask = ~0ull, before = time_monotonic_ns();
	struct fake_task *t;
	long ret;

	sys_pipe(U(pfd));
	p = (struct pollfd){ pfd[0], POLLIN, 0 };
	victim = current;
	t = fake_spawn(signal_later, NULL);
	ret = sys_poll(U(&p), 1, 100);
	fake_signal_done(current);
	tap_ok(ret == -ERESTARTNOHAND && current->restart_deadline_ns == before + 100 * MS,
	       "poll interrupted: restart keeps the deadline");
	fake_join(t);
	ret = sys_poll(U(&p), 1, 100);
	tap_ok(ret == 0 && time_monotonic_ns() == before + 100 * MS && !current->restart_deadline_ns,
	       "and the restart ends when the first would have");
	current->sigmask = 0x10;
	t = fake_spawn(signal_later, NULL);
	ret = sys_ppoll(U(&p), 1, U(&ts), U(&mask), 8);
	fake_signal_done(current);
	fake_join(t);
	tap_ok(ret == -ERESTARTNOHAND && ts.nsec == (s64)(60 * MS), "ppoll: time left written");
	tap_ok(current->restore_sigmask && current->saved_sigmask == 0x10 &&
	       current->sigmask == ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP)),
	       "its mask stays for the delivery, without KILL and STOP");
	current->restore_sigmask = false;
	current->sigmask = 0x10;
	do_write(pfd[1], "x", 1);
	tap_ok(sys_ppoll(U(&p), 1, 0, U(&mask), 8) == 1 && current->sigmask == 0x10 &&
	       !current->restore_sigmask, "undisturbed: the mask is back");
	tap_ok(sys_ppoll(U(&p), 1, 0, U(&mask), 4) == -EINVAL, "sigsetsize is checked");
	ts.nsec = 1000000000;
	tap_ok(sys_ppoll(U(&p), 1, U(&ts), 0, 0) == -EINVAL, "so is the timespec");
	close_from(0);
	current->sigmask = 0;
}

static void test_select(void)
{
	static u64 in[16], out[16], ex[16];
	struct { s64 sec, usec; } tv = { 0, 70000 };
	struct fake_task *t;
	u64 before = time_monotonic_ns();

	sys_pipe(U(pfd));
	in[0] = 1u << pfd[0];
	out[0] = 1u << pfd[1];
	tap_ok(sys_select(1024, U(in), U(out), U(ex), 0) == 1 && !in[0] && out[0] == 1u << pfd[1],
	       "select: one bit");
	in[0] = 1u << pfd[0];
	tap_ok(sys_select(pfd[0] + 1, U(in), 0, 0, U(&tv)) == 0 && !in[0] && tv.usec == 0 &&
	       time_monotonic_ns() - before == 70 * MS, "time-out clears the sets and the time");
	in[0] = 1u << pfd[0];
	tv.usec = 90000;
	t = fake_spawn(write_later, (void *)20);
	tap_ok(sys_select(pfd[0] + 1, U(in), 0, 0, U(&tv)) == 1 && in[0] && tv.usec == 70000,
	       "woken, the time left is reported");
	fake_join(t);
	in[0] = 1ull << 50;
	tap_ok(sys_select(64, U(in), 0, 0, U(&tv)) == -EBADF, "a closed descriptor is EBADF");
	tv.sec = tv.usec = 0;
	tap_ok(sys_select(50, U(in), 0, 0, U(&tv)) == 0, "bits from n on are not looked at");
	tap_ok(sys_select(-1, 0, 0, 0, 0) == -EINVAL, "n < 0");
	tap_ok(sys_select(10, FAKE_BAD_ADDR, 0, 0, 0) == -EFAULT, "EFAULT");
	tv.usec = -1;
	tap_ok(sys_select(0, 0, 0, 0, U(&tv)) == -EINVAL, "negative time");
	out[0] = 1u << pfd[1];
	in[0] = 1u << pfd[0];
	tap_ok(sys_pselect6(64, U(in), U(out), 0, 0, 0) == 2, "pselect6");
	close_from(0);
}

static struct epoll_event evs[200];

static void test_epoll_modes(void)
{
	struct epoll_event ev = { EPOLLIN, 42 };
	int ep = (int)sys_epoll_create1(EPOLL_CLOEXEC);

	sys_pipe(U(pfd));
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_ADD, pfd[0], U(&ev)) == 0 &&
	       sys_epoll_ctl(ep, EPOLL_CTL_ADD, pfd[0], U(&ev)) == -EEXIST, "add, and again");
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 0, "nothing yet");
	do_write(pfd[1], "ab", 2);
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 1 && evs[0].events == EPOLLIN &&
	       evs[0].data == 42, "level: event and data");
	tap_ok(sys_epoll_wait(ep, U(evs), 10, -1) == 1, "level: again while there is data");
	do_read(pfd[0], buf, 64);
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 0, "level: gone when read");
	ev.events = EPOLLIN | EPOLLET;
	do_write(pfd[1], "a", 1);
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_MOD, pfd[0], U(&ev)) == 0 &&
	       sys_epoll_wait(ep, U(evs), 10, 0) == 1, "edge: what was there at MOD");
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 0, "edge: once");
	do_write(pfd[1], "b", 1);
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 1 && sys_epoll_wait(ep, U(evs), 10, 0) == 0,
	       "edge: once more after a write");
	ev.events = EPOLLIN | EPOLLONESHOT;
	sys_epoll_ctl(ep, EPOLL_CTL_MOD, pfd[0], U(&ev));
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 1, "oneshot");
	do_write(pfd[1], "c", 1);
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 0, "oneshot: spent");
	sys_epoll_ctl(ep, EPOLL_CTL_MOD, pfd[0], U(&ev));
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 1, "oneshot: armed again");
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_DEL, pfd[0], 0) == 0 &&
	       sys_epoll_ctl(ep, EPOLL_CTL_DEL, pfd[0], 0) == -ENOENT &&
	       sys_epoll_ctl(ep, EPOLL_CTL_MOD, pfd[0], U(&ev)) == -ENOENT, "delete");
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 0) == 0, "nothing left");
	close_from(0);
}

static void test_epoll_errors(void)
{
	struct epoll_event ev = { EPOLLIN, 1 };
	struct super *dev;
	struct file *file;
	int ep = (int)sys_epoll_create(1), ep2 = (int)sys_epoll_create(1), null;
	struct inode *inode;

	sys_pipe(U(pfd));
	devfs_mount(&dev);
	inode = devfs_inode(0x103);
	fake_open(inode, O_RDWR, &file);
	inode_put(inode);
	null = fd_install(file, 0);
	tap_ok(sys_epoll_create(0) == -EINVAL && sys_epoll_create1(1) == -EINVAL, "create: EINVAL");
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_ADD, null, U(&ev)) == -EPERM, "no poll: EPERM");
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_ADD, ep, U(&ev)) == -EINVAL, "itself: EINVAL");
	tap_ok(sys_epoll_ctl(pfd[0], EPOLL_CTL_ADD, pfd[1], U(&ev)) == -EINVAL, "not an epoll");
	tap_ok(sys_epoll_ctl(77, EPOLL_CTL_ADD, pfd[1], U(&ev)) == -EBADF &&
	       sys_epoll_ctl(ep, EPOLL_CTL_ADD, 77, U(&ev)) == -EBADF, "EBADF");
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_ADD, pfd[1], FAKE_BAD_ADDR) == -EFAULT, "EFAULT");
	tap_ok(sys_epoll_ctl(ep, 9, pfd[1], U(&ev)) == -EINVAL, "operation");
	ev.events = EPOLLIN | EPOLLEXCLUSIVE;
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_ADD, ep2, U(&ev)) == -EINVAL, "exclusive epoll");
	tap_ok(sys_epoll_ctl(ep, EPOLL_CTL_ADD, pfd[0], U(&ev)) == 0 &&
	       sys_epoll_ctl(ep, EPOLL_CTL_MOD, pfd[0], U(&ev)) == -EINVAL, "exclusive: no MOD");
	tap_ok(sys_epoll_wait(ep, U(evs), 0, 0) == -EINVAL &&
	       sys_epoll_wait(pfd[0], U(evs), 1, 0) == -EINVAL &&
	       sys_epoll_wait(88, U(evs), 1, 0) == -EBADF, "wait: errors");
	do_write(pfd[1], "x", 1);
	tap_ok(sys_epoll_wait(ep, FAKE_BAD_ADDR, 1, 0) == -EFAULT &&
	       sys_epoll_wait(ep, U(evs), 1, 0) == 1, "wait: EFAULT keeps a level event");
	close_from(0);
}

static void test_epoll_many(void)
{
	static int ends[150][2];
	struct epoll_event ev;
	int ep = (int)sys_epoll_create1(0), n, seen[150] = { 0 }, sum = 0;

	for (int i = 0; i < 150; i++) {
		sys_pipe(U(ends[i]));
		ev = (struct epoll_event){ EPOLLIN, (u64)i };
		sys_epoll_ctl(ep, EPOLL_CTL_ADD, ends[i][0], U(&ev));
		do_write(ends[i][1], "x", 1);
	}
	n = (int)sys_epoll_wait(ep, U(evs), 200, -1);
	for (int i = 0; i < n; i++)
		sum += !seen[evs[i].data]++;
	tap_ok(n == 150 && sum == 150, "150 ready files, each once, in one call");
	memset(seen, 0, sizeof(seen));
	for (int k = sum = 0; k < 3; k++) {
		n = (int)sys_epoll_wait(ep, U(evs), 50, -1);
		for (int i = 0; i < n; i++)
			sum += !seen[evs[i].data]++;
	}
	tap_ok(sum == 150, "a short array comes round to all of them");
	fd_close(ends[3][0]);
	fd_close(ends[4][0]);
	n = (int)sys_epoll_wait(ep, U(evs), 200, -1);
	tap_ok(n == 148, "closed files are forgotten");
	close_from(0);
}

static long ep_waiter(void *arg)
{
	return sys_epoll_wait((int)(uintptr_t)arg, U(evs), 10, 1000);
}

static void test_epoll_blocking(void)
{
	struct epoll_event ev = { EPOLLIN, 5 };
	int ep = (int)sys_epoll_create1(0), outer = (int)sys_epoll_create1(0);
	u64 before = time_monotonic_ns(), mask = 0;
	struct pollfd p = { outer, POLLIN, 0 };
	struct timespec64 ts = { 0, 30 * MS };
	struct fake_task *t;

	sys_pipe(U(pfd));
	sys_epoll_ctl(ep, EPOLL_CTL_ADD, pfd[0], U(&ev));
	sys_epoll_ctl(outer, EPOLL_CTL_ADD, ep, U(&ev));
	tap_ok(sys_epoll_wait(ep, U(evs), 10, 25) == 0 && time_monotonic_ns() - before == 25 * MS,
	       "time-out");
	tap_ok(sys_epoll_pwait2(ep, U(evs), 10, U(&ts), U(&mask), 8) == 0 &&
	       time_monotonic_ns() - before == 55 * MS, "epoll_pwait2's time-out");
	t = fake_spawn(ep_waiter, (void *)(uintptr_t)outer);
	fake_settle();
	do_write(pfd[1], "x", 1);
	tap_ok(fake_join(t) == 1, "a nested epoll wakes the outer one's waiter");
	tap_ok(sys_poll(U(&p), 1, 0) == 1, "and it polls readable");
	do_read(pfd[0], buf, 9);
	tap_ok(sys_poll(U(&p), 1, 0) == 0, "until the data is read");
	t = fake_spawn(ep_waiter, (void *)(uintptr_t)ep);
	fake_settle();
	fake_signal(fake_task_of(t));
	tap_ok(fake_join(t) == -EINTR, "a signal is EINTR, whatever SA_RESTART says");
	close_from(0);
}

static void test_epoll_nesting(void)
{
	struct epoll_event ev = { EPOLLIN, 5 };
	int e[8], last = 0;

	for (int i = 0; i < 8; i++)
		e[i] = (int)sys_epoll_create1(0);
	for (int i = 1; i < 8 && !sys_epoll_ctl(e[i], EPOLL_CTL_ADD, e[i - 1], U(&ev)); i++)
		last = i;
	tap_ok(last == 4, "a chain upwards ends after five, as on Linux");
	tap_ok(sys_epoll_ctl(e[5], EPOLL_CTL_ADD, e[4], U(&ev)) == -ELOOP, "ELOOP beyond");
	tap_ok(sys_epoll_ctl(e[0], EPOLL_CTL_ADD, e[3], U(&ev)) == -ELOOP, "a cycle is ELOOP");
	close_from(0);
	for (int i = 0; i < 8; i++)
		e[i] = (int)sys_epoll_create1(0);
	for (int i = 1; i < 8 && !sys_epoll_ctl(e[i - 1], EPOLL_CTL_ADD, e[i], U(&ev)); i++)
		last = i;
	tap_ok(last == 4, "downwards too");
	close_from(0);
}

static void test_eventfd(void)
{
	u64 v = 0, big = ~0ull - 1;
	struct pollfd p;
	int fd = (int)sys_eventfd2(3, O_NONBLOCK), sem = (int)sys_eventfd2(2, 1 | O_NONBLOCK);

	tap_ok(do_read(fd, &v, 8) == 8 && v == 3 && do_read(fd, &v, 8) == -EAGAIN, "eventfd: read");
	tap_ok(do_read(sem, &v, 8) == 8 && v == 1 && do_read(sem, &v, 8) == 8 &&
	       do_read(sem, &v, 8) == -EAGAIN, "semaphore: one at a time");
	tap_ok(do_read(fd, &v, 7) == -EINVAL && do_write(fd, &v, 7) == -EINVAL, "8 bytes or EINVAL");
	v = ~0ull;
	tap_ok(do_write(fd, &v, 8) == -EINVAL && do_write(fd, &big, 8) == 8, "largest value");
	v = 1;
	tap_ok(do_write(fd, &v, 8) == -EAGAIN, "overflow waits");
	p = (struct pollfd){ fd, POLLIN | POLLOUT, 0 };
	tap_ok(sys_poll(U(&p), 1, 0) == 1 && p.revents == POLLIN, "full: readable only");
	do_read(fd, &v, 8);
	tap_ok(sys_poll(U(&p), 1, 0) == 1 && p.revents == POLLOUT, "empty: writable only");
	tap_ok(sys_eventfd2(0, 2) == -EINVAL, "flags");
	close_from(0);
}

static void test_timerfd(void)
{
	struct { struct timespec64 interval, value; } its = { { 0, 10 * MS }, { 0, 25 * MS } }, cur;
	int fd = (int)sys_timerfd_create(CLOCK_MONOTONIC, O_NONBLOCK);
	u64 n = 0, before = time_monotonic_ns();
	struct pollfd p = { fd, POLLIN, 0 };

	tap_ok(sys_timerfd_settime(fd, 0, U(&its), 0) == 0 && do_read(fd, &n, 8) == -EAGAIN,
	       "timerfd: not yet");
	tap_ok(sys_poll(U(&p), 1, -1) == 1 && time_monotonic_ns() - before == 25 * MS, "on time");
	fake_advance(31 * MS);
	tap_ok(do_read(fd, &n, 8) == 8 && n == 4, "25, 35, 45, 55: four expirations");
	sys_timerfd_gettime(fd, U(&cur));
	tap_ok(cur.value.nsec == (s64)(9 * MS) && cur.interval.nsec == (s64)(10 * MS), "gettime");
	tap_ok(sys_poll(U(&p), 1, -1) == 1 && time_monotonic_ns() - before == 65 * MS, "next one");
	memset(&its, 0, sizeof(its));
	tap_ok(sys_timerfd_settime(fd, 0, U(&its), U(&cur)) == 0 && do_read(fd, &n, 8) == -EAGAIN,
	       "disarmed, and what had expired is gone");
	its.value = time_from_ns(time_realtime_ns() + 5 * MS);
	fd_close(fd);
	fd = (int)sys_timerfd_create(CLOCK_REALTIME, 0);
	before = time_monotonic_ns();
	sys_timerfd_settime(fd, 1, U(&its), 0);
	tap_ok(do_read(fd, &n, 8) == 8 && n == 1 && time_monotonic_ns() - before == 5 * MS,
	       "absolute realtime, blocking read");
	its.value.nsec = -1;
	tap_ok(sys_timerfd_settime(fd, 0, U(&its), 0) == -EINVAL &&
	       sys_timerfd_create(CLOCK_PROCESS_CPUTIME_ID, 0) == -EINVAL &&
	       sys_timerfd_gettime(77, U(&cur)) == -EBADF, "errors");
	close_from(0);
}

int main(void)
{
	fake_init();
	test_poll();
	test_poll_signals();
	test_select();
	test_epoll_modes();
	test_epoll_errors();
	test_epoll_many();
	test_epoll_blocking();
	test_epoll_nesting();
	test_eventfd();
	test_timerfd();
	tap_ok(fake_allocs == 1 && fake_pages == 0,
	       "nothing leaked but the root of /dev: %u blocks, %u pages", fake_allocs, fake_pages);
	return tap_done();
}
