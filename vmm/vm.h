/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One virtual machine: all state of a run hangs off struct vm, so that a process may hold two.
 *
 * Life: vm_create(), machine_attach(), vm_load(), vm_enter(), vm_end_get().
 * vm_run() in run.c does all of it. Any thread may end the VM; the first one to do so says why.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "devices/bus.h"
#include "vmm/loader.h"
#include "vmm/stats.h"
#include "vmm/view.h"

struct config;
struct kvm_cpuid2;
struct kvm_cpuid_entry2;
struct kvm_run;
struct fw_cfg;
struct pci_host;
struct virtio_console;
struct vm;

enum vm_end_kind {
	VM_END_NONE,		/* still running */
	VM_END_GUEST,		/* the guest wrote HUSK_SYS_EXIT: guest_kind, value */
	VM_END_STOP,		/* the guest misbehaved or KVM gave up: reason */
	VM_END_TIMEOUT,
};

struct vm_end {
	enum vm_end_kind kind;
	unsigned guest_kind;	/* HUSK_EXIT_* */
	unsigned value;
	char reason[256];
};

struct vcpu {
	struct vm *vm;
	unsigned id;		/* also its APIC id */
	int fd;
	struct kvm_run *run;
	pthread_t thread;
	bool started;		/* to be joined */
	struct stats stats;	/* --trace=exit */
	unsigned chunks_seen;	/* memory chunks present when it last entered the guest */
	atomic_bool running;	/* set by the thread before its first KVM_RUN */
	_Atomic uint64_t exits;	/* to us; written by its thread only */
};

#define VM_MAX_DEVICES	16	/* on the bus; PCI functions are the host bridge's */

/* A stretch of RAM that becomes a memslot when the guest first touches it. */
struct mem_chunk {
	uint64_t base, size;
	uint8_t *host;
	bool present;
};

#define VM_MAX_CHUNKS	72	/* 256 GiB, see memslots.c */
#define VM_STACK_BYTES	(256u << 10)	/* of a thread: a queue element's iovec takes 4 KiB of it */

/*
 * Locks: e = end_lock, c = chunk_lock. What has no letter is set before vm_enter() and only read
 * afterwards.
 */
struct vm {
	const struct config *cfg;
	int kvm_fd, vm_fd;
	bool irqchip;				/* the full one: PIC, IOAPIC and PIT as well */
	size_t run_size;			/* of the kvm_run mapping */
	struct guest_mem mem;
	pthread_mutex_t chunk_lock;
	struct mem_chunk chunk[VM_MAX_CHUNKS];	/* c: present */
	unsigned nchunks;
	atomic_uint chunks_present;
	struct bus *bus;
	struct loop *loop;

	struct device *system;			/* devices/system.h: system_raise() */
	struct pci_host *pci;			/* where virtio devices plug in */
	struct device *devices[VM_MAX_DEVICES];	/* for the FDT, reset and release */
	unsigned ndevices;
	struct fw_cfg *fw_cfg;			/* `husk boot` */
	struct virtio_console *console;
	struct view view;			/* of the host's files, and the mounts */
	const char *stdio[3];			/* HUSK_STDIO_*: what descriptors 0 to 2 are */
	/* Asked on each vCPU's thread before its first instruction (the jail); may be NULL. */
	int (*vcpu_allowed)(void);

	struct kernel_image kernel;
	uint64_t cr3, fdt_gpa;
	struct kvm_cpuid2 *cpuid;		/* what KVM supports; fixed up for each vCPU */
	uint32_t tsc_khz;			/* 0: not known to be constant */
	struct vcpu *vcpus;
	unsigned ncpus;
	pthread_t loop_thread;
	bool loop_started;

	atomic_bool spoke;			/* `husk boot`: the kernel has printed something */
	atomic_bool stopping;
	pthread_mutex_t end_lock;
	struct vm_end end;			/* e */
};

/* Open KVM, make the VM, its memory, vCPUs, bus and loop. 0 or -errno after a message. */
int vm_create(struct vm *vm, const struct config *cfg);
/* Guest kernel, page tables, FDT, registers; after the devices. 0 or -errno after a message. */
int vm_load(struct vm *vm);
/* The same for `husk boot` (load_boot.c). */
int vm_load_boot(struct vm *vm);
/*
 * Run the guest until it ends: the calling thread is vCPU 0, the event loop and further vCPUs get
 * threads. So the end of a program that ran on vCPU 0 needs no other thread to be woken. Afterwards
 * vm_end_get() says how it ended. 0, or -errno after a message if it could not be started.
 */
int vm_enter(struct vm *vm);
/* Stop and join what runs, free everything. Only tests need it: husk leaves it to process exit. */
void vm_destroy(struct vm *vm);

/* Register dev for the FDT, reset and release; the VM owns it from here. */
int vm_add_device(struct vm *vm, struct device *dev);

/* End the VM; the first call counts. Any thread; they return. */
__attribute__((format(printf, 2, 3)))
void vm_stop(struct vm *vm, const char *fmt, ...);
void vm_end_guest(struct vm *vm, unsigned kind, unsigned value);
void vm_end_timeout(struct vm *vm);
/* The reason so far. */
struct vm_end vm_end_get(struct vm *vm);

/* vcpu.c */
int vcpu_create(struct vm *vm, struct vcpu *vcpu, unsigned id);
int vcpu_start(struct vcpu *vcpu);	/* in a thread of its own */
void vcpu_enter(struct vcpu *vcpu);	/* in this one; returns when the VM ends */
void vcpu_kick_init(void);		/* once, before the first vcpu_enter() */
void vcpu_kick(struct vcpu *vcpu);	/* out of KVM_RUN; any thread */
void vcpu_destroy(struct vcpu *vcpu);

/* boot.c */
int boot_tables(struct vm *vm, uint64_t *end);	/* *end: first free byte behind them */
int boot_cpuid(struct vm *vm);			/* what KVM supports, once */
/* The entry as KVM reports it, or NULL. After boot_cpuid(). */
const struct kvm_cpuid_entry2 *boot_cpuid_find(struct vm *vm, uint32_t function, uint32_t index);
int boot_vcpu_cpuid(struct vm *vm, struct vcpu *vcpu);	/* in the order of their ids */
int boot_vcpu(struct vm *vm, struct vcpu *vcpu);	/* CPUID, registers, MSRs */

/* memslots.c */
int memslots_create(struct vm *vm);
/* Make the next that is missing: 1, 0 if none was missing, or -errno. */
int memslots_add_next(struct vm *vm);
/* An access that came as MMIO: false if it is not in RAM, else it is done. */
bool memslots_access(struct vm *vm, uint64_t gpa, void *data, unsigned len, bool write);

/* machine_fdt.c: write the FDT at gpa `at`, up to HUSK_BOOT_END. 0 or -errno after a message. */
int machine_fdt(struct vm *vm, uint64_t at);

/* machine.c: attach every device of the machine. */
int machine_attach(struct vm *vm, const struct config *cfg);
/* machine_boot.c: the devices of `husk boot` instead. */
int machine_attach_boot(struct vm *vm, const struct config *cfg);

/* irqchip.c: PIC, IOAPIC and PIT; before the vCPUs. 0 or -errno after a message. */
int irqchip_create(struct vm *vm);
