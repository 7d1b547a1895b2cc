/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal: the host's, when husk's stdin or stdout is one. There is one; /dev/console and
 * (as controlling terminal) /dev/tty are it.
 */
#pragma once

#include "fs/vfs.h"
#include "fs/tty_ldisc.h"

#define TTY_BACKLOG	16384u		/* input beyond the line discipline's buffer */
#define TTY_ECHO_MAX	4096u
#define TTY_WRITE_IN	4096u
#define TTY_WRITE_OUT	8192u

struct tty {
	struct ldisc ld;
	struct wait_queue read_wq, write_wq;
	struct mutex out_lock;		/* wbuf; held across console_write() */
	s32 session, pgrp;		/* 0: none */
	u16 rows, cols, xpixel, ypixel;
	bool present, has_input;	/* some stdio descriptor is a tty; the input is */
	bool eof;			/* the host's end hung up */
	unsigned out_port;		/* CONSOLE_STDOUT or CONSOLE_STDERR, or: */
	bool no_output;
	u8 *wbuf;			/* TTY_WRITE_IN bytes to process, then TTY_WRITE_OUT processed */
	u8 *backlog;			/* input that the discipline had no room for */
	u32 backlog_len;
	u8 *echo;			/* that the console had no buffer for */
	u32 echo_len;
};

extern const struct file_ops tty_fops;		/* /dev/console */
extern const struct file_ops devtty_fops;	/* /dev/tty: current's controlling terminal */

struct tty *tty_console(void);			/* NULL: there is no terminal */
/* Called by stdio_setup(): which of 0, 1, 2 are terminals, and the size (0: unknown). */
int tty_attach(const bool is_tty[3], u16 rows, u16 cols);
/* Make it the controlling terminal of proc's session. */
void tty_set_session(struct tty *tty, struct process *proc);
/* Job control (tty_jobs.c): may the current task do this to the terminal? 0 or -errno. */
int tty_check_background(struct tty *tty, int sig);
long tty_ioctl(struct file *file, unsigned cmd, u64 arg);
void tty_flush_echo(struct tty *tty);
void tty_resize(struct tty *tty, u16 rows, u16 cols, u16 xpixel, u16 ypixel);
void tty_flush_input(struct tty *tty);
void tty_output_changed(struct tty *tty);	/* ld.stopped changed */
