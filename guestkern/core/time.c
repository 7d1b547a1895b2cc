/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks: the TSC where there is a usable one, scaled by what the FDT says or by the PM timer,
 * else the PM timer itself (each reading is then a VM exit). The parameters live in the vvar page,
 * from which the vDSO computes the same values. The wall clock comes from the VMM, first when
 * somebody asks, then again now and then, so that it is right after a pause of the host.
 */
#include "core/fdt.h"
#include "core/math.h"
#include "core/print.h"
#include "core/time.h"
#include "core/vvar.h"
#include "drivers/mmio.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "husk/system.h"

#define SHIFT			32
#define PM_HZ			3579545ull	/* ACPI 6.4, section 4.8.3.3 */
#define PM_MASK			0xffffffu	/* 24 bits: it wraps every 4.7 s */
#define CALIBRATE_PM		17898		/* 5 ms */
#define CALIBRATE_READS		2000		/* a timer that stands still ends the loop */
#define TSC_KHZ_MIN		100000		/* slower: not a clock that we trust */
#define TSC_KHZ_MAX		4000000000ull
#define REALTIME_RENEW_NS	(10 * NSEC_PER_SEC)
#define REALTIME_STEP_NS	1000000		/* smaller differences are noise of the reading */
#define CPUID_TSC		(1u << 4)	/* leaf 1, EDX */

struct vvar vvar __attribute__((section(".vvar"), aligned(4096)));

static u64 tsc_khz;
static u32 pm_last;			/* PM clock: last reading, and ticks up to it */
static u64 pm_ticks;
static bool realtime_pinned;		/* set by clock_settime(2) */

static u32 pm_read(void)
{
	return mmio_read32((const void *)(HUSK_DIRECT_MAP + HUSK_PM_TIMER_MMIO)) & PM_MASK;
}

static u64 realtime_read(void)
{
	return mmio_read64((const void *)(HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_REALTIME));
}

static void vvar_begin(void)
{
	*(volatile u32 *)&vvar.seq += 1;
	__asm__ volatile("" : : : "memory");	/* stores stay in order on x86 */
}

static void vvar_end(void)
{
	__asm__ volatile("" : : : "memory");
	*(volatile u32 *)&vvar.seq += 1;
}

static bool cpu_has_tsc(void)
{
	u32 a = 1, b, c = 0, d;

	__asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
	return d & CPUID_TSC;
}

/* PM time and the TSC at the same moment: the middle of the shortest of some readings. */
static u32 pm_read_with_tsc(u64 *tsc)
{
	u64 best = ~0ull;
	u32 pm = 0;

	for (int i = 0; i < 4; i++) {
		u64 before = rdtsc_ordered();
		u32 now = pm_read();
		u64 took = rdtsc_ordered() - before;

		if (took < best) {
			best = took;
			pm = now;
			*tsc = before + took / 2;
		}
	}
	return pm;
}

/* kHz of the TSC over 5 ms of the PM timer, or 0. */
static u64 tsc_calibrate(void)
{
	u64 start, end, khz;
	u32 from = pm_read_with_tsc(&start), ticks = 0;

	for (int i = 0; i < CALIBRATE_READS && ticks < CALIBRATE_PM; i++) {
		/* Some rest between readings: each is an exit. */
		for (int spin = 0; spin < 200; spin++)
			__asm__ volatile("pause");
		ticks = (pm_read() - from) & PM_MASK;
	}
	ticks = (pm_read_with_tsc(&end) - from) & PM_MASK;
	if (ticks < CALIBRATE_PM || (s64)(end - start) <= 0)
		return 0;
	khz = mul_div_u64(end - start, PM_HZ, ticks) / 1000;
	return khz >= TSC_KHZ_MIN && khz <= TSC_KHZ_MAX ? khz : 0;
}

static bool tsc_advances(void)
{
	u64 first = rdtsc_ordered();

	for (int i = 0; i < 100; i++) {
		if (rdtsc_ordered() != first)
			return true;
	}
	return false;
}

static u64 tsc_find_khz(const struct fdt *fdt)
{
	u64 khz = fdt_u32(fdt, fdt_find(fdt, fdt_root(fdt), "chosen"), HUSK_FDT_TSC_KHZ, 0);

	if (khz >= TSC_KHZ_MIN && tsc_advances())
		return khz;
	return cpu_has_tsc() && tsc_advances() ? tsc_calibrate() : 0;
}

void time_init(const struct fdt *fdt)
{
	kassert((u64)&vvar == (u64)HUSK_VVAR);
	tsc_khz = tsc_find_khz(fdt);
	if (!tsc_khz) {
		klog("no usable TSC: the clock is the PM timer, each reading a VM exit");
		pm_last = pm_read();
		return;
	}
	vvar_begin();
	vvar.tsc_base = rdtsc_ordered();
	vvar.mult = (u32)((1000000ull << SHIFT) / tsc_khz);
	vvar.shift = SHIFT;
	vvar.flags = VVAR_TSC_OK;
	vvar_end();
}

u64 time_tsc_khz(void)
{
	return tsc_khz;
}

u64 time_max_silence_ns(void)
{
	return tsc_khz ? ~0ull : 4 * NSEC_PER_SEC;
}

u64 time_monotonic_ns(void)
{
	u32 now;

	if (likely(tsc_khz))
		return vvar_mono(&vvar, rdtsc_ordered());
	now = pm_read();
	pm_ticks += (now - pm_last) & PM_MASK;
	pm_last = now;
	return mul_div_u64(pm_ticks, NSEC_PER_SEC, PM_HZ);
}

static void realtime_set_offset(u64 offset, u64 expires)
{
	vvar_begin();
	vvar.realtime_offset_ns = offset;
	vvar.realtime_expires_ns = expires;
	vvar.flags |= VVAR_REALTIME_OK;
	vvar_end();
}

/* The VMM's reading belongs to the middle of the exit. */
static void realtime_renew(void)
{
	u64 before = time_monotonic_ns(), real = realtime_read(), after = time_monotonic_ns();
	u64 offset = real - (before + (after - before) / 2);
	s64 change = (s64)(offset - vvar.realtime_offset_ns);

	if ((vvar.flags & VVAR_REALTIME_OK) && change > -REALTIME_STEP_NS && change < REALTIME_STEP_NS)
		offset = vvar.realtime_offset_ns;
	realtime_set_offset(offset, after + REALTIME_RENEW_NS);
}

u64 time_realtime_ns(void)
{
	u64 now = time_monotonic_ns();

	if (!realtime_pinned && (!(vvar.flags & VVAR_REALTIME_OK) || now >= vvar.realtime_expires_ns)) {
		realtime_renew();
		now = time_monotonic_ns();
	}
	return now + vvar.realtime_offset_ns;
}

void time_set_realtime(u64 ns)
{
	realtime_pinned = true;
	realtime_set_offset(ns - time_monotonic_ns(), ~0ull);
}
