/* SPDX-License-Identifier: Apache-2.0 */
/* PCI host bridge: both ways into configuration space, BARs that size and move, MSI-X, FDT, fuzz. */
#include <libfdt.h>
#include <linux/pci_regs.h>
#include <stdlib.h>
#include <string.h>
#include "husk/fdt.h"
#include "husk/layout.h"
#include "tests/unit/fake_bus.h"
#include "tests/unit/tap.h"

#define BAR_MEM		0
#define BAR_IO		1
#define MEM_SIZE	0x2000
#define IO_SIZE		0x20
#define TABLE		0x1000
#define PBA		0x1800
#define VECTORS		3

/* A function with one register file in each BAR, and MSI-X. */
struct dut {
	struct pci_func fn;
	struct msix msix;
	uint8_t mem[TABLE], io[IO_SIZE];
	unsigned released;
};

static unsigned releases;

static void dut_read(struct pci_func *fn, unsigned bar, struct access *acc)
{
	struct dut *dut = (struct dut *)fn;

	if (bar == BAR_MEM && msix_read(&dut->msix, acc))
		return;
	if (bar == BAR_IO && acc->off + acc->len <= IO_SIZE)
		memcpy(&acc->val, dut->io + acc->off, acc->len);
	else if (bar == BAR_MEM && acc->off + acc->len <= TABLE)
		memcpy(&acc->val, dut->mem + acc->off, acc->len);
}

static void dut_write(struct pci_func *fn, unsigned bar, struct access *acc)
{
	struct dut *dut = (struct dut *)fn;

	if (bar == BAR_MEM && msix_write(&dut->msix, acc))
		return;
	if (bar == BAR_IO && acc->off + acc->len <= IO_SIZE)
		memcpy(dut->io + acc->off, &acc->val, acc->len);
	else if (bar == BAR_MEM && acc->off + acc->len <= TABLE)
		memcpy(dut->mem + acc->off, &acc->val, acc->len);
}

static void dut_release(struct pci_func *fn)
{
	struct dut *dut = (struct dut *)fn;

	releases++;
	msix_fini(&dut->msix);
	free(dut);
}

static const struct pci_func_ops dut_ops = {
	.name = "dut", .bar_read = dut_read, .bar_write = dut_write, .release = dut_release,
};

static struct dut *dut_new(struct pci_host *host)
{
	struct dut *dut = calloc(1, sizeof(*dut));

	pci_func_init(&dut->fn, &dut_ops, 0x1234, 0x5678, 0x0b4000);
	pci_add_bar(&dut->fn, BAR_MEM, false, MEM_SIZE);
	pci_add_bar(&dut->fn, BAR_IO, true, IO_SIZE);
	pci_add_cap(&dut->fn, PCI_CAP_ID_VNDR, 7);
	pci_add_msix(&dut->fn, &dut->msix, VECTORS, BAR_MEM, TABLE, PBA);
	if (pci_attach(host, &dut->fn) < 0) {
		msix_fini(&dut->msix);
		free(dut);
		return NULL;
	}
	return dut;
}

static uint32_t cf8_read(struct bus *bus, uint32_t address, unsigned port, unsigned len)
{
	fake_write(bus, BUS_PIO, 0xcf8, 4, address);
	return (uint32_t)fake_read(bus, BUS_PIO, port, len);
}

static void test_ways_in(struct bus *bus)
{
	uint32_t slot1 = 0x80000000u | 1 << 11;

	tap_ok(fake_config_read(bus, 0, PCI_VENDOR_ID, 4) == 0x00081b36, "bridge in slot 0");
	tap_ok(fake_config_read(bus, 0, PCI_CLASS_REVISION, 4) >> 8 == 0x060000, "bridge class");
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x56781234, "ECAM finds slot 1");
	tap_ok(cf8_read(bus, slot1, 0xcfc, 4) == 0x56781234, "mechanism 1 finds slot 1");
	tap_ok(cf8_read(bus, slot1, 0xcfe, 2) == 0x5678, "mechanism 1, upper half");
	tap_ok(cf8_read(bus, slot1 | 8, 0xcff, 1) == 0x0b, "mechanism 1, one byte");
	tap_ok(fake_read(bus, BUS_PIO, 0xcf8, 4) == (slot1 | 8), "address latch reads back");
	fake_write(bus, BUS_PIO, 0xcf9, 1, 6);
	tap_ok(fake_read(bus, BUS_PIO, 0xcf8, 4) == (slot1 | 8), "port 0xcf9 is not the latch");
	tap_ok(cf8_read(bus, slot1 & 0x7fffffff, 0xcfc, 4) == 0xffffffff, "latch disabled");
	tap_ok(cf8_read(bus, slot1 | 1 << 8, 0xcfc, 4) == 0xffffffff, "no function 1");
	tap_ok(cf8_read(bus, slot1 | 1 << 16, 0xcfc, 4) == 0xffffffff, "no bus 1");
	tap_ok(fake_config_read(bus, 30, 0, 4) == 0xffffffff, "empty slot");
	tap_ok(fake_config_read(bus, 1, 0x1000, 4) == 0xffffffff, "no function 1 by ECAM");
	tap_ok(fake_config_read(bus, 1, 0x100, 4) == 0xffffffff, "no extended space");
	tap_ok(fake_read(bus, BUS_MMIO, HUSK_ECAM_BASE + (1 << 15), 8) >> 32 ==
	       (0x00100000u | PCI_COMMAND_IO | PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER),
	       "8-byte read: command decodes at attach, capability list");
}

static void test_write_masks(struct bus *bus)
{
	fake_config_write(bus, 1, PCI_VENDOR_ID, 4, 0);
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x56781234, "ids are read-only");
	fake_config_write(bus, 1, PCI_COMMAND, 4, 0xffffffff);
	tap_ok(fake_config_read(bus, 1, PCI_COMMAND, 4) == 0x00100407, "command's writable bits");
	fake_config_write(bus, 1, PCI_COMMAND, 2, 7);
	fake_config_write(bus, 1, PCI_INTERRUPT_LINE, 2, 0xaa55);
	tap_ok(fake_config_read(bus, 1, PCI_INTERRUPT_LINE, 2) == 0x55, "line writes, pin does not");
	fake_config_write(bus, 1, PCI_ROM_ADDRESS, 4, 0xffffffff);
	tap_ok(fake_config_read(bus, 1, PCI_ROM_ADDRESS, 4) == 0, "no expansion ROM");
}

static void test_bars(struct bus *bus, struct dut *dut)
{
	uint32_t mem = fake_config_read(bus, 1, PCI_BASE_ADDRESS_0, 4);
	uint32_t io = fake_config_read(bus, 1, PCI_BASE_ADDRESS_1, 4);

	tap_ok(mem == HUSK_PCI_MMIO_BASE, "memory BAR assigned");
	tap_ok(io == (HUSK_PCI_IO_BASE | 1), "I/O BAR assigned");
	fake_write(bus, BUS_MMIO, mem + 8, 4, 0xabcd1234);
	fake_write(bus, BUS_PIO, HUSK_PCI_IO_BASE + 4, 2, 0x4321);
	tap_ok(dut->mem[8] == 0x34 && dut->io[4] == 0x21, "both decode at attach");

	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, 0xffffffff);
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_1, 4, 0xffffffff);
	tap_ok(fake_config_read(bus, 1, PCI_BASE_ADDRESS_0, 4) == 0xffffe000, "memory BAR sizes");
	tap_ok(fake_config_read(bus, 1, PCI_BASE_ADDRESS_1, 4) == 0xffffffe1, "I/O BAR sizes");
	tap_ok(fake_config_read(bus, 1, PCI_BASE_ADDRESS_2, 4) == 0, "absent BAR is zero");
	tap_ok(!fake_mapped(bus, BUS_MMIO, mem), "while sizing nothing decodes");

	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, mem + 0x100000);
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_1, 4, 0xc800);
	tap_ok(fake_read(bus, BUS_MMIO, mem + 0x100008, 4) == 0xabcd1234, "memory BAR moved");
	tap_ok(fake_read(bus, BUS_PIO, 0xc804, 2) == 0x4321, "I/O BAR moved");
	fake_config_write(bus, 1, PCI_COMMAND, 2, PCI_COMMAND_MEMORY);
	tap_ok(!fake_mapped(bus, BUS_PIO, 0xc804), "I/O decoding off");
	tap_ok(fake_mapped(bus, BUS_MMIO, mem + 0x100000), "memory decoding still on");
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, 0x1000);
	tap_ok(!fake_mapped(bus, BUS_MMIO, 0x1000), "no BAR over RAM");
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, HUSK_ECAM_BASE);
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x56781234, "no BAR over ECAM");
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, HUSK_ECAM_BASE - 0x1000);
	tap_ok(fake_mapped(bus, BUS_MMIO, HUSK_ECAM_BASE - 1), "alignment by the mask");
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, mem);
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_1, 4, io);
	fake_config_write(bus, 1, PCI_COMMAND, 2, 7);
}

static void test_overlap(struct bus *bus, struct dut *second)
{
	uint32_t first = fake_config_read(bus, 1, PCI_BASE_ADDRESS_0, 4);
	uint32_t home = fake_config_read(bus, 2, PCI_BASE_ADDRESS_0, 4);

	second->mem[0] = 0x77;
	fake_config_write(bus, 2, PCI_BASE_ADDRESS_0, 4, first);
	tap_ok(fake_read(bus, BUS_MMIO, first, 1) != 0x77, "of two BARs in one place the first stays");
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, first + 0x200000);
	tap_ok(fake_read(bus, BUS_MMIO, first, 1) == 0x77, "the second appears when it moves away");
	fake_config_write(bus, 2, PCI_BASE_ADDRESS_0, 4, home);
	fake_config_write(bus, 1, PCI_BASE_ADDRESS_0, 4, first);
}

static void test_capabilities(struct bus *bus)
{
	unsigned at = fake_config_read(bus, 1, PCI_CAPABILITY_LIST, 1), ids[8], n = 0;

	while (at && n < 8) {
		ids[n++] = fake_config_read(bus, 1, at, 1);
		at = fake_config_read(bus, 1, at + 1, 1);
	}
	tap_ok(n == 2 && ids[0] == PCI_CAP_ID_VNDR && ids[1] == PCI_CAP_ID_MSIX, "capability list");
}

static void test_msix(struct bus *bus, struct dut *dut)
{
	uint64_t bar = fake_config_read(bus, 1, PCI_BASE_ADDRESS_0, 4);
	unsigned cap = dut->msix.cap;

	tap_ok(fake_config_read(bus, 1, cap + PCI_MSIX_FLAGS, 2) ==
	       (PCI_MSIX_FLAGS_ENABLE | (VECTORS - 1)), "on at attach, table size");
	tap_ok(fake_config_read(bus, 1, cap + PCI_MSIX_TABLE, 4) == TABLE, "table place");
	tap_ok(fake_read(bus, BUS_MMIO, bar + TABLE + 12, 4) == 1, "entries start masked");
	fake_write(bus, BUS_MMIO, bar + TABLE + 16, 8, 0xfee00003);
	fake_write(bus, BUS_MMIO, bar + TABLE + 24, 8, 0xffffffff00000055ull);
	tap_ok(fake_read(bus, BUS_MMIO, bar + TABLE + 16, 4) == 0xfee00000, "address is aligned");
	tap_ok(fake_read(bus, BUS_MMIO, bar + TABLE + 28, 4) == 1, "vector control has one bit");
	msix_notify(&dut->msix, 1);
	tap_ok(bus->nmsis == 0, "masked vector waits");
	tap_ok(fake_read(bus, BUS_MMIO, bar + PBA, 8) == 2, "pending bit");
	fake_write(bus, BUS_MMIO, bar + PBA, 8, 0);
	tap_ok(fake_read(bus, BUS_MMIO, bar + PBA, 4) == 2, "pending bits are read-only");
	fake_write(bus, BUS_MMIO, bar + TABLE + 28, 4, 0);
	tap_ok(bus->nmsis == 1 && bus->msi[0].addr == 0xfee00000 && bus->msi[0].data == 0x55,
	       "sent on unmask");
	tap_ok(fake_read(bus, BUS_MMIO, bar + PBA, 8) == 0, "no longer pending");
	msix_notify(&dut->msix, 1);
	tap_ok(bus->nmsis == 2, "unmasked vector is sent at once");

	fake_config_write(bus, 1, cap + PCI_MSIX_FLAGS, 2,
			  PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
	msix_notify(&dut->msix, 1);
	msix_notify(&dut->msix, 1);
	tap_ok(bus->nmsis == 2, "function mask");
	fake_config_write(bus, 1, cap + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE);
	tap_ok(bus->nmsis == 3, "one message when it falls");
	fake_config_write(bus, 1, PCI_COMMAND, 2, 3);
	msix_notify(&dut->msix, 1);
	tap_ok(bus->nmsis == 3, "no message without bus mastering");
	fake_config_write(bus, 1, PCI_COMMAND, 2, 7);
	tap_ok(bus->nmsis == 4, "it goes when mastering comes back");
	fake_config_write(bus, 1, cap + PCI_MSIX_FLAGS, 2, 0);
	tap_ok(!msix_notify(&dut->msix, 1) && bus->nmsis == 4, "MSI-X off");
	fake_config_write(bus, 1, cap + PCI_MSIX_FLAGS, 2, 0xffff);
	tap_ok(fake_config_read(bus, 1, cap + PCI_MSIX_FLAGS, 2) == 0xc002, "size is read-only");
	fake_config_write(bus, 1, cap + PCI_MSIX_FLAGS, 2, PCI_MSIX_FLAGS_ENABLE);
	fake_write(bus, BUS_MMIO, bar + TABLE + 16, 2, 0x1111);
	tap_ok(fake_read(bus, BUS_MMIO, bar + TABLE + 16, 4) == 0xfee00000, "2-byte writes ignored");
}

static void test_fdt(struct pci_host *host)
{
	static char blob[16384];
	const fdt32_t *cells;
	int node, child, len;

	fdt_create_empty_tree(blob, sizeof(blob));
	tap_ok(host->dev.ops->fdt(&host->dev, blob, 0) == 0, "FDT written");
	node = fdt_node_offset_by_compatible(blob, -1, "pci-host-ecam-generic");
	cells = fdt_getprop(blob, node, "reg", &len);
	tap_ok(len == 16 && fdt32_to_cpu(cells[1]) == HUSK_ECAM_BASE, "FDT: ECAM");
	cells = fdt_getprop(blob, node, "ranges", &len);
	tap_ok(len == 56 && fdt32_to_cpu(cells[9]) == HUSK_PCI_MMIO_BASE, "FDT: ranges");
	child = fdt_first_subnode(blob, node);
	tap_ok(!strcmp(fdt_get_name(blob, child, NULL), "dut@1"), "FDT: first child is slot 1");
	cells = fdt_getprop(blob, child, "reg", &len);
	tap_ok(len == 60 && fdt32_to_cpu(cells[0]) == 0x800, "FDT: reg");
	cells = fdt_getprop(blob, child, "assigned-addresses", &len);
	tap_ok(len == 40 && fdt32_to_cpu(cells[0]) == 0x82000810 &&
	       fdt32_to_cpu(cells[2]) == HUSK_PCI_MMIO_BASE &&
	       fdt32_to_cpu(cells[5]) == 0x81000814 && fdt32_to_cpu(cells[7]) == HUSK_PCI_IO_BASE,
	       "FDT: assigned-addresses");
	memset(blob, 0, sizeof(blob));
	fdt_create_empty_tree(blob, 256);
	tap_ok(host->dev.ops->fdt(&host->dev, blob, 0) < 0, "FDT: no room is an error");
}

static void test_fuzz(struct bus *bus)
{
	unsigned seed = 1;

	for (unsigned i = 0; i < 200000; i++) {
		unsigned r = rand_r(&seed), len = 1u << (r >> 3 & 3), off = rand_r(&seed);
		uint64_t val = (uint64_t)rand_r(&seed) << 32 ^ (uint64_t)rand_r(&seed) << 1;
		enum bus_space space = BUS_MMIO;
		uint64_t addr = HUSK_ECAM_BASE + (off & 0x1ffff);

		if ((r & 7) == 0) {
			space = BUS_PIO;
			addr = 0xcf8 + (off & 7);
			val |= 0x80000000u;
		} else if ((r & 7) == 1) {
			addr = HUSK_PCI_MMIO_BASE + (off & 0x7fff);
		} else if ((r & 7) > 4) {	/* the first 64 bytes of the slots in use */
			addr = HUSK_ECAM_BASE + (off & 0x1803f);
		}
		if (r & 0x80)
			fake_write(bus, space, addr, len, val);
		else
			fake_read(bus, space, addr, len);
	}
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x56781234, "alive after 200000 random accesses");
}

static void test_reset(struct bus *bus, struct pci_host *host)
{
	host->dev.ops->reset(&host->dev);
	tap_ok(fake_config_read(bus, 1, PCI_BASE_ADDRESS_0, 4) == HUSK_PCI_MMIO_BASE &&
	       fake_config_read(bus, 1, PCI_COMMAND, 2) == 7 &&
	       fake_mapped(bus, BUS_MMIO, HUSK_PCI_MMIO_BASE) &&
	       fake_mapped(bus, BUS_MMIO, HUSK_PCI_MMIO_BASE + MEM_SIZE), "reset");
}

int main(void)
{
	struct bus *bus = fake_bus_new(0x10000);
	struct pci_host *host;
	struct dut *dut, *second;
	unsigned n = 2;

	tap_ok(pci_host_attach(bus, &host) == 0, "host bridge attached");
	dut = dut_new(host);
	second = dut_new(host);
	if (!dut || !second)
		return 1;
	test_ways_in(bus);
	test_write_masks(bus);
	test_bars(bus, dut);
	test_overlap(bus, second);
	test_capabilities(bus);
	test_msix(bus, dut);
	test_fdt(host);
	test_fuzz(bus);
	test_reset(bus, host);
	while (dut_new(host))
		n++;
	tap_ok(n == PCI_SLOTS - 1, "31 functions fit");
	fake_bus_free(bus);
	tap_ok(releases == n, "all released");
	return tap_done();
}
