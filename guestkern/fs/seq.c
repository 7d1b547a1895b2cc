/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text for generated files. */
#include "fs/pseudo.h"
#include "core/print.h"
#include "core/string.h"
#include "mm/kmalloc.h"

#define SEQ_FIRST	1024u
#define SEQ_MAX		(4u << 20)	/* more than any file of /proc; a runaway ends here */

static bool seq_room(struct seq *seq, size_t more)
{
	size_t cap = seq->cap ? seq->cap : SEQ_FIRST;
	char *buf;

	if (seq->failed)
		return false;
	if (more < seq->cap - seq->len)
		return true;
	while (cap - seq->len <= more && cap < SEQ_MAX)
		cap *= 2;
	buf = cap - seq->len > more ? kmalloc(cap) : NULL;
	if (!buf) {
		seq->failed = true;
		return false;
	}
	if (seq->len)
		memcpy(buf, seq->buf, seq->len);
	kfree(seq->buf);
	seq->buf = buf;
	seq->cap = cap;
	return true;
}

void seq_printf(struct seq *seq, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(seq->buf ? seq->buf + seq->len : NULL, seq->cap - seq->len, fmt, ap);
	va_end(ap);
	if (n < 0 || !seq_room(seq, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(seq->buf + seq->len, seq->cap - seq->len, fmt, ap);
	va_end(ap);
	seq->len += (size_t)n;
}

void seq_write(struct seq *seq, const void *data, size_t len)
{
	if (!len || !seq_room(seq, len))
		return;
	memcpy(seq->buf + seq->len, data, len);
	seq->len += len;
}

void seq_puts(struct seq *seq, const char *s)
{
	seq_write(seq, s, strlen(s));
}

void seq_escape(struct seq *seq, const char *s, const char *special)
{
	for (; *s; s++) {
		if (*s == '\\' || strchr(special, *s))
			seq_printf(seq, "\\%03o", (unsigned)(u8)*s);
		else
			seq_write(seq, s, 1);
	}
}

void seq_pad(struct seq *seq, size_t line_start, size_t column)
{
	do {
		seq_write(seq, " ", 1);
	} while (!seq->failed && seq->len - line_start < column);
}

void seq_free(struct seq *seq)
{
	kfree(seq->buf);
	*seq = (struct seq){ 0 };
}
