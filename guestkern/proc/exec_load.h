/* SPDX-License-Identifier: Apache-2.0 */
/* Building the address space of a new program. */
#pragma once

#include "core/types.h"
#include "proc/exec.h"

struct file;
struct mm;

#define ARG_MAX_STRLEN (32 * PAGE_SIZE)		/* one string, as on Linux */

struct exec_image {
	struct mm *mm;
	u64 entry, stack;
};

/* 0, or -errno with nothing left behind. execfn is what AT_EXECFN shows. */
int exec_load(struct exec_image *im, struct file *file, const char *execfn,
	      const struct exec_strings *argv, const struct exec_strings *envp);

void cred_exec(struct file *file);	/* set-user-ID and set-group-ID */
