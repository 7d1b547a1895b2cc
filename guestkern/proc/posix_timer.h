/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX timers (timer_create(2)). */
#pragma once

#include "core/types.h"

struct process;

void posix_timers_exit(struct process *proc);	/* the process ends or executes another program */

long sys_timer_create(int clock, u64 event, u64 id_out);
long sys_timer_settime(s32 id, int flags, u64 new, u64 old);
long sys_timer_gettime(s32 id, u64 out);
long sys_timer_getoverrun(s32 id);
long sys_timer_delete(s32 id);
