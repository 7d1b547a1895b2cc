/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building a function's configuration space before it is attached: type 0 header (PCI Local Bus
 * 3.0, 6.1 and 6.2), BARs (6.2.5), capabilities (6.7). Every register is bytes plus a write mask;
 * a BAR's size is the low bits that its mask leaves out, which is all that sizing needs.
 */
#include "devices/pci.h"

#include <assert.h>
#include <linux/pci_regs.h>
#include <string.h>

void pci_set16(uint8_t *p, uint16_t v)
{
	memcpy(p, &v, sizeof(v));
}

void pci_set32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

uint16_t pci_get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

uint32_t pci_get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

void pci_func_init(struct pci_func *fn, const struct pci_func_ops *ops, uint16_t vendor,
		   uint16_t device, uint32_t class)
{
	fn->ops = ops;
	fn->cap_end = PCI_STD_HEADER_SIZEOF;
	pci_set16(fn->config + PCI_VENDOR_ID, vendor);
	pci_set16(fn->config + PCI_DEVICE_ID, device);
	/* Subsystem ids are the board's; ours has none of its own. */
	pci_set16(fn->config + PCI_SUBSYSTEM_VENDOR_ID, vendor);
	pci_set16(fn->config + PCI_SUBSYSTEM_ID, device);
	fn->config[PCI_CLASS_PROG] = class & 0xff;
	fn->config[PCI_CLASS_PROG + 1] = class >> 8 & 0xff;
	fn->config[PCI_CLASS_PROG + 2] = class >> 16 & 0xff;
	pci_set16(fn->wmask + PCI_COMMAND, PCI_COMMAND_MASTER | PCI_COMMAND_INTX_DISABLE);
	fn->wmask[PCI_CACHE_LINE_SIZE] = 0xff;
	fn->wmask[PCI_INTERRUPT_LINE] = 0xff;
}

void pci_add_bar(struct pci_func *fn, unsigned bar, bool io, uint32_t size)
{
	unsigned reg = PCI_BASE_ADDRESS_0 + 4 * bar;
	uint16_t command = pci_get16(fn->wmask + PCI_COMMAND);

	assert(bar < PCI_BARS && size >= (io ? 4u : 16u) && (size & (size - 1)) == 0);
	fn->bar[bar].size = size;
	fn->bar[bar].io = io;
	pci_set32(fn->config + reg, io ? PCI_BASE_ADDRESS_SPACE_IO : PCI_BASE_ADDRESS_SPACE_MEMORY);
	pci_set32(fn->wmask + reg, ~(size - 1));
	command |= io ? PCI_COMMAND_IO : PCI_COMMAND_MEMORY;
	pci_set16(fn->wmask + PCI_COMMAND, command);
}

unsigned pci_add_cap(struct pci_func *fn, uint8_t id, unsigned len)
{
	unsigned cap = fn->cap_end;

	assert(len >= PCI_CAP_SIZEOF && cap + len <= PCI_CONFIG_SIZE);
	fn->config[cap + PCI_CAP_LIST_ID] = id;
	if (fn->cap_last) {
		fn->config[fn->cap_last + PCI_CAP_LIST_NEXT] = cap;
	} else {
		fn->config[PCI_CAPABILITY_LIST] = cap;
		fn->config[PCI_STATUS] |= PCI_STATUS_CAP_LIST;
	}
	fn->cap_last = cap;
	fn->cap_end = (cap + len + 3) & ~3u;
	return cap;
}

void pci_add_msix(struct pci_func *fn, struct msix *msix, unsigned nvectors, unsigned bar,
		  uint32_t table, uint32_t pba)
{
	unsigned cap = pci_add_cap(fn, PCI_CAP_ID_MSIX, PCI_CAP_MSIX_SIZEOF);

	msix_init(msix, nvectors, cap, table, pba);
	fn->msix = msix;
	pci_set16(fn->config + cap + PCI_MSIX_FLAGS, nvectors - 1);
	pci_set16(fn->wmask + cap + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	pci_set32(fn->config + cap + PCI_MSIX_TABLE, table | bar);
	pci_set32(fn->config + cap + PCI_MSIX_PBA, pba | bar);
}
