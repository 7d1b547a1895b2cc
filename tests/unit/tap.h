/* SPDX-License-Identifier: Apache-2.0 */
/* TAP for unit tests: a line a check, the plan at the end. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static unsigned tap_count, tap_failed;

__attribute__((unused, format(printf, 2, 3)))
static inline void tap_ok(bool ok, const char *fmt, ...)
{
	va_list ap;

	tap_count++;
	tap_failed += !ok;
	printf("%sok %u - ", ok ? "" : "not ", tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* Prints the plan; the program's exit status. */
__attribute__((unused))
static inline int tap_done(void)
{
	printf("1..%u\n", tap_count);
	return tap_failed ? 1 : 0;
}
