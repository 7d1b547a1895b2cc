/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's clocks on fake hardware (a PM timer that runs by the host's clock, a wall clock set
 * by the test), and the vDSO on the same page: scaling, calibration, wrap, renewal, fall-backs.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "tests/unit/tap.h"

/* Before anything declares the C library's. */
#define clock_gettime vdso_alias_clock_gettime
#define gettimeofday vdso_alias_gettimeofday
#define time vdso_alias_time
#define clock_getres vdso_alias_clock_getres
#define getcpu vdso_alias_getcpu
#include "drivers/mmio.h"
#include "husk/layout.h"
#undef HUSK_VVAR
#define HUSK_VVAR ((unsigned long)&vvar)
#define mmio_read32 fake_read32
#define mmio_read64 fake_read64

static u32 fake_read32(const void *p);
static u64 fake_read64(const void *p);

#include "core/time.c"
#include "vdso/vdso.c"

static u64 fdt_khz;			/* what the FDT says, 0: nothing */
static u64 wall_ns;			/* the VMM's clock */
static unsigned wall_reads, pm_reads;
static bool pm_stuck;
static u64 pm_manual;			/* PM ticks when the test sets them, else ~0 */

u64 fdt_u32(const struct fdt *fdt, int node, const char *name, u64 otherwise)
{
	return fdt_khz ? fdt_khz : otherwise;
}

int fdt_root(const struct fdt *fdt)
{
	return 0;
}

int fdt_find(const struct fdt *fdt, int node, const char *name)
{
	return 4;
}

void klog(const char *fmt, ...)
{
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	printf("Bail out! panic at %s:%d\n", file, line);
	__builtin_trap();
}

static u64 host_ns(void)
{
	struct timespec ts;

	vdso_syscall2(__NR_clock_gettime, CLOCK_MONOTONIC, (long)&ts);
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

static u32 fake_read32(const void *p)
{
	pm_reads++;
	if (p != (const void *)(HUSK_DIRECT_MAP + HUSK_PM_TIMER_MMIO))
		__builtin_trap();
	if (pm_manual != ~0ull)
		return (u32)pm_manual;
	return pm_stuck ? 7 : (u32)((unsigned __int128)host_ns() * PM_HZ / NSEC_PER_SEC);
}

static u64 fake_read64(const void *p)
{
	wall_reads++;
	if (p != (const void *)(HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_REALTIME))
		__builtin_trap();
	return wall_ns;
}

static void start(u64 khz)
{
	fdt_khz = khz;
	pm_manual = ~0ull;
	pm_stuck = false;
	realtime_pinned = false;
	wall_reads = pm_reads = 0;
	memset(&vvar, 0, sizeof(vvar));
	pm_ticks = 0;
	time_init(NULL);
}

static void test_scaling(void)
{
	bool right = true;
	u64 khz_calibrated;

	start(0);
	khz_calibrated = time_tsc_khz();
	tap_ok(khz_calibrated >= TSC_KHZ_MIN, "calibrated: %llu kHz", (unsigned long long)khz_calibrated);
	start(2000000);
	tap_ok(time_tsc_khz() == 2000000 && !pm_reads, "the FDT's frequency needs no PM timer");
	for (u64 ms = 1; ms < 1ull << 40; ms *= 3) {
		u64 want = ms * 1000000, have = vvar_mono(&vvar, vvar.tsc_base + ms * 2000000);

		right &= have >= want - want / 1000000000 - 1 && have <= want;
	}
	tap_ok(right, "2 GHz: right to a billionth over centuries");
	tap_ok(vvar_mono(&vvar, vvar.tsc_base - 1000) == 0, "a TSC behind the base gives the base");
	tap_ok(time_max_silence_ns() == ~0ull, "needs no wake-ups");
}

static void test_pm_clock(void)
{
	u64 t;

	fdt_khz = 0;
	pm_stuck = true;
	pm_manual = ~0ull;
	memset(&vvar, 0, sizeof(vvar));
	time_init(NULL);
	tap_ok(!time_tsc_khz() && !(vvar.flags & VVAR_TSC_OK), "a PM timer that stands still: no TSC clock");
	pm_last = 0;
	pm_ticks = 0;
	pm_manual = PM_HZ;
	t = time_monotonic_ns();
	tap_ok(t == NSEC_PER_SEC, "PM clock: a second");
	pm_manual = 0xfffff0;
	t = time_monotonic_ns();
	pm_manual = 0x10;
	tap_ok(time_monotonic_ns() - t == 0x20 * NSEC_PER_SEC / PM_HZ + 1 ||
	       time_monotonic_ns() - t == 0x20 * NSEC_PER_SEC / PM_HZ, "PM clock: wrap");
	pm_manual = 0xab000010;
	tap_ok(time_monotonic_ns() - t < 10000, "PM clock: bits above 24 do not count");
	tap_ok(time_max_silence_ns() < 4687000000ull, "PM clock: wants wake-ups");
}

static void test_realtime(void)
{
	u64 t;

	start(2000000);
	wall_ns = 1700000000 * NSEC_PER_SEC;
	t = time_realtime_ns();
	tap_ok(t >= wall_ns && t < wall_ns + NSEC_PER_SEC, "wall clock");
	time_realtime_ns();
	tap_ok(wall_reads == 1, "wall clock: read once");
	vvar.realtime_expires_ns = 0;
	wall_ns += 5 * 3600 * NSEC_PER_SEC;
	t = time_realtime_ns();
	tap_ok(wall_reads == 2 && t >= wall_ns && t < wall_ns + NSEC_PER_SEC, "wall clock: right after a pause");
	t = vvar.realtime_offset_ns;
	vvar.realtime_expires_ns = 0;
	wall_ns = t + time_monotonic_ns();
	time_realtime_ns();
	tap_ok(wall_reads == 3 && vvar.realtime_offset_ns == t, "wall clock: noise does not move it");
	time_set_realtime(1000);
	vvar.realtime_expires_ns = 0;
	tap_ok(time_realtime_ns() < NSEC_PER_SEC && wall_reads == 3, "wall clock: set by the guest");
	tap_ok(!(vvar.seq & 1), "sequence count is even");
}

static u64 of(struct timespec ts)
{
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

static void test_vdso(void)
{
	static const int mono[] = { CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_MONOTONIC_COARSE,
				    CLOCK_BOOTTIME };
	struct timespec ts, real;
	struct timeval tv;
	struct timezone tz = { 9, 9 };
	s64 sec;
	u64 t;

	start(2000000);
	vvar.mono_base_ns = 3600 * NSEC_PER_SEC;	/* far from the host's own */
	for (int i = 0; i < 4; i++) {
		t = time_monotonic_ns();
		tap_ok(!__vdso_clock_gettime(mono[i], &ts) && of(ts) >= t && of(ts) <= time_monotonic_ns(),
		       "vDSO: clock %d", mono[i]);
	}
	vdso_syscall2(__NR_clock_gettime, CLOCK_REALTIME, (long)&real);
	tap_ok(!__vdso_clock_gettime(CLOCK_REALTIME, &ts) && of(ts) >= of(real),
	       "vDSO: the wall clock is the kernel's business before it is known");
	wall_ns = 1700000000 * NSEC_PER_SEC;
	t = time_realtime_ns();
	tap_ok(!__vdso_clock_gettime(CLOCK_REALTIME, &ts) && of(ts) >= t && of(ts) < t + NSEC_PER_SEC,
	       "vDSO: CLOCK_REALTIME");
	tap_ok(!__vdso_gettimeofday(&tv, &tz) && tv.tv_sec >= 1700000000 && tv.tv_sec < 1700000010 &&
	       tv.tv_usec >= 0 && tv.tv_usec < 1000000 && !tz.tz_minuteswest, "vDSO: gettimeofday");
	tap_ok(!__vdso_gettimeofday(NULL, NULL), "vDSO: gettimeofday of nothing");
	tap_ok(__vdso_time(&sec) == sec && sec >= 1700000000 && sec < 1700000010, "vDSO: time");
	tap_ok(!__vdso_clock_getres(CLOCK_MONOTONIC, &ts) && of(ts) == 1, "vDSO: clock_getres");
	tap_ok(__vdso_clock_gettime(99, &ts) == -EINVAL && __vdso_clock_getres(99, &ts) == -EINVAL,
	       "vDSO: an unknown clock is left to the kernel");
	tap_ok(!__vdso_clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts), "vDSO: CPU time by the kernel");
	vvar.flags = 0;
	tap_ok(!__vdso_clock_gettime(CLOCK_MONOTONIC, &ts) && of(ts) <= host_ns(), "vDSO: no TSC: kernel");
}

int main(void)
{
	test_scaling();
	test_pm_clock();
	test_realtime();
	test_vdso();
	return tap_done();
}
