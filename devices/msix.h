/* SPDX-License-Identifier: Apache-2.0 */
/* MSI-X of one function: table, pending bits, masks (PCI Local Bus 3.0, section 6.8.2). */
#pragma once

#include <pthread.h>
#include "devices/bus.h"

#define MSIX_MAX_VECTORS	64	/* one word of pending bits */
#define MSIX_ENTRY_SIZE		16

struct msix_entry {
	uint64_t addr;
	uint32_t data;
	uint32_t ctrl;			/* bit 0: masked */
};

/* lock guards everything below it; it is the innermost of all device locks. */
struct msix {
	struct bus *bus;
	unsigned nvectors;
	unsigned cap;			/* offset of the capability */
	uint32_t table, pba;		/* offsets in the BAR */
	pthread_mutex_t lock;
	bool enabled, function_mask, bus_master;
	uint64_t pending;
	struct msix_entry entry[MSIX_MAX_VECTORS];
};

void msix_init(struct msix *msix, unsigned nvectors, unsigned cap, uint32_t table, uint32_t pba);
void msix_fini(struct msix *msix);
void msix_reset(struct msix *msix);		/* every entry zero and masked, nothing pending */

/* The bits outside the table that gate messages; pending ones that may go now are sent. */
void msix_set_state(struct msix *msix, bool enabled, bool function_mask, bool bus_master);

/* True when off is in the table or the PBA, and the access has been dealt with. */
bool msix_read(struct msix *msix, struct access *acc);
bool msix_write(struct msix *msix, struct access *acc);

/* Send vector v, or mark it pending while masked. False: MSI-X is off, nothing happened. */
bool msix_notify(struct msix *msix, unsigned v);
