/* SPDX-License-Identifier: Apache-2.0 */
/* One of husk's standard streams as the console uses it: one chain at a time, never blocking. */
#pragma once

#include "devices/virtio.h"

enum stream_kind {
	STREAM_NONE,		/* closed: end of input, or output that is swallowed */
	STREAM_FILE,		/* regular file, /dev/null: always ready, epoll refuses it */
	STREAM_POLLED,		/* pipe, socket, tty */
};

/* Guarded by the console's vd->lock. */
struct console_stream {
	int fd;
	bool own_fd;			/* a duplicate that we close */
	enum stream_kind kind;
	bool may_block;			/* RWF_NOWAIT does not work here: poll first */
	bool watched;			/* known to the event loop */
	bool ended;			/* end of input; reader gone */
	bool busy;			/* elem is taken and waits for the event loop */
	size_t done;			/* bytes of elem written */
	struct virtq_elem elem;
};

/* Look at fd; another stream with the same number makes this one a duplicate. 0 or -errno. */
int stream_open(struct console_stream *s, int fd, const struct console_stream *others,
		unsigned nothers);
void stream_close(struct console_stream *s, struct loop *loop);

/* Write the rest of elem: 0 when all is written, -EAGAIN when it would block, other -errno. */
int stream_write(struct console_stream *s);
/* Read into elem once: bytes, 0 at the end of input, -EAGAIN, other -errno. */
ssize_t stream_read(struct console_stream *s);

/* Have fn called once when fd is ready. 0; -EPERM: it always is (the kind is corrected); -errno. */
int stream_watch(struct console_stream *s, struct loop *loop, uint32_t events, loop_fn *fn,
		 void *arg);
