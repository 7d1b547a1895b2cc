/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot protocol. The kernel ELF carries one PT_NOTE (name "husk", type HUSK_NOTE_BOOT) with this
 * structure; the VMM sets every privileged register from it, so that the guest starts in ring 3
 * and executes no ring-0 instruction on its way up.
 *
 * State of vCPU n at the ELF entry: 64-bit mode, CS = HUSK_USER_CS, SS = HUSK_USER_DS, IF = 1,
 * CPL 3, paging on with NX and 4-level tables that map only PML4 slot 255 (layout.h);
 * rdi = window address of the FDT, rsi = n, rsp = 0 (the kernel has its own stacks);
 * GDT, IDT as in the note; TR = HUSK_TSS_SEL at percpu + n * percpu_stride + tss_offset;
 * GS base = percpu + n * percpu_stride; EFER = SCE|LME|LMA|NXE; STAR, LSTAR, FMASK as in the note;
 * CR0 = PE|MP|ET|NE|WP|AM|PG; CR4 = PAE|OSFXSR|OSXMMEXCPT and PGE, FSGSBASE, OSXSAVE (XCR0 = what
 * the vCPU's CPUID leaf 0xd allows) where its CPUID has them. All vCPUs start at the same entry.
 */
#pragma once

#define HUSK_NOTE_NAME		"husk"
#define HUSK_NOTE_BOOT		1
#define HUSK_BOOT_VERSION	1

#ifndef __ASSEMBLER__
#include <stdint.h>

struct husk_boot_note {
	uint32_t version;	/* HUSK_BOOT_VERSION */
	uint32_t max_cpus;
	uint64_t gdt;		/* virtual addresses, all inside the kernel image */
	uint64_t idt;
	uint32_t gdt_limit;
	uint32_t idt_limit;
	uint64_t percpu;	/* first per-vCPU block */
	uint64_t percpu_stride;
	uint32_t tss_offset;	/* of the TSS in a per-vCPU block */
	uint32_t tss_limit;
	uint64_t star;
	uint64_t lstar;
	uint64_t fmask;
};
#endif
