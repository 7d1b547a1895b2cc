/* SPDX-License-Identifier: Apache-2.0 */
/* Terminal, job control, standard streams and /dev on the test kernel. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <asm/termios.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include "kfs_fake.h"
#include "tap.h"
#include "drivers/drivers.h"
#include "fs/kfs.h"
#include "fs/syscalls_kfs.h"
#include "fs/tty.h"
#include "husk/fdt.h"
#include "proc/signo.h"

#define MS 1000000ull

static u8 buf[200000], big[200000];

static long do_read(int fd, void *p, size_t len)
{
	u64 pos = 0;

	return fake_file(fd)->ops->read(fake_file(fd), p, len, &pos);
}

static long do_write(int fd, const void *p, size_t len)
{
	u64 pos = 0;

	return fake_file(fd)->ops->write(fake_file(fd), p, len, &pos);
}

static long do_ioctl(int fd, unsigned cmd, void *arg)
{
	return fake_file(fd)->ops->ioctl(fake_file(fd), cmd, U(arg));
}

static bool shown(const char *text)
{
	bool same = fake_console_len[0] == strlen(text) &&
		    !memcmp(fake_console_out[0], text, strlen(text));

	fake_console_len[0] = 0;
	return same;
}

static void type(const char *text)
{
	fake_console_input(text, strlen(text), false);
}

static long reader(void *arg)
{
	return do_read(0, buf, (size_t)(uintptr_t)arg);
}

static void test_streams(void)
{
	static const char pipes[] = "pipe\0file\0null";
	struct pollfd p = { 0, POLLIN, 0 };
	struct fake_task *t;

	fake_fdt_set(HUSK_FDT_STDIO, pipes, sizeof(pipes));
	tap_ok(stdio_setup(current->proc->files, fake_fdt()) == 0, "stdio_setup: pipe, file, null");
	tap_ok(S_ISFIFO(fake_file(0)->inode->mode) && S_ISFIFO(fake_file(1)->inode->mode) &&
	       S_ISCHR(fake_file(2)->inode->mode), "their types");
	tap_ok(sys_poll(U(&p), 1, 0) == 0, "no input yet");
	t = fake_spawn(reader, (void *)10);
	fake_settle();
	fake_console_input("\0\xff\r\n", 4, false);
	tap_ok(fake_join(t) == 4 && !memcmp(buf, "\0\xff\r\n", 4), "input is binary clean");
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (u8)(i * 7);
	tap_ok(do_write(1, big, 100000) == 100000 && fake_console_len[0] == 100000 &&
	       !memcmp(fake_console_out[0], big, 100000), "100000 bytes of output");
	fake_console_len[0] = 0;
	tap_ok(do_write(2, "x", 1) == 1 && !fake_console_len[1], "null swallows");
	fake_file(0)->flags |= O_NONBLOCK;
	tap_ok(do_read(0, buf, 1) == -EAGAIN, "O_NONBLOCK");
	fake_console_input("end", 3, true);
	tap_ok(do_read(0, buf, 9) == 3 && do_read(0, buf, 9) == 0 && sys_poll(U(&p), 1, 0) == 1,
	       "end of input");
	fake_nsent = 0;
	fake_console_closed = true;
	tap_ok(do_write(1, "x", 1) == -EPIPE && fake_nsent == 1 && fake_sent[0].sig == SIGPIPE,
	       "a closed host end: EPIPE and SIGPIPE");
	fake_console_closed = false;
	tap_ok(do_write(1, (void *)FAKE_BAD_ADDR, 5) == -EFAULT, "EFAULT");
}

static void test_tty_lines(void)
{
	static const bool all[3] = { true, true, true };
	struct inode *inode = devfs_inode(0x501);
	struct file *file;
	struct fake_task *t;
	struct termios tio;

	tap_ok(fake_open(inode, O_RDWR, &file) == -ENXIO, "no terminal: ENXIO");
	tty_attach(all, 24, 80);
	current->proc->tty = NULL;
	tap_ok(fake_open(inode, O_RDWR, &file) == 0 && current->proc->tty == tty_console(),
	       "a session leader's open makes it the controlling terminal");
	fd_close(0);
	fd_install(file, 0);
	t = fake_spawn(reader, (void *)100);
	fake_settle();
	type("ls");
	tap_ok(shown("ls"), "echo goes out while the reader waits");
	type("x\x7f\r");
	tap_ok(fake_join(t) == 3 && !memcmp(buf, "ls\n", 3) && shown("x\b \b\r\n"), "a line");
	tap_ok(do_write(0, "a\tb\nc", 5) == 5 && shown("a\tb\r\nc"), "output with ONLCR");
	tap_ok(do_ioctl(0, TCGETS, &tio) == 0 && tio.c_lflag & ICANON, "TCGETS");
	type("q\x13");
	fake_file(0)->flags |= O_NONBLOCK;
	tap_ok(do_write(0, "held", 4) == -EAGAIN, "^S stops output");
	type("\x11");
	tap_ok(do_write(0, "on", 2) == 2, "^Q starts it");
	fake_console_len[0] = 0;
	type("\x15");
	tap_ok(do_read(0, buf, 9) == -EAGAIN, "O_NONBLOCK without a line");
	type("\x04");
	tap_ok(do_read(0, buf, 9) == 0, "^D");
	fake_file(0)->flags &= ~(u32)O_NONBLOCK;
	fake_console_len[0] = 0;
	inode_put(inode);
}

static void test_tty_raw(void)
{
	struct termios tio;
	struct fake_task *t;
	u64 before;
	int n = -1;

	do_ioctl(0, TCGETS, &tio);
	tio.c_lflag = 0;
	tio.c_iflag = 0;
	tio.c_cc[VMIN] = 3;
	tio.c_cc[VTIME] = 2;
	do_ioctl(0, TCSETSF, &tio);
	t = fake_spawn(reader, (void *)10);
	fake_settle();
	before = time_monotonic_ns();
	type("ab");
	tap_ok(fake_join(t) == 2 && time_monotonic_ns() - before == 200 * MS, "VTIME between bytes");
	type("abcd");
	tap_ok(do_ioctl(0, FIONREAD, &n) == 0 && n == 4 && do_read(0, buf, 3) == 3, "VMIN reached");
	do_read(0, buf, 1);
	tio.c_cc[VMIN] = 0;
	do_ioctl(0, TCSETS, &tio);
	before = time_monotonic_ns();
	tap_ok(do_read(0, buf, 3) == 0 && time_monotonic_ns() - before == 200 * MS,
	       "VMIN 0: time-out is 0 bytes");
	tio.c_cc[VTIME] = 0;
	tio.c_cc[VMIN] = 1;
	do_ioctl(0, TCSETS, &tio);
	for (int i = 0; i < 6000; i++)
		type("0123456789");
	do_ioctl(0, FIONREAD, &n);
	tap_ok(n == 4095, "input beyond the buffer waits outside");
	for (n = 0; n < 20000; n += (int)do_read(0, buf + n, 1000))
		;
	tap_ok(!memcmp(buf, "0123456789", 10) && !memcmp(buf + 19990, "0123456789", 10),
	       "and comes in order");
	do_ioctl(0, TCFLSH, NULL);
}

static void test_jobs(void)
{
	struct process *shell = current->proc, *job = fake_process(200, 200, shell->sid, shell);
	struct winsize ws = { 50, 132, 0, 0 };
	struct termios tio;
	s32 pgrp = 0;

	do_ioctl(0, TCGETS, &tio);
	tio.c_lflag = ICANON | ISIG | TOSTOP;
	do_ioctl(0, TCSETS, &tio);
	tap_ok(do_ioctl(0, TIOCGPGRP, &pgrp) == 0 && pgrp == 100, "TIOCGPGRP");
	job->tty = shell->tty;
	pgrp = 200;
	tap_ok(do_ioctl(0, TIOCSPGRP, &pgrp) == 0, "TIOCSPGRP to a job");
	fake_nsent = 0;
	type("\x03");
	tap_ok(fake_nsent == 1 && fake_sent[0].pgid == 200 && fake_sent[0].sig == SIGINT, "^C: job");
	do_ioctl(0, TIOCSWINSZ, &ws);
	tap_ok(fake_nsent == 2 && fake_sent[1].sig == SIGWINCH, "SIGWINCH");
	fake_nsent = 0;
	shell->parent = fake_process(50, 50, 100, NULL);
	tap_ok(do_read(0, buf, 9) == -ERESTARTSYS && fake_sent[0].sig == SIGTTIN &&
	       fake_sent[0].pgid == 100, "background read: SIGTTIN");
	tap_ok(do_write(0, "x", 1) == -ERESTARTSYS && fake_sent[1].sig == SIGTTOU, "TOSTOP: SIGTTOU");
	current->sigmask = SIGBIT(SIGTTOU) | SIGBIT(SIGTTIN);
	tap_ok(do_read(0, buf, 9) == -EIO && do_write(0, "x", 1) == 1, "blocked: EIO, allowed");
	pgrp = 100;
	tap_ok(do_ioctl(0, TIOCSPGRP, &pgrp) == 0, "the shell takes the terminal back");
	current->sigmask = 0;
	shell->parent = NULL;
	fake_enter(job);
	tap_ok(do_ioctl(0, TIOCGSID, &pgrp) == -ENOTTY || pgrp == 100, "TIOCGSID");
	fake_enter(shell);
	fake_nsent = 0;
	tty_disassociate(shell);
	tap_ok(!shell->tty && !job->tty && fake_nsent == 2 && fake_sent[0].sig == SIGHUP &&
	       fake_sent[1].sig == SIGCONT, "the leader's end hangs up the session");
	tap_ok(do_ioctl(0, TIOCGPGRP, &pgrp) == -ENOTTY && do_ioctl(0, TIOCSCTTY, NULL) == 0,
	       "TIOCSCTTY gets it again");
	fake_console_input("", 0, true);
	tap_ok(do_read(0, buf, 9) == 0 && do_write(0, "x", 1) == -EIO, "hung up");
}

static void test_dev(void)
{
	struct inode *zero = devfs_inode(0x105), *full = devfs_inode(0x107), *tty = devfs_inode(0x500);
	struct inode *rnd = devfs_inode(0x109);
	struct file *f;
	u64 pos = 0;

	memset(buf, 1, 10);
	fake_open(zero, O_RDWR, &f);
	tap_ok(f->ops->read(f, buf, 5, &pos) == 5 && !buf[4] && buf[5] == 1 &&
	       f->ops->write(f, buf, 7, &pos) == 7, "/dev/zero");
	tap_ok(f->ops->read(f, (void *)FAKE_BAD_ADDR, 5, &pos) == -EFAULT, "EFAULT");
	file_put(f);
	fake_open(full, O_RDWR, &f);
	tap_ok(f->ops->write(f, buf, 7, &pos) == -ENOSPC, "/dev/full");
	file_put(f);
	fake_open(rnd, O_RDONLY, &f);
	tap_ok(f->ops->read(f, buf, 100000, &pos) == 100000, "/dev/urandom in one read");
	file_put(f);
	current->proc->tty = NULL;
	tap_ok(fake_open(tty, O_RDWR, &f) == -ENXIO, "/dev/tty without a terminal");
	tap_ok(!chrdev_ops(0x999) && !devfs_inode(0x999), "unknown device");
	inode_put(zero);
	inode_put(full);
	inode_put(tty);
	inode_put(rnd);
}

int main(void)
{
	struct super *dev;

	fake_init();
	devfs_mount(&dev);
	test_streams();
	test_tty_lines();
	test_tty_raw();
	test_jobs();
	test_dev();
	return tap_done();
}
