/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal as a file: input from the console driver through the line discipline to readers,
 * output from writers to the console. tty_jobs.c has job control and the ioctls. Input arrives
 * outside any task, so its echo goes out by the console's call that never sleeps.
 */
#include "fs/tty.h"
#include <asm/termbits.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/poll.h>
#include "core/string.h"
#include "drivers/drivers.h"
#include "fs/kfs.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "proc/signo.h"
#include "proc/task.h"

#define TTY_READ_SMALL 256u
#define TTY_TENTH_NS (NSEC_PER_SEC / 10)

static struct tty *the_tty;

struct tty *tty_console(void)
{
	return the_tty;
}

/* --- input ---------------------------------------------------------------------------------- */

void tty_flush_echo(struct tty *tty)
{
	size_t n;

	if (!tty->echo_len || tty->ld.stopped)
		return;
	n = tty->no_output ? tty->echo_len
			   : console_write_nowait(tty->out_port, tty->echo, tty->echo_len);
	tty->echo_len -= (u32)n;
	memmove(tty->echo, tty->echo + n, tty->echo_len);
}

static void tty_echo(struct ldisc *ld, const u8 *bytes, size_t len)
{
	struct tty *tty = ld->owner;

	if (len > TTY_ECHO_MAX - tty->echo_len)
		return;		/* a terminal that is not read loses its echo, not its input */
	memcpy(tty->echo + tty->echo_len, bytes, len);
	tty->echo_len += (u32)len;
}

static void tty_signal(struct ldisc *ld, int sig)
{
	struct tty *tty = ld->owner;

	if (tty->pgrp > 0)
		signal_send_group(tty->pgrp, sig);
	if (!(ld->t.lflag & NOFLSH))
		tty->echo_len = 0;
}

void tty_output_changed(struct tty *tty)
{
	tty_flush_echo(tty);
	wake_all(&tty->write_wq);
}

static void tty_started(struct ldisc *ld)
{
	tty_output_changed(ld->owner);
}

/* As much of the bytes as there is room for, then wake whom it concerns. */
static size_t tty_feed(struct tty *tty, const u8 *bytes, size_t len)
{
	size_t n = ldisc_receive(&tty->ld, bytes, len);

	tty_flush_echo(tty);
	if (ldisc_readable(&tty->ld, false))
		wake_all(&tty->read_wq);
	return n;
}

static void tty_refill(struct tty *tty)
{
	size_t n;

	if (!tty->backlog_len)
		return;
	n = tty_feed(tty, tty->backlog, tty->backlog_len);
	tty->backlog_len -= (u32)n;
	memmove(tty->backlog, tty->backlog + n, tty->backlog_len);
}

void tty_flush_input(struct tty *tty)
{
	tty->backlog_len = 0;
	ldisc_flush_input(&tty->ld);
}

static void tty_on_input(const u8 *bytes, size_t len, bool eof)
{
	struct tty *tty = the_tty;
	size_t n = tty->backlog_len ? 0 : tty_feed(tty, bytes, len);

	len = MIN(len - n, TTY_BACKLOG - tty->backlog_len);
	memcpy(tty->backlog + tty->backlog_len, bytes + n, len);
	tty->backlog_len += (u32)len;
	if (!eof || tty->eof)
		return;
	tty->eof = true;	/* the terminal hung up */
	if (tty->pgrp > 0) {
		signal_send_group(tty->pgrp, SIGHUP);
		signal_send_group(tty->pgrp, SIGCONT);
	}
	wake_all(&tty->read_wq);
	wake_all(&tty->write_wq);
}

static void tty_on_resize(u16 rows, u16 cols)
{
	tty_resize(the_tty, rows, cols, 0, 0);
}

/* --- read ----------------------------------------------------------------------------------- */

/* Moves what one read gets now; 0 can be end of file. */
static long tty_take(struct tty *tty, void *buf, size_t len)
{
	u8 small[TTY_READ_SMALL], *chunk = small;
	long n;

	len = MIN(len, LDISC_BUF);
	if (len > sizeof(small)) {
		chunk = kmalloc(len);
		if (!chunk)
			return -ENOMEM;
	}
	n = (long)ldisc_read(&tty->ld, chunk, len);
	tty_refill(tty);
	if (n && copy_out(buf, chunk, (size_t)n))
		n = -EFAULT;
	if (chunk != small)
		kfree(chunk);
	return n;
}

/* 0: readable; -ETIMEDOUT, -EAGAIN, -ERESTARTSYS, or 1: the terminal is gone. */
static int tty_wait_input(struct tty *tty, struct file *file, u64 deadline_ns)
{
	int err;

	if (ldisc_readable(&tty->ld, false))
		return 0;
	if (tty->eof)
		return 1;
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	err = wait_event(&tty->read_wq, ldisc_readable(&tty->ld, false) || tty->eof, deadline_ns);
	if (!err && !ldisc_readable(&tty->ld, false))
		return 1;
	return err;
}

/* VMIN = 0: whatever is there within VTIME, perhaps nothing. */
static long tty_read_now(struct tty *tty, struct file *file, void *buf, size_t len)
{
	u64 time = tty->ld.t.cc[VTIME] * TTY_TENTH_NS;
	int err;

	if (!time && !ldisc_readable(&tty->ld, false))
		return 0;
	err = tty_wait_input(tty, file, time_monotonic_ns() + time);
	if (err)
		return err == 1 || err == -ETIMEDOUT ? 0 : err;
	return tty_take(tty, buf, len);
}

/* VMIN > 0: at least that many, unless VTIME passes after one of them. */
static long tty_read_min(struct tty *tty, struct file *file, void *buf, size_t len)
{
	size_t min = tty->ld.t.cc[VMIN], done = 0;
	u64 time = tty->ld.t.cc[VTIME] * TTY_TENTH_NS, deadline = WAIT_FOREVER;

	while (done < len) {
		int err = tty_wait_input(tty, file, deadline);
		long n;

		if (err && done)
			break;
		if (err)
			return err == 1 ? 0 : err;
		n = tty_take(tty, (u8 *)buf + done, len - done);
		if (n < 0)
			return done ? (long)done : n;
		done += (size_t)n;
		if (done >= min && !ldisc_readable(&tty->ld, false))
			break;
		if (time)
			deadline = time_monotonic_ns() + time;
	}
	return (long)done;
}

static long tty_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	struct tty *tty = file->priv;
	int err = tty_check_background(tty, SIGTTIN);

	if (err)
		return err;
	if (!tty->has_input)
		return -EIO;
	if (!len)
		return 0;
	tty_flush_echo(tty);
	if (tty->ld.t.lflag & ICANON) {
		err = tty_wait_input(tty, file, WAIT_FOREVER);
		if (err)
			return err == 1 ? 0 : err;
		return tty_take(tty, buf, len);
	}
	if (tty->ld.t.cc[VMIN])
		return tty_read_min(tty, file, buf, len);
	return tty_read_now(tty, file, buf, len);
}

/* --- write ---------------------------------------------------------------------------------- */

static int tty_put(struct tty *tty, const u8 *bytes, size_t len)
{
	if (tty->no_output || !len)
		return 0;
	return console_write(tty->out_port, bytes, len) < 0 ? -EIO : 0;
}

/* The lock is held and len is at most TTY_WRITE_IN. */
static long tty_write_chunk(struct tty *tty, const void *buf, size_t len)
{
	u8 *in = tty->wbuf, *out = tty->wbuf + TTY_WRITE_IN;
	size_t n = tty->echo_len;
	int err = 0;

	if (copy_in(in, buf, len))
		return -EFAULT;
	memcpy(out, tty->echo, n);	/* what was typed before stands before it */
	tty->echo_len = 0;
	for (size_t i = 0; i < len && !err; i++) {
		n += ldisc_out(&tty->ld, in[i], out + n);
		if (n + LDISC_OUT_MAX > TTY_WRITE_OUT) {
			err = tty_put(tty, out, n);
			n = 0;
		}
	}
	if (!err)
		err = tty_put(tty, out, n);
	return err ? err : (long)len;
}

static int tty_wait_output(struct tty *tty, struct file *file)
{
	if (tty->eof)
		return -EIO;
	if (!tty->ld.stopped)
		return 0;
	if (file->flags & O_NONBLOCK)
		return -EAGAIN;
	return wait_event(&tty->write_wq, !tty->ld.stopped || tty->eof, WAIT_FOREVER);
}

static long tty_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	struct tty *tty = file->priv;
	size_t done = 0;
	long n = tty->ld.t.lflag & TOSTOP ? tty_check_background(tty, SIGTTOU) : 0;

	while (!n && done < len) {
		n = tty_wait_output(tty, file);
		if (n)
			break;
		mutex_lock(&tty->out_lock);
		n = tty_write_chunk(tty, (const u8 *)buf + done, MIN(len - done, TTY_WRITE_IN));
		mutex_unlock(&tty->out_lock);
		if (n < 0)
			break;
		done += (size_t)n;
		n = 0;
	}
	return done ? (long)done : n;
}

static u32 tty_poll(struct file *file, struct poll_table *pt)
{
	struct tty *tty = file->priv;
	u32 mask = 0;

	poll_wait(pt, &tty->read_wq);
	poll_wait(pt, &tty->write_wq);
	if (ldisc_readable(&tty->ld, true) || tty->eof)
		mask |= POLLIN | POLLRDNORM;
	if (tty->eof)
		mask |= POLLHUP;
	else if (!tty->ld.stopped)
		mask |= POLLOUT | POLLWRNORM;
	return mask;
}

/* --- open, set-up --------------------------------------------------------------------------- */

static int tty_open(struct inode *inode, struct file *file)
{
	struct process *proc = current->proc;

	if (!the_tty)
		return -ENXIO;
	file->priv = the_tty;
	if (!(file->flags & O_NOCTTY) && proc->sid == proc->pid && !proc->tty && !the_tty->session)
		tty_set_session(the_tty, proc);
	return 0;
}

static int devtty_open(struct inode *inode, struct file *file)
{
	if (!current->proc->tty)
		return -ENXIO;
	file->priv = current->proc->tty;
	return 0;
}

const struct file_ops tty_fops = {
	.open = tty_open, .read = tty_read, .write = tty_write, .poll = tty_poll,
	.ioctl = tty_ioctl,
};
const struct file_ops devtty_fops = {
	.open = devtty_open, .read = tty_read, .write = tty_write, .poll = tty_poll,
	.ioctl = tty_ioctl,
};

static struct tty *tty_new(void)
{
	struct tty *tty = kzalloc(sizeof(*tty));
	u8 *bufs = kmalloc(TTY_WRITE_IN + TTY_WRITE_OUT + TTY_BACKLOG + TTY_ECHO_MAX);

	if (!tty || !bufs) {
		kfree(tty);
		kfree(bufs);
		return NULL;
	}
	tty->wbuf = bufs;
	tty->backlog = bufs + TTY_WRITE_IN + TTY_WRITE_OUT;
	tty->echo = tty->backlog + TTY_BACKLOG;
	ldisc_init(&tty->ld);
	tty->ld.owner = tty;
	tty->ld.echo = tty_echo;
	tty->ld.signal = tty_signal;
	tty->ld.started = tty_started;
	wait_queue_init(&tty->read_wq);
	wait_queue_init(&tty->write_wq);
	mutex_init(&tty->out_lock);
	return tty;
}

int tty_attach(const bool is_tty[3], u16 rows, u16 cols)
{
	struct tty *tty = tty_new();

	if (!tty)
		return -ENOMEM;
	tty->has_input = is_tty[0];
	tty->out_port = is_tty[1] ? CONSOLE_STDOUT : CONSOLE_STDERR;
	tty->no_output = !is_tty[1] && !is_tty[2];
	tty->rows = rows;
	tty->cols = cols;
	the_tty = tty;
	if (tty->has_input)
		console_on_input(tty_on_input);
	console_on_resize(tty_on_resize);
	return 0;
}
