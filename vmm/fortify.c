/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc's fortified functions for archives that were compiled against it (Debian's libjansson.a)
 * and are linked with musl. They keep the check that gives them their name.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int __vsnprintf_chk(char *buf, size_t size, int flag, size_t room, const char *fmt, va_list ap);
int __snprintf_chk(char *buf, size_t size, int flag, size_t room, const char *fmt, ...);
char *__strncpy_chk(char *dst, const char *src, size_t n, size_t room);

int __vsnprintf_chk(char *buf, size_t size, int flag, size_t room, const char *fmt, va_list ap)
{
	if (size > room)
		abort();
	return vsnprintf(buf, size, fmt, ap);
}

int __snprintf_chk(char *buf, size_t size, int flag, size_t room, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = __vsnprintf_chk(buf, size, flag, room, fmt, ap);
	va_end(ap);
	return n;
}

char *__strncpy_chk(char *dst, const char *src, size_t n, size_t room)
{
	if (n > room)
		abort();
	return strncpy(dst, src, n);
}
