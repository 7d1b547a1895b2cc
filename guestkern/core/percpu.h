/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-vCPU block; GS base points at it in the kernel and in programs. Assembly offsets are in
 * nucleus/offsets.h and checked there.
 */
#pragma once

#include "core/types.h"

struct task;
struct percpu;

static inline struct percpu *this_cpu_ptr(void)
{
	struct percpu *p;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(p));
	return p;
}

struct percpu_head {		/* what C code that knows no nucleus needs */
	struct percpu *self;
	struct task *task;	/* running on it */
	u32 id;
};

static inline struct percpu_head *this_cpu(void)
{
	return (struct percpu_head *)this_cpu_ptr();
}

unsigned cpu_online_count(void);	/* vCPUs that run */
