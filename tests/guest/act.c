/* SPDX-License-Identifier: Apache-2.0 */
/* act WHAT: does one thing that tests/cli needs a program of its own for; see the table below. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../../include/husk/layout.h"

#define UNKNOWN_NR	246	/* kexec_load: of no use in a guest that has no Linux */
#define HLT		0xf4
#define STACK_GPA	(32ul << 20)	/* RAM in every guest */

static int act_hello(void)
{
	return puts("hello from a program") < 0;
}

static int act_segv(void)
{
	static volatile uintptr_t nowhere = 0x10;

	puts("before");
	fflush(stdout);
	*(volatile int *)nowhere = 1;
	return 0;
}

static int act_unknown(void)
{
	for (int i = 0; i < 3; i++)
		if (syscall(UNKNOWN_NR, 0, 0, 0, 0) != -1 || errno != ENOSYS)
			return 1;
	puts("ENOSYS");
	return 0;
}

static int act_order(void)
{
	char line[16];

	for (int i = 0; i < 200; i++) {
		int len = snprintf(line, sizeof(line), "line %d\n", i);

		if (write(i % 3 ? 1 : 2, line, len) != len)
			return 1;
	}
	return 0;
}

/*
 * Jumps to the first hlt byte in the kernel's text with a stack in the kernel's window. To the
 * kernel that is a fault of its own: what it tells them apart by is where rip and rsp point.
 */
static int act_panic(void)
{
	const unsigned char *at = (const unsigned char *)HUSK_KERNEL_VIRT;

	while (*at != HLT)
		at++;
	__asm__ volatile("mov %0, %%rsp; xor %%ebp, %%ebp; jmp *%1"
			 : : "r"(HUSK_DIRECT_MAP + STACK_GPA), "r"(at));
	return 0;
}

/* Reads the word at the start of the kernel's image: only husk's guests have one there. */
static int act_guest(void)
{
	return *(const volatile unsigned char *)HUSK_KERNEL_VIRT == 0;
}

static int act_closed(void)
{
	char c;

	fprintf(stderr, "stdin %s\n", read(0, &c, 1) == 0 ? "end" :
		errno == EBADF ? "closed" : "other");
	fprintf(stderr, "stdout %s\n", write(1, "x", 1) == 1 ? "taken" :
		errno == EBADF ? "closed" : "other");
	return 0;
}

static const struct act {
	const char *name;
	int (*run)(void);
} acts[] = {
	{ "hello", act_hello }, { "segv", act_segv }, { "unknown", act_unknown },
	{ "order", act_order }, { "panic", act_panic }, { "guest", act_guest },
	{ "closed", act_closed },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(acts) / sizeof(*acts); i++)
		if (argc == 2 && !strcmp(argv[1], acts[i].name))
			return acts[i].run();
	fprintf(stderr, "act: unknown request\n");
	return 2;
}
