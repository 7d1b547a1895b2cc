/* SPDX-License-Identifier: Apache-2.0 */
/* Called from nucleus/entry.S, on a kernel stack, masked. */
#pragma once

#include "proc/regs.h"

void trap_page_fault(struct regs *regs, u64 err, u64 addr);
void trap_exception(struct regs *regs, u64 vector, u64 err);
void trap_interrupt_fixup(struct regs *regs);
void exit_to_user(struct regs *regs);

void panic_regs(const struct regs *regs, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));
