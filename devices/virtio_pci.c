/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio over PCI, modern devices only (VIRTIO 1.1, section 4.1): one memory BAR with all
 * structures at the offsets of husk/fdt.h, capabilities that say so, MSI-X with a vector for
 * configuration changes and one for each queue, and the window through configuration space
 * (4.1.4.7). There is no INTx: the machine has no interrupt controller for it.
 */
#include "devices/virtio.h"

#include <assert.h>
#include <errno.h>
#include <libfdt.h>
#include <linux/pci_regs.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include <linux/virtio_ring.h>
#include <stdlib.h>
#include <string.h>
#include "devices/virtio_priv.h"
#include "husk/fdt.h"

#define VIRTIO_VENDOR		0x1af4
#define VIRTIO_DEVICE_BASE	0x1040		/* + virtio device id, 4.1.2 */
#define VIRTIO_REVISION		1
#define CLASS_OTHER		0xff0000	/* fits no defined class */

#define VIRTIO_BAR		0
#define STRUCT_SIZE		0x1000		/* room for each structure in the BAR */
#define MSIX_PBA		(HUSK_VIRTIO_MSIX + 0x800)
#define NOTIFY_MULTIPLIER	4

static struct virtio_pci *virtio_pci_of(struct pci_func *fn)
{
	return (struct virtio_pci *)fn;
}

void virtio_pci_interrupt(struct virtio_pci *vp, uint16_t vector, uint8_t isr)
{
	if (vector == VIRTIO_MSI_NO_VECTOR || !msix_notify(&vp->msix, vector))
		vp->isr |= isr;
}

/* A structure is a page of the BAR; what lies behind its end reads as ones. */
static void config_access(struct virtio_pci *vp, struct access *acc, bool write)
{
	struct virtio_device *vd = vp->vd;
	unsigned off = (unsigned)acc->off, len = acc->len;

	if (off >= vd->ops->config_size)
		return;
	if (len > vd->ops->config_size - off)
		len = vd->ops->config_size - off;
	if (!write && vd->ops->config_read)
		vd->ops->config_read(vd, off, &acc->val, len);
	else if (write && vd->ops->config_write)
		vd->ops->config_write(vd, off, &acc->val, len);
}

static void isr_read(struct virtio_pci *vp, struct access *acc)
{
	if (acc->off != 0)
		return;
	acc->val = vp->isr;
	vp->isr = 0;
}

static void virtio_bar_read(struct pci_func *fn, unsigned bar, struct access *acc)
{
	struct virtio_pci *vp = virtio_pci_of(fn);
	struct access sub = *acc;

	if (msix_read(&vp->msix, acc))
		return;
	sub.off &= STRUCT_SIZE - 1;
	pthread_mutex_lock(&vp->vd->lock);
	switch (acc->off & ~(STRUCT_SIZE - 1ull)) {
	case HUSK_VIRTIO_COMMON:
		virtio_common_read(vp, &sub);
		break;
	case HUSK_VIRTIO_ISR:
		isr_read(vp, &sub);
		break;
	case HUSK_VIRTIO_DEVICE:
		config_access(vp, &sub, false);
		break;
	}
	pthread_mutex_unlock(&vp->vd->lock);
	acc->val = sub.val;
}

static void virtio_bar_write(struct pci_func *fn, unsigned bar, struct access *acc)
{
	struct virtio_pci *vp = virtio_pci_of(fn);
	struct access sub = *acc;

	if (msix_write(&vp->msix, acc))
		return;
	sub.off &= STRUCT_SIZE - 1;
	pthread_mutex_lock(&vp->vd->lock);
	switch (acc->off & ~(STRUCT_SIZE - 1ull)) {
	case HUSK_VIRTIO_COMMON:
		virtio_common_write(vp, &sub);
		break;
	case HUSK_VIRTIO_DEVICE:
		config_access(vp, &sub, true);
		break;
	case HUSK_VIRTIO_NOTIFY:
		/* 4.1.4.4: the place says which queue; the value repeats it. */
		if (sub.off % NOTIFY_MULTIPLIER == 0)
			virtio_notify(vp, sub.off / NOTIFY_MULTIPLIER);
		break;
	}
	pthread_mutex_unlock(&vp->vd->lock);
}

/*
 * 4.1.4.7: the driver writes bar, offset and length into the capability; an access to its data
 * field is then an access to the BAR. The fields are the guest's: checked at each use.
 */
static bool window_access(struct virtio_pci *vp, struct access *acc)
{
	const uint8_t *cap = vp->fn.config + vp->pci_cfg_cap;
	uint32_t off = pci_get32(cap + offsetof(struct virtio_pci_cap, offset));
	uint32_t len = pci_get32(cap + offsetof(struct virtio_pci_cap, length));

	if (cap[offsetof(struct virtio_pci_cap, bar)] != VIRTIO_BAR ||
	    (len != 1 && len != 2 && len != 4) || off % len || off > HUSK_VIRTIO_BAR_SIZE - len)
		return false;
	acc->off = off;
	acc->len = len;
	return true;
}

static bool window_touched(const struct virtio_pci *vp, unsigned off, unsigned len)
{
	unsigned data = vp->pci_cfg_cap + offsetof(struct virtio_pci_cfg_cap, pci_cfg_data);

	return off < data + 4 && data < off + len;
}

static void virtio_config_read(struct pci_func *fn, unsigned off, unsigned len)
{
	struct virtio_pci *vp = virtio_pci_of(fn);
	struct access acc = { .val = ~0ull };
	uint8_t *data = fn->config + vp->pci_cfg_cap +
			offsetof(struct virtio_pci_cfg_cap, pci_cfg_data);

	if (!window_touched(vp, off, len) || !window_access(vp, &acc))
		return;
	virtio_bar_read(fn, VIRTIO_BAR, &acc);
	memcpy(data, &acc.val, acc.len);
}

static void virtio_config_write(struct pci_func *fn, unsigned off, unsigned len)
{
	struct virtio_pci *vp = virtio_pci_of(fn);
	struct access acc = { 0 };
	const uint8_t *data = fn->config + vp->pci_cfg_cap +
			      offsetof(struct virtio_pci_cfg_cap, pci_cfg_data);

	if (!window_touched(vp, off, len) || !window_access(vp, &acc))
		return;
	memcpy(&acc.val, data, acc.len);
	virtio_bar_write(fn, VIRTIO_BAR, &acc);
}

static void virtio_pci_reset(struct pci_func *fn)
{
	struct virtio_pci *vp = virtio_pci_of(fn);

	pthread_mutex_lock(&vp->vd->lock);
	virtio_reset(vp);
	pthread_mutex_unlock(&vp->vd->lock);
}

static int virtio_pci_fdt(struct pci_func *fn, void *fdt, int node)
{
	struct virtio_pci *vp = virtio_pci_of(fn);

	if (fdt_setprop_string(fdt, node, "compatible", HUSK_FDT_VIRTIO) < 0 ||
	    fdt_setprop_u32(fdt, node, HUSK_FDT_VIRTIO_ID, vp->vd->ops->id) < 0 ||
	    fdt_setprop_u64(fdt, node, HUSK_FDT_VIRTIO_BAR, fn->bar[VIRTIO_BAR].home) < 0)
		return -ENOSPC;
	if (vp->preset && fdt_setprop_u64(fdt, node, HUSK_FDT_VIRTIO_READY, vp->preset) < 0)
		return -ENOSPC;
	return 0;
}

static void virtio_pci_release(struct pci_func *fn)
{
	struct virtio_pci *vp = virtio_pci_of(fn);
	struct virtio_device *vd = vp->vd;

	/* The device goes first: it may hold chains. vd, and the lock in it, is gone afterwards. */
	vd->ops->release(vd);
	msix_fini(&vp->msix);
	free(vp->queue);
	free(vp);
}

static const struct pci_func_ops virtio_pci_ops = {
	.name = "virtio",
	.bar_read = virtio_bar_read,
	.bar_write = virtio_bar_write,
	.config_read = virtio_config_read,
	.config_write = virtio_config_write,
	.reset = virtio_pci_reset,
	.fdt = virtio_pci_fdt,
	.release = virtio_pci_release,
};

/* One vendor capability (4.1.4); `len` counts what follows the common part. */
static unsigned virtio_add_cap(struct virtio_pci *vp, uint8_t type, uint32_t offset,
			       uint32_t length, unsigned len)
{
	unsigned at = pci_add_cap(&vp->fn, PCI_CAP_ID_VNDR, sizeof(struct virtio_pci_cap) + len);
	uint8_t *cap = vp->fn.config + at;

	cap[offsetof(struct virtio_pci_cap, cap_len)] = sizeof(struct virtio_pci_cap) + len;
	cap[offsetof(struct virtio_pci_cap, cfg_type)] = type;
	cap[offsetof(struct virtio_pci_cap, bar)] = VIRTIO_BAR;
	pci_set32(cap + offsetof(struct virtio_pci_cap, offset), offset);
	pci_set32(cap + offsetof(struct virtio_pci_cap, length), length);
	return at;
}

static void virtio_add_caps(struct virtio_pci *vp)
{
	const struct virtio_ops *ops = vp->vd->ops;
	unsigned at;

	virtio_add_cap(vp, VIRTIO_PCI_CAP_COMMON_CFG, HUSK_VIRTIO_COMMON,
		       sizeof(struct virtio_pci_common_cfg), 0);
	at = virtio_add_cap(vp, VIRTIO_PCI_CAP_NOTIFY_CFG, HUSK_VIRTIO_NOTIFY,
			    NOTIFY_MULTIPLIER * ops->nqueues, 4);
	pci_set32(vp->fn.config + at + sizeof(struct virtio_pci_cap), NOTIFY_MULTIPLIER);
	virtio_add_cap(vp, VIRTIO_PCI_CAP_ISR_CFG, HUSK_VIRTIO_ISR, 1, 0);
	if (ops->config_size)
		virtio_add_cap(vp, VIRTIO_PCI_CAP_DEVICE_CFG, HUSK_VIRTIO_DEVICE, ops->config_size,
			       0);
	at = virtio_add_cap(vp, VIRTIO_PCI_CAP_PCI_CFG, 0, 0, 4);
	vp->pci_cfg_cap = at;
	vp->fn.wmask[at + offsetof(struct virtio_pci_cap, bar)] = 0xff;
	memset(vp->fn.wmask + at + offsetof(struct virtio_pci_cap, offset), 0xff, 4 + 4 + 4);
}

static void virtio_pci_init(struct virtio_pci *vp, const struct virtio_ops *ops)
{
	pci_func_init(&vp->fn, &virtio_pci_ops, VIRTIO_VENDOR, VIRTIO_DEVICE_BASE + ops->id,
		      CLASS_OTHER);
	vp->fn.config[PCI_REVISION_ID] = VIRTIO_REVISION;
	pci_add_bar(&vp->fn, VIRTIO_BAR, false, HUSK_VIRTIO_BAR_SIZE);
	pci_add_msix(&vp->fn, &vp->msix, ops->nqueues + 1, VIRTIO_BAR, HUSK_VIRTIO_MSIX, MSIX_PBA);
	virtio_add_caps(vp);
	vp->offered = ops->features | 1ull << VIRTIO_F_VERSION_1 |
		      1ull << VIRTIO_RING_F_INDIRECT_DESC;
	for (unsigned q = 0; q < ops->nqueues; q++) {
		vp->queue[q].vd = vp->vd;
		vp->queue[q].index = q;
		virtq_reset(&vp->queue[q]);
	}
	vp->config_vector = VIRTIO_MSI_NO_VECTOR;
}

int virtio_attach(struct pci_host *host, struct virtio_device *vd, const struct virtio_ops *ops)
{
	struct virtio_pci *vp = calloc(1, sizeof(*vp));
	int ret = -ENOMEM;

	assert(ops->nqueues >= 1 && ops->nqueues < MSIX_MAX_VECTORS);
	assert(ops->config_size <= STRUCT_SIZE);
	if (!vp)
		return ret;
	vp->queue = calloc(ops->nqueues, sizeof(*vp->queue));
	if (!vp->queue)
		goto free_vp;
	vd->ops = ops;
	vd->bus = host->dev.bus;
	vd->pci = vp;
	vp->vd = vd;
	pthread_mutex_init(&vd->lock, NULL);
	virtio_pci_init(vp, ops);
	ret = pci_attach(host, &vp->fn);
	if (ret < 0)
		goto fini_vp;
	return 0;

fini_vp:
	msix_fini(&vp->msix);
	pthread_mutex_destroy(&vd->lock);
	free(vp->queue);
free_vp:
	free(vp);
	return ret;
}
