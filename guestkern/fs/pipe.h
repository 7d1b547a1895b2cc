/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipe: a ring of page-sized slots, as Linux has it, so that capacity, atomicity of writes up
 * to PIPE_BUF and packet mode follow from the structure. Filled and drained under a mutex, since
 * copying from or to a program's page may sleep.
 */
#pragma once

#include "fs/vfs.h"
#include "mm/page.h"

#define PIPE_DEF_SLOTS	16u
#define PIPE_MAX_SLOTS	256u		/* 1 MiB: fs.pipe-max-size */

struct pipe_slot {
	struct page *page;
	u32 off, len;
	bool packet;			/* O_DIRECT: read as one piece */
};

struct pipe {
	struct mutex lock;		/* slots, head, tail */
	struct wait_queue rd_wait, wr_wait;
	u32 head, tail;			/* slots written and read; running counters */
	u32 nslots;			/* a power of two */
	struct pipe_slot *slots;
	struct page *spare;		/* a drained page, for the next write */
	unsigned readers, writers, files;
	u32 r_counter, w_counter;	/* opens so far of each kind; FIFO opens wait for a change */
};

struct pipe *pipe_new(void);
void pipe_free(struct pipe *pipe);

static inline bool pipe_empty(const struct pipe *pipe)
{
	return pipe->head == pipe->tail;
}

static inline bool pipe_full(const struct pipe *pipe)
{
	return pipe->head - pipe->tail >= pipe->nslots;
}

size_t pipe_bytes(const struct pipe *pipe);
/* The lock is held. Bytes put or taken (0: full or empty), or -errno if the copy failed at once. */
long pipe_put(struct pipe *pipe, const void *buf, size_t len, bool merge, bool packet);
long pipe_take(struct pipe *pipe, void *buf, size_t len);
int pipe_resize(struct pipe *pipe, u32 nslots);
