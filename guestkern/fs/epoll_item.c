/* SPDX-License-Identifier: Apache-2.0 */
/* The watches of an epoll: adding, finding, waking, collecting. No system calls here. */
#include "fs/epoll.h"
#include <linux/errno.h>
#include <linux/eventpoll.h>
#include "core/string.h"
#include "fs/kfs.h"
#include "mm/kmalloc.h"

#define EPOLL_HASH_MIN	8u
#define EPOLL_PRIVATE	(EPOLLWAKEUP | EPOLLONESHOT | EPOLLET | EPOLLEXCLUSIVE)

struct eventpoll *epoll_new(void)
{
	struct eventpoll *ep = kzalloc(sizeof(*ep));

	if (!ep)
		return NULL;
	ep->hash = kzalloc(EPOLL_HASH_MIN * sizeof(ep->hash[0]));
	if (!ep->hash) {
		kfree(ep);
		return NULL;
	}
	ep->nhash = EPOLL_HASH_MIN;
	wait_queue_init(&ep->wait_wq);
	wait_queue_init(&ep->poll_wq);
	list_init(&ep->ready);
	return ep;
}

void epoll_free(struct eventpoll *ep)
{
	for (u32 i = 0; i < ep->nhash; i++)
		while (ep->hash[i])
			epitem_remove(ep->hash[i]);
	kfree(ep->hash);
	kfree(ep);
}

static struct epitem **epoll_bucket(struct eventpoll *ep, const struct file *file, int fd)
{
	u64 h = ((u64)(uintptr_t)file >> 4) * 0x9e3779b97f4a7c15ull + (u32)fd * 0x85ebca6bull;

	return &ep->hash[(h >> 20) & (ep->nhash - 1)];
}

/* Twice the buckets; if there is no memory, longer chains do. */
static void epoll_grow(struct eventpoll *ep)
{
	u32 old_n = ep->nhash;
	struct epitem **old = ep->hash;
	struct epitem **hash = kzalloc(2ul * old_n * sizeof(*hash));

	if (!hash)
		return;
	ep->hash = hash;
	ep->nhash = 2 * old_n;
	for (u32 i = 0; i < old_n; i++) {
		struct epitem *item = old[i], *next;

		for (; item; item = next) {
			struct epitem **bucket = epoll_bucket(ep, item->file, item->fd);

			next = item->hash_next;
			item->hash_next = *bucket;
			*bucket = item;
		}
	}
	kfree(old);
}

struct epitem *epitem_find(struct eventpoll *ep, struct file *file, int fd)
{
	struct epitem *item = *epoll_bucket(ep, file, fd);

	while (item && (item->file != file || item->fd != fd))
		item = item->hash_next;
	return item;
}

static void epitem_make_ready(struct epitem *item)
{
	struct eventpoll *ep = item->ep;

	if (list_empty(&item->ready_link))
		list_add_tail(&ep->ready, &item->ready_link);
	wake_all(&ep->wait_wq);
	wake_all(&ep->poll_wq);
}

static void epitem_wake(struct waiter *w)
{
	struct epitem *item = container_of(w, struct epwatch, waiter)->item;

	if (item->events & ~EPOLL_PRIVATE)	/* else a spent EPOLLONESHOT */
		epitem_make_ready(item);
}

struct epitem_table {
	struct poll_table pt;
	struct epitem *item;
	int err;
};

static void epitem_queue(struct poll_table *pt, struct wait_queue *wq)
{
	struct epitem_table *table = container_of(pt, struct epitem_table, pt);
	struct epitem *item = table->item;
	struct epwatch *watch = &item->first;

	if (item->watches)
		watch = kmalloc(sizeof(*watch));
	if (!watch) {
		table->err = -ENOMEM;
		return;
	}
	watch->item = item;
	watch->next = item->watches;
	item->watches = watch;
	waiter_add_fn(wq, &watch->waiter, epitem_wake);
}

static u32 epitem_poll(struct epitem *item, struct poll_table *pt)
{
	return file_poll(item->file, pt) & item->events;
}

int epitem_add(struct eventpoll *ep, struct file *file, int fd, u32 events, u64 data)
{
	struct epitem *item = kzalloc(sizeof(*item));
	struct epitem_table table = { { epitem_queue }, item, 0 };
	struct epitem **bucket;
	u32 mask;

	if (!item)
		return -ENOMEM;
	item->ep = ep;
	item->file = file;
	item->fd = fd;
	item->events = events | EPOLLERR | EPOLLHUP;
	item->data = data;
	list_init(&item->ready_link);
	if (ep->nitems >= ep->nhash)
		epoll_grow(ep);
	bucket = epoll_bucket(ep, file, fd);
	item->hash_next = *bucket;
	*bucket = item;
	ep->nitems++;
	list_add_tail(&file->epoll, &item->file_link);
	mask = epitem_poll(item, &table.pt);
	if (table.err) {
		epitem_remove(item);
		return table.err;
	}
	if (mask)
		epitem_make_ready(item);
	return 0;
}

void epitem_modify(struct epitem *item, u32 events, u64 data)
{
	item->events = events | EPOLLERR | EPOLLHUP;
	item->data = data;
	if (epitem_poll(item, NULL))
		epitem_make_ready(item);
}

void epitem_remove(struct epitem *item)
{
	struct epitem **link = epoll_bucket(item->ep, item->file, item->fd);

	while (item->watches) {
		struct epwatch *watch = item->watches;

		item->watches = watch->next;
		waiter_del(&watch->waiter);
		if (watch != &item->first)
			kfree(watch);
	}
	while (*link != item)
		link = &(*link)->hash_next;
	*link = item->hash_next;
	item->ep->nitems--;
	list_del(&item->file_link);
	list_del(&item->ready_link);
	kfree(item);
}

void epoll_file_gone(struct file *file)
{
	while (!list_empty(&file->epoll))
		epitem_remove(list_first(&file->epoll, struct epitem, file_link));
}

/* Is anything in the ready list still true? What is not leaves the list. */
bool epoll_has_news(struct eventpoll *ep)
{
	struct epitem *item, *next;

	list_for_each_safe(item, next, &ep->ready, ready_link) {
		if (epitem_poll(item, NULL))
			return true;
		list_del(&item->ready_link);
	}
	return false;
}

int epoll_collect(struct eventpoll *ep, struct epoll_event *out, int max, struct list *again)
{
	int n = 0;

	while (n < max && !list_empty(&ep->ready)) {
		struct epitem *item = list_first(&ep->ready, struct epitem, ready_link);
		u32 mask = epitem_poll(item, NULL);

		list_del(&item->ready_link);
		if (!mask)
			continue;
		out[n].events = mask;
		out[n].data = item->data;
		n++;
		if (item->events & EPOLLONESHOT)
			item->events &= EPOLL_PRIVATE;
		else if (!(item->events & EPOLLET))
			list_add_tail(again, &item->ready_link);
	}
	return n;
}

/* To the end of the list: a short array is filled from different files each time. */
void epoll_collect_end(struct eventpoll *ep, struct list *again)
{
	if (list_empty(again))
		return;
	while (!list_empty(again)) {
		struct list *link = again->next;

		list_del(link);
		list_add_tail(&ep->ready, link);
	}
	wake_all(&ep->wait_wq);		/* others in epoll_wait see the same level */
}
