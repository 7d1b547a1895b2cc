/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic that C would send to the compiler's library. */
#pragma once

#include "core/types.h"

/* a * b / c with the product in 128 bits. The result must fit in 64 bits (else the CPU traps). */
static inline u64 mul_div_u64(u64 a, u64 b, u64 c)
{
	u64 lo, hi, rest;

	__asm__("mulq %3" : "=a"(lo), "=d"(hi) : "0"(a), "rm"(b) : "cc");
	__asm__("divq %4" : "=a"(lo), "=d"(rest) : "0"(lo), "1"(hi), "rm"(c) : "cc");
	return lo;
}
