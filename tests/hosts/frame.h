/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frames that the two ends of relay.c exchange over a byte stream that may lose its head (a
 * virtio-serial port whose other side came and went): FRAME_FLAG, escaped (head, payload),
 * FRAME_FLAG. A frame whose length does not fit what arrived is junk and is dropped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FRAME_FLAG	0x7e
#define FRAME_ESC	0x7d
#define FRAME_MAX	(1u << 20)	/* payload; argv and the environment are the biggest */
#define FRAME_CHUNK	32768		/* stdin, stdout, stderr travel in pieces of this size */

enum frame_type {
	/* caller to server */
	FRAME_START = 1,	/* cwd, argv count, argv, environment: NUL-terminated strings */
	FRAME_STDIN,		/* a piece of stdin; empty: end of file */
	FRAME_SIGNAL,		/* u8: for the job's process group */
	FRAME_POWEROFF,
	/* server to caller */
	FRAME_READY,		/* the job is about to start */
	FRAME_WANT,		/* send the next piece of stdin */
	FRAME_STDOUT, FRAME_STDERR,
	FRAME_EXIT,		/* u8: exit status as a shell would give it */
};

struct frame {
	uint32_t job;		/* chosen by the caller: frames of another job are stale */
	uint32_t len;
	uint8_t type;
	unsigned char data[FRAME_MAX + 1];	/* NUL after the payload */
};

/* Bytes in, frames out. */
struct frame_reader {
	unsigned char raw[FRAME_MAX + 16];
	size_t len;
	bool escaped, overflow;
	struct frame frame;
};

/* Takes one byte; true when it completed the frame in r->frame. */
bool frame_feed(struct frame_reader *r, unsigned char byte);

/* Encodes into a malloc()ed buffer of *out_len bytes; NULL without memory. */
unsigned char *frame_encode(uint8_t type, uint32_t job, const void *data, uint32_t len,
			    size_t *out_len);
