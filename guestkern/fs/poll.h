/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for files: the table that a poll operation fills by poll_wait(), and what poll, select
 * and epoll share.
 */
#pragma once

#include "fs/vfs.h"

/* Whoever asks supplies queue(), called for each wait queue of the polled file. */
struct poll_table {
	void (*queue)(struct poll_table *pt, struct wait_queue *wq);
};

#define POLL_DEFAULT_MASK	0x145u	/* IN | OUT | RDNORM | WRNORM: files without a poll operation */

static inline u32 file_poll(struct file *file, struct poll_table *pt)
{
	return file->ops->poll ? file->ops->poll(file, pt) : POLL_DEFAULT_MASK;
}

u64 deadline_after(u64 rel_ns);		/* monotonic now + rel_ns, no overflow */

/*
 * Deadline of a call that a stop signal may interrupt and restart with the same arguments: the
 * first attempt's deadline is kept in the task (restart_deadline_ns) until the restart.
 */
u64 deadline_restartable(u64 rel_ns);
long deadline_interrupted(u64 deadline_ns);	/* returns -ERESTARTNOHAND */

/* Timeout of a struct timespec at addr (0: none): ns relative, WAIT_FOREVER, or error. */
int timeout_from_user(u64 addr, u64 *rel_ns);

/* ppoll and friends: replace the signal mask by the one at addr (0: leave it). 0 or -errno. */
int sigmask_swap(u64 addr, u64 size);
/* Put it back; interrupted: leave that to the delivery of the signal. */
void sigmask_unswap(bool interrupted);
