/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `husk bench` and the measuring part of the guest kernel agree on. A VM measures one row. Its
 * name comes by the FDT (husk/fdt.h, /chosen/husk,bench); the results go through one page of MMIO
 * registers at HUSK_BENCH_MMIO, outside of what is measured:
 *
 *	READY		the row is known and prepared; measuring begins
 *	BEGIN n		a batch of n operations begins: the VMM reads KVM's counters
 *	END cycles	it took this many TSC cycles: the VMM reads them again
 *	DONE status	no more batches; the guest then ends the VM
 *
 * The first HUSK_BENCH_EMPTY batches have n = 0. They show what BEGIN and END cost in exits: the
 * least of each counter, since anything may come in between.
 */
#pragma once

#define HUSK_BENCH_EMPTY	4

#define HUSK_BENCH_READY	0x00	/* w64: HUSK_BENCH_F_* */
#define HUSK_BENCH_BEGIN	0x08	/* w64 */
#define HUSK_BENCH_END		0x10	/* w64 */
#define HUSK_BENCH_DONE		0x18	/* w64: HUSK_BENCH_S_* */

#define HUSK_BENCH_F_X2APIC	1	/* an IPI row uses x2APIC mode */

#define HUSK_BENCH_S_OK		0
#define HUSK_BENCH_S_UNKNOWN	1	/* no such row in this guest kernel */
#define HUSK_BENCH_S_GP		2	/* the instruction raises #GP here */
#define HUSK_BENCH_S_UD		3	/* ... or #UD */
#define HUSK_BENCH_S_CPUS	4	/* wants more vCPUs */
#define HUSK_BENCH_S_X2APIC	5	/* CPUID has no x2APIC, or it cannot be switched on */
#define HUSK_BENCH_S_DEADLINE	6	/* CPUID has no TSC-deadline timer */
#define HUSK_BENCH_S_TESTDEV	7	/* no PCI test device, or it refuses the test */
#define HUSK_BENCH_S_MEMORY	8
#define HUSK_BENCH_S_FEATURE	9	/* CPUID or IA32_ARCH_CAPABILITIES does not offer it */

/* Ports that user space serves: the first for inl_from_qemu, the second to tell who serves it. */
#define HUSK_BENCH_PORT		0x1234	/* 4 bytes */
#define HUSK_BENCH_PORT_ELCR	0x4d0	/* 1 byte; KVM's own where it has the PIC */
