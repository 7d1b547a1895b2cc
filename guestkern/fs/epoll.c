/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The epoll system calls and the epoll descriptor as a file of its own. Nothing sleeps between
 * asking files and answering; events are fetched into a kernel buffer before the copy to the
 * program, which may sleep.
 */
#include "fs/epoll.h"
#include <linux/errno.h>
#include <linux/eventpoll.h>
#include <linux/poll.h>
#include "fs/kfs.h"
#include "fs/syscalls_kfs.h"
#include "mm/uaccess.h"
#include "proc/task.h"

#define EPOLL_MAX_NESTS	4	/* edges in a chain of epolls that watch epolls */
#define EPOLL_BATCH	64	/* events fetched at once */
#define EPOLL_EXCLUSIVE_OK (EPOLLIN | EPOLLOUT | EPOLLERR | EPOLLHUP | EPOLLWAKEUP | EPOLLET | \
			    EPOLLEXCLUSIVE)

static u32 epoll_poll(struct file *file, struct poll_table *pt)
{
	struct eventpoll *ep = file->priv;

	poll_wait(pt, &ep->poll_wq);
	return epoll_has_news(ep) ? POLLIN | POLLRDNORM : 0;
}

static void epoll_release(struct file *file)
{
	epoll_free(file->priv);
}

const struct file_ops epoll_ops = { .release = epoll_release, .poll = epoll_poll };

long sys_epoll_create1(u32 flags)
{
	struct eventpoll *ep;
	struct file *file;
	int fd;

	if (flags & ~(u32)EPOLL_CLOEXEC)
		return -EINVAL;
	ep = epoll_new();
	if (!ep)
		return -ENOMEM;
	file = file_new_anon(&epoll_ops, "[eventpoll]", ep, O_RDWR);
	if (!file) {
		epoll_free(ep);
		return -ENFILE;
	}
	ep->file = file;
	fd = fd_install(file, !!(flags & EPOLL_CLOEXEC));
	if (fd < 0)
		file_put(file);
	return fd;
}

long sys_epoll_create(int size)
{
	return size <= 0 ? -EINVAL : sys_epoll_create1(0);
}

/* Levels of epolls below ep (0: it watches none); stops one beyond what is allowed. */
static int epoll_depth_below(struct eventpoll *ep, const struct eventpoll *avoid, int budget)
{
	int deepest = 0;

	if (ep == avoid || budget < 0)
		return EPOLL_MAX_NESTS + 1;
	for (u32 i = 0; i < ep->nhash; i++) {
		for (struct epitem *item = ep->hash[i]; item; item = item->hash_next) {
			int depth;

			if (item->file->ops != &epoll_ops)
				continue;
			depth = 1 + epoll_depth_below(item->file->priv, avoid, budget - 1);
			deepest = MAX(deepest, depth);
			if (deepest > EPOLL_MAX_NESTS)
				return deepest;
		}
	}
	return deepest;
}

/* Levels of epolls that watch this one. */
static int epoll_depth_above(const struct file *file)
{
	int deepest = 0;
	struct epitem *item;

	list_for_each(item, &file->epoll, file_link) {
		int depth = 1 + epoll_depth_above(item->ep->file);

		deepest = MAX(deepest, depth);
	}
	return deepest;
}

static int epoll_check_nesting(const struct file *epfile, const struct file *target)
{
	int below = epoll_depth_below(target->priv, epfile->priv, EPOLL_MAX_NESTS);

	return below + 1 + epoll_depth_above(epfile) > EPOLL_MAX_NESTS ? -ELOOP : 0;
}

static long epoll_ctl_add(struct file *epfile, struct file *file, int fd,
			  const struct epoll_event *event)
{
	if (epitem_find(epfile->priv, file, fd))
		return -EEXIST;
	return epitem_add(epfile->priv, file, fd, event->events, event->data);
}

static long epoll_ctl_run(struct file *epfile, int op, struct file *file, int fd,
			  struct epoll_event *event)
{
	struct epitem *item;

	if (!file->ops->poll)
		return -EPERM;
	event->events &= ~(u32)EPOLLWAKEUP;	/* needs CAP_BLOCK_SUSPEND and something to suspend */
	if (epfile == file || epfile->ops != &epoll_ops)
		return -EINVAL;
	if (op != EPOLL_CTL_DEL && event->events & EPOLLEXCLUSIVE &&
	    (op == EPOLL_CTL_MOD || file->ops == &epoll_ops ||
	     event->events & ~EPOLL_EXCLUSIVE_OK))
		return -EINVAL;
	if (op == EPOLL_CTL_ADD) {
		int err = file->ops == &epoll_ops ? epoll_check_nesting(epfile, file) : 0;

		return err ? err : epoll_ctl_add(epfile, file, fd, event);
	}
	if (op != EPOLL_CTL_MOD && op != EPOLL_CTL_DEL)
		return -EINVAL;
	item = epitem_find(epfile->priv, file, fd);
	if (!item)
		return -ENOENT;
	if (op == EPOLL_CTL_DEL)
		epitem_remove(item);
	else if (item->events & EPOLLEXCLUSIVE)
		return -EINVAL;
	else
		epitem_modify(item, event->events, event->data);
	return 0;
}

long sys_epoll_ctl(int epfd, int op, int fd, u64 event)
{
	struct epoll_event copy = { 0, 0 };
	struct file *epfile, *file;
	long ret = -EBADF;

	if (op != EPOLL_CTL_DEL && copy_from_user(&copy, event, sizeof(copy)))
		return -EFAULT;
	epfile = fd_file(epfd);
	file = epfile ? fd_file(fd) : NULL;
	if (file)
		ret = epoll_ctl_run(epfile, op, file, fd, &copy);
	if (file)
		file_put(file);
	if (epfile)
		file_put(epfile);
	return ret;
}

/* Fetch and hand over, a batch at a time. A fault after some were handed over reports those. */
static int epoll_send(struct eventpoll *ep, u64 events, int max)
{
	struct epoll_event batch[EPOLL_BATCH];
	struct list again = LIST_INIT(again);
	int done = 0, n, want;

	do {
		want = MIN(max - done, EPOLL_BATCH);
		n = epoll_collect(ep, batch, want, &again);
		if (n && copy_to_user(events + (u64)done * sizeof(batch[0]), batch,
				      (size_t)n * sizeof(batch[0]))) {
			done = done ? done : -EFAULT;
			break;
		}
		done += n;
	} while (n == want && done < max);
	epoll_collect_end(ep, &again);
	return done;
}

static long epoll_wait_events(struct file *file, u64 events, int max, u64 deadline_ns, bool block)
{
	struct eventpoll *ep = file->priv;
	int err = 0, n;

	for (;;) {
		n = epoll_send(ep, events, max);
		if (n || !block)
			return n;
		if (err)
			return err == -ETIMEDOUT ? 0 : -EINTR;
		err = wait_event(&ep->wait_wq, !list_empty(&ep->ready), deadline_ns);
	}
}

static long epoll_wait_run(int epfd, u64 events, int max, u64 deadline_ns, bool block)
{
	struct file *file;
	long ret = -EINVAL;

	if (max <= 0 || max > (int)(INT32_MAX / sizeof(struct epoll_event)))
		return -EINVAL;
	if (!user_ok(events, (u64)max * sizeof(struct epoll_event)))
		return -EFAULT;
	file = fd_file(epfd);
	if (!file)
		return -EBADF;
	if (file->ops == &epoll_ops)
		ret = epoll_wait_events(file, events, max, deadline_ns, block);
	file_put(file);
	return ret;
}

static u64 epoll_deadline(int timeout_ms)
{
	return timeout_ms > 0 ? deadline_after((u64)timeout_ms * 1000000) : WAIT_FOREVER;
}

long sys_epoll_wait(int epfd, u64 events, int maxevents, int timeout_ms)
{
	return epoll_wait_run(epfd, events, maxevents, epoll_deadline(timeout_ms), timeout_ms != 0);
}

long sys_epoll_pwait(int epfd, u64 events, int maxevents, int timeout_ms, u64 sigmask,
		     u64 sigsetsize)
{
	long ret = sigmask_swap(sigmask, sigsetsize);

	if (ret)
		return ret;
	ret = sys_epoll_wait(epfd, events, maxevents, timeout_ms);
	sigmask_unswap(ret == -EINTR);
	return ret;
}

long sys_epoll_pwait2(int epfd, u64 events, int maxevents, u64 timeout, u64 sigmask,
		      u64 sigsetsize)
{
	u64 rel;
	long ret = timeout_from_user(timeout, &rel);

	if (!ret)
		ret = sigmask_swap(sigmask, sigsetsize);
	if (ret)
		return ret;
	ret = epoll_wait_run(epfd, events, maxevents, deadline_after(rel), rel != 0);
	sigmask_unswap(ret == -EINTR);
	return ret;
}
