/* SPDX-License-Identifier: Apache-2.0 */
/* The system-call table and what traces it. */
#pragma once

#include "core/types.h"

struct regs;

struct syscall {
	long (*fn)(long, long, long, long, long, long);		/* NULL: not there */
	const char *name;
	/*
	 * One letter an argument, for the trace: d int, u unsigned, x hex, o octal mode, s string,
	 * p address, z size, f descriptor or AT_FDCWD.
	 */
	const char *args;
};

#define NSYSCALLS 463
extern const struct syscall syscall_table[NSYSCALLS];

struct trace_line {
	size_t len;
	char text[256];
};

/* Before and after a call that is traced (call NULL: no such number). */
void syscall_trace_enter(const struct syscall *call, const struct regs *regs, struct trace_line *line);
void syscall_trace_leave(struct trace_line *line, long ret);

/*
 * From nucleus/entry.S. 0: the program goes on behind its call with only rax changed; nonzero:
 * through exit_to_user().
 */
int syscall_dispatch(struct regs *regs);	/* from a patched site */
int syscall_trapped(struct regs *regs);		/* by the SYSCALL instruction */
