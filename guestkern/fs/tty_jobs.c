/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal's job control (credentials(7), tcsetpgrp(3)) and its ioctls (ioctl_tty(2)). */
#include <asm/ioctls.h>
#include <asm/termbits.h>
#include <asm/termios.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include "core/string.h"
#include "fs/kfs.h"
#include "fs/tty.h"
#include "mm/uaccess.h"
#include "proc/signo.h"
#include "proc/task.h"

/* No member of the group has a parent that could continue it: stopping it would be for ever. */
static bool tty_orphaned(s32 pgid, s32 sid)
{
	struct process *proc;

	list_for_each(proc, &process_list, all_link) {
		struct process *parent = proc->parent;

		if (proc->pgid == pgid && !proc->zombie && parent && parent->pgid != pgid &&
		    parent->sid == sid)
			return false;
	}
	return true;
}

static bool tty_signal_ignored(int sig)
{
	return current->sigmask & SIGBIT(sig) ||
	       current->proc->sighand->action[sig - 1].handler == SIG_HANDLER_IGN;
}

int tty_check_background(struct tty *tty, int sig)
{
	struct process *proc = current->proc;

	if (proc->tty != tty || !tty->pgrp || proc->pgid == tty->pgrp)
		return 0;
	if (tty_signal_ignored(sig))
		return sig == SIGTTIN ? -EIO : 0;
	if (tty_orphaned(proc->pgid, proc->sid))
		return -EIO;
	signal_send_group(proc->pgid, sig);
	return -ERESTARTSYS;
}

void tty_set_session(struct tty *tty, struct process *proc)
{
	tty->session = proc->sid;
	tty->pgrp = proc->pgid;
	proc->tty = tty;
}

/* Nobody of the session has it any more. */
static void tty_drop_session(struct tty *tty)
{
	struct process *proc;

	list_for_each(proc, &process_list, all_link)
		if (proc->sid == tty->session && proc->tty == tty)
			proc->tty = NULL;
	tty->session = 0;
	tty->pgrp = 0;
}

void tty_disassociate(struct process *proc)
{
	struct tty *tty = proc->tty;
	s32 pgrp;

	if (!tty)
		return;
	if (tty->session != proc->pid) {
		proc->tty = NULL;
		return;
	}
	pgrp = tty->pgrp;
	tty_drop_session(tty);
	proc->tty = NULL;
	if (pgrp > 0) {
		signal_send_group(pgrp, SIGHUP);
		signal_send_group(pgrp, SIGCONT);
	}
}

static long tty_acquire(struct tty *tty, u64 force)
{
	struct process *proc = current->proc;

	if (proc->sid == proc->pid && tty->session == proc->sid)
		return 0;
	if (proc->sid != proc->pid || proc->tty)
		return -EPERM;
	if (tty->session) {
		if (force != 1 || !capable_root())
			return -EPERM;
		tty_drop_session(tty);
	}
	tty_set_session(tty, proc);
	return 0;
}

static long tty_get_pgrp(struct tty *tty, u64 arg)
{
	if (current->proc->tty != tty)
		return -ENOTTY;
	return copy_to_user(arg, &tty->pgrp, sizeof(tty->pgrp));
}

static long tty_set_pgrp(struct tty *tty, u64 arg)
{
	struct process *proc;
	s32 pgid;
	int err = tty_check_background(tty, SIGTTOU);

	if (err)
		return err;
	if (current->proc->tty != tty || tty->session != current->proc->sid)
		return -ENOTTY;
	if (copy_from_user(&pgid, arg, sizeof(pgid)))
		return -EFAULT;
	if (pgid < 0)
		return -EINVAL;
	list_for_each(proc, &process_list, all_link) {
		if (proc->pgid != pgid)
			continue;
		if (proc->sid != current->proc->sid)
			return -EPERM;
		tty->pgrp = pgid;
		return 0;
	}
	return -ESRCH;
}

static long tty_get_sid(struct tty *tty, u64 arg)
{
	if (current->proc->tty != tty || !tty->session)
		return -ENOTTY;
	return copy_to_user(arg, &tty->session, sizeof(tty->session));
}

void tty_resize(struct tty *tty, u16 rows, u16 cols, u16 xpixel, u16 ypixel)
{
	if (tty->rows == rows && tty->cols == cols && tty->xpixel == xpixel &&
	    tty->ypixel == ypixel)
		return;
	tty->rows = rows;
	tty->cols = cols;
	tty->xpixel = xpixel;
	tty->ypixel = ypixel;
	if (tty->pgrp > 0)
		signal_send_group(tty->pgrp, SIGWINCH);
}

static long tty_get_size(struct tty *tty, u64 arg)
{
	struct winsize ws = { tty->rows, tty->cols, tty->xpixel, tty->ypixel };

	return copy_to_user(arg, &ws, sizeof(ws));
}

static long tty_set_size(struct tty *tty, u64 arg)
{
	struct winsize ws;

	if (copy_from_user(&ws, arg, sizeof(ws)))
		return -EFAULT;
	tty_resize(tty, ws.ws_row, ws.ws_col, ws.ws_xpixel, ws.ws_ypixel);
	return 0;
}

/* The speed that c_cflag names, for the readers of struct termios2. */
static u32 tty_speed(u32 cflag, u32 otherwise)
{
	static const u32 low[] = { 0, 50, 75, 110, 134, 150, 200, 300, 600, 1200, 1800, 2400,
				   4800, 9600, 19200, 38400 };
	static const u32 high[] = { 0, 57600, 115200, 230400, 460800, 500000, 576000, 921600,
				    1000000, 1152000, 1500000, 2000000, 2500000, 3000000,
				    3500000, 4000000 };
	u32 code = cflag & CBAUD;

	if (code == BOTHER)
		return otherwise;
	return code & CBAUDEX ? high[code & 15] : low[code & 15];
}

static long tty_set_termios(struct tty *tty, u64 arg, size_t size, bool flush)
{
	struct ldisc_termios t = tty->ld.t;
	int err = tty_check_background(tty, SIGTTOU);

	if (err)
		return err;
	if (copy_from_user(&t, arg, size))
		return -EFAULT;
	t.ospeed = tty_speed(t.cflag, t.ospeed);
	t.ispeed = size == sizeof(t) && t.cflag >> IBSHIFT & CBAUD
		 ? tty_speed(t.cflag >> IBSHIFT, t.ispeed) : t.ospeed;
	if (flush)
		tty_flush_input(tty);
	ldisc_set_termios(&tty->ld, &t);
	if (ldisc_readable(&tty->ld, false))
		wake_all(&tty->read_wq);
	return 0;
}

static long tty_flow(struct tty *tty, u64 arg)
{
	int err = tty_check_background(tty, SIGTTOU);

	if (err)
		return err;
	switch (arg) {
	case TCOOFF:
	case TCOON:
		tty->ld.stopped = arg == TCOOFF;
		tty_output_changed(tty);
		return 0;
	case TCIOFF:
	case TCION:
		return 0;	/* nobody at the other end obeys STOP and START */
	default:
		return -EINVAL;
	}
}

static long tty_flush(struct tty *tty, u64 arg)
{
	int err = tty_check_background(tty, SIGTTOU);

	if (err)
		return err;
	if (arg > TCIOFLUSH)
		return -EINVAL;
	if (arg != TCOFLUSH)
		tty_flush_input(tty);
	if (arg != TCIFLUSH)
		tty->echo_len = 0;
	return 0;
}

static long tty_put_int(u64 arg, int value)
{
	return copy_to_user(arg, &value, sizeof(value));
}

static long tty_ioctl_session(struct tty *tty, unsigned cmd, u64 arg)
{
	switch (cmd) {
	case TIOCGPGRP:
		return tty_get_pgrp(tty, arg);
	case TIOCSPGRP:
		return tty_set_pgrp(tty, arg);
	case TIOCGSID:
		return tty_get_sid(tty, arg);
	case TIOCSCTTY:
		return tty_acquire(tty, arg);
	case TIOCNOTTY:
		if (current->proc->tty != tty)
			return -ENOTTY;
		tty_disassociate(current->proc);
		return 0;
	default:
		return -ENOTTY;
	}
}

long tty_ioctl(struct file *file, unsigned cmd, u64 arg)
{
	struct tty *tty = file->priv;
	size_t old_size = offsetof(struct ldisc_termios, ispeed);	/* struct termios */

	switch (cmd) {
	case TCGETS:
		return copy_to_user(arg, &tty->ld.t, old_size);
	case TCGETS2:
		return copy_to_user(arg, &tty->ld.t, sizeof(tty->ld.t));
	case TCSETS:
	case TCSETSW:
	case TCSETSF:
		return tty_set_termios(tty, arg, old_size, cmd == TCSETSF);
	case TCSETS2:
	case TCSETSW2:
	case TCSETSF2:
		return tty_set_termios(tty, arg, sizeof(tty->ld.t), cmd == TCSETSF2);
	case TIOCGWINSZ:
		return tty_get_size(tty, arg);
	case TIOCSWINSZ:
		return tty_set_size(tty, arg);
	case FIONREAD:
		return tty_put_int(arg, (int)ldisc_pending(&tty->ld));
	case TIOCOUTQ:
		return tty_put_int(arg, (int)tty->echo_len);
	case TCFLSH:
		return tty_flush(tty, arg);
	case TCXONC:
		return tty_flow(tty, arg);
	case TCSBRK:
	case TCSBRKP:		/* output is never behind, and there is no line to break */
		return tty_check_background(tty, SIGTTOU);
	case TIOCGETD:
		return tty_put_int(arg, 0);
	case TIOCEXCL:
	case TIOCNXCL:
		return 0;
	default:
		return tty_ioctl_session(tty, cmd, arg);
	}
}
