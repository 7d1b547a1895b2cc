/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Saved registers of a program (or of interrupted kernel code), at the top of a kernel stack. The
 * last five words are an iretq frame. The order is known to nucleus/entry.S.
 */
#pragma once

#include "core/types.h"

struct regs {
	u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
	u64 orig_rax;		/* system-call number, or -1 */
	u64 rip, cs, rflags, rsp, ss;
};
