/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the program. A bad address is -EFAULT through the fix-up table, never a crash. The
 * copies also take kernel addresses (both live in one address space), so file operations work
 * on kernel buffers too; what comes from a system call's arguments is checked with user_ok()
 * first, once, where it enters.
 */
#pragma once

#include "core/types.h"

#define USER_TOP 0x00007f7ffffff000ul	/* end of the program's addresses */

static inline bool user_ok(u64 addr, u64 len)
{
	return addr <= USER_TOP && len <= USER_TOP - addr;
}

int copy_from_user(void *dst, u64 src, size_t len);	/* 0 or -EFAULT; includes user_ok() */
int copy_to_user(u64 dst, const void *src, size_t len);
int clear_user(u64 dst, size_t len);
/* Copies a string with its NUL: its length, -EFAULT, or -ENAMETOOLONG when it does not fit. */
long strncpy_from_user(char *dst, u64 src, size_t size);

/* Without user_ok(): buf is a kernel address or an already checked user address. */
int copy_out(void *buf, const void *src, size_t len);	/* to buf; 0 or -EFAULT */
int copy_in(void *dst, const void *buf, size_t len);	/* from buf; 0 or -EFAULT */
int clear_out(void *buf, size_t len);
size_t copy_out_some(void *buf, const void *src, size_t len);	/* bytes copied before a bad address */
