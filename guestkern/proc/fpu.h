/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x87/SSE/AVX state. The kernel uses none of it, so the program's stays live through a system
 * call and moves only at a task switch, a fork, or a signal.
 */
#pragma once

#include "core/types.h"

struct task;
struct fdt;

extern u32 fpu_size;		/* of a save area: 512 (FXSAVE) or what CPUID leaf 0xd says */
extern bool fpu_xsave;
extern u64 fpu_xcr0;
extern u32 cpu_hwcap;		/* CPUID leaf 1 edx, for AT_HWCAP */

void fpu_init(const struct fdt *fdt);
void *fpu_alloc(void);			/* a save area, or NULL */
void fpu_save(struct task *task);	/* live state to task->fpu */
void fpu_restore(struct task *task);
void fpu_reset(void);			/* live state as after execve */

u64 fsbase_read(void);
void fsbase_write(u64 base);
