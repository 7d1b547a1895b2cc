/* SPDX-License-Identifier: Apache-2.0 */
/* Pipes and FIFOs: order, capacity, atomicity, blocking, errors, poll, opening rules, leaks. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include <asm/ioctls.h>
#include "kfs_fake.h"
#include "tap.h"
#include "fs/kfs.h"
#include "fs/pipe.h"
#include "fs/syscalls_kfs.h"
#include "proc/signo.h"

static u8 big[1 << 20], back[1 << 20];
static int fds[2];

static long do_read(int fd, void *buf, size_t len)
{
	u64 pos = 0;
	struct file *f = fake_file(fd);

	return f->ops->read(f, buf, len, &pos);
}

static long do_write(int fd, const void *buf, size_t len)
{
	u64 pos = 0;
	struct file *f = fake_file(fd);

	return f->ops->write(f, buf, len, &pos);
}

static u32 do_poll(int fd)
{
	return fake_file(fd)->ops->poll(fake_file(fd), NULL);
}

static void pipe_pair(u32 flags)
{
	if (sys_pipe2(U(fds), flags))
		fds[0] = fds[1] = -1;
}

static void pipe_done(void)
{
	fd_close(fds[0]);
	fd_close(fds[1]);
}

static void test_basics(void)
{
	int n = -1;

	pipe_pair(O_CLOEXEC);
	tap_ok(fds[0] == 0 && fds[1] == 1, "pipe2 gives the lowest descriptors, read end first");
	tap_ok(S_ISFIFO(fake_file(0)->inode->mode) && fake_file(0)->inode == fake_file(1)->inode,
	       "both ends are one FIFO inode");
	tap_ok(do_write(1, "hello", 5) == 5 && do_write(1, " world", 6) == 6, "two writes");
	fake_file(0)->ops->ioctl(fake_file(0), FIONREAD, U(&n));
	tap_ok(n == 11, "FIONREAD counts both");
	tap_ok(do_read(0, back, 4) == 4 && !memcmp(back, "hell", 4), "short read");
	tap_ok(do_read(0, back, 100) == 7 && !memcmp(back, "o world", 7), "the rest in one");
	tap_ok(do_read(0, back, 0) == 0 && do_write(1, back, 0) == 0, "length 0 is 0");
	tap_ok(fake_file(0)->ops->ioctl(fake_file(0), TCGETS, 0) == -ENOTTY, "not a terminal");
	pipe_done();
	tap_ok(sys_pipe2(U(fds), 1) == -EINVAL, "unknown flag is EINVAL");
	tap_ok(sys_pipe(FAKE_BAD_ADDR) == -EFAULT && !fake_file(0) && !fake_file(1),
	       "a bad address leaves no descriptors");
	current->proc->rlim[7].cur = 1;
	tap_ok(sys_pipe(U(fds)) == -EMFILE && !fake_file(0), "EMFILE for the second leaves none");
	current->proc->rlim[7].cur = ~0ull;
}

static void test_capacity(void)
{
	pipe_pair(O_NONBLOCK);
	tap_ok(do_write(fds[1], big, sizeof(big)) == 65536, "holds 64 KiB");
	tap_ok(do_write(fds[1], big, 1) == -EAGAIN, "full is EAGAIN");
	tap_ok(!(do_poll(fds[1]) & POLLOUT), "full is not writable");
	tap_ok(do_read(fds[0], back, 100) == 100 && !(do_poll(fds[1]) & POLLOUT),
	       "a part of a page does not make it writable");
	tap_ok(do_read(fds[0], back, 4000) == 4000 && do_poll(fds[1]) & POLLOUT, "a page does");
	tap_ok(do_write(fds[1], big, 4096) == 4096, "PIPE_BUF fits then");
	tap_ok(do_read(fds[0], back, sizeof(back)) == 65536 - 4100 + 4096, "drained");
	tap_ok(do_read(fds[0], back, 1) == -EAGAIN, "empty is EAGAIN");
	tap_ok(pipe_fcntl(fake_file(fds[0]), F_GETPIPE_SZ, 0) == 65536, "F_GETPIPE_SZ");
	tap_ok(pipe_fcntl(fake_file(fds[0]), F_SETPIPE_SZ, 100000) == 131072, "rounded up");
	tap_ok(do_write(fds[1], big, sizeof(big)) == 131072, "and it holds that");
	tap_ok(pipe_fcntl(fake_file(fds[1]), F_SETPIPE_SZ, 4096) == -EBUSY, "cannot shrink below");
	tap_ok(do_read(fds[0], back, 131072 - 4096) == 131072 - 4096 &&
	       pipe_fcntl(fake_file(fds[1]), F_SETPIPE_SZ, 1) == 4096, "can when drained");
	tap_ok(pipe_fcntl(fake_file(fds[1]), F_SETPIPE_SZ, 1 << 30) == -EPERM, "limit is EPERM");
	tap_ok(pipe_fcntl(fake_file(fds[1]), F_SETPIPE_SZ, 1ull << 31 | 5) == -EINVAL, "beyond int");
	pipe_done();
}

/* Small writes share pages, but none up to PIPE_BUF is torn across a full pipe. */
static void test_atomic(void)
{
	long n, sum = 0;

	pipe_pair(O_NONBLOCK);
	while ((n = do_write(fds[1], big, 3000)) == 3000)
		sum += n;
	tap_ok(n == -EAGAIN && sum == 16 * 3000, "3000-byte writes: a page each, all or nothing");
	pipe_done();
	pipe_pair(O_NONBLOCK);
	for (sum = 0; (n = do_write(fds[1], big, 64)) == 64; sum += n)
		;
	tap_ok(sum == 65536, "64-byte writes fill it to the last byte");
	pipe_done();
	pipe_pair(O_NONBLOCK | O_DIRECT);
	do_write(fds[1], "one", 3);
	do_write(fds[1], "three", 5);
	tap_ok(do_read(fds[0], back, 100) == 3 && do_read(fds[0], back, 2) == 2 &&
	       do_read(fds[0], back, 100) == -EAGAIN, "O_DIRECT: packets, the cut rest is dropped");
	pipe_done();
}

static void test_faults(void)
{
	pipe_pair(O_NONBLOCK);
	tap_ok(do_write(fds[1], (void *)FAKE_BAD_ADDR, 10) == -EFAULT, "write from a bad address");
	do_write(fds[1], "abc", 3);
	tap_ok(do_read(fds[0], (void *)FAKE_BAD_ADDR, 3) == -EFAULT &&
	       do_read(fds[0], back, 9) == 3, "read to one loses nothing");
	fake_kmalloc_fail = 1;
	do_read(fds[0], back, 1);
	do_write(fds[1], big, 4096);
	tap_ok(do_write(fds[1], big, 8192) == -ENOMEM || do_poll(fds[0]), "no memory is said");
	fake_kmalloc_fail = 0;
	pipe_done();
}

static void test_hangup(void)
{
	pipe_pair(0);
	do_write(fds[1], "xy", 2);
	fd_close(fds[1]);
	tap_ok(do_poll(fds[0]) == (POLLIN | POLLRDNORM | POLLHUP), "data and HUP");
	tap_ok(do_read(fds[0], back, 9) == 2 && do_read(fds[0], back, 9) == 0, "data, then EOF");
	tap_ok(do_poll(fds[0]) == POLLHUP, "then HUP alone");
	fd_close(fds[0]);
	pipe_pair(0);
	fd_close(fds[0]);
	fake_nsent = 0;
	tap_ok(do_poll(fds[1]) & POLLERR, "no reader: ERR");
	tap_ok(do_write(fds[1], "x", 1) == -EPIPE && fake_nsent == 1 && fake_sent[0].sig == SIGPIPE,
	       "EPIPE and SIGPIPE");
	fd_close(fds[1]);
}

static long write_all(void *arg)
{
	long n = do_write(fds[1], big, (size_t)(uintptr_t)arg);

	return n;
}

static long read_some(void *arg)
{
	return do_read(fds[0], back, (size_t)(uintptr_t)arg);
}

static void test_blocking(void)
{
	struct fake_task *t;
	size_t got = 0;
	long n;

	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (u8)(i * 31 + i / 251);
	pipe_pair(0);
	t = fake_spawn(read_some, (void *)100);
	fake_settle();
	do_write(fds[1], "wake", 4);
	tap_ok(fake_join(t) == 4, "a blocked reader gets what came");
	t = fake_spawn(write_all, (void *)300000);
	while (got < 300000 && (n = do_read(fds[0], back + got, 7777)) > 0)
		got += (size_t)n;
	tap_ok(fake_join(t) == 300000 && got == 300000 && !memcmp(big, back, got),
	       "300000 bytes through a blocking pipe, in order");
	t = fake_spawn(read_some, (void *)100);
	fake_settle();
	fake_signal(fake_task_of(t));
	tap_ok(fake_join(t) == -ERESTARTSYS, "a signal interrupts an empty read");
	t = fake_spawn(write_all, (void *)100000);
	fake_settle();
	fake_signal(fake_task_of(t));
	tap_ok(fake_join(t) == 65536, "a signal in mid-write: what was written");
	t = fake_spawn(write_all, (void *)1);
	fake_settle();
	fake_signal(fake_task_of(t));
	tap_ok(fake_join(t) == -ERESTARTSYS, "on a full pipe: nothing was");
	fake_nsent = 0;
	t = fake_spawn(write_all, (void *)10);
	fake_settle();
	fd_close(fds[0]);
	tap_ok(fake_join(t) == -EPIPE && fake_nsent == 1, "the reader leaves a blocked writer");
	fd_close(fds[1]);
	pipe_pair(0);
	t = fake_spawn(read_some, (void *)1);
	fake_settle();
	fd_close(fds[1]);
	tap_ok(fake_join(t) == 0, "the writer leaves a blocked reader: EOF");
	fd_close(fds[0]);
}

static struct super some_fs = { .type = "tmpfs" };
static struct inode *fifo;

static long open_read(void *arg)
{
	struct file **out = arg;

	return fake_open(fifo, O_RDONLY, out);
}

static void test_fifo(void)
{
	struct file *r = NULL, *w = NULL, *rw = NULL;
	struct fake_task *t;
	u64 pos = 0;

	fifo = inode_new(&some_fs, S_IFIFO | 0600);
	fifo->fops = &fifo_ops;
	tap_ok(fake_open(fifo, O_WRONLY | O_NONBLOCK, &w) == -ENXIO && !fifo->pipe,
	       "O_WRONLY|O_NONBLOCK without a reader is ENXIO and leaves no state");
	tap_ok(fake_open(fifo, O_RDONLY | O_NONBLOCK, &r) == 0, "O_RDONLY|O_NONBLOCK opens at once");
	tap_ok(r->ops->poll(r, NULL) == 0, "no writer yet is not a hang-up");
	tap_ok(r->ops->read(r, back, 1, &pos) == 0, "but reads as end of file");
	tap_ok(fake_open(fifo, O_WRONLY | O_NONBLOCK, &w) == 0, "now a writer can open");
	file_put(w);
	tap_ok(r->ops->poll(r, NULL) == POLLHUP, "a writer that left is a hang-up");
	file_put(r);
	r = NULL;
	t = fake_spawn(open_read, &r);
	fake_settle();
	tap_ok(!r, "O_RDONLY waits for a writer");
	tap_ok(fake_open(fifo, O_WRONLY, &w) == 0 && fake_join(t) == 0 && r, "both go on");
	file_put(w);
	file_put(r);
	t = fake_spawn(open_read, &r);
	fake_settle();
	fake_signal(fake_task_of(t));
	tap_ok(fake_join(t) == -ERESTARTSYS && !fifo->pipe, "a signal ends the wait");
	tap_ok(fake_open(fifo, O_RDWR, &rw) == 0, "O_RDWR does not wait");
	tap_ok(rw->ops->write(rw, "z", 1, &pos) == 1 && rw->ops->read(rw, back, 1, &pos) == 1,
	       "and talks to itself");
	file_put(rw);
	inode_put(fifo);
}

/* A pipe whose other end is gone can be opened through /proc without waiting. */
static void test_reopen(void)
{
	struct file *r = NULL;
	u64 pos = 0;

	pipe_pair(0);
	do_write(fds[1], "left", 4);
	fd_close(fds[1]);
	tap_ok(fake_open(fake_file(fds[0])->inode, O_RDONLY, &r) == 0 &&
	       r->ops->read(r, back, 9, &pos) == 4 && r->ops->poll(r, NULL) == POLLHUP,
	       "a pipe opened again does not wait for a writer");
	file_put(r);
	fd_close(fds[0]);
}

int main(void)
{
	fake_init();
	test_basics();
	test_capacity();
	test_atomic();
	test_faults();
	test_hangup();
	test_blocking();
	test_fifo();
	test_reopen();
	tap_ok(fake_pages == 0 && fake_allocs == 0, "nothing leaked: %u pages, %u blocks", fake_pages,
	       fake_allocs);
	return tap_done();
}
