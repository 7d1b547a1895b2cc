/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI host bridge: configuration mechanism #1 (PCI Local Bus 3.0, 3.2.2.3.2), ECAM (PCI
 * Express Base, 7.2.2), and the decoding of BARs. The bus sees one device, the bridge, with one
 * region for each way in and one for each BAR that is decoded now; a BAR is decoded only inside
 * the bridge's windows, so that a guest cannot put one over RAM or another device.
 */
#include "devices/pci.h"

#include <assert.h>
#include <errno.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>
#include "devices/pci_fdt.h"
#include "husk/layout.h"

#define PCI_PORT_ADDRESS	0xcf8
#define PCI_PORTS		8	/* 0xcf8 address, 0xcfc data */
#define PCI_ADDRESS_ENABLE	0x80000000u

#define CLASS_HOST_BRIDGE	0x060000	/* PCI Code and ID Assignment 1.11, 1.7 */

/* Region numbers on the bus. */
#define REGION_ECAM	0
#define REGION_PORTS	1
#define REGION_BAR	2		/* + slot * PCI_BARS + bar */

static const uint64_t all_ones = ~0ull;

/* One access of up to 8 bytes; what is outside the 256 bytes reads as ones and swallows writes. */
static uint64_t pci_config_read(struct pci_host *host, unsigned slot, unsigned off, unsigned len)
{
	struct pci_func *fn = host->slot[slot];
	uint64_t val = all_ones;

	if (!fn || off >= PCI_CONFIG_SIZE)
		return val;
	if (len > PCI_CONFIG_SIZE - off)
		len = PCI_CONFIG_SIZE - off;
	if (fn->ops->config_read)
		fn->ops->config_read(fn, off, len);
	memcpy(&val, fn->config + off, len);
	return val;
}

static uint32_t bar_value(const struct pci_func *fn, unsigned bar)
{
	uint32_t v = pci_get32(fn->config + PCI_BASE_ADDRESS_0 + 4 * bar);

	return v & (fn->bar[bar].io ? (uint32_t)PCI_BASE_ADDRESS_IO_MASK :
		    (uint32_t)PCI_BASE_ADDRESS_MEM_MASK);
}

static bool bar_decoded(const struct pci_func *fn, unsigned bar)
{
	uint16_t command = pci_get16(fn->config + PCI_COMMAND);
	uint64_t base = bar_value(fn, bar), end = base + fn->bar[bar].size;

	if (fn->bar[bar].io)
		return (command & PCI_COMMAND_IO) && base >= HUSK_PCI_IO_BASE &&
		       end <= HUSK_PCI_IO_BASE + HUSK_PCI_IO_SIZE;
	return (command & PCI_COMMAND_MEMORY) && base >= HUSK_PCI_MMIO_BASE &&
	       end <= (uint64_t)HUSK_PCI_MMIO_BASE + HUSK_PCI_MMIO_SIZE;
}

static enum bus_space bar_space(const struct pci_bar *bar)
{
	return bar->io ? BUS_PIO : BUS_MMIO;
}

static void bar_unmap(struct pci_func *fn, unsigned bar)
{
	struct pci_bar *b = &fn->bar[bar];

	if (b->mapped)
		bus_unmap(fn->host->dev.bus, &fn->host->dev, bar_space(b), b->at);
	b->mapped = false;
}

static int bar_map(struct pci_func *fn, unsigned bar)
{
	struct pci_bar *b = &fn->bar[bar];
	int ret;

	b->at = bar_value(fn, bar);
	ret = bus_map(fn->host->dev.bus, &fn->host->dev, bar_space(b), b->at, b->size,
		      REGION_BAR + fn->slot * PCI_BARS + bar);
	b->mapped = ret == 0;
	return ret;
}

/*
 * Map what is to be decoded now. A BAR that overlaps another is left out until that one moves
 * away, hence all functions are looked at after every change.
 */
static void pci_update_maps(struct pci_host *host, struct pci_func *changed)
{
	for (unsigned i = 0; i < PCI_BARS; i++) {
		struct pci_bar *b = &changed->bar[i];

		if (b->mapped && (!bar_decoded(changed, i) || b->at != bar_value(changed, i)))
			bar_unmap(changed, i);
	}
	for (unsigned s = 0; s < PCI_SLOTS; s++) {
		struct pci_func *fn = host->slot[s];

		for (unsigned i = 0; fn && i < PCI_BARS; i++)
			if (fn->bar[i].size && !fn->bar[i].mapped && bar_decoded(fn, i))
				bar_map(fn, i);
	}
}

static void pci_update_msix(struct pci_func *fn)
{
	uint16_t control;

	if (!fn->msix)
		return;
	control = pci_get16(fn->config + fn->msix->cap + PCI_MSIX_FLAGS);
	msix_set_state(fn->msix, control & PCI_MSIX_FLAGS_ENABLE, control & PCI_MSIX_FLAGS_MASKALL,
		       pci_get16(fn->config + PCI_COMMAND) & PCI_COMMAND_MASTER);
}

static void pci_config_write(struct pci_host *host, unsigned slot, unsigned off, unsigned len,
			     uint64_t val)
{
	struct pci_func *fn = host->slot[slot];

	if (!fn || off >= PCI_CONFIG_SIZE)
		return;
	if (len > PCI_CONFIG_SIZE - off)
		len = PCI_CONFIG_SIZE - off;
	for (unsigned i = 0; i < len; i++) {
		uint8_t mask = fn->wmask[off + i];

		fn->config[off + i] = (fn->config[off + i] & ~mask) | (val >> 8 * i & mask);
	}
	if (off < PCI_CARDBUS_CIS)	/* command register or a BAR */
		pci_update_maps(host, fn);
	pci_update_msix(fn);
	if (fn->ops->config_write)
		fn->ops->config_write(fn, off, len);
}

/* Slot, function and register of an ECAM offset on bus 0; functions other than 0 do not exist. */
static void ecam_access(struct pci_host *host, struct access *acc, bool write)
{
	unsigned slot = acc->off >> 15 & 31, function = acc->off >> 12 & 7, reg = acc->off & 0xfff;

	if (!write)
		acc->val = function ? all_ones : pci_config_read(host, slot, reg, acc->len);
	else if (!function)
		pci_config_write(host, slot, reg, acc->len, acc->val);
}

/* Only dword accesses reach the address latch; others there belong to other chips (0xcf9). */
static void ports_access(struct pci_host *host, struct access *acc, bool write)
{
	unsigned slot = host->address >> 11 & 31, reg = (host->address & 0xfc) + (acc->off & 3);
	bool present = (host->address & PCI_ADDRESS_ENABLE) && !(host->address >> 8 & 0xff07);

	if (acc->off == 0 && acc->len == 4) {
		if (write)
			host->address = (uint32_t)acc->val & ~0x7f000003u;
		else
			acc->val = host->address;
	} else if (acc->off < 4 || (acc->off & 3) + acc->len > 4) {
		acc->val = all_ones;
	} else if (write) {
		if (present)
			pci_config_write(host, slot, reg, acc->len, acc->val);
	} else {
		acc->val = present ? pci_config_read(host, slot, reg, acc->len) : all_ones;
	}
}

static void host_access(struct device *dev, struct access *acc, bool write)
{
	struct pci_host *host = (struct pci_host *)dev;
	struct pci_func *fn;
	unsigned n, bar;

	if (acc->region < REGION_BAR) {
		pthread_mutex_lock(&host->lock);
		if (acc->region == REGION_ECAM)
			ecam_access(host, acc, write);
		else
			ports_access(host, acc, write);
		pthread_mutex_unlock(&host->lock);
		return;
	}
	/* Slots are filled before the first vCPU runs and emptied after the last: no lock. */
	n = acc->region - REGION_BAR;
	fn = host->slot[n / PCI_BARS];
	bar = n % PCI_BARS;
	if (write) {
		fn->ops->bar_write(fn, bar, acc);
	} else {
		acc->val = all_ones;
		fn->ops->bar_read(fn, bar, acc);
	}
}

static void host_read(struct device *dev, struct access *acc)
{
	host_access(dev, acc, false);
}

static void host_write(struct device *dev, struct access *acc)
{
	host_access(dev, acc, true);
}

/* The state a function has when the guest first sees it. */
static void pci_func_power_on(struct pci_func *fn)
{
	uint16_t command = PCI_COMMAND_MASTER;

	for (unsigned i = 0; i < PCI_CONFIG_SIZE; i++)
		fn->config[i] &= ~fn->wmask[i];
	for (unsigned i = 0; i < PCI_BARS; i++) {
		uint8_t *reg = fn->config + PCI_BASE_ADDRESS_0 + 4 * i;

		if (!fn->bar[i].size)
			continue;
		pci_set32(reg, pci_get32(reg) | fn->bar[i].home);
		command |= fn->bar[i].io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;
	}
	pci_set16(fn->config + PCI_COMMAND, command & pci_get16(fn->wmask + PCI_COMMAND));
	if (fn->msix) {
		pci_set16(fn->config + fn->msix->cap + PCI_MSIX_FLAGS,
			  (fn->msix->nvectors - 1) | PCI_MSIX_FLAGS_ENABLE);
		msix_reset(fn->msix);
		pci_update_msix(fn);
	}
}

static void host_reset(struct device *dev)
{
	struct pci_host *host = (struct pci_host *)dev;

	pthread_mutex_lock(&host->lock);
	host->address = 0;
	for (unsigned s = 0; s < PCI_SLOTS; s++) {
		struct pci_func *fn = host->slot[s];

		if (!fn)
			continue;
		pci_func_power_on(fn);
		pci_update_maps(host, fn);
		if (fn->ops->reset)
			fn->ops->reset(fn);
	}
	pthread_mutex_unlock(&host->lock);
}

static int host_fdt(struct device *dev, void *fdt, int parent)
{
	return pci_fdt_write((struct pci_host *)dev, fdt, parent);
}

static void host_release(struct device *dev)
{
	struct pci_host *host = (struct pci_host *)dev;

	for (unsigned s = 1; s < PCI_SLOTS; s++)
		if (host->slot[s])
			host->slot[s]->ops->release(host->slot[s]);
	pthread_mutex_destroy(&host->lock);
	free(host);
}

static const struct device_ops host_ops = {
	.name = "pci-host",
	.read = host_read,
	.write = host_write,
	.reset = host_reset,
	.fdt = host_fdt,
	.release = host_release,
};

/* Next address of a window for a BAR, naturally aligned; -ENOSPC when the window is full. */
static int bar_assign(uint32_t *next, uint64_t end, struct pci_bar *b)
{
	uint64_t at = (*next + (uint64_t)b->size - 1) & ~((uint64_t)b->size - 1);

	if (at + b->size > end)
		return -ENOSPC;
	b->home = (uint32_t)at;
	*next = (uint32_t)(at + b->size);
	return 0;
}

static int pci_assign_bars(struct pci_host *host, struct pci_func *fn)
{
	int ret = 0;

	for (unsigned i = 0; i < PCI_BARS && ret == 0; i++) {
		struct pci_bar *b = &fn->bar[i];

		if (b->size && b->io)
			ret = bar_assign(&host->next_io, HUSK_PCI_IO_BASE + HUSK_PCI_IO_SIZE, b);
		else if (b->size)
			ret = bar_assign(&host->next_mem,
					 (uint64_t)HUSK_PCI_MMIO_BASE + HUSK_PCI_MMIO_SIZE, b);
	}
	return ret;
}

int pci_attach(struct pci_host *host, struct pci_func *fn)
{
	unsigned slot = 1;
	int ret;

	while (slot < PCI_SLOTS && host->slot[slot])
		slot++;
	if (slot == PCI_SLOTS)
		return -ENOSPC;
	ret = pci_assign_bars(host, fn);
	if (ret < 0)
		return ret;
	fn->host = host;
	fn->slot = slot;
	if (fn->msix)
		fn->msix->bus = host->dev.bus;
	pci_func_power_on(fn);
	for (unsigned i = 0; i < PCI_BARS && ret == 0; i++)
		if (fn->bar[i].size)
			ret = bar_map(fn, i);
	if (ret < 0) {
		for (unsigned i = 0; i < PCI_BARS; i++)
			bar_unmap(fn, i);
		return ret;
	}
	host->slot[slot] = fn;
	return 0;
}

static const struct pci_func_ops bridge_ops = { .name = "host-bridge" };

int pci_host_attach(struct bus *bus, struct pci_host **out)
{
	struct pci_host *host = calloc(1, sizeof(*host));
	int ret;

	if (!host)
		return -ENOMEM;
	host->dev.ops = &host_ops;
	host->dev.bus = bus;
	host->next_mem = HUSK_PCI_MMIO_BASE;
	host->next_io = HUSK_PCI_IO_BASE;
	pthread_mutex_init(&host->lock, NULL);
	/* A generic bridge's identity: no driver binds to it. */
	pci_func_init(&host->bridge, &bridge_ops, 0x1b36, 0x0008, CLASS_HOST_BRIDGE);
	host->bridge.host = host;
	host->slot[0] = &host->bridge;

	ret = bus_map(bus, &host->dev, BUS_MMIO, HUSK_ECAM_BASE, HUSK_ECAM_SIZE, REGION_ECAM);
	if (ret < 0)
		goto free_host;
	ret = bus_map(bus, &host->dev, BUS_PIO, PCI_PORT_ADDRESS, PCI_PORTS, REGION_PORTS);
	if (ret < 0)
		goto unmap_ecam;
	*out = host;
	return 0;

unmap_ecam:
	bus_unmap(bus, &host->dev, BUS_MMIO, HUSK_ECAM_BASE);
free_host:
	pthread_mutex_destroy(&host->lock);
	free(host);
	return ret;
}
