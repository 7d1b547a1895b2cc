/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop: epoll and a table of watches by descriptor. An event carries the watch's
 * generation, so that one which was queued before loop_del() finds nothing to call.
 */
#include "devices/loop.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 16

struct watch {
	loop_fn *fn;		/* NULL: not watched */
	void *arg;
	uint32_t gen;
};

/* Lock w: watch, nwatches, gen. */
struct loop {
	int epoll_fd, quit_fd;
	atomic_bool quit;
	pthread_mutex_t lock;
	struct watch *watch;	/* w: indexed by descriptor */
	unsigned nwatches;	/* w */
	uint32_t gen;		/* w */
};

static void loop_quit_event(void *arg, uint32_t events)
{
	(void)arg;
	(void)events;		/* loop->quit says it all */
}

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	int err;

	if (!loop)
		return NULL;
	pthread_mutex_init(&loop->lock, NULL);
	loop->quit_fd = -1;
	loop->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll_fd < 0)
		goto fail;
	loop->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (loop->quit_fd < 0)
		goto fail;
	err = loop_add(loop, loop->quit_fd, EPOLLIN, loop_quit_event, loop);
	if (!err)
		return loop;
	errno = -err;
fail:
	err = errno;
	loop_free(loop);
	errno = err;
	return NULL;
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	if (loop->quit_fd >= 0)
		close(loop->quit_fd);
	if (loop->epoll_fd >= 0)
		close(loop->epoll_fd);
	pthread_mutex_destroy(&loop->lock);
	free(loop->watch);
	free(loop);
}

/* Make room for descriptor fd. Under the lock. */
static int watch_grow(struct loop *loop, int fd)
{
	unsigned n = loop->nwatches ? loop->nwatches : 32;
	struct watch *w;

	if (fd < 0)
		return -EBADF;
	if ((unsigned)fd < loop->nwatches)
		return 0;
	while (n <= (unsigned)fd)
		n *= 2;
	w = realloc(loop->watch, n * sizeof(*w));
	if (!w)
		return -ENOMEM;
	memset(w + loop->nwatches, 0, (n - loop->nwatches) * sizeof(*w));
	loop->watch = w;
	loop->nwatches = n;
	return 0;
}

static int watch_ctl(struct loop *loop, int op, int fd, uint32_t events, uint32_t gen)
{
	struct epoll_event ev = { .events = events };

	ev.data.u64 = (uint64_t)gen << 32 | (uint32_t)fd;
	return epoll_ctl(loop->epoll_fd, op, fd, &ev) < 0 ? -errno : 0;
}

int loop_add(struct loop *loop, int fd, uint32_t events, loop_fn *fn, void *arg)
{
	int ret;

	pthread_mutex_lock(&loop->lock);
	ret = watch_grow(loop, fd);
	if (!ret && loop->watch[fd].fn)
		ret = -EEXIST;
	if (!ret) {
		/* Set before epoll knows it, so that an event finds it. */
		loop->watch[fd] = (struct watch){ fn, arg, ++loop->gen };
		ret = watch_ctl(loop, EPOLL_CTL_ADD, fd, events, loop->gen);
		if (ret)
			loop->watch[fd].fn = NULL;
	}
	pthread_mutex_unlock(&loop->lock);
	return ret;
}

int loop_mod(struct loop *loop, int fd, uint32_t events)
{
	int ret = -ENOENT;

	pthread_mutex_lock(&loop->lock);
	if (fd >= 0 && (unsigned)fd < loop->nwatches && loop->watch[fd].fn)
		ret = watch_ctl(loop, EPOLL_CTL_MOD, fd, events, loop->watch[fd].gen);
	pthread_mutex_unlock(&loop->lock);
	return ret;
}

void loop_del(struct loop *loop, int fd)
{
	pthread_mutex_lock(&loop->lock);
	if (fd >= 0 && (unsigned)fd < loop->nwatches && loop->watch[fd].fn) {
		loop->watch[fd].fn = NULL;
		watch_ctl(loop, EPOLL_CTL_DEL, fd, 0, 0);
	}
	pthread_mutex_unlock(&loop->lock);
}

static void event_deliver(struct loop *loop, const struct epoll_event *ev)
{
	uint32_t fd = (uint32_t)ev->data.u64, gen = ev->data.u64 >> 32;
	struct watch w = { 0 };

	pthread_mutex_lock(&loop->lock);
	if (fd < loop->nwatches && loop->watch[fd].gen == gen)
		w = loop->watch[fd];
	pthread_mutex_unlock(&loop->lock);
	if (w.fn)
		w.fn(w.arg, ev->events);
}

int loop_run(struct loop *loop)
{
	struct epoll_event ev[EVENTS_AT_ONCE];

	while (!atomic_load(&loop->quit)) {
		int n = epoll_wait(loop->epoll_fd, ev, EVENTS_AT_ONCE, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < n && !atomic_load(&loop->quit); i++)
			event_deliver(loop, &ev[i]);
	}
	return 0;
}

void loop_quit(struct loop *loop)
{
	uint64_t one = 1;

	atomic_store(&loop->quit, true);
	while (write(loop->quit_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}
