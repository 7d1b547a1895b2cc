/* SPDX-License-Identifier: Apache-2.0 */
/* Local APIC registers in xAPIC mode (Intel SDM volume 3, table 11-1), through the direct map. */
#pragma once

#include "core/types.h"
#include "husk/layout.h"

#define LAPIC_SVR		0xf0
#define LAPIC_SVR_ENABLE	0x100
#define LAPIC_LVT_TIMER		0x320
#define LAPIC_TIMER_COUNT	0x380
#define LAPIC_TIMER_DIVIDE	0x3e0
#define LAPIC_DIVIDE_BY_1	0x0b

static inline void lapic_write(u32 reg, u32 val)
{
	*(volatile u32 *)(HUSK_DIRECT_MAP + HUSK_LAPIC_BASE + reg) = val;
}
