/* SPDX-License-Identifier: Apache-2.0 */
/*
 * epoll(7). A watch (struct epitem) hangs in three places: its epoll's hash by (file, fd), the
 * watched file's list, and, while it may have news, the ready list. It puts a callback on each
 * wait queue of the file; a wake-up there moves it to the ready list and wakes the epoll's own
 * waiters. What a watch has to report is asked from the file when events are fetched.
 */
#pragma once

#include "fs/poll.h"

struct epitem;

struct epwatch {			/* one wait queue of a watched file */
	struct waiter waiter;
	struct epitem *item;
	struct epwatch *next;
};

struct epitem {
	struct eventpoll *ep;
	struct file *file;		/* not referenced: epoll_file_gone() comes first */
	int fd;
	u32 events;
	u64 data;
	struct epitem *hash_next;
	struct list file_link;		/* in file->epoll */
	struct list ready_link;		/* in ep->ready, or alone */
	struct epwatch first;		/* most files have one queue */
	struct epwatch *watches;
};

struct eventpoll {
	struct file *file;		/* its own descriptor's; not referenced */
	struct wait_queue wait_wq;	/* tasks in epoll_wait */
	struct wait_queue poll_wq;	/* who polls the epoll itself */
	struct list ready;
	struct epitem **hash;
	u32 nhash, nitems;		/* nhash is a power of two */
};

extern const struct file_ops epoll_ops;

struct eventpoll *epoll_new(void);
void epoll_free(struct eventpoll *ep);
struct epitem *epitem_find(struct eventpoll *ep, struct file *file, int fd);
int epitem_add(struct eventpoll *ep, struct file *file, int fd, u32 events, u64 data);
void epitem_modify(struct epitem *item, u32 events, u64 data);
void epitem_remove(struct epitem *item);
bool epoll_has_news(struct eventpoll *ep);

struct epoll_event;
/*
 * Up to max events from the ready list. Level-triggered watches that reported gather in `again`,
 * which epoll_collect_end() puts back, so that several rounds report each watch once.
 */
int epoll_collect(struct eventpoll *ep, struct epoll_event *out, int max, struct list *again);
void epoll_collect_end(struct eventpoll *ep, struct list *again);
