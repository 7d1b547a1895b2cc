/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FDT nodes and properties beyond the devicetree specification (0.4). Root: #address-cells = 2,
 * #size-cells = 2. Standard nodes: /memory@*, /cpus/cpu@N (reg = APIC id), /chosen (rng-seed:
 * 32 bytes), serial@* (ns16550a), pci@* (pci-host-ecam-generic).
 *
 * A PCI function is a child of the pci node as the Open Firmware PCI binding says: reg (first
 * entry: config address), assigned-addresses (BAR n -> address, set up by the VMM, decoding on).
 * A virtio function adds the properties below, which say what its capabilities say, so that our
 * kernel need not walk configuration space (each read is an exit).
 */
#pragma once

#define HUSK_FDT_COMPAT		"husk,vm"		/* / compatible */
#define HUSK_FDT_SYSTEM		"husk,system"		/* system device, compatible */
#define HUSK_FDT_PM_TIMER	"husk,pm-timer"		/* compatible */
#define HUSK_FDT_VIRTIO		"husk,virtio"		/* PCI child, compatible */
#define HUSK_FDT_VIRTIO_ID	"husk,virtio-id"	/* u32: virtio device id (26 = fs ...) */
#define HUSK_FDT_VIRTIO_BAR	"husk,virtio-bar"	/* u64: guest physical base of the BAR below */

/*
 * u64, virtio-fs only: the VMM has done the driver's part of initialisation (VIRTIO 1.1, 3.1.1) for
 * the request queue: VERSION_1 alone accepted, DRIVER_OK on, no interrupt vector, rings of
 * HUSK_READY_SIZE entries at this guest physical address. Each register write that a driver need
 * not make is an exit less. A driver that resets the device starts as usual.
 */
#define HUSK_FDT_VIRTIO_READY	"husk,virtio-ready"
#define HUSK_READY_SIZE		256
#define HUSK_READY_AVAIL	(16 * HUSK_READY_SIZE)		/* behind the descriptor table */
#define HUSK_READY_USED		(HUSK_READY_AVAIL + 2 * HUSK_READY_SIZE + 8)

/*
 * Where the virtio structures are in that BAR, in this layout for every virtio device. The
 * capabilities in configuration space say the same for drivers that are not ours.
 */
#define HUSK_VIRTIO_COMMON	0x0000
#define HUSK_VIRTIO_ISR		0x1000
#define HUSK_VIRTIO_DEVICE	0x2000
#define HUSK_VIRTIO_NOTIFY	0x3000			/* queue n at + 4 * n */
#define HUSK_VIRTIO_MSIX	0x4000			/* MSI-X table, then PBA at + 0x800 */
#define HUSK_VIRTIO_BAR_SIZE	0x8000

/* /chosen */
#define HUSK_FDT_TSC_KHZ	"husk,tsc-khz"		/* u32; absent: calibrate by the PM timer */
#define HUSK_FDT_APIC_HZ	"husk,apic-hz"		/* u32: LAPIC timer input clock */
#define HUSK_FDT_XSAVE_SIZE	"husk,xsave-size"	/* u32: CPUID 0xd.0 ebx for XCR0; 0: no XSAVE */
#define HUSK_FDT_HWCAP		"husk,hwcap"		/* u32: CPUID 1 edx; with xsave-size */

/* /chosen/husk,init: the program. String lists are NUL-separated, each string NUL-terminated. */
#define HUSK_FDT_INIT		"husk,init"
#define HUSK_FDT_ARGV		"argv"
#define HUSK_FDT_ENVP		"envp"
#define HUSK_FDT_CWD		"cwd"			/* string; made if it is missing */
#define HUSK_FDT_UID		"uid"			/* u32 */
#define HUSK_FDT_GID		"gid"			/* u32 */
#define HUSK_FDT_HOSTNAME	"hostname"
#define HUSK_FDT_STDIO		"stdio"			/* string list of 3: what fd 0, 1, 2 are, below */
#define HUSK_FDT_TTY_SIZE	"tty-size"		/* <rows cols>, when one of them is a tty */
#define HUSK_FDT_NO_PATCH	"no-patch"		/* empty: leave system-call sites alone */
#define HUSK_FDT_TRACE		"trace"			/* u32: HUSK_TRACE_* */
#define HUSK_FDT_NOFILE		"nofile"		/* u32: RLIMIT_NOFILE */
#define HUSK_FDT_STACK		"stack"			/* u64: RLIMIT_STACK */

/* /chosen/husk,bench, in place of husk,init: measure a row (husk/bench.h) instead of running a program. */
#define HUSK_FDT_BENCH		"husk,bench"
#define HUSK_FDT_BENCH_ROW	"row"			/* string */
#define HUSK_FDT_BENCH_TIME	"time-us"		/* u32: aim of one batch */
#define HUSK_FDT_BENCH_BATCHES	"batches"		/* u32: after the empty ones */

/* "stdio" values */
#define HUSK_STDIO_TTY		"tty"
#define HUSK_STDIO_PIPE		"pipe"
#define HUSK_STDIO_FILE		"file"
#define HUSK_STDIO_NULL		"null"			/* /dev/null or closed on the host */

/*
 * Mounts: children mount@N of husk,init, in mount order. All come from the one virtio-fs device;
 * `source` is a path inside its tree. The first is the root.
 */
#define HUSK_FDT_MOUNT		"mount"
#define HUSK_FDT_MOUNT_SOURCE	"source"
#define HUSK_FDT_MOUNT_TARGET	"target"
#define HUSK_FDT_MOUNT_RW	"rw"			/* empty: writes go to the share */
#define HUSK_FDT_MOUNT_OVERLAY	"overlay"		/* empty: read-only below a writable tmpfs */

/* Trace masks */
#define HUSK_TRACE_SYSCALL	0x01
#define HUSK_TRACE_SCHED	0x02
#define HUSK_TRACE_FS		0x04
#define HUSK_TRACE_MM		0x08
#define HUSK_TRACE_BOOT		0x10
#define HUSK_TRACE_EXIT		0x20			/* on the VMM's side */
