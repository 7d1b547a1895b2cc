/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The terminal line discipline (termios(3)): what happens to bytes between the terminal and the
 * program. Pure: no sleeping, no devices, no tasks; echo and signals leave through callbacks.
 */
#pragma once

#include "core/types.h"

#define LDISC_BUF	4096u		/* a line is at most one byte less (N_TTY_BUF_SIZE) */
#define LDISC_NCCS	19
#define LDISC_OUT_MAX	8		/* bytes that one output byte can become (a tab) */

struct ldisc_termios {			/* the layout of struct termios2 */
	u32 iflag, oflag, cflag, lflag;
	u8 line;
	u8 cc[LDISC_NCCS];
	u32 ispeed, ospeed;
};

struct ldisc {
	struct ldisc_termios t;
	u64 special[4];			/* input bytes that need more than queueing */
	u8 buf[LDISC_BUF];
	u64 line_end[LDISC_BUF / 64];	/* bytes of buf that end a line */
	u32 head, tail;			/* running counters */
	u32 canon_head;			/* head up to the last complete line */
	u32 column, canon_column;	/* of the cursor; where the line being typed began */
	bool lnext;			/* the next byte is literal */
	bool erasing;			/* inside \.../ of ECHOPRT */
	bool stopped;			/* output, by STOP */
	void *owner;
	void (*echo)(struct ldisc *ld, const u8 *bytes, size_t len);
	void (*signal)(struct ldisc *ld, int sig);
	void (*started)(struct ldisc *ld);	/* output goes on: let held echo out */
};

void ldisc_init(struct ldisc *ld);
void ldisc_set_termios(struct ldisc *ld, const struct ldisc_termios *t);
void ldisc_flush_input(struct ldisc *ld);

/* Input from the terminal; how much of it there was room for. */
size_t ldisc_receive(struct ldisc *ld, const u8 *bytes, size_t len);
/* Would a read get something? For poll, VMIN counts when VTIME does not. */
bool ldisc_readable(const struct ldisc *ld, bool poll);
/* One line in canonical mode (0: end of file), else what there is. Only when readable. */
size_t ldisc_read(struct ldisc *ld, u8 *out, size_t size);
size_t ldisc_pending(const struct ldisc *ld);	/* FIONREAD */

/* Output processing of one byte: at most LDISC_OUT_MAX bytes into out, how many. */
size_t ldisc_out(struct ldisc *ld, u8 c, u8 *out);
