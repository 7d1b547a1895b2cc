/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks. Monotonic time starts near 0 at boot. */
#pragma once

#include "core/types.h"

#define NSEC_PER_SEC 1000000000ull

struct timespec64 { s64 sec; s64 nsec; };	/* same layout as the ABI's struct timespec */

u64 time_monotonic_ns(void);
u64 time_tsc_khz(void);
u64 time_realtime_ns(void);			/* since 1970; its first call reads the VMM's clock */

static inline struct timespec64 time_from_ns(u64 ns)
{
	return (struct timespec64){ (s64)(ns / NSEC_PER_SEC), (s64)(ns % NSEC_PER_SEC) };
}
