/* SPDX-License-Identifier: Apache-2.0 */
/*
 * poll(2) and what it shares with select and epoll: the table of waiters, deadlines, the
 * temporary signal mask. A file is asked once with the table (it adds its queues) and again
 * without it after each wake-up; the table keeps the files referenced meanwhile.
 */
#include "fs/poll.h"
#include <linux/errno.h>
#include <linux/poll.h>
#include <linux/time_types.h>
#include "core/string.h"
#include "fs/poll_wait.h"
#include "fs/syscalls_kfs.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "proc/signo.h"
#include "proc/task.h"

#define POLL_INLINE 8		/* pollfds on the stack */
#define RLIMIT_NOFILE_INDEX 7
#define POLL_MAX_FDS (1u << 20)

void poll_wait(struct poll_table *pt, struct wait_queue *wq)
{
	if (pt)
		pt->queue(pt, wq);
}

static struct poll_entry *poll_entry_new(struct poll_waits *pw)
{
	struct poll_chunk *chunk = pw->chunks;

	if (pw->ninline < POLL_WAITS_INLINE)
		return &pw->entries[pw->ninline++];
	if (!chunk || chunk->n == ARRAY_SIZE(chunk->entries)) {
		chunk = kmalloc(sizeof(*chunk));
		if (!chunk)
			return NULL;
		chunk->n = 0;
		chunk->next = pw->chunks;
		pw->chunks = chunk;
	}
	return &chunk->entries[chunk->n++];
}

static void poll_waits_queue(struct poll_table *pt, struct wait_queue *wq)
{
	struct poll_waits *pw = container_of(pt, struct poll_waits, pt);
	struct poll_entry *entry = poll_entry_new(pw);

	if (!entry) {
		pw->err = -ENOMEM;
		return;
	}
	file_get(pw->file);
	entry->file = pw->file;
	waiter_add(wq, &entry->waiter);
}

void poll_waits_init(struct poll_waits *pw)
{
	pw->pt.queue = poll_waits_queue;
	pw->file = NULL;
	pw->err = 0;
	pw->ninline = 0;
	pw->chunks = NULL;
}

static void poll_entry_free(struct poll_entry *entry)
{
	waiter_del(&entry->waiter);
	file_put(entry->file);
}

void poll_waits_free(struct poll_waits *pw)
{
	for (unsigned i = 0; i < pw->ninline; i++)
		poll_entry_free(&pw->entries[i]);
	while (pw->chunks) {
		struct poll_chunk *chunk = pw->chunks;

		for (unsigned i = 0; i < chunk->n; i++)
			poll_entry_free(&chunk->entries[i]);
		pw->chunks = chunk->next;
		kfree(chunk);
	}
}

u32 poll_waits_ask(struct poll_waits *pw, struct file *file, bool queue)
{
	pw->file = file;
	return file_poll(file, queue ? &pw->pt : NULL);
}

int poll_waits_sleep(struct poll_waits *pw, u64 deadline_ns)
{
	if (pw->err)
		return pw->err;
	return wait_sleep(true, deadline_ns);
}

u64 deadline_after(u64 rel_ns)
{
	u64 now = time_monotonic_ns();

	return rel_ns >= WAIT_FOREVER - now ? WAIT_FOREVER : now + rel_ns;
}

u64 deadline_restartable(u64 rel_ns)
{
	u64 saved = current->restart_deadline_ns;

	current->restart_deadline_ns = 0;
	return saved ? saved : deadline_after(rel_ns);
}

long deadline_interrupted(u64 deadline_ns)
{
	current->restart_deadline_ns = deadline_ns;
	return -ERESTARTNOHAND;
}

int timeout_from_user(u64 addr, u64 *rel_ns)
{
	struct __kernel_timespec ts;

	*rel_ns = WAIT_FOREVER;
	if (!addr)
		return 0;
	if (copy_from_user(&ts, addr, sizeof(ts)))
		return -EFAULT;
	if (ts.tv_sec < 0 || ts.tv_nsec < 0 || ts.tv_nsec >= (s64)NSEC_PER_SEC)
		return -EINVAL;
	if ((u64)ts.tv_sec < WAIT_FOREVER / NSEC_PER_SEC - 1)
		*rel_ns = (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
	return 0;
}

int sigmask_swap(u64 addr, u64 size)
{
	u64 mask;

	if (!addr)
		return 0;
	if (size != sizeof(mask))
		return -EINVAL;
	if (copy_from_user(&mask, addr, sizeof(mask)))
		return -EFAULT;
	current->saved_sigmask = current->sigmask;
	current->sigmask = mask & ~(SIGBIT(SIGKILL) | SIGBIT(SIGSTOP));
	current->restore_sigmask = true;
	return 0;
}

void sigmask_unswap(bool interrupted)
{
	if (interrupted || !current->restore_sigmask)
		return;
	current->sigmask = current->saved_sigmask;
	current->restore_sigmask = false;
}

/* One round over all descriptors: how many have something to say. */
static int poll_scan(struct pollfd *fds, u32 nfds, struct poll_waits *pw, bool queue)
{
	int ready = 0;

	for (u32 i = 0; i < nfds; i++) {
		u32 want = (u16)fds[i].events | POLLERR | POLLHUP;
		struct file *file;

		fds[i].revents = 0;
		if (fds[i].fd < 0)
			continue;
		file = fd_file(fds[i].fd);
		if (file) {
			fds[i].revents = (short)(poll_waits_ask(pw, file, queue && !ready) & want);
			file_put(file);
		} else {
			fds[i].revents = POLLNVAL;
		}
		ready += fds[i].revents != 0;
	}
	return ready;
}

/* How many are ready, 0 on time-out, -ERESTARTSYS, -ENOMEM. */
static int poll_wait_ready(struct pollfd *fds, u32 nfds, u64 deadline_ns, bool block)
{
	struct poll_waits pw;
	int n, err = 0;

	poll_waits_init(&pw);
	n = poll_scan(fds, nfds, &pw, block);
	while (!n && block && !err) {
		err = poll_waits_sleep(&pw, deadline_ns);
		n = poll_scan(fds, nfds, &pw, false);
	}
	poll_waits_free(&pw);
	if (n || err == -ETIMEDOUT)
		return n;
	return err;
}

static int poll_results(u64 ufds, const struct pollfd *fds, u32 nfds)
{
	for (u32 i = 0; i < nfds; i++) {
		u64 at = ufds + i * sizeof(*fds) + offsetof(struct pollfd, revents);

		if (copy_to_user(at, &fds[i].revents, sizeof(fds[i].revents)))
			return -EFAULT;
	}
	return 0;
}

static long poll_run(u64 ufds, u32 nfds, u64 deadline_ns, bool block)
{
	struct pollfd small[POLL_INLINE], *fds = small;
	long ret = -EFAULT;

	if (nfds > POLL_MAX_FDS || nfds > current->proc->rlim[RLIMIT_NOFILE_INDEX].cur)
		return -EINVAL;
	if (nfds > POLL_INLINE) {
		fds = kmalloc(nfds * sizeof(*fds));
		if (!fds)
			return -ENOMEM;
	}
	if (!copy_from_user(fds, ufds, nfds * sizeof(*fds))) {
		ret = poll_wait_ready(fds, nfds, deadline_ns, block);
		if (ret >= 0 && poll_results(ufds, fds, nfds))
			ret = -EFAULT;
	}
	if (fds != small)
		kfree(fds);
	return ret;
}

long sys_poll(u64 fds, u32 nfds, int timeout_ms)
{
	u64 deadline = WAIT_FOREVER;
	long ret;

	if (timeout_ms > 0)
		deadline = deadline_restartable((u64)timeout_ms * 1000000);
	ret = poll_run(fds, nfds, deadline, timeout_ms != 0);
	if (ret == -ERESTARTSYS)
		ret = timeout_ms > 0 ? deadline_interrupted(deadline) : -ERESTARTNOHAND;
	return ret;
}

/* The time left, as ppoll and pselect6 report it. Failing to write it makes a restart wrong: EINTR. */
long timeout_finish(long ret, u64 addr, u64 rel_ns, u64 deadline_ns)
{
	struct __kernel_timespec ts = { 0, 0 };
	u64 now = time_monotonic_ns();

	if (!addr || !rel_ns)
		return ret;
	if (deadline_ns == WAIT_FOREVER)	/* beyond what ns can hold: leave it */
		return ret;
	if (now < deadline_ns) {
		ts.tv_sec = (s64)((deadline_ns - now) / NSEC_PER_SEC);
		ts.tv_nsec = (s64)((deadline_ns - now) % NSEC_PER_SEC);
	}
	if (copy_to_user(addr, &ts, sizeof(ts)) && ret == -ERESTARTNOHAND)
		return -EINTR;
	return ret;
}

long sys_ppoll(u64 fds, u32 nfds, u64 timeout, u64 sigmask, u64 sigsetsize)
{
	u64 rel, deadline;
	long ret;
	int err = timeout_from_user(timeout, &rel);

	if (!err)
		err = sigmask_swap(sigmask, sigsetsize);
	if (err)
		return err;
	deadline = deadline_after(rel);
	ret = poll_run(fds, nfds, deadline, rel != 0);
	if (ret == -ERESTARTSYS)
		ret = -ERESTARTNOHAND;
	sigmask_unswap(ret == -ERESTARTNOHAND);
	return timeout_finish(ret, timeout, rel, deadline);
}
