/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device knows of the machine: a decoded access, address ranges, message interrupts, guest
 * memory, the event loop, and how to stop. Implemented by vmm/bus.c, which alone knows KVM; unit
 * tests link a fake.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "devices/guest_mem.h"
#include "devices/loop.h"

struct bus;
struct device;

enum bus_space { BUS_PIO, BUS_MMIO };

/* One guest access, already inside the region: off + len <= the region's size. */
struct access {
	uint64_t off;		/* from the start of the region */
	uint64_t val;		/* written value, or where a read puts its result; len bytes count */
	unsigned len;		/* 1, 2, 4 or 8 */
	unsigned region;	/* the number given to bus_map() */
};

/*
 * Called on a vCPU thread, for several vCPUs at once: a device with state that two threads touch
 * has its own lock. A bad access reads as all ones and is ignored when written; a guest that
 * breaks a protocol gets bus_stop() or a failed request, never an assert.
 */
struct device_ops {
	const char *name;
	void (*read)(struct device *dev, struct access *acc);
	void (*write)(struct device *dev, struct access *acc);
	void (*reset)(struct device *dev);				/* may be NULL */
	int (*fdt)(struct device *dev, void *fdt, int parent);		/* may be NULL; -errno */
	void (*release)(struct device *dev);				/* frees dev */
};

struct device {
	const struct device_ops *ops;
	struct bus *bus;
};

/*
 * Give dev the range [base, base + size) of a space. region comes back in every access.
 * 0 or -errno (-EEXIST: overlap). bus_unmap() takes it away again. Both may be called from a
 * vCPU thread (a guest moves a BAR).
 */
int bus_map(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base, uint64_t size,
	    unsigned region);
void bus_unmap(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base);

/* Send a message-signalled interrupt. Any thread. */
void bus_msi(struct bus *bus, uint64_t addr, uint32_t data);

/* Level of interrupt line `gsi`. Only where the machine has an IOAPIC; elsewhere it goes nowhere. */
void bus_irq(struct bus *bus, unsigned gsi, bool level);

/* A guest write that signals an eventfd instead of coming to the device. */
struct bus_ioevent {
	enum bus_space space;
	uint64_t addr, data;
	unsigned len;		/* 0: any */
	bool match;		/* only writes of `data` */
};
/* Register (on) or take back. Any thread; the device keeps fd open meanwhile. 0 or -errno. */
int bus_ioeventfd(struct bus *bus, const struct bus_ioevent *ev, int fd, bool on);

/* The guest misbehaved: stop the VM with this reason (husk exits 125). Any thread; returns. */
__attribute__((format(printf, 2, 3)))
void bus_stop(struct bus *bus, const char *fmt, ...);

/* The guest ends: kind and value as in include/husk/system.h. Any thread; returns. */
void bus_exit(struct bus *bus, unsigned kind, unsigned value);

struct guest_mem *bus_mem(struct bus *bus);
struct loop *bus_loop(struct bus *bus);
