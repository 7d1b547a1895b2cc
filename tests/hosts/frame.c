/* SPDX-License-Identifier: Apache-2.0 */
/* Byte stuffing for the frames of frame.h, used by both ends of relay.c. */
#include "frame.h"

#include <stdlib.h>
#include <string.h>

#define HEAD_BYTES	9	/* type, job, len */

static bool frame_finish(struct frame_reader *r)
{
	struct frame *f = &r->frame;

	if (r->overflow || r->len < HEAD_BYTES)
		return false;
	f->type = r->raw[0];
	memcpy(&f->job, r->raw + 1, 4);
	memcpy(&f->len, r->raw + 5, 4);
	if (f->len != r->len - HEAD_BYTES || f->len > FRAME_MAX)
		return false;
	memcpy(f->data, r->raw + HEAD_BYTES, f->len);
	f->data[f->len] = 0;
	return true;
}

bool frame_feed(struct frame_reader *r, unsigned char byte)
{
	bool whole;

	if (byte == FRAME_FLAG) {
		whole = frame_finish(r);
		r->len = 0;
		r->escaped = r->overflow = false;
		return whole;
	}
	if (byte == FRAME_ESC) {
		r->escaped = true;
		return false;
	}
	if (r->escaped)
		byte ^= 0x20;
	r->escaped = false;
	if (r->len < sizeof(r->raw))
		r->raw[r->len++] = byte;
	else
		r->overflow = true;
	return false;
}

static unsigned char *frame_stuff(unsigned char *to, const unsigned char *from, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (from[i] == FRAME_FLAG || from[i] == FRAME_ESC) {
			*to++ = FRAME_ESC;
			*to++ = from[i] ^ 0x20;
		} else {
			*to++ = from[i];
		}
	}
	return to;
}

unsigned char *frame_encode(uint8_t type, uint32_t job, const void *data, uint32_t len,
			    size_t *out_len)
{
	unsigned char head[HEAD_BYTES], *buf, *end;

	buf = malloc(2 * ((size_t)len + HEAD_BYTES) + 2);
	if (!buf)
		return NULL;
	head[0] = type;
	memcpy(head + 1, &job, 4);
	memcpy(head + 5, &len, 4);
	end = buf;
	*end++ = FRAME_FLAG;
	end = frame_stuff(end, head, sizeof(head));
	end = frame_stuff(end, data, len);
	*end++ = FRAME_FLAG;
	*out_len = end - buf;
	return buf;
}
