/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line discipline: settings, output processing, the read side. Bytes coming in are in
 * tty_input.c. Behaviour as Linux's default discipline; the unit test compares with a host pty.
 */
#include "fs/tty_ldisc.h"
#include <asm/termbits.h>
#include "core/string.h"
#include "fs/tty_input.h"

void ldisc_init(struct ldisc *ld)
{
	static const struct ldisc_termios standard = {
		.iflag = ICRNL | IXON | IUTF8,
		.oflag = OPOST | ONLCR,
		.cflag = B38400 | CS8 | CREAD | HUPCL,
		.lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
		.cc = {
			[VINTR] = 3, [VQUIT] = 28, [VERASE] = 127, [VKILL] = 21, [VEOF] = 4,
			[VMIN] = 1, [VSTART] = 17, [VSTOP] = 19, [VSUSP] = 26, [VREPRINT] = 18,
			[VDISCARD] = 15, [VWERASE] = 23, [VLNEXT] = 22,
		},
		.ispeed = 38400, .ospeed = 38400,
	};

	memset(ld, 0, sizeof(*ld));
	ldisc_set_termios(ld, &standard);
}

static void ldisc_mark(struct ldisc *ld, u8 c)
{
	ld->special[c / 64] |= 1ull << c % 64;
}

static void ldisc_mark_editing(struct ldisc *ld)
{
	ldisc_mark(ld, ld->t.cc[VERASE]);
	ldisc_mark(ld, ld->t.cc[VKILL]);
	ldisc_mark(ld, ld->t.cc[VEOF]);
	ldisc_mark(ld, ld->t.cc[VEOL]);
	ldisc_mark(ld, '\n');
	if (ld->t.lflag & IEXTEN) {
		ldisc_mark(ld, ld->t.cc[VWERASE]);
		ldisc_mark(ld, ld->t.cc[VLNEXT]);
		ldisc_mark(ld, ld->t.cc[VEOL2]);
		if (ld->t.lflag & ECHO)
			ldisc_mark(ld, ld->t.cc[VREPRINT]);
	}
}

static void ldisc_mark_special(struct ldisc *ld)
{
	memset(ld->special, 0, sizeof(ld->special));
	if (ld->t.iflag & (IGNCR | ICRNL))
		ldisc_mark(ld, '\r');
	if (ld->t.iflag & INLCR)
		ldisc_mark(ld, '\n');
	if (ld->t.lflag & ICANON)
		ldisc_mark_editing(ld);
	if (ld->t.iflag & IXON) {
		ldisc_mark(ld, ld->t.cc[VSTART]);
		ldisc_mark(ld, ld->t.cc[VSTOP]);
	}
	if (ld->t.lflag & ISIG) {
		ldisc_mark(ld, ld->t.cc[VINTR]);
		ldisc_mark(ld, ld->t.cc[VQUIT]);
		ldisc_mark(ld, ld->t.cc[VSUSP]);
	}
	ld->special[0] &= ~1ull;	/* a cc of 0 is a disabled one */
}

/* What was typed in the other mode: raw input becomes one line, a half line is just input. */
static void ldisc_switch_mode(struct ldisc *ld)
{
	memset(ld->line_end, 0, sizeof(ld->line_end));
	if (!(ld->t.lflag & ICANON) || ld->head == ld->tail) {
		ld->canon_head = ld->tail;
	} else {
		ldisc_set_line_end(ld, ld->head - 1);
		ld->canon_head = ld->head;
	}
	ld->erasing = false;
	ld->lnext = false;
}

void ldisc_set_termios(struct ldisc *ld, const struct ldisc_termios *t)
{
	u32 changed = ld->t.lflag ^ t->lflag;

	ld->t = *t;
	if (changed & ICANON)
		ldisc_switch_mode(ld);
	ldisc_mark_special(ld);
	if (!(t->iflag & IXON) && ld->stopped)
		ldisc_start(ld);
}

void ldisc_flush_input(struct ldisc *ld)
{
	ld->head = ld->tail = ld->canon_head = 0;
	ld->erasing = false;
	memset(ld->line_end, 0, sizeof(ld->line_end));
}

bool ldisc_readable(const struct ldisc *ld, bool poll)
{
	u32 want = poll && !ld->t.cc[VTIME] && ld->t.cc[VMIN] ? ld->t.cc[VMIN] : 1;

	if (ld->t.lflag & ICANON)
		return ld->canon_head != ld->tail;
	return ld->head - ld->tail >= want;
}

static bool ldisc_at_eof_mark(const struct ldisc *ld, u32 at)
{
	return at != ld->canon_head && ldisc_is_line_end(ld, at) && !ld->buf[at % LDISC_BUF];
}

/* Up to and with the end of the line; an end-of-file mark ends it but is not part of it. */
static size_t ldisc_read_line(struct ldisc *ld, u8 *out, size_t size)
{
	size_t n = 0;

	while (n < size && ld->tail != ld->canon_head) {
		u32 at = ld->tail++;
		bool end = ldisc_is_line_end(ld, at);

		ldisc_clear_line_end(ld, at);
		if (end && !ld->buf[at % LDISC_BUF])
			return n;
		out[n++] = ld->buf[at % LDISC_BUF];
		if (end)
			return n;
	}
	/* The buffer is full just before the mark: the mark must not look like end of file next. */
	if (n && ldisc_at_eof_mark(ld, ld->tail))
		ldisc_clear_line_end(ld, ld->tail++);
	return n;
}

size_t ldisc_read(struct ldisc *ld, u8 *out, size_t size)
{
	size_t n = 0;

	if (ld->t.lflag & ICANON)
		return ldisc_read_line(ld, out, size);
	while (n < size && ld->tail != ld->head)
		out[n++] = ld->buf[ld->tail++ % LDISC_BUF];
	return n;
}

size_t ldisc_pending(const struct ldisc *ld)
{
	u32 n = 0;

	if (!(ld->t.lflag & ICANON))
		return ld->head - ld->tail;
	for (u32 at = ld->tail; at != ld->canon_head; at++)
		n += !ldisc_at_eof_mark(ld, at);
	return n;
}

static size_t ldisc_out_tab(struct ldisc *ld, u8 *out)
{
	u32 spaces = 8 - (ld->column & 7);

	ld->column += spaces;
	if ((ld->t.oflag & TABDLY) != XTABS) {
		out[0] = '\t';
		return 1;
	}
	memset(out, ' ', spaces);
	return spaces;
}

static size_t ldisc_out_return(struct ldisc *ld, u8 *out)
{
	u32 oflag = ld->t.oflag;

	if (oflag & ONOCR && ld->column == 0)
		return 0;
	out[0] = oflag & OCRNL ? '\n' : '\r';
	if (!(oflag & OCRNL) || oflag & ONLRET)
		ld->column = ld->canon_column = 0;
	return 1;
}

static size_t ldisc_out_newline(struct ldisc *ld, u8 *out)
{
	size_t n = 0;

	if (ld->t.oflag & ONLRET)
		ld->column = 0;
	if (ld->t.oflag & ONLCR) {
		ld->column = 0;
		out[n++] = '\r';
	}
	ld->canon_column = ld->column;
	out[n++] = '\n';
	return n;
}

size_t ldisc_out(struct ldisc *ld, u8 c, u8 *out)
{
	out[0] = c;
	if (!(ld->t.oflag & OPOST))
		return 1;
	switch (c) {
	case '\n':
		return ldisc_out_newline(ld, out);
	case '\r':
		return ldisc_out_return(ld, out);
	case '\t':
		return ldisc_out_tab(ld, out);
	case '\b':
		if (ld->column)
			ld->column--;
		return 1;
	default:
		if (ldisc_is_control(c))
			return 1;
		if (ld->t.oflag & OLCUC && ldisc_is_lower(c))
			out[0] = (u8)(c - 'a' + 'A');
		if (!ldisc_is_continuation(ld, c))
			ld->column++;
		return 1;
	}
}
