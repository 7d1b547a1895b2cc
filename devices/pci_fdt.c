/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devicetree node of the PCI host bridge ("pci-host-ecam-generic") and one child for each
 * function, by the Open Firmware PCI bus binding (IEEE 1275, revision 2.1): a PCI address is three
 * cells, of which the first holds space, bus, device, function and register.
 */
#include "devices/pci_fdt.h"

#include <errno.h>
#include <libfdt.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include "devices/pci.h"
#include "husk/fdt.h"
#include "husk/layout.h"

#define OF_PCI_FIXED	0x80000000u	/* n: the address does not move */
#define OF_PCI_IO	0x01000000u
#define OF_PCI_MEM32	0x02000000u

#define PCI_ADDRESS_CELLS	5	/* address (3), size (2) */

static int fdt_cells(void *fdt, int node, const char *name, const uint32_t *cells, unsigned n)
{
	fdt32_t be[64];

	if (n > sizeof(be) / sizeof(be[0]))
		return -EINVAL;
	for (unsigned i = 0; i < n; i++)
		be[i] = cpu_to_fdt32(cells[i]);
	return fdt_setprop(fdt, node, name, be, (int)(n * sizeof(be[0]))) < 0 ? -ENOSPC : 0;
}

static unsigned fdt_pci_address(uint32_t *cells, uint32_t hi, uint32_t lo, uint32_t size)
{
	cells[0] = hi;
	cells[1] = 0;
	cells[2] = lo;
	cells[3] = 0;
	cells[4] = size;
	return PCI_ADDRESS_CELLS;
}

static int fdt_function(const struct pci_func *fn, void *fdt, int parent)
{
	uint32_t reg[(1 + PCI_BARS) * PCI_ADDRESS_CELLS], assigned[PCI_BARS * PCI_ADDRESS_CELLS];
	uint32_t devfn = fn->slot << 11;
	unsigned nreg, nassigned = 0;
	char name[64];
	int node, ret;

	snprintf(name, sizeof(name), "%s@%x", fn->ops->name, fn->slot);
	node = fdt_add_subnode(fdt, parent, name);
	if (node < 0)
		return -ENOSPC;
	nreg = fdt_pci_address(reg, devfn, 0, 0);
	for (unsigned i = 0; i < PCI_BARS; i++) {
		const struct pci_bar *b = &fn->bar[i];
		uint32_t hi = devfn | (PCI_BASE_ADDRESS_0 + 4 * i) |
			      (b->io ? OF_PCI_IO : OF_PCI_MEM32);

		if (!b->size)
			continue;
		nreg += fdt_pci_address(reg + nreg, hi, 0, b->size);
		nassigned += fdt_pci_address(assigned + nassigned, hi | OF_PCI_FIXED, b->home,
					     b->size);
	}
	ret = fdt_cells(fdt, node, "reg", reg, nreg);
	if (ret == 0 && nassigned)
		ret = fdt_cells(fdt, node, "assigned-addresses", assigned, nassigned);
	if (ret == 0 && fn->ops->fdt)
		ret = fn->ops->fdt((struct pci_func *)fn, fdt, node);
	return ret;
}

static int fdt_bridge(void *fdt, int node)
{
	/* Bus address = CPU address in both windows; for the first one that is a port number. */
	static const uint32_t ranges[] = {
		OF_PCI_IO, 0, HUSK_PCI_IO_BASE, 0, HUSK_PCI_IO_BASE, 0, HUSK_PCI_IO_SIZE,
		OF_PCI_MEM32, 0, HUSK_PCI_MMIO_BASE, 0, HUSK_PCI_MMIO_BASE, 0, HUSK_PCI_MMIO_SIZE,
	};
	static const uint32_t reg[] = { 0, HUSK_ECAM_BASE, 0, HUSK_ECAM_SIZE };
	static const uint32_t bus_range[] = { 0, 0 };
	int ret;

	if (fdt_setprop_string(fdt, node, "compatible", "pci-host-ecam-generic") < 0 ||
	    fdt_setprop_string(fdt, node, "device_type", "pci") < 0 ||
	    fdt_setprop_u32(fdt, node, "#address-cells", 3) < 0 ||
	    fdt_setprop_u32(fdt, node, "#size-cells", 2) < 0)
		return -ENOSPC;
	ret = fdt_cells(fdt, node, "reg", reg, 4);
	if (ret == 0)
		ret = fdt_cells(fdt, node, "bus-range", bus_range, 2);
	if (ret == 0)
		ret = fdt_cells(fdt, node, "ranges", ranges, 14);
	return ret;
}

int pci_fdt_write(struct pci_host *host, void *fdt, int parent)
{
	char name[32];
	int node, ret;

	snprintf(name, sizeof(name), "pci@%x", HUSK_ECAM_BASE);
	node = fdt_add_subnode(fdt, parent, name);
	if (node < 0)
		return -ENOSPC;
	ret = fdt_bridge(fdt, node);
	/* Backwards: libfdt puts a new child before the others. The bridge itself is `node`. */
	for (unsigned s = PCI_SLOTS - 1; s >= 1 && ret == 0; s--)
		if (host->slot[s])
			ret = fdt_function(host->slot[s], fdt, node);
	return ret;
}
