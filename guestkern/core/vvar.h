/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel tells the vDSO: one page at HUSK_VVAR (the kernel's .vvar section, first in its
 * data), written by core/time.c under its sequence count.
 */
#pragma once

#include "core/types.h"

#define VVAR_TSC_OK		0x1	/* mono: mono_base_ns + (tsc - tsc_base) * mult >> shift */
#define VVAR_REALTIME_OK	0x2	/* realtime_offset_ns is good until realtime_expires_ns */

struct vvar {
	u32 seq;			/* odd while the rest is being written */
	u32 flags;
	u64 tsc_base;
	u64 mono_base_ns;
	u32 mult, shift;
	u64 realtime_offset_ns;		/* wall clock - monotonic */
	u64 realtime_expires_ns;	/* monotonic: ask the kernel again, which asks the VMM */
};

static inline u64 rdtsc_ordered(void)
{
	u32 lo, hi;

	/* No load before it may be delayed past the reading. */
	__asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (u64)hi << 32 | lo;
}

/* Monotonic time for a TSC reading; a TSC slightly behind the base (another vCPU's) is the base. */
static inline u64 vvar_mono(const struct vvar *v, u64 tsc)
{
	u64 delta = (s64)(tsc - v->tsc_base) < 0 ? 0 : tsc - v->tsc_base;

	return v->mono_base_ns + (u64)((unsigned __int128)delta * v->mult >> v->shift);
}

/* A consistent copy. */
static inline void vvar_read(const volatile struct vvar *v, struct vvar *copy)
{
	u32 seq;

	do {
		while ((seq = v->seq) & 1)
			__asm__ volatile("pause");
		__asm__ volatile("" : : : "memory");	/* loads stay in order on x86 */
		copy->flags = v->flags;
		copy->tsc_base = v->tsc_base;
		copy->mono_base_ns = v->mono_base_ns;
		copy->mult = v->mult;
		copy->shift = v->shift;
		copy->realtime_offset_ns = v->realtime_offset_ns;
		copy->realtime_expires_ns = v->realtime_expires_ns;
		__asm__ volatile("" : : : "memory");
	} while (v->seq != seq);
}
