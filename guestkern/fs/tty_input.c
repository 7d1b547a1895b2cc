/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line discipline: a byte from the terminal is mapped, edits the line, raises a signal, stops
 * output, or is queued; and it is echoed.
 */
#include "fs/tty_input.h"
#include <asm/termbits.h>
#include "proc/signo.h"

/* --- echo ----------------------------------------------------------------------------------- */

/* As if the program had written it. */
static void echo_raw(struct ldisc *ld, u8 c)
{
	u8 out[LDISC_OUT_MAX] = { c };
	size_t n = 1;

	if (c == 0xff)		/* Linux's echo escapes this one, past output processing */
		ld->column++;
	else
		n = ldisc_out(ld, c, out);
	if (n)
		ld->echo(ld, out, n);
}

static void echo_byte(struct ldisc *ld, u8 c)
{
	u8 caret[2] = { '^', c ^ 0x40 };

	if (ld->t.lflag & ECHOCTL && ldisc_is_control(c) && c != '\t') {
		ld->echo(ld, caret, 2);
		ld->column += 2;
	} else {
		echo_raw(ld, c);
	}
}

static void echo_rub_out(struct ldisc *ld)
{
	echo_raw(ld, '\b');
	echo_raw(ld, ' ');
	echo_raw(ld, '\b');
}

static void echo_finish_erasing(struct ldisc *ld)
{
	if (!ld->erasing)
		return;
	echo_raw(ld, '/');
	ld->erasing = false;
}

/* An ordinary byte of the line; the first one fixes where the line began. */
static void echo_typed(struct ldisc *ld, u8 c)
{
	if (!(ld->t.lflag & ECHO))
		return;
	if (ld->canon_head == ld->head)
		ld->canon_column = ld->column;
	echo_byte(ld, c);
}

/* Back over a tab: how far depends on what stands before it on the line. */
static void echo_erase_tab(struct ldisc *ld)
{
	u32 chars = 0, at = ld->head, back;
	bool after_tab = false;

	while (at != ld->canon_head && !after_tab) {
		u8 c = ld->buf[--at % LDISC_BUF];

		if (c == '\t')
			after_tab = true;
		else if (ldisc_is_control(c))
			chars += ld->t.lflag & ECHOCTL ? 2 : 0;
		else
			chars += !ldisc_is_continuation(ld, c);
	}
	if (!after_tab)
		chars += ld->canon_column;
	for (back = 8 - (chars & 7); back; back--) {
		ld->echo(ld, (const u8 *)"\b", 1);
		if (ld->column)
			ld->column--;
	}
}

/* --- editing -------------------------------------------------------------------------------- */

enum erase_kind { ERASE_CHAR, ERASE_WORD, ERASE_LINE };

/* Letters and digits of Latin-1, which is what a word is made of. */
static bool is_word_byte(u8 c)
{
	return ldisc_is_upper(c) || ldisc_is_lower(c) || (c >= '0' && c <= '9') || c == '_';
}

static void echo_erased(struct ldisc *ld, enum erase_kind kind, u8 c, u32 bytes)
{
	u32 lflag = ld->t.lflag;

	if (!(lflag & ECHO))
		return;
	if (lflag & ECHOPRT) {
		if (!ld->erasing)
			echo_raw(ld, '\\');
		ld->erasing = true;
		echo_byte(ld, c);
		for (u32 i = 1; i < bytes; i++) {
			echo_raw(ld, ld->buf[(ld->head + i) % LDISC_BUF]);
			if (ld->column)
				ld->column--;
		}
	} else if (kind == ERASE_CHAR && !(lflag & ECHOE)) {
		echo_byte(ld, ld->t.cc[VERASE]);
	} else if (c == '\t') {
		echo_erase_tab(ld);
	} else {
		if (ldisc_is_control(c) && lflag & ECHOCTL)
			echo_rub_out(ld);
		if (!ldisc_is_control(c) || lflag & ECHOCTL)
			echo_rub_out(ld);
	}
}

static void ldisc_kill_line(struct ldisc *ld)
{
	ld->head = ld->canon_head;
	if (!(ld->t.lflag & ECHO))
		return;
	echo_finish_erasing(ld);
	echo_byte(ld, ld->t.cc[VKILL]);
	if (ld->t.lflag & ECHOK)
		echo_raw(ld, '\n');
}

static void ldisc_erase(struct ldisc *ld, enum erase_kind kind)
{
	const u32 kill_visibly = ECHO | ECHOK | ECHOKE | ECHOE;
	bool in_word = false;

	if (ld->head == ld->canon_head)
		return;
	if (kind == ERASE_LINE && (ld->t.lflag & kill_visibly) != kill_visibly) {
		ldisc_kill_line(ld);
		return;
	}
	while (ld->head != ld->canon_head) {
		u32 at = ld->head, bytes;
		u8 c;

		do {
			c = ld->buf[--at % LDISC_BUF];
		} while (ldisc_is_continuation(ld, c) && at != ld->canon_head);
		if (ldisc_is_continuation(ld, c))
			break;		/* no first byte: leave the pieces */
		if (kind == ERASE_WORD) {
			if (is_word_byte(c))
				in_word = true;
			else if (in_word)
				break;
		}
		bytes = ld->head - at;
		ld->head = at;
		echo_erased(ld, kind, c, bytes);
		if (kind == ERASE_CHAR)
			break;
	}
	if (ld->head == ld->canon_head && ld->t.lflag & ECHO)
		echo_finish_erasing(ld);
}

static void ldisc_reprint(struct ldisc *ld, u8 c)
{
	echo_finish_erasing(ld);
	echo_byte(ld, c);
	echo_raw(ld, '\n');
	for (u32 at = ld->canon_head; at != ld->head; at++)
		echo_byte(ld, ld->buf[at % LDISC_BUF]);
}

/* --- input ---------------------------------------------------------------------------------- */

static void ldisc_queue(struct ldisc *ld, u8 c)
{
	ld->buf[ld->head++ % LDISC_BUF] = c;
}

static void ldisc_end_line(struct ldisc *ld, u8 c)
{
	ldisc_set_line_end(ld, ld->head);
	ldisc_queue(ld, c);
	ld->canon_head = ld->head;
}

static void ldisc_queue_marked(struct ldisc *ld, u8 c)
{
	if (c == 0xff && ld->t.iflag & PARMRK)
		ldisc_queue(ld, c);
	ldisc_queue(ld, c);
}

static void ldisc_start_on_any(struct ldisc *ld)
{
	if (ld->stopped && ld->t.iflag & IXON && ld->t.iflag & IXANY)
		ldisc_start(ld);
}

static void ldisc_plain(struct ldisc *ld, u8 c)
{
	ldisc_start_on_any(ld);
	if (ld->t.lflag & ECHO)
		echo_finish_erasing(ld);
	echo_typed(ld, c);
	ldisc_queue_marked(ld, c);
}

/* INTR, QUIT, SUSP: what was typed so far is dropped unless NOFLSH says to keep it. */
static bool ldisc_signal(struct ldisc *ld, u8 c)
{
	const u8 *cc = ld->t.cc;
	int sig;

	if (c == cc[VINTR])
		sig = SIGINT;
	else if (c == cc[VQUIT])
		sig = SIGQUIT;
	else if (c == cc[VSUSP])
		sig = SIGTSTP;
	else
		return false;
	ld->signal(ld, sig);
	if (!(ld->t.lflag & NOFLSH))
		ldisc_flush_input(ld);
	if (ld->t.iflag & IXON)
		ld->stopped = false;
	if (ld->t.lflag & ECHO)
		echo_byte(ld, c);
	if (!ld->stopped)
		ld->started(ld);
	return true;
}

static bool ldisc_edit(struct ldisc *ld, u8 c)
{
	const u8 *cc = ld->t.cc;
	bool extended = ld->t.lflag & IEXTEN, echo = ld->t.lflag & ECHO;

	if (c == cc[VERASE])
		ldisc_erase(ld, ERASE_CHAR);
	else if (c == cc[VKILL])
		ldisc_erase(ld, ERASE_LINE);
	else if (c == cc[VWERASE] && extended)
		ldisc_erase(ld, ERASE_WORD);
	else if (c == cc[VREPRINT] && extended && echo)
		ldisc_reprint(ld, c);
	else
		return false;
	return true;
}

static void ldisc_literal_next(struct ldisc *ld)
{
	ld->lnext = true;
	if (!(ld->t.lflag & ECHO))
		return;
	echo_finish_erasing(ld);
	if (ld->t.lflag & ECHOCTL) {
		echo_raw(ld, '^');
		echo_raw(ld, '\b');
	}
}

/* In canonical mode: was it an editing byte or the end of a line? */
static bool ldisc_canonical(struct ldisc *ld, u8 c)
{
	const u8 *cc = ld->t.cc;
	bool extended = ld->t.lflag & IEXTEN;

	if (c == cc[VLNEXT] && extended) {
		ldisc_literal_next(ld);
		return true;
	}
	if (ldisc_edit(ld, c))
		return true;
	if (c == '\n') {
		if (ld->t.lflag & (ECHO | ECHONL))
			echo_raw(ld, '\n');
		ldisc_end_line(ld, c);
		return true;
	}
	if (c == cc[VEOF]) {
		ldisc_end_line(ld, 0);
		return true;
	}
	if (c == cc[VEOL] || (c == cc[VEOL2] && extended)) {
		echo_typed(ld, c);
		if (c == 0xff && ld->t.iflag & PARMRK)
			ldisc_queue(ld, c);
		ldisc_end_line(ld, c);
		return true;
	}
	return false;
}

static void ldisc_special(struct ldisc *ld, u8 c)
{
	u32 iflag = ld->t.iflag;

	if (iflag & IXON && (c == ld->t.cc[VSTART] || c == ld->t.cc[VSTOP])) {
		if (c == ld->t.cc[VSTART])
			ldisc_start(ld);
		else
			ld->stopped = true;
		return;
	}
	if (ld->t.lflag & ISIG && ldisc_signal(ld, c))
		return;
	ldisc_start_on_any(ld);
	if (c == '\r') {
		if (iflag & IGNCR)
			return;
		if (iflag & ICRNL)
			c = '\n';
	} else if (c == '\n' && iflag & INLCR) {
		c = '\r';
	}
	if (ld->t.lflag & ICANON && ldisc_canonical(ld, c))
		return;
	if (ld->t.lflag & ECHO) {
		echo_finish_erasing(ld);
		if (c == '\n')
			echo_raw(ld, c);
		else
			echo_typed(ld, c);
	}
	ldisc_queue_marked(ld, c);
}

static void ldisc_receive_byte(struct ldisc *ld, u8 c)
{
	if (ld->t.iflag & ISTRIP)
		c &= 0x7f;
	if (ld->t.iflag & IUCLC && ld->t.lflag & IEXTEN && ldisc_is_upper(c))
		c = (u8)(c - 'A' + 'a');
	if (ld->lnext) {
		ld->lnext = false;
		ldisc_plain(ld, c);
	} else if (ld->special[c / 64] >> c % 64 & 1) {
		ldisc_special(ld, c);
	} else {
		ldisc_plain(ld, c);
	}
}

/*
 * Bytes that may come in now. A canonical line that fills the buffer keeps accepting one byte at
 * a time over its last one, so that the end of the line can still be typed.
 */
static size_t ldisc_room(struct ldisc *ld)
{
	int room = (int)(LDISC_BUF - (ld->head - ld->tail));
	bool overflow;

	if (ld->t.iflag & PARMRK)
		room = (room + 2) / 3;
	if (--room > 0)
		return (size_t)room;
	overflow = ld->t.lflag & ICANON && ld->canon_head == ld->tail;
	if (overflow && room < 0)
		ld->head--;
	return overflow;
}

size_t ldisc_receive(struct ldisc *ld, const u8 *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		size_t n = MIN(len - done, ldisc_room(ld));

		if (!n)
			break;
		for (size_t i = 0; i < n; i++)
			ldisc_receive_byte(ld, bytes[done + i]);
		done += n;
	}
	return done;
}
