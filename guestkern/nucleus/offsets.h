/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets that assembly needs; nucleus/percpu.h asserts each of them. */
#pragma once

#define PC_SELF		0	/* struct percpu */
#define PC_CURRENT	8
#define PC_KSTACK	24
#define PC_PENDING	32
#define PC_SCRATCH	40
#define PC_FRAME_PF	48	/* pointers to the prebuilt iretq frames */
#define PC_FRAME_TRAP	56
#define PC_FRAME_INTR	64
#define PC_FRAME_SYSCALL 72
#define PC_FAST_ENTRY	80	/* where a patched system-call site's stub jumps */
#define PC_RING3_SYSCALL 88
#define PC_TSS		0x104	/* so that RSP0 is aligned */
#define PC_RSP0		0x108

#define PERCPU_SIZE	8192	/* the second page is the slot stack */
#define SLOT_SIZE	256
#define RSP0_UNMASKED	PERCPU_SIZE			/* relative to the block */
#define RSP0_MASKED	(PERCPU_SIZE - SLOT_SIZE)	/* inside the kernel */

/* A slot, down from its top. */
#define SLOT_SS		-8
#define SLOT_RSP	-16
#define SLOT_RFLAGS	-24
#define SLOT_CS		-32
#define SLOT_RIP	-40
#define SLOT_ERR	-48
#define SLOT_RAX	-56	/* page fault only */
#define SLOT_CR2	-64	/* page fault only */
#define SLOT_VECTOR	-56	/* other exceptions */

/* struct regs */
#define REGS_RBX	40
#define REGS_R11	48
#define REGS_R10	56
#define REGS_R9		64
#define REGS_R8		72
#define REGS_RAX	80
#define REGS_RCX	88
#define REGS_RDX	96
#define REGS_RSI	104
#define REGS_RDI	112
#define REGS_RIP	128
#define REGS_RFLAGS	144
#define REGS_RSP	152
#define REGS_SIZE	168

#define WINDOW_SLOT	0xff	/* address >> 39 of everything in the kernel's window */
#define WINDOW_SHIFT	39
