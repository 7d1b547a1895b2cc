/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Split virtqueues, the driver's side (VIRTIO 1.1, section 2.6). Meant for synchronous use: add a
 * chain, notify, and it is normally done when the notify returns, because the VMM works on the
 * vCPU's thread; interrupts are asked for only by callers that found it not done.
 *
 * Barriers: x86 keeps loads in order among themselves, and stores too, so publishing needs only
 * the compiler held back. The one order the CPU does not keep is a store before a later load:
 * between allowing interrupts and looking at the used index a real fence is needed.
 */
#include <linux/errno.h>
#include <linux/virtio_pci.h>
#include <linux/virtio_ring.h>
#include "core/print.h"
#include "core/string.h"
#include "drivers/mmio.h"
#include "drivers/virtq.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "mm/kmalloc.h"
#include "mm/page.h"
#include "proc/task.h"

#define KMALLOC_SMALL	2048
#define IMAGE_MAX	0x4000000ul	/* more than a kernel image has */

static inline void ring_fence(void)
{
	__asm__ volatile("" : : : "memory");
}

static inline void ring_full_fence(void)
{
	__asm__ volatile("lock orl $0, (%%rsp)" : : : "memory", "cc");
}

/* Guest physical address of kernel memory: the direct map, or the kernel's own image. */
static u64 virtq_phys(const void *p)
{
	u64 addr = (u64)p;

	if (addr - HUSK_KERNEL_VIRT < IMAGE_MAX)
		return addr - HUSK_KERNEL_DATA + HUSK_KERNEL_DATA_PHYS;
	return addr - HUSK_DIRECT_MAP;
}

/* Rings of `size` entries in one zeroed block: descriptors, available ring, used ring. */
/* mem is zero; offsets of the available and the used ring behind the descriptor table. */
static void virtq_init_rings(struct virtq *vq, u8 *mem, size_t avail, size_t used)
{
	vq->desc = (struct vring_desc *)mem;
	vq->avail = (struct vring_avail *)(mem + avail);
	vq->used = (struct vring_used *)(mem + used);
	vq->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
	vq->nfree = vq->size;
	for (u16 i = 0; i < vq->size; i++)
		vq->desc[i].next = i + 1;	/* the free list */
}

static bool virtq_alloc_rings(struct virtq *vq)
{
	size_t avail = sizeof(struct vring_desc) * vq->size;
	size_t used = ALIGN_UP(avail + 2 * (3 + (size_t)vq->size), 4);
	size_t total = used + 6 + sizeof(struct vring_used_elem) * vq->size;
	u8 *mem;

	if (total <= KMALLOC_SMALL) {
		mem = kzalloc(total);
	} else {
		struct page *page = page_alloc(total <= PAGE_SIZE ? 0 : 1, PAGE_ZEROED);

		mem = page ? page_addr(page) : NULL;
	}
	if (!mem)
		return false;
	virtq_init_rings(vq, mem, avail, used);
	return true;
}

static struct virtq *virtq_new(struct virtio_dev *vd, u16 index, u16 size)
{
	struct virtq *vq = kzalloc(sizeof(*vq));

	if (!vq)
		return NULL;
	vq->vd = vd;
	vq->index = index;
	vq->size = size;
	wait_queue_init(&vq->wq);
	return vq;
}

static void virtq_publish(struct virtq *vq)
{
	vq->next = vq->vd->queues;
	vq->vd->queues = vq;
}

struct virtq *virtq_adopt(struct virtio_dev *vd, u16 index)
{
	struct virtq *vq = virtq_new(vd, index, HUSK_READY_SIZE);

	if (!vq)
		return NULL;
	virtq_init_rings(vq, vd->ready, HUSK_READY_AVAIL, HUSK_READY_USED);
	vd->selected = 0;
	virtq_publish(vq);
	return vq;
}

struct virtq *virtq_setup(struct virtio_dev *vd, u16 index, u16 size)
{
	u8 *common = vd->bar + HUSK_VIRTIO_COMMON;
	struct virtq *vq = virtq_new(vd, index, size);

	kassert(size <= 256 && !(size & (size - 1)));
	if (!vq)
		return NULL;
	if (!virtq_alloc_rings(vq)) {
		kfree(vq);
		return NULL;
	}
	virtio_write_select(vd, index);
	mmio_write64(common + VIRTIO_PCI_COMMON_Q_DESCLO, virtq_phys(vq->desc));
	mmio_write64(common + VIRTIO_PCI_COMMON_Q_AVAILLO, virtq_phys(vq->avail));
	mmio_write64(common + VIRTIO_PCI_COMMON_Q_USEDLO, virtq_phys(vq->used));
	mmio_write64(common + VIRTIO_PCI_COMMON_Q_SIZE,
		     size | (u64)VIRTIO_MSI_NO_VECTOR << 16 | 1ull << 32);
	virtq_publish(vq);
	return vq;
}

/* Whether memory goes on behind the piece before, so that both can share a descriptor. */
static bool seg_follows(const struct io_seg *seg, const struct io_seg *before)
{
	return before && (u8 *)before->p + before->len == (u8 *)seg->p;
}

static unsigned segs_count(const struct io_seg *seg, unsigned n)
{
	const struct io_seg *before = NULL;
	unsigned count = 0;

	for (; n--; seg++) {
		if (!seg->len)
			continue;
		count += !seg_follows(seg, before);
		before = seg;
	}
	return count;
}

/* Descriptors for the pieces; *link is where the index of the next descriptor goes. */
static void chain_add(struct virtq *vq, u16 *at, const struct io_seg *seg, unsigned n, u16 flags)
{
	const struct io_seg *before = NULL;
	struct vring_desc *d = NULL;

	for (; n--; seg++) {
		if (!seg->len)
			continue;
		if (seg_follows(seg, before)) {
			d->len += seg->len;
		} else {
			d = &vq->desc[*at];
			d->addr = virtq_phys(seg->p);
			d->len = seg->len;
			d->flags = flags | VRING_DESC_F_NEXT;
			*at = d->next;
		}
		before = seg;
	}
}

static int virtq_free_slot(const struct virtq *vq)
{
	for (int i = 0; i < VIRTQ_INFLIGHT; i++) {
		if (!vq->inflight[i].ndesc)
			return i;
	}
	return -ENOSPC;
}

int virtq_add(struct virtq *vq, const struct io_seg *out, unsigned nout,
	      const struct io_seg *in, unsigned nin, void *token)
{
	unsigned n = segs_count(out, nout) + segs_count(in, nin);
	u16 head = vq->free_head, at = head, last = head;
	int slot = virtq_free_slot(vq);

	if (!n || n > vq->size)
		return n ? -E2BIG : -EINVAL;
	if (n > vq->nfree || slot < 0)
		return -ENOSPC;
	chain_add(vq, &at, out, nout, 0);
	chain_add(vq, &at, in, nin, VRING_DESC_F_WRITE);
	for (unsigned i = 1; i < n; i++)
		last = vq->desc[last].next;
	vq->desc[last].flags &= ~VRING_DESC_F_NEXT;
	vq->free_head = at;
	vq->nfree -= n;
	vq->inflight[slot].token = token;
	vq->inflight[slot].head = head;
	vq->inflight[slot].ndesc = n;
	vq->avail->ring[vq->avail->idx & (vq->size - 1)] = head;
	ring_fence();		/* chain and ring entry before the index that publishes them */
	vq->avail->idx++;
	return 0;
}

void virtq_kick(struct virtq *vq)
{
	/* The store exits, which orders it behind the index; the value repeats the queue. */
	mmio_write32(vq->vd->bar + HUSK_VIRTIO_NOTIFY + 4 * vq->index, vq->index);
}

static void *virtq_release(struct virtq *vq, u16 head)
{
	for (int i = 0; i < VIRTQ_INFLIGHT; i++) {
		u16 last = head;

		if (!vq->inflight[i].ndesc || vq->inflight[i].head != head)
			continue;
		for (u16 n = 1; n < vq->inflight[i].ndesc; n++)
			last = vq->desc[last].next;
		vq->desc[last].next = vq->free_head;
		vq->free_head = head;
		vq->nfree += vq->inflight[i].ndesc;
		vq->inflight[i].ndesc = 0;
		return vq->inflight[i].token;
	}
	panic("virtio queue %u: chain %u is done but was not made", vq->index, head);
}

void *virtq_get(struct virtq *vq, u32 *len)
{
	struct vring_used_elem *e;

	if (*(volatile u16 *)&vq->used->idx == vq->last_used)
		return NULL;
	ring_fence();		/* the entry, and what the device wrote, after the index */
	e = &vq->used->ring[vq->last_used++ & (vq->size - 1)];
	*len = e->len;
	return virtq_release(vq, e->id);
}

int virtq_irq_on(struct virtq *vq)
{
	int ret = virtio_use_msix(vq->vd);

	if (ret < 0)
		return ret;
	if (!vq->vector_set) {
		u8 *common = vq->vd->bar + HUSK_VIRTIO_COMMON;

		if (vq->vd->selected != vq->index)
			virtio_write_select(vq->vd, vq->index);
		mmio_write16(common + VIRTIO_PCI_COMMON_Q_MSIX, 0);
		vq->vector_set = true;
	}
	vq->waiting++;
	*(volatile u16 *)&vq->avail->flags = 0;
	ring_full_fence();	/* the device sees the flag, or we see its chain */
	return 0;
}

void virtq_irq_off(struct virtq *vq)
{
	kassert(vq->waiting);
	if (!--vq->waiting)
		*(volatile u16 *)&vq->avail->flags = VRING_AVAIL_F_NO_INTERRUPT;
}

/* A request of virtq_request(): on its caller's stack until it is done. */
struct request {
	bool done;
	u32 len;
};

/* Take what is finished, whoever waits for it. */
static bool virtq_reap(struct virtq *vq, const struct request *mine)
{
	struct request *req;
	u32 len;

	while ((req = virtq_get(vq, &len))) {
		req->len = len;
		req->done = true;
		if (req != mine)
			wake_all(&vq->wq);
	}
	return mine->done;
}

/* The device is not done at once: sleep, or spin where nobody is who could sleep. */
static int virtq_wait(struct virtq *vq, const struct request *req)
{
	int ret;

	if (virtio_broken(vq->vd))
		return -EIO;
	if (!current) {
		while (!virtq_reap(vq, req))
			__asm__ volatile("pause");
		return 0;
	}
	ret = virtq_irq_on(vq);
	if (ret < 0)
		return ret;
	wait_event_nointr(&vq->wq, virtq_reap(vq, req));
	virtq_irq_off(vq);
	return 0;
}

/* Queue full: it has room when one of the chains at the device is done. */
static int virtq_wait_room(struct virtq *vq, u16 used)
{
	int ret = virtq_irq_on(vq);

	if (ret < 0)
		return ret;
	wait_event_nointr(&vq->wq, vq->last_used != used || *(volatile u16 *)&vq->used->idx != used);
	virtq_irq_off(vq);
	return 0;
}

long virtq_request(struct virtq *vq, const struct io_seg *out, unsigned nout,
		   const struct io_seg *in, unsigned nin)
{
	struct request req = { 0 }, none = { 0 };
	int ret;

	while ((ret = virtq_add(vq, out, nout, in, nin, &req)) == -ENOSPC) {
		virtq_reap(vq, &none);
		if (vq->nfree < vq->size || virtq_free_slot(vq) < 0)
			ret = virtq_wait_room(vq, vq->last_used);
		if (ret < 0 && ret != -ENOSPC)
			return ret;
	}
	if (ret < 0)
		return ret;
	virtq_kick(vq);
	if (!virtq_reap(vq, &req)) {
		ret = virtq_wait(vq, &req);
		if (ret < 0)
			return ret;
	}
	return req.len;
}
