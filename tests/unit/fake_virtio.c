/* SPDX-License-Identifier: Apache-2.0 */
/* The virtio driver of device tests (fake_bus.h): finds its device by the BAR, polls used rings. */
#include <linux/pci_regs.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include "husk/fdt.h"
#include "tests/unit/fake_bus.h"

#define MSI_WINDOW	0xfee00000u

uint64_t fake_reg(struct fake_driver *d, unsigned off, unsigned len)
{
	return fake_read(d->bus, BUS_MMIO, d->bar + off, len);
}

void fake_set_reg(struct fake_driver *d, unsigned off, unsigned len, uint64_t val)
{
	fake_write(d->bus, BUS_MMIO, d->bar + off, len, val);
}

uint8_t fake_status(struct fake_driver *d)
{
	return (uint8_t)fake_reg(d, VIRTIO_PCI_COMMON_STATUS, 1);
}

static void fake_vector(struct fake_driver *d, unsigned v, uint32_t data)
{
	fake_set_reg(d, HUSK_VIRTIO_MSIX + 16 * v, 8, MSI_WINDOW);
	fake_set_reg(d, HUSK_VIRTIO_MSIX + 16 * v + 8, 8, data);
}

bool fake_driver_init(struct fake_driver *d, struct bus *bus, unsigned slot, uint64_t want)
{
	uint64_t offered;

	memset(d, 0, sizeof(*d));
	d->bus = bus;
	d->slot = slot;
	d->bar = fake_config_read(bus, slot, PCI_BASE_ADDRESS_0, 4) & PCI_BASE_ADDRESS_MEM_MASK;
	fake_set_reg(d, VIRTIO_PCI_COMMON_STATUS, 1, 0);
	fake_set_reg(d, VIRTIO_PCI_COMMON_STATUS, 1,
		     VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER);
	fake_set_reg(d, VIRTIO_PCI_COMMON_DFSELECT, 4, 0);
	offered = fake_reg(d, VIRTIO_PCI_COMMON_DF, 4);
	fake_set_reg(d, VIRTIO_PCI_COMMON_DFSELECT, 4, 1);
	offered |= fake_reg(d, VIRTIO_PCI_COMMON_DF, 4) << 32;
	d->features = offered & (want | 1ull << VIRTIO_F_VERSION_1);
	for (unsigned half = 0; half < 2; half++) {
		fake_set_reg(d, VIRTIO_PCI_COMMON_GFSELECT, 4, half);
		fake_set_reg(d, VIRTIO_PCI_COMMON_GF, 4, (uint32_t)(d->features >> 32 * half));
	}
	fake_set_reg(d, VIRTIO_PCI_COMMON_STATUS, 1, VIRTIO_CONFIG_S_ACKNOWLEDGE |
		     VIRTIO_CONFIG_S_DRIVER | VIRTIO_CONFIG_S_FEATURES_OK);
	fake_vector(d, 0, FAKE_VECTOR_CONFIG);
	fake_set_reg(d, VIRTIO_PCI_COMMON_MSIX, 2, 0);
	return fake_status(d) & VIRTIO_CONFIG_S_FEATURES_OK;
}

void fake_queue_setup(struct fake_driver *d, unsigned q, uint16_t size)
{
	struct fake_queue *fq = &d->q[q];

	fq->size = size;
	fq->desc = fake_alloc(d->bus, 16u * size, 16);
	fq->avail = fake_alloc(d->bus, 6 + 2u * size, 2);
	fq->used = fake_alloc(d->bus, 6 + 8u * size, 4);
	fq->next_desc = fq->avail_idx = fq->used_seen = 0;
	fake_vector(d, 1 + q, FAKE_VECTOR(q));
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_SELECT, 2, q);
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_SIZE, 2, size);
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_MSIX, 2, 1 + q);
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_DESCLO, 8, fq->desc);
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_AVAILLO, 8, fq->avail);
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_USEDLO, 8, fq->used);
	fake_set_reg(d, VIRTIO_PCI_COMMON_Q_ENABLE, 2, 1);
}

void fake_driver_ok(struct fake_driver *d)
{
	fake_set_reg(d, VIRTIO_PCI_COMMON_STATUS, 1, VIRTIO_CONFIG_S_ACKNOWLEDGE |
		     VIRTIO_CONFIG_S_DRIVER | VIRTIO_CONFIG_S_FEATURES_OK |
		     VIRTIO_CONFIG_S_DRIVER_OK);
}

struct vring_desc *fake_desc(struct fake_driver *d, unsigned q, unsigned i)
{
	return (struct vring_desc *)fake_ptr(d->bus, d->q[q].desc + 16u * i, 16);
}

void fake_queue_publish(struct fake_driver *d, unsigned q, uint16_t head)
{
	struct fake_queue *fq = &d->q[q];
	uint16_t *avail = fake_ptr(d->bus, fq->avail, 6 + 2u * fq->size);

	avail[2 + fq->avail_idx % fq->size] = head;
	__atomic_store_n(&avail[1], ++fq->avail_idx, __ATOMIC_RELEASE);
}

uint16_t fake_queue_add(struct fake_driver *d, unsigned q, const struct fake_buf *bufs,
			unsigned nout, unsigned nin)
{
	struct fake_queue *fq = &d->q[q];
	uint16_t head = fq->next_desc;

	for (unsigned i = 0; i < nout + nin; i++) {
		struct vring_desc *desc = fake_desc(d, q, fq->next_desc);

		fq->next_desc = (fq->next_desc + 1) % fq->size;
		desc->addr = bufs[i].gpa;
		desc->len = bufs[i].len;
		desc->flags = (i < nout ? 0 : VRING_DESC_F_WRITE) |
			      (i + 1 < nout + nin ? VRING_DESC_F_NEXT : 0);
		desc->next = fq->next_desc;
	}
	fake_queue_publish(d, q, head);
	return head;
}

void fake_queue_kick(struct fake_driver *d, unsigned q)
{
	fake_set_reg(d, HUSK_VIRTIO_NOTIFY + 4 * q, 2, q);
}

bool fake_queue_used(struct fake_driver *d, unsigned q, uint32_t *id, uint32_t *len)
{
	struct fake_queue *fq = &d->q[q];
	struct vring_used *used = fake_ptr(d->bus, fq->used, 6 + 8u * fq->size);
	struct vring_used_elem *e = &used->ring[fq->used_seen % fq->size];

	if (__atomic_load_n(&used->idx, __ATOMIC_ACQUIRE) == fq->used_seen)
		return false;
	if (id)
		*id = e->id;
	if (len)
		*len = e->len;
	fq->used_seen++;
	return true;
}
