/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bus for tests of one platform device: maps are remembered, accesses go through the same
 * checks as on the real bus, interrupts and ends are only recorded.
 */
#pragma once

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "devices/bus.h"

struct bus {
	struct {
		struct device *dev;
		enum bus_space space;
		uint64_t base, size;
		unsigned region;
	} map[16];
	unsigned nmaps;
	unsigned fail_map;	/* the n-th bus_map() fails, counted from 1 */
	unsigned map_calls;
	uint64_t msi_addr;
	uint32_t msi_data;
	uint32_t irq;		/* levels of the interrupt lines */
	unsigned msis, exits, exit_kind, exit_value, stops;
};

int bus_map(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base, uint64_t size,
	    unsigned region)
{
	if (++bus->map_calls == bus->fail_map || bus->nmaps == 16)
		return -EEXIST;
	bus->map[bus->nmaps].dev = dev;
	bus->map[bus->nmaps].space = space;
	bus->map[bus->nmaps].base = base;
	bus->map[bus->nmaps].size = size;
	bus->map[bus->nmaps++].region = region;
	return 0;
}

void bus_unmap(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base)
{
	for (unsigned i = 0; i < bus->nmaps; i++)
		if (bus->map[i].dev == dev && bus->map[i].space == space && bus->map[i].base == base)
			bus->map[i] = bus->map[--bus->nmaps];
}

void bus_msi(struct bus *bus, uint64_t addr, uint32_t data)
{
	bus->msi_addr = addr;
	bus->msi_data = data;
	bus->msis++;
}

void bus_irq(struct bus *bus, unsigned gsi, bool level)
{
	if (gsi < 32)
		bus->irq = (bus->irq & ~(1u << gsi)) | (uint32_t)level << gsi;
}

void bus_stop(struct bus *bus, const char *fmt, ...)
{
	bus->stops++;
}

void bus_exit(struct bus *bus, unsigned kind, unsigned value)
{
	bus->exits++;
	bus->exit_kind = kind;
	bus->exit_value = value;
}

struct guest_mem *bus_mem(struct bus *bus)
{
	return NULL;
}

struct loop *bus_loop(struct bus *bus)
{
	return NULL;
}

static uint64_t len_mask(unsigned len)
{
	return len == 8 ? ~0ull : (1ull << (8 * len)) - 1;
}

static uint64_t stub_access(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len,
			    uint64_t val, bool write)
{
	for (unsigned i = 0; i < bus->nmaps; i++) {
		uint64_t off = addr - bus->map[i].base;
		struct device *dev = bus->map[i].dev;
		struct access acc = { .off = off, .val = write ? val & len_mask(len) : ~0ull,
				      .len = len, .region = bus->map[i].region };

		if (bus->map[i].space != space || off >= bus->map[i].size ||
		    len > bus->map[i].size - off)
			continue;
		if (write && dev->ops->write)
			dev->ops->write(dev, &acc);
		if (!write && dev->ops->read)
			dev->ops->read(dev, &acc);
		return acc.val & len_mask(len);
	}
	return len_mask(len);
}

__attribute__((unused))
static uint64_t stub_read(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len)
{
	return stub_access(bus, space, addr, len, 0, false);
}

__attribute__((unused))
static void stub_write(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len,
		       uint64_t val)
{
	stub_access(bus, space, addr, len, val, true);
}
