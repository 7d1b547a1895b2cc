/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio over PCI (VIRTIO 1.1, section 4.1): finding, starting and interrupts of a device. What
 * counts here is the number of register accesses, since each is a VM exit:
 *
 *  - nothing is read that the contract fixes: no capabilities, no offered features (the devices
 *    of husk offer VERSION_1; drivers ask for bits that husk's device has), no notify offsets;
 *  - neighbouring fields go out in one 8-byte store, which the device takes field by field in
 *    ascending order: select and feature word; status and queue_select; size, vector and enable;
 *  - all status bits go out together, with the select of the first queue. DRIVER_OK is thus there
 *    before the queues, which husk's devices allow: a queue counts from its enable on;
 *  - no reset: the VMM starts a device in that state; no MSI-X until somebody really waits.
 *
 * That is 1 (features; 2 with low bits) and 5 for each queue (status and select, three addresses,
 * enable): 6 accesses for virtio-fs, whose request queue is the only one used.
 */
#include <linux/errno.h>
#include <linux/pci_regs.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include "core/fdt.h"
#include "core/print.h"
#include "drivers/mmio.h"
#include "drivers/virtio.h"
#include "drivers/virtq.h"
#include "husk/fdt.h"
#include "husk/layout.h"

#define MSIX_QUEUES	0		/* MSI-X entry that all queues share */
#define MSIX_CONFIG	1		/* for configuration changes */
#define STATUS_RUNNING	(VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER | \
			 VIRTIO_CONFIG_S_FEATURES_OK | VIRTIO_CONFIG_S_DRIVER_OK)
#define CAP_LIMIT	48		/* capabilities that fit in configuration space */

bool virtio_find(const struct fdt *fdt, u32 id, struct virtio_dev *vd)
{
	int node = -1;

	u64 ready;

	while ((node = fdt_compatible(fdt, node, HUSK_FDT_VIRTIO)) >= 0) {
		u64 bar = fdt_u64(fdt, node, HUSK_FDT_VIRTIO_BAR, 0);
		u32 len;
		const u8 *reg = fdt_prop(fdt, node, "reg", &len);

		if (fdt_u32(fdt, node, HUSK_FDT_VIRTIO_ID, 0) != id || !bar || !reg || len < 4)
			continue;
		*vd = (struct virtio_dev){
			.bar = mmio_map(bar, HUSK_VIRTIO_BAR_SIZE),
			/* phys.hi: bus in bits 16-23, device 11-15, function 8-10 */
			.ecam = ((u32)reg[1] << 8 | reg[2]) << 12,
			.config_vector = VIRTIO_MSI_NO_VECTOR,
		};
		ready = fdt_u64(fdt, node, HUSK_FDT_VIRTIO_READY, 0);
		if (ready) {
			vd->ready = mmio_map(ready, 2 * PAGE_SIZE);
			vd->status = STATUS_RUNNING;
		}
		return vd->bar != NULL;
	}
	vd->bar = NULL;
	return false;
}

void virtio_write_select(struct virtio_dev *vd, u16 queue)
{
	vd->selected = queue;
	mmio_write64(vd->bar + HUSK_VIRTIO_COMMON + VIRTIO_PCI_COMMON_MSIX,
		     (u64)queue << 48 | (u64)vd->status << 32 | vd->config_vector);
}

void virtio_start(struct virtio_dev *vd, u32 features_low)
{
	u8 *common = vd->bar + HUSK_VIRTIO_COMMON;

	if (features_low)	/* the feature select is 0 after reset */
		mmio_write32(common + VIRTIO_PCI_COMMON_GF, features_low);
	/* Word 1 in the select, and the word in the field behind it, where bit 32 is VERSION_1's. */
	mmio_write64(common + VIRTIO_PCI_COMMON_GFSELECT, 1 | 1ull << VIRTIO_F_VERSION_1);
	vd->status = STATUS_RUNNING;
}

bool virtio_broken(struct virtio_dev *vd)
{
	return mmio_read8(vd->bar + HUSK_VIRTIO_COMMON + VIRTIO_PCI_COMMON_STATUS) &
	       VIRTIO_CONFIG_S_NEEDS_RESET;
}

static void virtio_queue_interrupt(void *arg)
{
	struct virtio_dev *vd = arg;

	for (struct virtq *vq = vd->queues; vq; vq = vq->next) {
		if (vq->on_interrupt)
			vq->on_interrupt(vq);
		wake_all(&vq->wq);
	}
}

static void virtio_config_interrupt(void *arg)
{
	struct virtio_dev *vd = arg;

	vd->on_config(vd);
}

/* Offset of a capability in configuration space, or 0 (PCI Local Bus 3.0, section 6.7). */
static u8 pci_find_cap(const u8 *config, u8 id)
{
	u8 at = mmio_read8(config + PCI_CAPABILITY_LIST) & ~3;

	for (unsigned n = 0; at >= PCI_STD_HEADER_SIZEOF && n < CAP_LIMIT; n++) {
		u16 head = mmio_read16(config + at);

		if ((head & 0xff) == id)
			return at;
		at = (u8)(head >> 8) & ~3;
	}
	return 0;
}

/* The function's own switch; messages need bus mastering besides, and decoding stays on. */
static int virtio_enable_msix(struct virtio_dev *vd)
{
	u8 *config = mmio_map(HUSK_ECAM_BASE + vd->ecam, PAGE_SIZE);
	u8 cap = config ? pci_find_cap(config, PCI_CAP_ID_MSIX) : 0;

	if (!cap)
		return -ENODEV;
	mmio_write16(config + cap + PCI_MSIX_FLAGS, PCI_MSIX_FLAGS_ENABLE);
	mmio_write16(config + PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	return 0;
}

/* Have fn called for an entry of the MSI-X table, which starts out masked. */
static int virtio_set_entry(struct virtio_dev *vd, unsigned entry, void (*fn)(void *arg))
{
	u8 *at = vd->bar + HUSK_VIRTIO_MSIX + entry * PCI_MSIX_ENTRY_SIZE;
	int ret = vd->msix_entries ? 0 : virtio_enable_msix(vd);

	if (!ret)
		ret = irq_request(fn, vd);
	if (ret < 0) {
		klog("virtio device at ECAM 0x%x: no interrupt: error %d", vd->ecam, -ret);
		return ret;
	}
	mmio_write64(at + PCI_MSIX_ENTRY_LOWER_ADDR, MSI_ADDRESS);
	mmio_write64(at + PCI_MSIX_ENTRY_DATA, (u32)ret);	/* vector control 0: not masked */
	vd->msix_entries |= 1u << entry;
	return 0;
}

int virtio_use_msix(struct virtio_dev *vd)
{
	if (vd->msix_entries & 1u << MSIX_QUEUES)
		return 0;
	return virtio_set_entry(vd, MSIX_QUEUES, virtio_queue_interrupt);
}

int virtio_config_irq(struct virtio_dev *vd, void (*fn)(struct virtio_dev *vd))
{
	int ret;

	vd->on_config = fn;
	if (vd->msix_entries & 1u << MSIX_CONFIG)
		return 0;
	ret = virtio_set_entry(vd, MSIX_CONFIG, virtio_config_interrupt);
	if (ret < 0)
		return ret;
	vd->config_vector = MSIX_CONFIG;
	virtio_write_select(vd, vd->selected);
	return 0;
}
