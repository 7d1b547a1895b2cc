/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of a pipe: filling, draining and resizing it. pipe.c does the waiting. */
#include "fs/pipe.h"
#include <linux/errno.h>
#include "core/string.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"

struct pipe *pipe_new(void)
{
	struct pipe *pipe = kzalloc(sizeof(*pipe));

	if (!pipe)
		return NULL;
	pipe->nslots = PIPE_DEF_SLOTS;
	pipe->slots = kmalloc(pipe->nslots * sizeof(pipe->slots[0]));
	if (!pipe->slots) {
		kfree(pipe);
		return NULL;
	}
	mutex_init(&pipe->lock);
	wait_queue_init(&pipe->rd_wait);
	wait_queue_init(&pipe->wr_wait);
	return pipe;
}

void pipe_free(struct pipe *pipe)
{
	while (!pipe_empty(pipe))
		page_put(pipe->slots[pipe->tail++ & (pipe->nslots - 1)].page);
	if (pipe->spare)
		page_put(pipe->spare);
	kfree(pipe->slots);
	kfree(pipe);
}

size_t pipe_bytes(const struct pipe *pipe)
{
	size_t sum = 0;

	for (u32 i = pipe->tail; i != pipe->head; i++)
		sum += pipe->slots[i & (pipe->nslots - 1)].len;
	return sum;
}

/*
 * The odd bytes of a write go behind the last slot's, if they fit whole: so small writes share
 * pages, and none up to PIPE_BUF is ever torn.
 */
static long pipe_merge(struct pipe *pipe, const void *buf, size_t len)
{
	size_t odd = len & (PAGE_SIZE - 1);
	struct pipe_slot *last;
	u32 end;

	if (!odd || pipe_empty(pipe))
		return 0;
	last = &pipe->slots[(pipe->head - 1) & (pipe->nslots - 1)];
	end = last->off + last->len;
	if (last->packet || end + odd > PAGE_SIZE)
		return 0;
	if (copy_in((u8 *)page_addr(last->page) + end, buf, odd))
		return -EFAULT;
	last->len += odd;
	return (long)odd;
}

static struct page *pipe_page(struct pipe *pipe)
{
	struct page *page = pipe->spare;

	pipe->spare = NULL;
	return page ? page : page_alloc(0, 0);
}

static void pipe_page_done(struct pipe *pipe, struct page *page)
{
	if (pipe->spare)
		page_put(page);
	else
		pipe->spare = page;
}

long pipe_put(struct pipe *pipe, const void *buf, size_t len, bool merge, bool packet)
{
	size_t done = 0;

	if (merge && !packet) {
		long n = pipe_merge(pipe, buf, len);

		if (n < 0)
			return n;
		done = (size_t)n;
	}
	while (done < len && !pipe_full(pipe)) {
		size_t n = MIN(len - done, PAGE_SIZE);
		struct page *page = pipe_page(pipe);

		if (!page)
			return done ? (long)done : -ENOMEM;
		if (copy_in(page_addr(page), (const u8 *)buf + done, n)) {
			pipe_page_done(pipe, page);
			return done ? (long)done : -EFAULT;
		}
		pipe->slots[pipe->head++ & (pipe->nslots - 1)] =
			(struct pipe_slot){ page, 0, (u32)n, packet };
		done += n;
	}
	return (long)done;
}

long pipe_take(struct pipe *pipe, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len && !pipe_empty(pipe)) {
		struct pipe_slot *slot = &pipe->slots[pipe->tail & (pipe->nslots - 1)];
		size_t n = MIN(len - done, (size_t)slot->len);
		bool packet = slot->packet;

		if (copy_out((u8 *)buf + done, (u8 *)page_addr(slot->page) + slot->off, n))
			return done ? (long)done : -EFAULT;
		slot->off += n;
		slot->len -= n;
		done += n;
		if (packet || !slot->len) {
			pipe_page_done(pipe, slot->page);
			pipe->tail++;
		}
		if (packet)
			break;
	}
	return (long)done;
}

int pipe_resize(struct pipe *pipe, u32 nslots)
{
	u32 used = pipe->head - pipe->tail;
	struct pipe_slot *slots;

	if (used > nslots)
		return -EBUSY;
	slots = kmalloc(nslots * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (u32 i = 0; i < used; i++)
		slots[i] = pipe->slots[(pipe->tail + i) & (pipe->nslots - 1)];
	kfree(pipe->slots);
	pipe->slots = slots;
	pipe->nslots = nslots;
	pipe->tail = 0;
	pipe->head = used;
	return 0;
}
