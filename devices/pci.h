/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI: one bus of 32 slots behind a host bridge, reached by configuration mechanism #1 and by
 * ECAM (PCI Local Bus 3.0 sections 3.2.2.3 and 6; PCI Express Base, 7.2.2). What a function
 * supplies is struct pci_func_ops; what it gets is a type 0 header, BARs and MSI-X.
 */
#pragma once

#include <pthread.h>
#include "devices/bus.h"
#include "devices/msix.h"

#define PCI_SLOTS	32
#define PCI_BARS	6
#define PCI_CONFIG_SIZE	256	/* no extended space: offsets above read as all ones */

struct pci_func;

/*
 * bar_read and bar_write run on vCPU threads, several at once, without the host's lock: off + len
 * is inside the BAR, val is all ones before a read. The config hooks run under the host's lock.
 */
struct pci_func_ops {
	const char *name;			/* of the FDT node */
	void (*bar_read)(struct pci_func *fn, unsigned bar, struct access *acc);
	void (*bar_write)(struct pci_func *fn, unsigned bar, struct access *acc);
	/* Before config[off .. off + len) is read, after it was written; may be NULL. */
	void (*config_read)(struct pci_func *fn, unsigned off, unsigned len);
	void (*config_write)(struct pci_func *fn, unsigned off, unsigned len);
	void (*reset)(struct pci_func *fn);				/* may be NULL */
	int (*fdt)(struct pci_func *fn, void *fdt, int node);		/* may be NULL; -errno */
	void (*release)(struct pci_func *fn);				/* frees fn */
};

struct pci_bar {
	uint32_t size;		/* a power of two; 0: not implemented */
	bool io;
	uint32_t home;		/* where the VMM put it */
	bool mapped;
	uint32_t at;		/* while mapped */
};

/* Embedded in a device, zeroed. All but ops, host, slot is guarded by the host's lock. */
struct pci_func {
	const struct pci_func_ops *ops;
	struct pci_host *host;
	unsigned slot;
	uint8_t config[PCI_CONFIG_SIZE];
	uint8_t wmask[PCI_CONFIG_SIZE];		/* bits that configuration writes change */
	struct pci_bar bar[PCI_BARS];
	unsigned cap_end;			/* first free byte for capabilities */
	unsigned cap_last;			/* offset of the last one; 0: none */
	struct msix *msix;			/* NULL: none */
};

struct pci_host {
	struct device dev;			/* the one device the bus knows */
	pthread_mutex_t lock;
	uint32_t address;			/* latch of mechanism #1 */
	uint32_t next_mem, next_io;		/* first free addresses of the windows */
	struct pci_func *slot[PCI_SLOTS];
	struct pci_func bridge;			/* slot 0 */
};

/* The host bridge, on the bus. 0 or -errno. dev.ops->release frees it and every function. */
int pci_host_attach(struct bus *bus, struct pci_host **out);

/* Build a function, in this order. class is base class, subclass, interface: 0xccsspp. */
void pci_func_init(struct pci_func *fn, const struct pci_func_ops *ops, uint16_t vendor,
		   uint16_t device, uint32_t class);
void pci_add_bar(struct pci_func *fn, unsigned bar, bool io, uint32_t size);
/* Room for a capability of len bytes, header included: its offset. */
unsigned pci_add_cap(struct pci_func *fn, uint8_t id, unsigned len);
/* MSI-X with nvectors entries, table and PBA inside BAR `bar`, whose accesses the function passes on. */
void pci_add_msix(struct pci_func *fn, struct msix *msix, unsigned nvectors, unsigned bar,
		  uint32_t table, uint32_t pba);

/*
 * Plug fn into the next free slot: BARs get addresses, decoding, bus mastering and MSI-X (all
 * vectors masked) are on, so that our own kernel needs no configuration access at all. On success
 * the host owns fn. 0, -ENOSPC (slots or windows full) or -errno of bus_map().
 */
int pci_attach(struct pci_host *host, struct pci_func *fn);

void pci_set16(uint8_t *p, uint16_t v);
void pci_set32(uint8_t *p, uint32_t v);
uint16_t pci_get16(const uint8_t *p);
uint32_t pci_get32(const uint8_t *p);
