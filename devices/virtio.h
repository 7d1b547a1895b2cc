/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio 1.x devices over PCI: what a device model supplies (struct virtio_ops) and the split
 * virtqueues it works with. Virtual I/O Device (VIRTIO) 1.1, sections 2.6 and 4.1.
 */
#pragma once

#include <pthread.h>
#include <sys/uio.h>
#include "devices/bus.h"

#define VIRTQ_MAX_SIZE	256
#define VIRTQ_MAX_IOV	272	/* pieces in one chain; longer ones are malformed */

struct pci_host;
struct virtio_device;
struct virtq;

struct virtio_ops {
	const char *name;
	uint16_t id;				/* virtio device id */
	unsigned nqueues;
	/*
	 * Beyond VIRTIO_F_VERSION_1 and VIRTIO_RING_F_INDIRECT_DESC, which every device offers. One
	 * that offers VIRTIO_RING_F_EVENT_IDX must pop until virtq_pop() says 0, for chains added
	 * meanwhile may come without a notification; else 256 pops a notification are enough.
	 */
	uint64_t features;
	/* Device configuration space; off + len is inside config_size. */
	unsigned config_size;
	void (*config_read)(struct virtio_device *vd, unsigned off, void *buf, unsigned len);
	void (*config_write)(struct virtio_device *vd, unsigned off, const void *buf, unsigned len);
	/* The driver notified queue q, which is ready. On a vCPU thread. */
	void (*notify)(struct virtio_device *vd, unsigned q);
	void (*driver_ok)(struct virtio_device *vd);	/* may be NULL */
	void (*reset)(struct virtio_device *vd);	/* may be NULL: back to the state after attach */
	void (*release)(struct virtio_device *vd);
};

/*
 * Lock: every op except release runs with vd->lock held, so a device needs no lock of its own;
 * code on other threads (the event loop) takes it around virtq_*(), virtio_config_interrupt() and
 * its own state. An op that works for long may drop it and take it again. Order: vd->lock is taken
 * inside the PCI host's lock: an op must not call pci_*().
 */
struct virtio_device {
	const struct virtio_ops *ops;
	struct bus *bus;
	pthread_mutex_t lock;
	uint64_t features;		/* what the driver accepted; 0 before FEATURES_OK */
	struct virtio_pci *pci;		/* the transport's own */
};

/* One chain taken from a queue: host pieces, already checked against guest memory. */
struct virtq_elem {
	uint16_t head;
	unsigned nout, nin;			/* device-readable pieces come first in iov */
	size_t out_bytes, in_bytes;
	struct iovec iov[VIRTQ_MAX_IOV];
};

struct virtq *virtio_queue(struct virtio_device *vd, unsigned q);
/* Enabled, DRIVER_OK set, and not broken. */
bool virtq_ready(const struct virtq *vq);

/*
 * Next available chain: 1, 0 when there is none, -EPROTO when the guest's ring is malformed (the
 * device is then marked DEVICE_NEEDS_RESET and takes no more). Empty pieces are left out. After
 * ops->reset a chain popped before is void: forget it.
 */
int virtq_pop(struct virtq *vq, struct virtq_elem *elem);
/* Return a chain with `len` bytes written to its device-writable part. Does not interrupt. */
void virtq_push(struct virtq *vq, const struct virtq_elem *elem, uint32_t len);
/* Interrupt for the queue unless the driver suppressed it (VIRTQ_AVAIL_F_NO_INTERRUPT) or has no vector. */
void virtq_interrupt(struct virtq *vq);
/* Configuration changed. */
void virtio_config_interrupt(struct virtio_device *vd);

/*
 * Do for queue q what a driver does to bring the device up (include/husk/fdt.h,
 * HUSK_FDT_VIRTIO_READY): rings of `size` entries at these addresses. 0, or -EINVAL: refused.
 */
int virtio_preset(struct virtio_device *vd, unsigned q, uint16_t size, uint64_t desc, uint64_t avail,
		  uint64_t used);

/*
 * Plug a device into the next free slot. vd is embedded in the caller's structure, zeroed. After
 * success the machine owns it and ends it with ops->release. 0 or -errno.
 */
int virtio_attach(struct pci_host *host, struct virtio_device *vd, const struct virtio_ops *ops);
