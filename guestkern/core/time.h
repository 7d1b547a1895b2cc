/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. Monotonic time starts near 0 at boot. */
#pragma once

#include "core/types.h"

#define NSEC_PER_SEC 1000000000ull

struct fdt;
struct timespec64 { s64 sec; s64 nsec; };	/* same layout as the ABI's struct timespec */

void time_init(const struct fdt *fdt);		/* before anything asks for the time */
u64 time_monotonic_ns(void);
u64 time_tsc_khz(void);				/* 0: the TSC is not the clock */
u64 time_realtime_ns(void);			/* since 1970; its first call reads the VMM's clock */
void time_set_realtime(u64 ns);			/* clock_settime(2): the VMM's clock counts no more */
/* Somebody must ask for the time at least this often, or the clock loses a turn (~0: need not). */
u64 time_max_silence_ns(void);

static inline struct timespec64 time_from_ns(u64 ns)
{
	return (struct timespec64){ (s64)(ns / NSEC_PER_SEC), (s64)(ns % NSEC_PER_SEC) };
}
