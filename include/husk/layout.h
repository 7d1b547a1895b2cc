/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that VMM and guest kernel agree on: physical map, the kernel's window, interrupt
 * vectors. Plain numbers only, so that assembly and the linker script can include it.
 */
#pragma once

/* Guest physical addresses. RAM starts at 0; what does not fit below the hole continues at 4 GiB. */
#define HUSK_BOOT_TABLES	0x00001000	/* PML4, then other tables made by the VMM, then the FDT */
#define HUSK_BOOT_END		0x00200000	/* end of what the VMM fills before the kernel image */
#define HUSK_KERNEL_PHYS	0x00200000	/* kernel ELF: p_paddr of the first segment */
#define HUSK_KERNEL_TEXT_MAX	0x0007e000	/* text and data share one 2 MiB page of RAM */
#define HUSK_READY_RINGS	0x0027e000	/* two pages: rings of virtio-fs (husk/fdt.h) */
#define HUSK_HOLE_BASE		0xc0000000	/* 3 GiB: no RAM from here ... */
#define HUSK_HOLE_END		0x100000000	/* ... to here */

#define HUSK_PCI_MMIO_BASE	0xd0000000	/* window for memory BARs */
#define HUSK_PCI_MMIO_SIZE	0x10000000
#define HUSK_PCI_IO_BASE	0x0000c000	/* window for I/O BARs (port addresses) */
#define HUSK_PCI_IO_SIZE	0x00001000
#define HUSK_ECAM_BASE		0xe0000000	/* one bus: 32 devices x 8 functions x 4 KiB */
#define HUSK_ECAM_SIZE		0x00100000

#define HUSK_SERIAL_MMIO	0xfe000000	/* 16550A, also at port 0x3f8 */
#define HUSK_PM_TIMER_MMIO	0xfe001000	/* ACPI PM timer, also at port 0x608 */
#define HUSK_SYSTEM_MMIO	0xfe002000	/* exit/panic device, include/husk/system.h */
#define HUSK_BENCH_MMIO		0xfe003000	/* only for husk bench, include/husk/bench.h */
#define HUSK_LAPIC_BASE		0xfee00000

/*
 * The kernel's window: PML4 slot 255, the same table in every address space. Programs own
 * everything below it. Upper-half addresses do not work in ring 3 on every host.
 */
#define HUSK_WINDOW_BASE	0x00007f8000000000
#define HUSK_DIRECT_MAP		HUSK_WINDOW_BASE	/* gpa N is at HUSK_DIRECT_MAP + N, RW, NX */
#define HUSK_DIRECT_MAX		0x0000004000000000	/* 256 GiB of it */
#define HUSK_KERNEL_VIRT	0x00007fc000000000	/* kernel image: text (RX) */
#define HUSK_KERNEL_DATA	0x00007fc000280000	/* kernel image: data, bss (RW, NX) */
#define HUSK_KERNEL_DATA_PHYS	0x00280000
#define HUSK_VVAR		HUSK_KERNEL_DATA	/* the page that the vDSO reads */

/* GDT selectors: Linux's, since some hosts assume them. */
#define HUSK_KERNEL_CS		0x10
#define HUSK_KERNEL_DS		0x18
#define HUSK_USER32_CS		0x23
#define HUSK_USER_DS		0x2b
#define HUSK_USER_CS		0x33
#define HUSK_TSS_SEL		0x40

/* Interrupt vectors: 0x30 .. 0x6f, so that one 64-bit word holds all pending ones. */
#define HUSK_VECTOR_BASE	0x30		/* MSI-X vectors of devices from here */
#define HUSK_VECTOR_BENCH	0x6b		/* husk bench: gates of its own */
#define HUSK_VECTOR_SYSTEM	0x6c		/* raised by the VMM: read HUSK_SYS_SIGNALS */
#define HUSK_VECTOR_IPI		0x6d
#define HUSK_VECTOR_TIMER	0x6e
#define HUSK_VECTOR_SPURIOUS	0x6f

#define HUSK_MAX_CPUS		32
