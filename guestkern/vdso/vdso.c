/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vDSO, vdso(7): clock readings without a system call, from the vvar page that core/time.c
 * keeps. What the page cannot answer goes to the kernel by the ordinary instruction. Runs as
 * program code, in any thread, signal handlers included: no state, no stack of note.
 */
#include <asm/unistd.h>
#include <linux/errno.h>
#include <linux/time.h>
#include "core/vvar.h"
#include "husk/layout.h"

#define EXPORT __attribute__((visibility("default")))
#define ALIAS(name) __attribute__((weak, alias(#name), visibility("default")))
#define VVAR ((const volatile struct vvar *)HUSK_VVAR)
#define NSEC_PER_SEC 1000000000ull
#define PERCPU_ID 16		/* struct percpu_head.id */

long __vdso_clock_gettime(int clock, struct timespec *ts);
long __vdso_gettimeofday(struct timeval *tv, struct timezone *tz);
s64 __vdso_time(s64 *t);
long __vdso_clock_getres(int clock, struct timespec *res);
long __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused);
long clock_gettime(int clock, struct timespec *ts) ALIAS(__vdso_clock_gettime);
long gettimeofday(struct timeval *tv, struct timezone *tz) ALIAS(__vdso_gettimeofday);
s64 time(s64 *t) ALIAS(__vdso_time);
long clock_getres(int clock, struct timespec *res) ALIAS(__vdso_clock_getres);
long getcpu(unsigned *cpu, unsigned *node, void *unused) ALIAS(__vdso_getcpu);

static long vdso_syscall2(long nr, long a, long b)
{
	long ret;

	__asm__ volatile("syscall" : "=a"(ret) : "a"(nr), "D"(a), "S"(b) : "rcx", "r11", "memory");
	return ret;
}

static bool vdso_monotonic(struct vvar *v, u64 *ns)
{
	vvar_read(VVAR, v);
	if (!(v->flags & VVAR_TSC_OK))
		return false;
	*ns = vvar_mono(v, rdtsc_ordered());
	return true;
}

static bool vdso_realtime(u64 *ns)
{
	struct vvar v;

	if (!vdso_monotonic(&v, ns) || !(v.flags & VVAR_REALTIME_OK) || *ns >= v.realtime_expires_ns)
		return false;
	*ns += v.realtime_offset_ns;
	return true;
}

static bool vdso_clock(int clock, u64 *ns)
{
	struct vvar v;

	if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
	    clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_BOOTTIME)
		return vdso_monotonic(&v, ns);
	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		return vdso_realtime(ns);
	return false;
}

EXPORT long __vdso_clock_gettime(int clock, struct timespec *ts)
{
	u64 ns;

	if (!vdso_clock(clock, &ns))
		return vdso_syscall2(__NR_clock_gettime, clock, (long)ts);
	ts->tv_sec = (s64)(ns / NSEC_PER_SEC);
	ts->tv_nsec = (s64)(ns % NSEC_PER_SEC);
	return 0;
}

EXPORT long __vdso_gettimeofday(struct timeval *tv, struct timezone *tz)
{
	u64 ns;

	if (!vdso_realtime(&ns))
		return vdso_syscall2(__NR_gettimeofday, (long)tv, (long)tz);
	if (tv) {
		tv->tv_sec = (s64)(ns / NSEC_PER_SEC);
		tv->tv_usec = (s64)(ns % NSEC_PER_SEC / 1000);
	}
	if (tz)
		*tz = (struct timezone){ 0, 0 };
	return 0;
}

EXPORT s64 __vdso_time(s64 *t)
{
	u64 ns;

	if (!vdso_realtime(&ns))
		return vdso_syscall2(__NR_time, (long)t, 0);
	ns /= NSEC_PER_SEC;
	if (t)
		*t = (s64)ns;
	return (s64)ns;
}

/* Every clock that is answered here counts in nanoseconds, the coarse ones too. */
EXPORT long __vdso_clock_getres(int clock, struct timespec *res)
{
	bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC ||
		     clock == CLOCK_MONOTONIC_RAW || clock == CLOCK_BOOTTIME;

	if (!known || !(VVAR->flags & VVAR_TSC_OK))
		return vdso_syscall2(__NR_clock_getres, clock, (long)res);
	if (res)
		*res = (struct timespec){ 0, 1 };
	return 0;
}

EXPORT long __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused)
{
	unsigned id;

	__asm__ volatile("movl %%gs:%c1, %0" : "=r"(id) : "i"(PERCPU_ID));
	if (cpu)
		*cpu = id;
	if (node)
		*node = 0;
	return 0;
}
