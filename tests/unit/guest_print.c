/* SPDX-License-Identifier: Apache-2.0 */
/* The guest kernel's printf against libc's, over all flags, widths and lengths it has; the log. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
#pragma GCC diagnostic ignored "-Wformat"
#define snprintf k_snprintf
#define vsnprintf k_vsnprintf
#include "core/print.c"
#undef snprintf
#undef vsnprintf

static char log_text[1000];
static size_t log_len;

void serial_write(const char *s, size_t len)
{
	memcpy(log_text + log_len, s, len);
	log_len += len;
	log_text[log_len] = '\0';
}

__attribute__((format(printf, 2, 3)))
static bool same(size_t size, const char *fmt, ...)
{
	char want[300], have[300];
	va_list ap;
	int w, h;

	memset(want, '#', sizeof(want));
	memset(have, '#', sizeof(have));
	va_start(ap, fmt);
	w = vsnprintf(want, size, fmt, ap);
	va_end(ap);
	va_start(ap, fmt);
	h = k_vsnprintf(have, size, fmt, ap);
	va_end(ap);
	if (w == h && !strncmp(want, have, size) && !memcmp(want + size, have + size, 300 - size))
		return true;
	printf("# '%s' size %zu: libc %d '%.*s', ours %d '%.*s'\n", fmt, size, w, (int)size, want, h,
	       (int)size, have);
	return false;
}

/* Flags are a bit set over "-0+ #"; width and precision -1 none, -2 by '*'. */
static void make_format(char *fmt, int flags, int width, int prec, const char *len, char conv)
{
	static const char all[] = "-0+ #";
	char *p = fmt;

	*p++ = '[';
	*p++ = '%';
	for (int i = 0; i < 5; i++) {
		if (flags & 1 << i)
			*p++ = all[i];
	}
	if (width == -2)
		*p++ = '*';
	else if (width >= 0)
		p += sprintf(p, "%d", width);
	if (prec == -2)
		p += sprintf(p, ".*");
	else if (prec >= 0)
		p += sprintf(p, ".%d", prec);
	sprintf(p, "%s%c]", len, conv);
}

static bool numbers_same(const char *len, char conv)
{
	static const long long values[] = {
		0, 1, -1, 7, 8, 42, 127, 128, 255, 256, -128, 65535, 0x7fffffff, -0x7fffffffll - 1,
		0xffffffff, LLONG_MAX, LLONG_MIN, 1234567890123456789,
	};
	static const int sizes[] = { -1, 0, 1, 5, 12, 25 };
	bool l = len[0] == 'l' || len[0] == 'z';
	char fmt[40];

	for (int flags = 0; flags < 32; flags++) {
		for (int i = 0; i < 36; i++) {
			make_format(fmt, flags, sizes[i % 6], sizes[i / 6], len, conv);
			for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
				if (!(l ? same(200, fmt, values[v]) : same(200, fmt, (int)values[v])))
					return false;
			}
		}
	}
	return true;
}

static bool stars_same(void)
{
	char fmt[40];

	for (int w = -20; w < 20; w++) {
		for (int p = -3; p < 20; p++) {
			make_format(fmt, 0, -2, -2, "", 'd');
			if (!same(200, fmt, w, p, 12345))
				return false;
			make_format(fmt, 0, -2, -2, "", 's');
			if (!same(200, fmt, w, p, "some text"))
				return false;
		}
	}
	return true;
}

static bool text_same(void)
{
	char fmt[40];

	for (int w = -1; w < 12; w++) {
		for (int p = -1; p < 12; p++) {
			make_format(fmt, w & 1, w, p, "", 's');
			if (!same(200, fmt, "hello") || !same(200, fmt, ""))
				return false;
			make_format(fmt, w & 1, w, -1, "", 'c');
			if (!same(200, fmt, 'x') || !same(200, fmt, 0))
				return false;
			make_format(fmt, w & 1, w, -1, "", 'p');
			if (!same(200, fmt, (void *)0x7fc0deadbeef))
				return false;
		}
	}
	return same(200, "100%% %s", "sure") && same(200, "plain") && same(200, "%s", "");
}

static bool truncation_same(void)
{
	for (size_t n = 0; n < 30; n++) {
		if (!same(n, "%s-%08x-%d", "abcdef", 0xbeef, 99999))
			return false;
	}
	return true;
}

static void test_log(void)
{
	static const char odd[] = "%q %";
	char long_text[900];

	klog("vCPU %u: %s", 3, "up");
	tap_ok(!strcmp(log_text, "husk: vCPU 3: up\n"), "a log line has prefix and newline");
	log_len = 0;
	memset(long_text, 'x', sizeof(long_text));
	long_text[sizeof(long_text) - 1] = '\0';
	klog("%s", long_text);
	tap_ok(log_len == LOG_LINE_MAX - 1 && log_text[log_len - 1] == '\n',
	       "a line that is too long is cut and still ends");
	k_snprintf(long_text, 20, odd);
	tap_ok(!strcmp(long_text, "%q "), "an unknown conversion is shown, a lone %% is dropped");
}

int main(void)
{
	static const char *const lengths[] = { "", "hh", "h", "l", "ll", "z" };

	for (int i = 0; i < 6; i++) {
		for (const char *c = "diuxXo"; *c; c++)
			tap_ok(numbers_same(lengths[i], *c), "%%%s%c", lengths[i], *c);
	}
	tap_ok(stars_same(), "width and precision by *");
	tap_ok(text_same(), "%%s %%c %%p %%%%");
	tap_ok(truncation_same(), "truncation");
	test_log();
	return tap_done();
}
