/* SPDX-License-Identifier: Apache-2.0 */
/* The table of waiters that poll.c and select.c build on the stack. */
#pragma once

#include "fs/poll.h"

#define POLL_WAITS_INLINE 8

struct poll_entry {
	struct waiter waiter;
	struct file *file;		/* referenced, so that its queue stays */
};

struct poll_chunk {
	struct poll_chunk *next;
	unsigned n;
	struct poll_entry entries[48];
};

struct poll_waits {
	struct poll_table pt;
	struct file *file;		/* being asked */
	int err;
	unsigned ninline;
	struct poll_entry entries[POLL_WAITS_INLINE];
	struct poll_chunk *chunks;
};

void poll_waits_init(struct poll_waits *pw);
void poll_waits_free(struct poll_waits *pw);
u32 poll_waits_ask(struct poll_waits *pw, struct file *file, bool queue);
int poll_waits_sleep(struct poll_waits *pw, u64 deadline_ns);
/* Write back the time left; ret, or -EINTR when a restart could not see it. */
long timeout_finish(long ret, u64 addr, u64 rel_ns, u64 deadline_ns);
