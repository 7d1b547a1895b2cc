/* SPDX-License-Identifier: Apache-2.0 */
/* Basic types and helpers of the guest kernel; also compiled on the host by the unit tests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define container_of(p, t, m)	((t *)((char *)(p) - offsetof(t, m)))
#define MIN(a, b)		((a) < (b) ? (a) : (b))
#define MAX(a, b)		((a) > (b) ? (a) : (b))
#define ALIGN_UP(x, a)		(((x) + (a) - 1) & ~((__typeof__(x))(a) - 1))
#define ALIGN_DOWN(x, a)	((x) & ~((__typeof__(x))(a) - 1))

#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096ul
#define PAGE_MASK	(~(PAGE_SIZE - 1))
#define HUGE_SIZE	(2ul << 20)

/* Internal result of a blocking call that a signal interrupted; never reaches a program. */
#define ERESTARTSYS	512	/* restart if SA_RESTART, else -EINTR */
#define ERESTARTNOHAND	514	/* restart only if no handler ran */

/* The kernel is one object: no declaration needs a GOT entry (-fvisibility covers definitions only). */
#ifdef __HUSK_GUEST__
#pragma GCC visibility push(hidden)
#endif
