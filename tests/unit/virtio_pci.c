/* SPDX-License-Identifier: Apache-2.0 */
/* The virtio PCI transport: capabilities, status, features, queue set-up, notification, fuzz. */
#include <libfdt.h>
#include <linux/pci_regs.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include "husk/fdt.h"
#include "husk/layout.h"
#include "tests/unit/fake_dut.h"
#include "tests/unit/tap.h"

#define S_INIT	(VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER)
#define S_FOK	(S_INIT | VIRTIO_CONFIG_S_FEATURES_OK)
#define S_OK	(S_FOK | VIRTIO_CONFIG_S_DRIVER_OK)

static struct bus *bus;
static struct dut *dut;
static struct fake_driver drv;

static void set_status(uint8_t s)
{
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_STATUS, 1, s);
}

/* Offset in configuration space of the vendor capability of this type; 0: none. */
static unsigned find_cap(uint8_t type)
{
	unsigned at = fake_config_read(bus, 1, PCI_CAPABILITY_LIST, 1);

	for (unsigned n = 0; at && n < 16; n++) {
		if (fake_config_read(bus, 1, at, 1) == PCI_CAP_ID_VNDR &&
		    fake_config_read(bus, 1, at + 3, 1) == type)
			return at;
		at = fake_config_read(bus, 1, at + 1, 1);
	}
	return 0;
}

static bool cap_is(uint8_t type, uint32_t offset, uint32_t length)
{
	unsigned at = find_cap(type);

	return at && fake_config_read(bus, 1, at + 4, 1) == 0 &&
	       fake_config_read(bus, 1, at + 8, 4) == offset &&
	       fake_config_read(bus, 1, at + 12, 4) == length;
}

static void test_identity(void)
{
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x107f1af4, "ids");
	tap_ok(fake_config_read(bus, 1, PCI_REVISION_ID, 1) >= 1, "revision");
	tap_ok(cap_is(VIRTIO_PCI_CAP_COMMON_CFG, HUSK_VIRTIO_COMMON, 56), "common capability");
	tap_ok(cap_is(VIRTIO_PCI_CAP_NOTIFY_CFG, HUSK_VIRTIO_NOTIFY, 12), "notify capability");
	tap_ok(fake_config_read(bus, 1, find_cap(VIRTIO_PCI_CAP_NOTIFY_CFG) + 16, 4) == 4,
	       "notify multiplier");
	tap_ok(cap_is(VIRTIO_PCI_CAP_ISR_CFG, HUSK_VIRTIO_ISR, 1), "ISR capability");
	tap_ok(cap_is(VIRTIO_PCI_CAP_DEVICE_CFG, HUSK_VIRTIO_DEVICE, DUT_CONFIG), "device capability");
	tap_ok(find_cap(VIRTIO_PCI_CAP_PCI_CFG) != 0, "configuration access capability");
	drv = (struct fake_driver){ .bus = bus, .slot = 1 };
	drv.bar = fake_config_read(bus, 1, PCI_BASE_ADDRESS_0, 4);
	tap_ok(drv.bar == HUSK_PCI_MMIO_BASE, "BAR");
}

static void test_status(void)
{
	set_status(0);
	set_status(S_INIT);
	tap_ok(fake_status(&drv) == S_INIT, "ACKNOWLEDGE and DRIVER in one write");
	set_status(S_FOK);
	tap_ok(fake_status(&drv) == S_INIT, "FEATURES_OK refused without VERSION_1");
	set_status(S_OK);
	tap_ok(fake_status(&drv) == S_INIT && dut->driver_oks == 0, "nor is DRIVER_OK taken");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_GFSELECT, 8, 1 | 0x3ull << 32);
	set_status(S_FOK);
	tap_ok(fake_status(&drv) == S_INIT, "FEATURES_OK refused with a feature not offered");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_GFSELECT, 8, 1 | 1ull << 32);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_GFSELECT, 8, 0 | 1ull << (32 + 5));
	set_status(S_OK);
	tap_ok(fake_status(&drv) == S_OK && dut->driver_oks == 1, "all bits at once");
	tap_ok(dut->vd.features == (1ull << 32 | 1 << 5), "accepted features, select and value in one");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_GF, 4, 0);
	tap_ok(dut->vd.features == (1ull << 32 | 1 << 5), "features are fixed after FEATURES_OK");
	set_status(VIRTIO_CONFIG_S_ACKNOWLEDGE);
	tap_ok(fake_status(&drv) == S_OK, "bits are not taken back");
	set_status(S_OK);
	tap_ok(dut->driver_oks == 1, "DRIVER_OK acts once");
	set_status(S_OK | VIRTIO_CONFIG_S_FAILED);
	tap_ok(fake_status(&drv) == (S_OK | VIRTIO_CONFIG_S_FAILED), "FAILED is kept");
	set_status(0);
	tap_ok(fake_status(&drv) == 0 && dut->vd.features == 0 && dut->resets > 0, "reset");
}

static void test_features(void)
{
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_DFSELECT, 4, 0);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_DF, 4) == (1u << 5 | 1u << 28 | 1u << 29), "low half");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_DFSELECT, 4, 1);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_DF, 4) == 1, "high half");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_DFSELECT, 4, 2);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_DF, 4) == 0, "no third half");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_GFSELECT, 8, 0xffffffffffffffffull);
	tap_ok(dut->vd.pci->accepted == 0, "nor one to write");
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_NUMQ, 2) == DUT_QUEUES, "number of queues");
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_DF, 1) == 0, "byte access");
	tap_ok(fake_reg(&drv, 16, 8) == (0xffffull | (uint64_t)DUT_QUEUES << 16 |
	       (uint64_t)dut->vd.pci->generation << 40), "8-byte access over several fields");
	tap_ok(fake_reg(&drv, 52, 8) == ~0ull, "past the structure");
}

static void select_queue(unsigned q)
{
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_SELECT, 2, q);
}

/* Fill in queue 0 and try to enable it; whether it is then. */
static bool try_queue(uint16_t size, uint64_t desc, uint64_t avail, uint64_t used)
{
	set_status(0);
	set_status(S_INIT);
	select_queue(0);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_DESCLO, 8, desc);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_AVAILLO, 4, (uint32_t)avail);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_AVAILHI, 4, avail >> 32);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_USEDLO, 8, used);
	/* Size, vector and enable in one write. */
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_SIZE, 8, size | 1ull << 16 | 1ull << 32);
	return fake_reg(&drv, VIRTIO_PCI_COMMON_Q_ENABLE, 2) == 1;
}

static void test_queues(void)
{
	set_status(0);
	select_queue(2);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_SIZE, 2) == VIRTQ_MAX_SIZE, "largest size");
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_NOFF, 2) == 2, "notify offset");
	select_queue(DUT_QUEUES);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_SIZE, 2) == 0, "absent queue has size 0");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_ENABLE, 2, 1);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_DESCLO, 8, 0x1000);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_DESCLO, 8) == 0, "and takes nothing");

	tap_ok(try_queue(16, 0x1000, 0x2000, 0x3000), "queue enabled");
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_MSIX, 2) == 1, "with its vector");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_DESCLO, 8, 0x7000);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_SIZE, 2, 4);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_DESCLO, 8) == 0x1000 &&
	       fake_reg(&drv, VIRTIO_PCI_COMMON_Q_SIZE, 2) == 16, "an enabled queue does not change");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_MSIX, 2, 99);
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_Q_MSIX, 2) == 0xffff, "vector out of range");
	tap_ok(try_queue(256, FAKE_HIGH_BASE, FAKE_HIGH_BASE + 0x1000, FAKE_HIGH_BASE + 0x2000),
	       "above 4 GiB");
	tap_ok(!try_queue(0, 0x1000, 0x2000, 0x3000), "size 0");
	tap_ok(fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET, "refusal shows");
	tap_ok(!try_queue(24, 0x1000, 0x2000, 0x3000), "size not a power of two");
	tap_ok(!try_queue(512, 0x1000, 0x3000, 0x5000), "size too large");
	tap_ok(!try_queue(16, 0x1008, 0x2000, 0x3000), "table misaligned");
	tap_ok(!try_queue(16, 0x1000, 0x2001, 0x3000), "available ring misaligned");
	tap_ok(!try_queue(16, 0x1000, 0x2000, 0x3002), "used ring misaligned");
	tap_ok(!try_queue(16, 0x100000, 0x2000, 0x3000), "table outside memory");
	tap_ok(!try_queue(16, 0x1000, 0xffff0, 0x3000), "available ring past the end");
	tap_ok(!try_queue(16, 0x1000, 0x2000, 0xfffffffffffffff0), "used ring wraps");
}

/* Our guest kernel's way up: no reset, no reads, one queue, seven accesses. */
static void test_short_start(void)
{
	uint64_t at;
	struct fake_queue *fq = &drv.q[1];
	struct fake_buf b;

	set_status(0);
	memset(&drv.q, 0, sizeof(drv.q));
	bus->next = 0x1000;
	memset(bus->mem.region[0].host, 0, 0x10000);
	at = fake_alloc(bus, 4096, 4096);
	*fq = (struct fake_queue){ .size = 16, .desc = at, .avail = at + 256, .used = at + 320 };
	b = (struct fake_buf){ fake_alloc(bus, 64, 64), 64 };
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_GFSELECT, 8, 1 | 1ull << 32);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_MSIX, 8, 1ull << 48 | (uint64_t)S_FOK << 32 | 0xffff);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_DESCLO, 8, fq->desc);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_AVAILLO, 8, fq->avail);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_USEDLO, 8, fq->used);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_SIZE, 8, 16 | 0xffffull << 16 | 1ull << 32);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_MSIX, 8, 1ull << 48 | (uint64_t)S_OK << 32 | 0xffff);
	fake_queue_add(&drv, 1, &b, 1, 0);
	fake_queue_kick(&drv, 1);
	tap_ok(fake_status(&drv) == S_OK && fake_queue_used(&drv, 1, NULL, NULL),
	       "a queue works after seven accesses");
}

static void test_notify(void)
{
	struct fake_buf b;

	memset(dut->notifies, 0, sizeof(dut->notifies));
	fake_driver_init(&drv, bus, 1, 0);
	fake_queue_setup(&drv, 1, 16);
	b = (struct fake_buf){ fake_alloc(bus, 64, 64), 64 };
	fake_queue_add(&drv, 1, &b, 1, 0);
	fake_queue_kick(&drv, 1);
	tap_ok(dut->notifies[1] == 0, "no notification before DRIVER_OK");
	fake_driver_ok(&drv);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->notifies[0] == 0, "none for a queue that is not enabled");
	fake_msi_clear(bus);
	fake_queue_kick(&drv, 1);
	tap_ok(dut->notifies[1] == 1 && fake_queue_used(&drv, 1, NULL, NULL), "one exit does it");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(1)) == 1, "queue's vector");
	fake_set_reg(&drv, HUSK_VIRTIO_NOTIFY + 4 * DUT_QUEUES, 4, 0);
	fake_set_reg(&drv, HUSK_VIRTIO_NOTIFY + 0xffc, 4, 0);
	fake_set_reg(&drv, HUSK_VIRTIO_NOTIFY + 5, 1, 0);
	tap_ok(dut->notifies[0] == 0 && dut->notifies[1] == 1, "notifications that mean no queue");
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_ISR, 1) == 0, "no ISR bit with MSI-X");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_SELECT, 2, 1);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_Q_MSIX, 2, 0xffff);
	fake_queue_add(&drv, 1, &b, 1, 0);
	fake_queue_kick(&drv, 1);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_ISR, 1) == 1, "no vector: ISR bit");
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_ISR, 1) == 0, "reading clears it");
}

static void test_device_config(void)
{
	uint8_t generation = (uint8_t)fake_reg(&drv, VIRTIO_PCI_COMMON_CFGGENERATION, 1);

	fake_set_reg(&drv, HUSK_VIRTIO_DEVICE + 4, 4, 0x11223344);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE + 4, 8) == 0x11223344, "device configuration");
	fake_set_reg(&drv, HUSK_VIRTIO_DEVICE + 8, 8, 0x5566778899ull);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE + 8, 8) == 0xffffffff66778899ull, "cut at its end");
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE + 12, 4) == 0xffffffff, "nothing behind");
	fake_msi_clear(bus);
	pthread_mutex_lock(&dut->vd.lock);
	virtio_config_interrupt(&dut->vd);
	pthread_mutex_unlock(&dut->vd.lock);
	tap_ok(fake_msi_count(bus, FAKE_VECTOR_CONFIG) == 1, "configuration interrupt");
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_CFGGENERATION, 1) == (uint8_t)(generation + 1),
	       "generation");
}

static void window(uint8_t bar, uint32_t off, uint32_t len)
{
	unsigned at = find_cap(VIRTIO_PCI_CAP_PCI_CFG);

	fake_config_write(bus, 1, at + 4, 1, bar);
	fake_config_write(bus, 1, at + 8, 4, off);
	fake_config_write(bus, 1, at + 12, 4, len);
}

static void test_window(void)
{
	unsigned data = find_cap(VIRTIO_PCI_CAP_PCI_CFG) + 16;

	window(0, VIRTIO_PCI_COMMON_NUMQ, 2);
	tap_ok((fake_config_read(bus, 1, data, 4) & 0xffff) == DUT_QUEUES, "window reads");
	window(0, HUSK_VIRTIO_DEVICE, 4);
	fake_config_write(bus, 1, data, 4, 0xcafe);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE, 4) == 0xcafe, "window writes");
	window(0, HUSK_VIRTIO_BAR_SIZE - 2, 4);
	fake_config_read(bus, 1, data, 4);
	window(0, 0xfffffffc, 4);
	fake_config_write(bus, 1, data, 4, 1);
	window(1, HUSK_VIRTIO_DEVICE, 4);
	fake_config_write(bus, 1, data, 4, 1);
	window(0, HUSK_VIRTIO_DEVICE, 8);
	fake_config_write(bus, 1, data, 4, 1);
	window(0, HUSK_VIRTIO_DEVICE, 0);
	fake_config_write(bus, 1, data, 4, 1);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE, 4) == 0xcafe, "bad windows do nothing");
}

static void test_fdt(struct pci_host *host)
{
	static char blob[8192];
	int node, len;
	const fdt64_t *bar;

	fdt_create_empty_tree(blob, sizeof(blob));
	host->dev.ops->fdt(&host->dev, blob, 0);
	node = fdt_node_offset_by_compatible(blob, -1, HUSK_FDT_VIRTIO);
	bar = fdt_getprop(blob, node, HUSK_FDT_VIRTIO_BAR, &len);
	tap_ok(len == 8 && fdt64_to_cpu(*bar) == drv.bar, "FDT: BAR");
	tap_ok(fdt32_to_cpu(*(const fdt32_t *)fdt_getprop(blob, node, HUSK_FDT_VIRTIO_ID, &len)) == 63,
	       "FDT: device id");
}

static void test_fuzz(void)
{
	unsigned seed = 3, lens[] = { 1, 2, 4, 8 };

	for (unsigned i = 0; i < 200000; i++) {
		unsigned r = rand_r(&seed), len = lens[r & 3], off = rand_r(&seed);
		uint64_t val = (uint64_t)rand_r(&seed) << 32 ^ rand_r(&seed);

		off = r & 4 ? off & 63 : r & 8 ? HUSK_VIRTIO_MSIX + (off & 0x8ff) : off & 0x7fff;
		if (r & 0x10)
			val = r & 0x20 ? 1ull << (val & 63) : val & 0x1f;
		if (off + len > HUSK_VIRTIO_BAR_SIZE)
			continue;
		if (r & 0x40)
			fake_set_reg(&drv, off, len, val);
		else
			fake_reg(&drv, off, len);
	}
	tap_ok(fake_reg(&drv, VIRTIO_PCI_COMMON_NUMQ, 2) == DUT_QUEUES,
	       "alive after 200000 random accesses");
}

int main(void)
{
	struct pci_host *host;

	dut = dut_new(&bus);
	host = dut->vd.pci->fn.host;
	test_identity();
	test_status();
	test_features();
	test_queues();
	test_short_start();
	test_notify();
	test_device_config();
	test_window();
	test_fdt(host);
	test_fuzz();
	host->dev.ops->reset(&host->dev);
	tap_ok(fake_status(&drv) == 0, "machine reset");
	fake_bus_free(bus);
	tap_ok(dut_released == 1, "released");
	return tap_done();
}
