/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio 1.x over PCI, the driver's side, for devices that the FDT describes (husk/fdt.h). A
 * device costs nothing until its driver calls virtio_start() and sets up the first queue; others
 * follow when they are needed. All under the kernel lock.
 */
#pragma once

#include "core/wait.h"
#include "drivers/drivers.h"

#define VIRTIO_ID_CONSOLE_DEV	3
#define VIRTIO_ID_RNG_DEV	4
#define VIRTIO_ID_FS_DEV	26

#define VIRTQ_INFLIGHT		8	/* chains that one queue has at the device at a time */

struct virtq;

struct virtio_dev {
	u8 *bar;			/* registers; NULL: there is no such device */
	u8 *ready;			/* rings that the VMM has set up, or NULL */
	u32 ecam;			/* offset of its configuration space in the ECAM window */
	u8 status;			/* device status; goes out with queue_select */
	u16 selected;			/* queue_select as written last */
	u16 config_vector;		/* MSI-X entry for configuration changes, or none */
	u8 msix_entries;		/* bit n: entry n of the MSI-X table is set up */
	struct virtq *queues;
	void (*on_config)(struct virtio_dev *vd);	/* configuration changed */
};

struct virtq {
	struct virtio_dev *vd;
	struct virtq *next;		/* vd->queues */
	u16 index, size, nfree, free_head, last_used;
	bool vector_set;
	unsigned waiting;		/* callers that want the interrupt */
	struct vring_desc *desc;
	struct vring_avail *avail;
	struct vring_used *used;
	struct { void *token; u16 head, ndesc; } inflight[VIRTQ_INFLIGHT];
	struct wait_queue wq;		/* woken by the device's interrupt */
	void (*on_interrupt)(struct virtq *vq);		/* before the waiters; may be NULL */
};

/* Find the device with this virtio id; false: there is none. Touches no register. */
bool virtio_find(const struct fdt *fdt, u32 id, struct virtio_dev *vd);
/* Accept features: VIRTIO_F_VERSION_1 and the low 32 bits given. */
void virtio_start(struct virtio_dev *vd, u32 features_low);
/* Set up queue `index` with `size` entries (a power of two up to 256). NULL: no memory. */
struct virtq *virtq_setup(struct virtio_dev *vd, u16 index, u16 size);
/* The queue of a device that the VMM has started (vd->ready), instead of virtio_start() and setup. */
struct virtq *virtq_adopt(struct virtio_dev *vd, u16 index);
bool virtio_broken(struct virtio_dev *vd);	/* the device wants a reset; reads a register */
/* Have fn called, with the kernel lock, when the device's configuration changes. 0 or -errno. */
int virtio_config_irq(struct virtio_dev *vd, void (*fn)(struct virtio_dev *vd));

/*
 * Make a chain available: `out` is what the device reads, `in` what it writes. Pieces that are
 * neighbours in memory share a descriptor. Does not notify. -ENOSPC: no descriptors or too many
 * chains in flight now; -E2BIG: more pieces than the queue has entries.
 */
int virtq_add(struct virtq *vq, const struct io_seg *out, unsigned nout,
	      const struct io_seg *in, unsigned nin, void *token);
void virtq_kick(struct virtq *vq);		/* notify: one exit, on which most devices finish */
void *virtq_get(struct virtq *vq, u32 *len);	/* token of a finished chain, or NULL */

/*
 * Interrupts are off until somebody waits. After virtq_irq_on() look at the queue once more,
 * then sleep on vq->wq; each successful call wants its virtq_irq_off().
 */
int virtq_irq_on(struct virtq *vq);
void virtq_irq_off(struct virtq *vq);

/* A whole request: returns the bytes that the device wrote, or -errno. Sleeps if it must. */
long virtq_request(struct virtq *vq, const struct io_seg *out, unsigned nout,
		   const struct io_seg *in, unsigned nin);
