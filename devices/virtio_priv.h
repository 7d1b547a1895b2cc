/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What virtio.c (state machine, common configuration), virtio_pci.c (transport) and virtq.c
 * (rings) share. Device models include devices/virtio.h only.
 */
#pragma once

#include "devices/pci.h"
#include "devices/virtio.h"

struct virtq {
	struct virtio_device *vd;
	unsigned index;
	uint16_t size;			/* as the driver set it; VIRTQ_MAX_SIZE after reset */
	uint16_t vector;		/* VIRTIO_MSI_NO_VECTOR: none */
	bool enabled;
	uint64_t desc, avail, used;	/* guest physical, checked at every use */
	uint16_t last_avail;		/* next entry of the available ring to take */
	uint16_t used_idx;		/* next entry of the used ring to fill */
	uint16_t signalled;		/* used_idx at the last interrupt (EVENT_IDX) */
	bool signalled_valid;
};

/* The transport of one device. All but fn and msix is guarded by vd->lock. */
struct virtio_pci {
	struct pci_func fn;
	struct msix msix;
	struct virtio_device *vd;
	unsigned pci_cfg_cap;		/* offset of the configuration access capability */

	uint64_t offered;
	uint64_t accepted;		/* as written; vd->features once FEATURES_OK is on */
	uint32_t device_feature_select, driver_feature_select;
	uint16_t config_vector, queue_select;
	uint8_t status, generation, isr;
	uint64_t preset;		/* virtio_preset(): the rings; 0: not done */
	struct virtq *queue;		/* vd->ops->nqueues of them */
};

/* virtio.c; with vd->lock held. */
void virtio_reset(struct virtio_pci *vp);
void virtio_needs_reset(struct virtio_pci *vp);
void virtio_common_read(struct virtio_pci *vp, struct access *acc);
void virtio_common_write(struct virtio_pci *vp, struct access *acc);
void virtio_notify(struct virtio_pci *vp, uint64_t queue);

/* ISR status bits (4.1.4.5). */
#define VIRTIO_ISR_QUEUE	0x1
#define VIRTIO_ISR_CONFIG	0x2

/* virtio_pci.c: raise ISR bit `isr` or send the vector; with vd->lock held. */
void virtio_pci_interrupt(struct virtio_pci *vp, uint16_t vector, uint8_t isr);

/* virtq.c; with vd->lock held. */
void virtq_reset(struct virtq *vq);
bool virtq_enable(struct virtq *vq);	/* false: addresses refused */
