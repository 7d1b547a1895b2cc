/* SPDX-License-Identifier: Apache-2.0 */
/* Time stamps of boot: kept in memory, since printing costs more than the steps themselves. */
#include "core/stamp.h"
#include "core/math.h"
#include "core/print.h"
#include "core/time.h"
#include "core/vvar.h"
#include "husk/fdt.h"

#define STAMPS 24

static struct { const char *step; u64 tsc; } stamp[STAMPS];
static unsigned count;

void boot_stamp(const char *step)
{
	if (!(trace_mask & HUSK_TRACE_BOOT) || count == STAMPS)
		return;
	stamp[count].step = step;
	stamp[count++].tsc = rdtsc_ordered();
}

void boot_stamps_print(void)
{
	u64 khz = time_tsc_khz();

	for (unsigned i = 1; khz && i < count; i++)
		klog("boot: %s %lu us", stamp[i].step,
		     mul_div_u64(stamp[i].tsc - stamp[i - 1].tsc, 1000, khz));
}
