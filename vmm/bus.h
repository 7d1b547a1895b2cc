/* SPDX-License-Identifier: Apache-2.0 */
/* The VMM's side of the bus: making one, and turning a VM exit into a device access. */
#pragma once

#include "devices/bus.h"

struct vm;

struct bus *bus_new(struct vm *vm, unsigned nreaders);	/* NULL: no memory */
void bus_free(struct bus *bus);

/*
 * One access of vCPU `reader` (below nreaders, one thread each at a time) at addr. data holds the
 * written bytes or takes the read ones; nothing there, or an access that no device can take (odd
 * length, over a range's end), reads as all ones and is dropped when written.
 */
void bus_access(struct bus *bus, unsigned reader, enum bus_space space, uint64_t addr, void *data,
		unsigned len, bool write);
