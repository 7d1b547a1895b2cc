/* SPDX-License-Identifier: Apache-2.0 */
/* The guest kernel's string functions against libc's, over sizes, alignments and overlaps. */
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"

#define memcpy k_memcpy
#define memmove k_memmove
#define memset k_memset
#define memcmp k_memcmp
#define memchr k_memchr
#define strlen k_strlen
#define strnlen k_strnlen
#define strcmp k_strcmp
#define strncmp k_strncmp
#define strchr k_strchr
#define strrchr k_strrchr
#include "core/string.c"
#undef memcpy
#undef memmove
#undef memset
#undef memcmp
#undef memchr
#undef strlen
#undef strnlen
#undef strcmp
#undef strncmp
#undef strchr
#undef strrchr

#define SIZE 1200

static unsigned char want[SIZE], have[SIZE], source[SIZE];

static void fill(void)
{
	for (int i = 0; i < SIZE; i++) {
		want[i] = have[i] = (unsigned char)rand();
		source[i] = (unsigned char)rand();
	}
}

static size_t pick_size(void)
{
	return (size_t)(rand() % 4 ? rand() % 80 : rand() % 500);
}

static int sign(int v)
{
	return (v > 0) - (v < 0);
}

static bool memory_same(void)
{
	for (int i = 0; i < 20000; i++) {
		size_t n = pick_size(), a = (size_t)rand() % 600, b = (size_t)rand() % 600;
		int c = rand();

		if (i % 100 == 0)
			fill();
		switch (i % 4) {
		case 0:
			memcpy(want + a, source + b, n);
			if (k_memcpy(have + a, source + b, n) != have + a)
				return false;
			break;
		case 1:
			memmove(want + a, want + b, n);
			if (k_memmove(have + a, have + b, n) != have + a)
				return false;
			break;
		case 2:
			b = a + (size_t)(rand() % 33);	/* near overlap */
			memmove(want + a, want + b, n);
			k_memmove(have + a, have + b, n);
			memmove(want + b, want + a, n);
			k_memmove(have + b, have + a, n);
			break;
		default:
			memset(want + a, c, n);
			if (k_memset(have + a, c, n) != have + a)
				return false;
		}
		if (memcmp(want, have, SIZE))
			return false;
	}
	return true;
}

static bool compare_same(void)
{
	for (int i = 0; i < 20000; i++) {
		size_t n = pick_size(), a = (size_t)rand() % 600, b = (size_t)rand() % 600;

		if (i % 2) {
			memcpy(have, want, SIZE);
			b = a;
			have[a + (size_t)rand() % (n + 1)] = (unsigned char)rand();
		}
		if (sign(k_memcmp(want + a, have + b, n)) != sign(memcmp(want + a, have + b, n)))
			return false;
		if (k_memchr(want + a, rand() & 0xff, 0) ||
		    k_memchr(want + a, want[b], n) != memchr(want + a, want[b], n))
			return false;
	}
	return true;
}

static bool strings_same(void)
{
	static const char *const s[] = {
		"", "a", "b", "ab", "abc", "abd", "abc\xff", "abc\x01", "aaaaaaaaaaaaaaaaaaaaa", "\x80",
	};
	size_t count = sizeof(s) / sizeof(s[0]);

	for (size_t i = 0; i < count; i++) {
		for (int c = -2; c < 256; c++) {
			if (k_strchr(s[i], c) != strchr(s[i], c) || k_strrchr(s[i], c) != strrchr(s[i], c))
				return false;
		}
		for (size_t n = 0; n < 30; n++) {
			if (k_strnlen(s[i], n) != strnlen(s[i], n))
				return false;
		}
		for (size_t j = 0; j < count; j++) {
			if (sign(k_strcmp(s[i], s[j])) != sign(strcmp(s[i], s[j])))
				return false;
			for (size_t n = 0; n < 30; n++) {
				if (sign(k_strncmp(s[i], s[j], n)) != sign(strncmp(s[i], s[j], n)))
					return false;
			}
		}
		if (k_strlen(s[i]) != strlen(s[i]))
			return false;
	}
	return true;
}

int main(void)
{
	srand(1);
	tap_ok(memory_same(), "memcpy, memmove, memset");
	tap_ok(compare_same(), "memcmp, memchr");
	tap_ok(strings_same(), "strlen, strnlen, strcmp, strncmp, strchr, strrchr");
	return tap_done();
}
