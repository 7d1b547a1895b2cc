/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device registers. Each access is one instruction and one VM exit; the "memory" clobber keeps
 * the compiler from moving ordinary accesses across it, x86 keeps the order by itself.
 */
#pragma once

#include "core/types.h"

static inline u8 mmio_read8(const void *p)
{
	u8 v;

	__asm__ volatile("movb %1, %0" : "=q"(v) : "m"(*(const volatile u8 *)p) : "memory");
	return v;
}

static inline u16 mmio_read16(const void *p)
{
	u16 v;

	__asm__ volatile("movw %1, %0" : "=r"(v) : "m"(*(const volatile u16 *)p) : "memory");
	return v;
}

static inline u32 mmio_read32(const void *p)
{
	u32 v;

	__asm__ volatile("movl %1, %0" : "=r"(v) : "m"(*(const volatile u32 *)p) : "memory");
	return v;
}

static inline u64 mmio_read64(const void *p)
{
	u64 v;

	__asm__ volatile("movq %1, %0" : "=r"(v) : "m"(*(const volatile u64 *)p) : "memory");
	return v;
}

static inline void mmio_write16(void *p, u16 v)
{
	__asm__ volatile("movw %1, %0" : "=m"(*(volatile u16 *)p) : "r"(v) : "memory");
}

static inline void mmio_write32(void *p, u32 v)
{
	__asm__ volatile("movl %1, %0" : "=m"(*(volatile u32 *)p) : "r"(v) : "memory");
}

static inline void mmio_write64(void *p, u64 v)
{
	__asm__ volatile("movq %1, %0" : "=m"(*(volatile u64 *)p) : "r"(v) : "memory");
}
