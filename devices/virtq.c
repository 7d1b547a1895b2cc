/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split virtqueues, the device's side (VIRTIO 1.1, section 2.6). Everything in a ring is the
 * guest's and may change at any time: ring addresses are translated at each use, each field is
 * read once into a local, a chain is bounded, and a ring that breaks a rule breaks the device
 * (DEVICE_NEEDS_RESET). Called with vd->lock held.
 */
#include "devices/virtio.h"

#include <assert.h>
#include <errno.h>
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include "devices/virtio_priv.h"

#define AVAIL_BYTES(n)	(4 + 2 * (size_t)(n) + 2)	/* flags, idx, ring, used_event */
#define USED_BYTES(n)	(4 + 8 * (size_t)(n) + 2)	/* flags, idx, ring, avail_event */
#define DESC_BYTES(n)	(sizeof(struct vring_desc) * (size_t)(n))

/* A table of descriptors in guest memory: the queue's own or an indirect one. */
struct desc_table {
	const struct vring_desc *desc;
	uint32_t n;
	bool indirect;
};

void virtq_reset(struct virtq *vq)
{
	vq->size = VIRTQ_MAX_SIZE;
	vq->vector = VIRTIO_MSI_NO_VECTOR;
	vq->enabled = false;
	vq->desc = vq->avail = vq->used = 0;
	vq->last_avail = vq->used_idx = vq->signalled = 0;
	vq->signalled_valid = false;
}

bool virtq_ready(const struct virtq *vq)
{
	uint8_t status = vq->vd->pci->status;

	return vq->enabled && (status & VIRTIO_CONFIG_S_DRIVER_OK) &&
	       !(status & VIRTIO_CONFIG_S_NEEDS_RESET);
}

static bool virtq_has(const struct virtq *vq, unsigned feature)
{
	return vq->vd->features & 1ull << feature;
}

static const struct guest_mem *virtq_mem(const struct virtq *vq)
{
	return bus_mem(vq->vd->bus);
}

/* Rings as host pointers, NULL when not wholly in guest memory. The event word is part of each. */
static struct vring_avail *virtq_avail(const struct virtq *vq)
{
	return guest_mem_ptr(virtq_mem(vq), GPA(vq->avail), AVAIL_BYTES(vq->size));
}

static struct vring_used *virtq_used(const struct virtq *vq)
{
	return guest_mem_ptr(virtq_mem(vq), GPA(vq->used), USED_BYTES(vq->size));
}

static const struct vring_desc *virtq_table(const struct virtq *vq)
{
	return guest_mem_ptr(virtq_mem(vq), GPA(vq->desc), DESC_BYTES(vq->size));
}

/* 2.6: alignment 16, 2, 4; size a power of two within what we offered. */
bool virtq_enable(struct virtq *vq)
{
	if (vq->size == 0 || vq->size > VIRTQ_MAX_SIZE || (vq->size & (vq->size - 1)))
		return false;
	if ((vq->desc & 15) || (vq->avail & 1) || (vq->used & 3))
		return false;
	if (!virtq_table(vq) || !virtq_avail(vq) || !virtq_used(vq))
		return false;
	vq->enabled = true;
	return true;
}

static int virtq_break(struct virtq *vq)
{
	virtio_needs_reset(vq->vd->pci);
	return -EPROTO;
}

/* Append one buffer; false when it breaks a rule. */
static bool elem_add(const struct virtq *vq, struct virtq_elem *elem, const struct vring_desc *d)
{
	bool in = d->flags & VRING_DESC_F_WRITE;
	void *host;

	if (!in && elem->nin)
		return false;		/* 2.6.4.2: device-readable ones first */
	if (d->len == 0)
		return true;
	if (elem->nout + elem->nin == VIRTQ_MAX_IOV)
		return false;
	/* 2.6.5: a chain is at most 2^32 bytes, so that `used.len` can tell. */
	if (elem->out_bytes + elem->in_bytes + d->len > UINT32_MAX)
		return false;
	host = guest_mem_ptr(virtq_mem(vq), GPA(d->addr), d->len);
	if (!host)
		return false;
	elem->iov[elem->nout + elem->nin] = (struct iovec){ host, d->len };
	if (in) {
		elem->nin++;
		elem->in_bytes += d->len;
	} else {
		elem->nout++;
		elem->out_bytes += d->len;
	}
	return true;
}

/* Follow an indirect descriptor (2.6.5.3): it ends its chain, and its table is not nested. */
static bool desc_enter_indirect(const struct virtq *vq, const struct vring_desc *d,
				struct desc_table *table)
{
	if (table->indirect || (d->flags & VRING_DESC_F_NEXT) ||
	    !virtq_has(vq, VIRTIO_RING_F_INDIRECT_DESC))
		return false;
	if (d->len == 0 || d->len % sizeof(struct vring_desc) || (d->addr & 15))
		return false;
	table->desc = guest_mem_ptr(virtq_mem(vq), GPA(d->addr), d->len);
	table->n = d->len / sizeof(struct vring_desc);
	table->indirect = true;
	return table->desc != NULL;
}

/*
 * Walk one chain from descriptor `head`. A chain longer than its table has come round; an indirect
 * one is bounded by VIRTQ_MAX_IOV besides.
 */
static bool virtq_walk(const struct virtq *vq, struct virtq_elem *elem, uint16_t head)
{
	struct desc_table table = { virtq_table(vq), vq->size, false };
	uint32_t i = head, seen = 0;
	struct vring_desc d;

	if (!table.desc)
		return false;
	for (;;) {
		if (i >= table.n || seen++ >= table.n || seen > VIRTQ_MAX_IOV)
			return false;
		memcpy(&d, &table.desc[i], sizeof(d));
		/* From here on only the copy counts: the guest may be rewriting the original. */
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (d.flags & VRING_DESC_F_INDIRECT) {
			if (!desc_enter_indirect(vq, &d, &table))
				return false;
			i = seen = 0;
			continue;
		}
		if (!elem_add(vq, elem, &d))
			return false;
		if (!(d.flags & VRING_DESC_F_NEXT))
			return true;
		i = d.next;
	}
}

/* The word after the used ring: the driver notifies when its index passes it (2.6.10). */
static bool virtq_set_avail_event(struct virtq *vq)
{
	struct vring_used *used = virtq_used(vq);

	if (!used)
		return false;
	__atomic_store_n((uint16_t *)&used->ring[vq->size], vq->last_avail, __ATOMIC_RELAXED);
	/* The event index is out before the available index is read (again). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return true;
}

/* Chains waiting, or -EPROTO. */
static int virtq_waiting(struct virtq *vq, const struct vring_avail *avail)
{
	/* Acquire: ring entries and descriptors are read after the index that published them. */
	uint16_t n = __atomic_load_n(&avail->idx, __ATOMIC_ACQUIRE) - vq->last_avail;

	return n > vq->size ? -EPROTO : n;
}

int virtq_pop(struct virtq *vq, struct virtq_elem *elem)
{
	const struct vring_avail *avail;
	uint16_t head;
	int n;

	if (!virtq_ready(vq))
		return vq->vd->pci->status & VIRTIO_CONFIG_S_NEEDS_RESET ? -EPROTO : 0;
	avail = virtq_avail(vq);
	if (!avail)
		return virtq_break(vq);
	n = virtq_waiting(vq, avail);
	if (n == 0 && virtq_has(vq, VIRTIO_RING_F_EVENT_IDX)) {
		if (!virtq_set_avail_event(vq))
			return virtq_break(vq);
		n = virtq_waiting(vq, avail);
	}
	if (n <= 0)
		return n < 0 ? virtq_break(vq) : 0;
	head = __atomic_load_n(&avail->ring[vq->last_avail & (vq->size - 1)], __ATOMIC_RELAXED);
	elem->head = head;
	elem->nout = elem->nin = 0;
	elem->out_bytes = elem->in_bytes = 0;
	if (head >= vq->size || !virtq_walk(vq, elem, head))
		return virtq_break(vq);
	vq->last_avail++;
	return 1;
}

void virtq_push(struct virtq *vq, const struct virtq_elem *elem, uint32_t len)
{
	struct vring_used *used;
	struct vring_used_elem *slot;

	if (!virtq_ready(vq))
		return;
	used = virtq_used(vq);
	if (!used) {
		virtq_break(vq);
		return;
	}
	slot = &used->ring[vq->used_idx & (vq->size - 1)];
	slot->id = elem->head;
	slot->len = len;
	vq->used_idx++;
	/* Release: the buffer's bytes and the entry are visible before the index that publishes them. */
	__atomic_store_n(&used->idx, vq->used_idx, __ATOMIC_RELEASE);
}

/* 2.6.7 and 2.6.8: does the driver want to hear of used entries up to used_idx? */
static bool virtq_wants_interrupt(struct virtq *vq, const struct vring_avail *avail)
{
	uint16_t event, old = vq->signalled;
	bool valid = vq->signalled_valid;

	if (!virtq_has(vq, VIRTIO_RING_F_EVENT_IDX))
		return !(__atomic_load_n(&avail->flags, __ATOMIC_RELAXED) &
			 VRING_AVAIL_F_NO_INTERRUPT);
	event = __atomic_load_n(&avail->ring[vq->size], __ATOMIC_RELAXED);
	vq->signalled = vq->used_idx;
	vq->signalled_valid = true;
	return !valid || vring_need_event(event, vq->used_idx, old);
}

void virtq_interrupt(struct virtq *vq)
{
	const struct vring_avail *avail;

	if (!virtq_ready(vq))
		return;
	avail = virtq_avail(vq);
	if (!avail) {
		virtq_break(vq);
		return;
	}
	/*
	 * The used index is out before the suppression word is read: the driver writes that word,
	 * then reads the index, so that one of the two sees the other's store.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (virtq_wants_interrupt(vq, avail))
		virtio_pci_interrupt(vq->vd->pci, vq->vector, VIRTIO_ISR_QUEUE);
}
