/* SPDX-License-Identifier: Apache-2.0 */
/* Futexes (futex(2)). */
#pragma once

#include "core/types.h"

struct task;

int futex_wake(u64 addr, unsigned n);		/* number woken */
void futex_robust_exit(struct task *task);	/* a thread ends with locks held */
