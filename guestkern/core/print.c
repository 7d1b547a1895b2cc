/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Formatted printing and the kernel log. A log line leaves by one serial_write(), so that lines
 * of several vCPUs do not mix; the log is for the rare, since every byte is a VM exit.
 */
#include "core/print.h"
#include "core/string.h"
#include "drivers/drivers.h"

#define LOG_LINE_MAX 400

u32 trace_mask;

struct out {			/* text past the end is counted and dropped */
	char *buf;
	size_t size, len;
};

struct spec {			/* one conversion: %[flags][width][.precision][length]conv */
	bool left, zero, plus, space, alt;
	int width, precision;	/* precision -1: none given */
	int bytes;		/* size of the argument */
	char conv;
};

static void out_char(struct out *o, char c)
{
	if (o->len + 1 < o->size)
		o->buf[o->len] = c;
	o->len++;
}

static void out_fill(struct out *o, char c, int n)
{
	while (n-- > 0)
		out_char(o, c);
}

static void out_text(struct out *o, const char *s, int n)
{
	for (int i = 0; i < n; i++)
		out_char(o, s[i]);
}

/* prefix, then zeros, then the text, padded to the width on the side that the flags say. */
static void out_padded(struct out *o, const struct spec *sp, const char *prefix, int zeros,
		       const char *text, int len)
{
	int npre = (int)strlen(prefix);
	int pad = sp->width - npre - zeros - len;

	if (!sp->left)
		out_fill(o, ' ', pad);
	out_text(o, prefix, npre);
	out_fill(o, '0', zeros);
	out_text(o, text, len);
	if (sp->left)
		out_fill(o, ' ', pad);
}

static void out_number(struct out *o, const struct spec *sp, u64 v, const char *prefix)
{
	const char *digits = sp->conv == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
	unsigned base = sp->conv == 'x' || sp->conv == 'X' || sp->conv == 'p' ? 16 :
			sp->conv == 'o' ? 8 : 10;
	char buf[24];
	int at = sizeof(buf), len, zeros = 0;

	for (u64 rest = v; rest; rest /= base)
		buf[--at] = digits[rest % base];
	len = (int)sizeof(buf) - at;
	if (sp->precision >= 0)
		zeros = sp->precision - len;
	else if (!len)
		zeros = 1;
	else if (sp->zero && !sp->left)
		zeros = sp->width - len - (int)strlen(prefix);
	if (sp->precision < 0 && !len && sp->zero && !sp->left)
		zeros = MAX(1, sp->width - (int)strlen(prefix));
	if (sp->conv == 'o' && sp->alt && zeros <= 0 && (len || !sp->precision))
		zeros = 1;
	out_padded(o, sp, prefix, MAX(zeros, 0), buf + at, len);
}

static void out_signed(struct out *o, const struct spec *sp, s64 v)
{
	const char *sign = v < 0 ? "-" : sp->plus ? "+" : sp->space ? " " : "";

	out_number(o, sp, v < 0 ? 0 - (u64)v : (u64)v, sign);
}

static void out_unsigned(struct out *o, const struct spec *sp, u64 v)
{
	const char *prefix = "";

	if (sp->conv == 'p' || (sp->conv == 'x' && sp->alt && v))
		prefix = "0x";
	else if (sp->conv == 'X' && sp->alt && v)
		prefix = "0X";
	out_number(o, sp, v, prefix);
}

static void out_string(struct out *o, const struct spec *sp, const char *s)
{
	if (!s)
		s = "(null)";
	out_padded(o, sp, "", 0, s,
		   (int)strnlen(s, sp->precision >= 0 ? (size_t)sp->precision : 0x7fffffff));
}

static const char *parse_number(const char *f, int *out)
{
	int v = 0;

	for (; *f >= '0' && *f <= '9'; f++) {
		if (v < 100000)		/* more is no field width but a mistake */
			v = v * 10 + *f - '0';
	}
	*out = v;
	return f;
}

static const char *parse_flags(const char *f, struct spec *sp)
{
	for (;; f++) {
		switch (*f) {
		case '-': sp->left = true; break;
		case '0': sp->zero = true; break;
		case '+': sp->plus = true; break;
		case ' ': sp->space = true; break;
		case '#': sp->alt = true; break;
		default: return f;
		}
	}
}

static const char *parse_length(const char *f, struct spec *sp)
{
	sp->bytes = 4;
	if (*f == 'z') {
		sp->bytes = 8;
		return f + 1;
	}
	if (*f == 'l') {
		sp->bytes = 8;
		return f[1] == 'l' ? f + 2 : f + 1;
	}
	if (*f == 'h') {
		sp->bytes = f[1] == 'h' ? 1 : 2;
		return f[1] == 'h' ? f + 2 : f + 1;
	}
	return f;
}

static s64 sign_extend(s64 v, int bytes)
{
	switch (bytes) {
	case 1: return (s8)v;
	case 2: return (s16)v;
	case 4: return (s32)v;
	default: return v;
	}
}

static u64 zero_extend(u64 v, int bytes)
{
	return bytes == 8 ? v : v & ((1ull << (bytes * 8)) - 1);
}

int vsnprintf(char *buf, size_t size, const char *fmt, va_list args)
{
	struct out o = { buf, size, 0 };
	va_list ap;

	va_copy(ap, args);	/* of a type that can be pointed at everywhere */
	while (*fmt) {
		struct spec sp = { .precision = -1 };

		if (*fmt != '%') {
			out_char(&o, *fmt++);
			continue;
		}
		fmt = parse_flags(fmt + 1, &sp);
		if (*fmt == '*') {
			sp.width = va_arg(ap, int);
			fmt++;
		} else {
			fmt = parse_number(fmt, &sp.width);
		}
		if (sp.width < 0) {
			sp.left = true;
			sp.width = -sp.width;
		}
		if (*fmt == '.' && fmt[1] == '*') {
			sp.precision = va_arg(ap, int);
			if (sp.precision < 0)
				sp.precision = -1;
			fmt += 2;
		} else if (*fmt == '.') {
			fmt = parse_number(fmt + 1, &sp.precision);
		}
		fmt = parse_length(fmt, &sp);
		sp.conv = *fmt;
		switch (*fmt) {
		case 'd': case 'i':
			out_signed(&o, &sp, sign_extend(sp.bytes == 8 ? va_arg(ap, s64) :
							va_arg(ap, int), sp.bytes));
			break;
		case 'u': case 'x': case 'X': case 'o':
			out_unsigned(&o, &sp, zero_extend(sp.bytes == 8 ? va_arg(ap, u64) :
							  va_arg(ap, unsigned), sp.bytes));
			break;
		case 'p':
			out_unsigned(&o, &sp, (u64)va_arg(ap, void *));
			break;
		case 'c': {
			char c = (char)va_arg(ap, int);

			out_padded(&o, &sp, "", 0, &c, 1);
			break;
		}
		case 's':
			out_string(&o, &sp, va_arg(ap, const char *));
			break;
		case '%':
			out_char(&o, '%');
			break;
		case '\0':
			continue;
		default:		/* not ours: show it as it stands */
			out_char(&o, '%');
			out_char(&o, *fmt);
		}
		fmt++;
	}
	va_end(ap);
	if (size)
		buf[MIN(o.len, size - 1)] = '\0';
	return (int)o.len;
}

int snprintf(char *buf, size_t size, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(buf, size, fmt, ap);
	va_end(ap);
	return n;
}

void klog(const char *fmt, ...)
{
	static const char prefix[] = "husk: ";
	char line[LOG_LINE_MAX];
	size_t at = sizeof(prefix) - 1, room = sizeof(line) - at - 1, n;
	va_list ap;

	memcpy(line, prefix, at);
	va_start(ap, fmt);
	n = (size_t)vsnprintf(line + at, room, fmt, ap);
	va_end(ap);
	at += MIN(n, room - 1);
	line[at++] = '\n';
	serial_write(line, at);
}
