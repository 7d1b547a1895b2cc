/* SPDX-License-Identifier: Apache-2.0 */
/* Rewriting system-call sites so that they jump into the kernel instead of trapping. */
#pragma once

#include "core/types.h"

struct mm;
struct regs;

/* After a trap from a `syscall` instruction: look at the site and rewrite it if that is proven right. */
void patch_site(struct regs *regs);
void patch_copy(struct mm *to, const struct mm *from);		/* fork */
void patch_free(struct mm *mm);
