/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the two halves of the line discipline. */
#pragma once

#include "fs/tty_ldisc.h"

static inline bool ldisc_is_line_end(const struct ldisc *ld, u32 at)
{
	return ld->line_end[at % LDISC_BUF / 64] >> at % 64 & 1;
}

static inline void ldisc_set_line_end(struct ldisc *ld, u32 at)
{
	ld->line_end[at % LDISC_BUF / 64] |= 1ull << at % 64;
}

static inline void ldisc_clear_line_end(struct ldisc *ld, u32 at)
{
	ld->line_end[at % LDISC_BUF / 64] &= ~(1ull << at % 64);
}

static inline bool ldisc_is_control(u8 c)
{
	return c < 0x20 || c == 0x7f;
}

/* Not the first byte of a character: takes no column. */
static inline bool ldisc_is_continuation(const struct ldisc *ld, u8 c)
{
	return ld->t.iflag & 0x4000 /* IUTF8 */ && (c & 0xc0) == 0x80;
}

/* Letters as the kernel's Latin-1 tables have them. */
static inline bool ldisc_is_upper(u8 c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
}

static inline bool ldisc_is_lower(u8 c)
{
	return (c >= 'a' && c <= 'z') || (c >= 0xdf && c != 0xf7);
}

static inline void ldisc_start(struct ldisc *ld)
{
	ld->stopped = false;
	ld->started(ld);
}
