/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and string functions; also what the compiler itself calls for structure copies. General
 * registers only. Short copies are word moves whose ends overlap, long ones `rep movsb`, which
 * every host CPU of interest does in cache lines. The empty asm statements keep the compiler from
 * recognising a loop as the very function it is in.
 */
#include "core/string.h"

#define REP_MIN 256		/* from here on the string instructions win */

struct word { u64 v; } __attribute__((packed, may_alias));
struct half { u32 v; } __attribute__((packed, may_alias));
struct quarter { u16 v; } __attribute__((packed, may_alias));

#define W(p, off) (((struct word *)((char *)(p) + (off)))->v)
#define H(p, off) (((struct half *)((char *)(p) + (off)))->v)
#define Q(p, off) (((struct quarter *)((char *)(p) + (off)))->v)

/* Up to 16 bytes, read in full before the first store: right for overlapping areas too. */
static inline void copy_short(void *dst, const void *src, size_t n)
{
	if (n >= 8) {
		u64 first = W(src, 0), last = W(src, n - 8);

		W(dst, 0) = first;
		W(dst, n - 8) = last;
	} else if (n >= 4) {
		u32 first = H(src, 0), last = H(src, n - 4);

		H(dst, 0) = first;
		H(dst, n - 4) = last;
	} else if (n >= 2) {
		u16 first = Q(src, 0), last = Q(src, n - 2);

		Q(dst, 0) = first;
		Q(dst, n - 2) = last;
	} else if (n) {
		*(u8 *)dst = *(const u8 *)src;
	}
}

void *memcpy(void *dst, const void *src, size_t n)
{
	size_t i;

	if (n <= 16) {
		copy_short(dst, src, n);
		return dst;
	}
	if (n >= REP_MIN) {
		void *d = dst;

		__asm__ volatile("rep movsb" : "+D"(d), "+S"(src), "+c"(n) : : "memory");
		return dst;
	}
	for (i = 0; i + 16 <= n; i += 16) {
		u64 a = W(src, i), b = W(src, i + 8);

		W(dst, i) = a;
		W(dst, i + 8) = b;
		__asm__ volatile("" : : : "memory");
	}
	copy_short((char *)dst + i, (const char *)src + i, n - i);
	return dst;
}

void *memmove(void *dst, const void *src, size_t n)
{
	size_t i;

	if ((uintptr_t)dst - (uintptr_t)src >= n)	/* dst is not inside the source: upwards is safe */
		return memcpy(dst, src, n);
	for (i = n; i >= 16; i -= 16) {
		u64 a = W(src, i - 16), b = W(src, i - 8);

		W(dst, i - 16) = a;
		W(dst, i - 8) = b;
		__asm__ volatile("" : : : "memory");
	}
	copy_short(dst, src, i);
	return dst;
}

void *memset(void *dst, int c, size_t n)
{
	u64 pattern = (u8)c * 0x0101010101010101ull;
	u8 *p = dst;
	size_t i;

	if (n >= REP_MIN) {
		__asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(c) : "memory");
		return dst;
	}
	for (i = 0; i + 8 <= n; i += 8) {
		W(p, i) = pattern;
		__asm__ volatile("" : : : "memory");
	}
	for (; i < n; i++) {
		p[i] = (u8)c;
		__asm__ volatile("" : : : "memory");
	}
	return dst;
}

int memcmp(const void *a, const void *b, size_t n)
{
	const u8 *x = a, *y = b;
	size_t i = 0;

	while (i + 8 <= n && W(x, i) == W(y, i))
		i += 8;
	for (; i < n; i++) {
		if (x[i] != y[i])
			return x[i] - y[i];
	}
	return 0;
}

void *memchr(const void *s, int c, size_t n)
{
	const u8 *p = s;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == (u8)c)
			return (void *)(p + i);
	}
	return NULL;
}

size_t strlen(const char *s)
{
	size_t n = 0;

	while (s[n]) {
		n++;
		__asm__ volatile("");
	}
	return n;
}

size_t strnlen(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && s[i]) {
		i++;
		__asm__ volatile("");
	}
	return i;
}

int strcmp(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return (u8)*a - (u8)*b;
}

int strncmp(const char *a, const char *b, size_t n)
{
	for (; n && *a && *a == *b; n--) {
		a++;
		b++;
	}
	return n ? (u8)*a - (u8)*b : 0;
}

char *strchr(const char *s, int c)
{
	for (; *s != (char)c; s++) {
		if (!*s)
			return NULL;
	}
	return (char *)s;
}

char *strrchr(const char *s, int c)
{
	const char *last = NULL;

	do {
		if (*s == (char)c)
			last = s;
	} while (*s++);
	return (char *)last;
}
