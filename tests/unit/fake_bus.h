/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine for device tests: a bus that dispatches accesses, guest memory, an event loop that
 * runs when told to, recorded interrupts, and a small virtio driver that sets up queues.
 */
#pragma once

#include "devices/bus.h"
#include "devices/pci.h"

#define FAKE_HIGH_BASE	0x100000000ull	/* a second region, FAKE_HIGH_SIZE long */
#define FAKE_HIGH_SIZE	0x10000
#define FAKE_MAPS	128
#define FAKE_MSIS	4096

struct fake_map {
	struct device *dev;
	enum bus_space space;
	uint64_t base, size;
	unsigned region;
};

struct fake_msi { uint64_t addr; uint32_t data; };

struct bus {
	struct guest_mem mem;
	struct loop *loop;
	uint64_t next;			/* fake_alloc() */
	struct fake_map map[FAKE_MAPS];
	unsigned nmaps;
	pthread_mutex_t lock;		/* guards the interrupts */
	struct fake_msi msi[FAKE_MSIS];
	unsigned nmsis;
	char stopped[256];		/* reason given to bus_stop() */
	bool exited;
	unsigned exit_kind, exit_value;
};

/* Memory of mem_size bytes at 0, and FAKE_HIGH_SIZE at 4 GiB. Exits the test when it cannot. */
struct bus *fake_bus_new(size_t mem_size);
/* Ends every device that is mapped (ops->release), then the bus. */
void fake_bus_free(struct bus *bus);

/* Guest accesses. An address that nobody has reads as all ones (of len bytes). */
uint64_t fake_read(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len);
void fake_write(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len, uint64_t val);
bool fake_mapped(struct bus *bus, enum bus_space space, uint64_t addr);

/* Messages with this data since the last fake_msi_clear(). */
unsigned fake_msi_count(struct bus *bus, uint32_t data);
void fake_msi_clear(struct bus *bus);

/* Guest memory for the test: zeroed, aligned, never freed; and its bytes. */
uint64_t fake_alloc(struct bus *bus, size_t size, size_t align);
void *fake_ptr(struct bus *bus, uint64_t gpa, size_t len);

/* Run callbacks of ready descriptors, waiting at most timeout_ms for the first; how many ran. */
int fake_loop_run(struct bus *bus, int timeout_ms);

/* Configuration space by ECAM. */
uint32_t fake_config_read(struct bus *bus, unsigned slot, unsigned off, unsigned len);
void fake_config_write(struct bus *bus, unsigned slot, unsigned off, unsigned len, uint32_t val);

/* ---- the driver ---- */

#define FAKE_QUEUES	8
#define FAKE_VECTOR(q)	(0x40u + (q))		/* MSI data of queue q; FAKE_VECTOR_CONFIG: changes */
#define FAKE_VECTOR_CONFIG 0x3f

struct fake_queue {
	uint16_t size, next_desc, avail_idx, used_seen;
	uint64_t desc, avail, used;
};

struct fake_driver {
	struct bus *bus;
	unsigned slot;
	uint64_t bar;
	uint64_t features;		/* accepted */
	struct fake_queue q[FAKE_QUEUES];
};

struct fake_buf { uint64_t gpa; uint32_t len; };

/* Driver of the virtio function in a slot, up to FEATURES_OK with the features wanted that it has. */
bool fake_driver_init(struct fake_driver *d, struct bus *bus, unsigned slot, uint64_t want);
void fake_queue_setup(struct fake_driver *d, unsigned q, uint16_t size);
void fake_driver_ok(struct fake_driver *d);
uint8_t fake_status(struct fake_driver *d);
/* A chain of nout device-readable and nin device-writable buffers; returns its head. No kick. */
uint16_t fake_queue_add(struct fake_driver *d, unsigned q, const struct fake_buf *bufs,
			unsigned nout, unsigned nin);
/* Publish any head, however wrong. */
void fake_queue_publish(struct fake_driver *d, unsigned q, uint16_t head);
struct vring_desc *fake_desc(struct fake_driver *d, unsigned q, unsigned i);
void fake_queue_kick(struct fake_driver *d, unsigned q);
/* Next used entry. */
bool fake_queue_used(struct fake_driver *d, unsigned q, uint32_t *id, uint32_t *len);
/* Registers in the BAR. */
uint64_t fake_reg(struct fake_driver *d, unsigned off, unsigned len);
void fake_set_reg(struct fake_driver *d, unsigned off, unsigned len, uint64_t val);
