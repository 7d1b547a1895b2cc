/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nucleus calls from C: int3 at an address in the kernel image with the routine in rax. 9 to 11
 * us where guest ring 0 is emulated, so each use is weighed.
 */
#pragma once

#include "core/types.h"

/* Routines of nucleus.S; addresses only, not callable from C. */
extern const char nc_idle[];		/* returns when an interrupt is pending */
extern const char nc_cr3[];		/* a = new CR3 */
extern const char nc_invlpg[];		/* a = address */
extern const char nc_invlpg_list[];	/* a = array of addresses, b = count > 0 */
extern const char nc_flush[];		/* reload CR3: everything that is not global */
extern const char nc_rdmsr[], nc_wrmsr[];
extern const char nc_ring3_syscall[];	/* SYSCALL stays in ring 3 here: FMASK = 0, and IF = 1 now */

static inline void nucleus_call(const char *routine, u64 a, u64 b)
{
	__asm__ volatile("int3"
			 : "+a"(routine), "+D"(a), "+S"(b)
			 : : "rcx", "rdx", "memory", "cc");
}

/* 0, or -1 when the MSR does not exist (#GP). */
static inline int nucleus_rdmsr(u32 msr, u64 *val)
{
	u64 a = (u64)nc_rdmsr;
	u64 d = 0;

	__asm__ volatile("int3" : "+a"(a), "+d"(d) : "c"(msr) : "memory", "cc");
	*val = (u32)a | d << 32;
	return d == ~0ull ? -1 : 0;
}

static inline int nucleus_wrmsr(u32 msr, u64 val)
{
	u64 a = (u64)nc_wrmsr;
	u64 d = val >> 32;

	/* The routine's address travels in rax, so the value's low half is in rdi (nc_wrmsr). */
	__asm__ volatile("int3" : "+a"(a), "+d"(d) : "c"(msr), "D"(val) : "memory", "cc");
	return d == ~0ull ? -1 : 0;
}
