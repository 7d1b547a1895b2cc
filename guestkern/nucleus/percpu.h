/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The per-vCPU block in full. RSP0 in the TSS is both the place where the CPU pushes the frame of
 * the next trap and the interrupt mask: on a page boundary interrupts are handed over, anywhere
 * else they are only marked in `pending`. While ring-3 kernel code runs it is RSP0_MASKED.
 */
#pragma once

#include "core/types.h"
#include "nucleus/offsets.h"

struct task;
struct mm;

struct iret_frame { u64 rip, cs, rflags, rsp, ss; };

struct tss {
	u32 reserved0;
	u64 rsp0, rsp1, rsp2, reserved1, ist[7], reserved2;
	u16 reserved3, iomap_base;
} __attribute__((packed));

struct percpu {
	struct percpu *self;
	struct task *task;	/* running on it: `current` */
	u32 id, pad;
	u64 kstack;		/* where a trap from the program starts to push: top - 8 */
	u64 pending;		/* bit n: vector HUSK_VECTOR_BASE + n */
	u64 scratch;		/* entry code, masked only */
	struct iret_frame *frame[4];
	void (*fast_entry)(void);
	u64 ring3_syscall;	/* SYSCALL was seen to stay in ring 3 */

	u64 loaded_cr3;
	struct task *prev;	/* the task switched away from, for schedule_tail() */
	u64 timer_on;		/* the LAPIC timer has been set up */
	u64 timer_deadline_ns;
	u64 timer_stale;	/* an earlier deadline than that has come up */

	u8 hole[PC_TSS - 136];
	struct tss tss;
	u8 align[4];
	struct iret_frame prebuilt[4];
	u8 rest[4096 - PC_TSS - 104 - 4 - 4 * 40];
	u8 slots[4096];
} __attribute__((aligned(4096)));

#define PC_CHECK(off, member) _Static_assert(off == offsetof(struct percpu, member), #member)
PC_CHECK(PC_SELF, self);
PC_CHECK(PC_CURRENT, task);
PC_CHECK(PC_KSTACK, kstack);
PC_CHECK(PC_PENDING, pending);
PC_CHECK(PC_SCRATCH, scratch);
PC_CHECK(PC_FRAME_PF, frame);
PC_CHECK(PC_FAST_ENTRY, fast_entry);
PC_CHECK(PC_RING3_SYSCALL, ring3_syscall);
PC_CHECK(PC_TSS, tss);
PC_CHECK(PC_RSP0, tss.rsp0);
_Static_assert(sizeof(struct percpu) == PERCPU_SIZE, "per-vCPU block is two pages");

extern struct percpu percpu_blocks[];

static inline struct percpu *cpu_this(void)
{
	struct percpu *p;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(p));
	return p;
}

/* Build block `id`: TSS, prebuilt frames; interrupts masked. */
void percpu_init(struct percpu *cpu, unsigned id);
/* GDT and IDT contents, once. */
void descriptors_init(void);
/* One gate of the IDT that all vCPUs share: an interrupt gate to ring 0. */
void gate_set(unsigned vec, u64 target);
