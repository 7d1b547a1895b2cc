/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtio device as its driver sees it: status machine and feature negotiation (VIRTIO 1.1, 2.1,
 * 2.2, 3.1) and the common configuration structure (4.1.4.3). Called by virtio_pci.c on vCPU
 * threads with vd->lock held.
 *
 * The structure is treated as bytes: a write of any size is laid over its image, then the fields
 * it touches act in ascending order. So a driver may set a select register and the register it
 * selects, or size, vector and enable of a queue, in one access.
 */
#include "devices/virtio.h"

#include <assert.h>
#include <errno.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include "devices/virtio_priv.h"

#define COMMON_SIZE	sizeof(struct virtio_pci_common_cfg)

#define STATUS_KNOWN	(VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER | \
			 VIRTIO_CONFIG_S_DRIVER_OK | VIRTIO_CONFIG_S_FEATURES_OK | \
			 VIRTIO_CONFIG_S_FAILED)

_Static_assert(COMMON_SIZE == 56, "VIRTIO 1.1, 4.1.4.3");

struct virtq *virtio_queue(struct virtio_device *vd, unsigned q)
{
	assert(q < vd->ops->nqueues);
	return &vd->pci->queue[q];
}

void virtio_reset(struct virtio_pci *vp)
{
	struct virtio_device *vd = vp->vd;

	vp->accepted = vd->features = 0;
	vp->device_feature_select = vp->driver_feature_select = 0;
	vp->config_vector = VIRTIO_MSI_NO_VECTOR;
	vp->queue_select = 0;
	vp->status = vp->isr = 0;
	for (unsigned q = 0; q < vd->ops->nqueues; q++)
		virtq_reset(&vp->queue[q]);
	if (vd->ops->reset)
		vd->ops->reset(vd);
}

/* 2.1.2: tell the driver by a configuration change if it runs already. Nothing works until reset. */
void virtio_needs_reset(struct virtio_pci *vp)
{
	if (vp->status & VIRTIO_CONFIG_S_NEEDS_RESET)
		return;
	vp->status |= VIRTIO_CONFIG_S_NEEDS_RESET;
	if (vp->status & VIRTIO_CONFIG_S_DRIVER_OK)
		virtio_config_interrupt(vp->vd);
}

void virtio_config_interrupt(struct virtio_device *vd)
{
	struct virtio_pci *vp = vd->pci;

	vp->generation++;
	if (vp->status & VIRTIO_CONFIG_S_DRIVER_OK)
		virtio_pci_interrupt(vp, vp->config_vector, VIRTIO_ISR_CONFIG);
}

void virtio_notify(struct virtio_pci *vp, uint64_t queue)
{
	struct virtio_device *vd = vp->vd;

	if (queue < vd->ops->nqueues && virtq_ready(&vp->queue[queue]))
		vd->ops->notify(vd, (unsigned)queue);
}

static bool virtio_features_fine(const struct virtio_pci *vp)
{
	return (vp->accepted & 1ull << VIRTIO_F_VERSION_1) && !(vp->accepted & ~vp->offered);
}

/*
 * 2.1: a driver sets bits and never clears one but by reset (0). Bits may come together; each is
 * taken only if the ones it rests on are there: FEATURES_OK with features we can live with,
 * DRIVER_OK after FEATURES_OK.
 */
static void virtio_write_status(struct virtio_pci *vp, uint8_t val)
{
	struct virtio_device *vd = vp->vd;
	uint8_t news = val & STATUS_KNOWN & ~vp->status;

	if (val == 0) {
		virtio_reset(vp);
		return;
	}
	if ((news & VIRTIO_CONFIG_S_FEATURES_OK) && !virtio_features_fine(vp))
		news &= ~VIRTIO_CONFIG_S_FEATURES_OK;
	if (!((vp->status | news) & VIRTIO_CONFIG_S_FEATURES_OK))
		news &= ~VIRTIO_CONFIG_S_DRIVER_OK;
	vp->status |= news;
	if (news & VIRTIO_CONFIG_S_FEATURES_OK)
		vd->features = vp->accepted;
	if ((news & VIRTIO_CONFIG_S_DRIVER_OK) && vd->ops->driver_ok)
		vd->ops->driver_ok(vd);
}

static void virtio_write_features(struct virtio_pci *vp, uint32_t val)
{
	unsigned shift = 32 * vp->driver_feature_select;

	if (vp->driver_feature_select > 1 || (vp->status & VIRTIO_CONFIG_S_FEATURES_OK))
		return;
	vp->accepted = (vp->accepted & ~(0xffffffffull << shift)) | (uint64_t)val << shift;
}

static uint16_t virtio_check_vector(const struct virtio_pci *vp, uint16_t v)
{
	return v < vp->msix.nvectors ? v : VIRTIO_MSI_NO_VECTOR;
}

static struct virtq *virtio_selected(struct virtio_pci *vp)
{
	return vp->queue_select < vp->vd->ops->nqueues ? &vp->queue[vp->queue_select] : NULL;
}

static void virtio_common_image(struct virtio_pci *vp, struct virtio_pci_common_cfg *c)
{
	const struct virtq *vq = virtio_selected(vp);

	memset(c, 0, sizeof(*c));
	c->device_feature_select = vp->device_feature_select;
	if (vp->device_feature_select < 2)
		c->device_feature = vp->offered >> 32 * vp->device_feature_select;
	c->guest_feature_select = vp->driver_feature_select;
	if (vp->driver_feature_select < 2)
		c->guest_feature = vp->accepted >> 32 * vp->driver_feature_select;
	c->msix_config = vp->config_vector;
	c->num_queues = vp->vd->ops->nqueues;
	c->device_status = vp->status;
	c->config_generation = vp->generation;
	c->queue_select = vp->queue_select;
	if (!vq)
		return;		/* 4.1.4.3.1: size 0 for a queue that does not exist */
	c->queue_size = vq->size;
	c->queue_msix_vector = vq->vector;
	c->queue_enable = vq->enabled;
	c->queue_notify_off = vq->index;
	c->queue_desc_lo = (uint32_t)vq->desc;
	c->queue_desc_hi = vq->desc >> 32;
	c->queue_avail_lo = (uint32_t)vq->avail;
	c->queue_avail_hi = vq->avail >> 32;
	c->queue_used_lo = (uint32_t)vq->used;
	c->queue_used_hi = vq->used >> 32;
}

void virtio_common_read(struct virtio_pci *vp, struct access *acc)
{
	struct virtio_pci_common_cfg c;

	if (acc->off + acc->len > COMMON_SIZE)
		return;
	virtio_common_image(vp, &c);
	acc->val = 0;
	memcpy(&acc->val, (uint8_t *)&c + acc->off, acc->len);
}

static void virtio_enable_queue(struct virtio_pci *vp, struct virtq *vq, uint16_t val)
{
	if (val == 1 && !virtq_enable(vq))
		virtio_needs_reset(vp);
}

/* An enabled queue does not change (4.1.4.3.2), but for its vector. */
static void virtio_write_queue(struct virtio_pci *vp, unsigned off,
			       const struct virtio_pci_common_cfg *c)
{
	struct virtq *vq = virtio_selected(vp);

	if (!vq || (vq->enabled && off != VIRTIO_PCI_COMMON_Q_MSIX))
		return;
	switch (off) {
	case VIRTIO_PCI_COMMON_Q_SIZE:
		vq->size = c->queue_size;	/* judged when the queue is enabled */
		break;
	case VIRTIO_PCI_COMMON_Q_MSIX:
		vq->vector = virtio_check_vector(vp, c->queue_msix_vector);
		break;
	case VIRTIO_PCI_COMMON_Q_ENABLE:
		virtio_enable_queue(vp, vq, c->queue_enable);
		break;
	case VIRTIO_PCI_COMMON_Q_DESCLO:
	case VIRTIO_PCI_COMMON_Q_DESCHI:
		vq->desc = c->queue_desc_lo | (uint64_t)c->queue_desc_hi << 32;
		break;
	case VIRTIO_PCI_COMMON_Q_AVAILLO:
	case VIRTIO_PCI_COMMON_Q_AVAILHI:
		vq->avail = c->queue_avail_lo | (uint64_t)c->queue_avail_hi << 32;
		break;
	case VIRTIO_PCI_COMMON_Q_USEDLO:
	case VIRTIO_PCI_COMMON_Q_USEDHI:
		vq->used = c->queue_used_lo | (uint64_t)c->queue_used_hi << 32;
		break;
	}
}

static void virtio_write_field(struct virtio_pci *vp, unsigned off,
			       const struct virtio_pci_common_cfg *c)
{
	switch (off) {
	case VIRTIO_PCI_COMMON_DFSELECT:
		vp->device_feature_select = c->device_feature_select;
		break;
	case VIRTIO_PCI_COMMON_GFSELECT:
		vp->driver_feature_select = c->guest_feature_select;
		break;
	case VIRTIO_PCI_COMMON_GF:
		virtio_write_features(vp, c->guest_feature);
		break;
	case VIRTIO_PCI_COMMON_MSIX:
		vp->config_vector = virtio_check_vector(vp, c->msix_config);
		break;
	case VIRTIO_PCI_COMMON_STATUS:
		virtio_write_status(vp, c->device_status);
		break;
	case VIRTIO_PCI_COMMON_Q_SELECT:
		vp->queue_select = c->queue_select;
		break;
	default:
		virtio_write_queue(vp, off, c);
	}
}

/* Offset and length of every writable field, ascending. */
static const struct { uint8_t off, len; } common_fields[] = {
	{ VIRTIO_PCI_COMMON_DFSELECT, 4 },	{ VIRTIO_PCI_COMMON_GFSELECT, 4 },
	{ VIRTIO_PCI_COMMON_GF, 4 },		{ VIRTIO_PCI_COMMON_MSIX, 2 },
	{ VIRTIO_PCI_COMMON_STATUS, 1 },	{ VIRTIO_PCI_COMMON_Q_SELECT, 2 },
	{ VIRTIO_PCI_COMMON_Q_SIZE, 2 },	{ VIRTIO_PCI_COMMON_Q_MSIX, 2 },
	{ VIRTIO_PCI_COMMON_Q_ENABLE, 2 },	{ VIRTIO_PCI_COMMON_Q_DESCLO, 4 },
	{ VIRTIO_PCI_COMMON_Q_DESCHI, 4 },	{ VIRTIO_PCI_COMMON_Q_AVAILLO, 4 },
	{ VIRTIO_PCI_COMMON_Q_AVAILHI, 4 },	{ VIRTIO_PCI_COMMON_Q_USEDLO, 4 },
	{ VIRTIO_PCI_COMMON_Q_USEDHI, 4 },
};

void virtio_common_write(struct virtio_pci *vp, struct access *acc)
{
	struct virtio_pci_common_cfg c;
	uint64_t end = acc->off + acc->len;

	if (end > COMMON_SIZE)
		return;
	virtio_common_image(vp, &c);
	memcpy((uint8_t *)&c + acc->off, &acc->val, acc->len);
	for (unsigned i = 0; i < sizeof(common_fields) / sizeof(common_fields[0]); i++) {
		unsigned off = common_fields[i].off;

		if (off < end && acc->off < off + common_fields[i].len)
			virtio_write_field(vp, off, &c);
	}
}

int virtio_preset(struct virtio_device *vd, unsigned q, uint16_t size, uint64_t desc, uint64_t avail,
		  uint64_t used)
{
	struct virtio_pci *vp = vd->pci;
	struct virtq *vq = virtio_queue(vd, q);
	bool ok;

	pthread_mutex_lock(&vd->lock);
	vq->size = size;
	vq->desc = desc;
	vq->avail = avail;
	vq->used = used;
	ok = virtq_enable(vq);
	if (ok) {
		vp->accepted = vd->features = 1ull << VIRTIO_F_VERSION_1;
		vp->status = VIRTIO_CONFIG_S_ACKNOWLEDGE | VIRTIO_CONFIG_S_DRIVER |
			     VIRTIO_CONFIG_S_FEATURES_OK | VIRTIO_CONFIG_S_DRIVER_OK;
		vp->preset = desc;
	} else {
		virtq_reset(vq);
	}
	pthread_mutex_unlock(&vd->lock);
	return ok ? 0 : -EINVAL;
}
