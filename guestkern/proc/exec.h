/* SPDX-License-Identifier: Apache-2.0 */
/* Starting programs. */
#pragma once

#include "core/types.h"

/* Argument or environment strings, gathered: n strings of len bytes in all, each with its NUL. */
struct exec_strings {
	char *buf;
	size_t len, cap;
	unsigned n;
};

int exec_strings_add(struct exec_strings *s, const char *str);		/* 0, -E2BIG, -ENOMEM */
void exec_strings_free(struct exec_strings *s);

/*
 * Replace the current process's program; consumes nothing. 0 (then the registers of the current
 * task are the new program's), or -errno with the old program untouched.
 */
int exec_run(const char *path, struct exec_strings *argv, struct exec_strings *envp);
