/* SPDX-License-Identifier: Apache-2.0 */
/*
 * select(2) and pselect6: six bitmaps in one buffer (three asked for, three answered), scanned
 * word by word. The waiting is poll.c's.
 */
#include "fs/poll_wait.h"
#include <linux/errno.h>
#include <linux/poll.h>
#include <linux/time_types.h>
#include "core/string.h"
#include "fs/syscalls_kfs.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "proc/task.h"

#define SELECT_MAX	(1 << 20)
#define SELECT_SMALL	(1024 / 64)	/* words of a set that fits on the stack: FD_SETSIZE */

enum { SEL_IN, SEL_OUT, SEL_EX, SEL_SETS };

static const u32 select_masks[SEL_SETS] = {
	[SEL_IN] = POLLRDNORM | POLLRDBAND | POLLIN | POLLHUP | POLLERR | POLLNVAL,
	[SEL_OUT] = POLLWRBAND | POLLWRNORM | POLLOUT | POLLERR | POLLNVAL,
	[SEL_EX] = POLLPRI | POLLNVAL,
};

struct select_sets {
	unsigned n;			/* descriptors */
	unsigned words;			/* of a set */
	u64 *want[SEL_SETS], *got[SEL_SETS];
};

static u32 select_ask(struct select_sets *sets, struct poll_waits *pw, unsigned fd, bool queue)
{
	struct file *file = fd_file((int)fd);
	u32 mask;

	if (!file)
		return POLLNVAL;
	mask = poll_waits_ask(pw, file, queue);
	file_put(file);
	return mask;
}

static int select_scan(struct select_sets *sets, struct poll_waits *pw, bool queue)
{
	int ready = 0;

	for (unsigned w = 0; w < sets->words; w++) {
		u64 all = sets->want[SEL_IN][w] | sets->want[SEL_OUT][w] | sets->want[SEL_EX][w];

		for (; all; all &= all - 1) {
			unsigned bit = (unsigned)__builtin_ctzll(all);
			u32 mask = select_ask(sets, pw, w * 64 + bit, queue && !ready);

			for (int s = 0; s < SEL_SETS; s++) {
				if (!(sets->want[s][w] >> bit & 1) || !(mask & select_masks[s]))
					continue;
				sets->got[s][w] |= 1ull << bit;
				ready++;
			}
		}
	}
	return ready;
}

static int select_check_open(const struct select_sets *sets)
{
	for (unsigned w = 0; w < sets->words; w++) {
		u64 all = sets->want[SEL_IN][w] | sets->want[SEL_OUT][w] | sets->want[SEL_EX][w];

		for (; all; all &= all - 1) {
			struct file *file = fd_file((int)(w * 64) + __builtin_ctzll(all));

			if (!file)
				return -EBADF;
			file_put(file);
		}
	}
	return 0;
}

static int select_wait(struct select_sets *sets, u64 deadline_ns, bool block)
{
	struct poll_waits pw;
	int n, err = 0;

	poll_waits_init(&pw);
	n = select_scan(sets, &pw, block);
	while (!n && block && !err) {
		err = poll_waits_sleep(&pw, deadline_ns);
		n = select_scan(sets, &pw, false);
	}
	poll_waits_free(&pw);
	if (n || err == -ETIMEDOUT)
		return n;
	return err;
}

/* Bits at and above n are neither read nor written back, whole words at a time as Linux does. */
static int select_copy_in(struct select_sets *sets, const u64 addr[SEL_SETS])
{
	size_t bytes = sets->words * 8;

	for (int s = 0; s < SEL_SETS; s++) {
		if (!addr[s])
			memset(sets->want[s], 0, bytes);
		else if (copy_from_user(sets->want[s], addr[s], bytes))
			return -EFAULT;
		if (sets->n % 64)
			sets->want[s][sets->words - 1] &= (1ull << sets->n % 64) - 1;
		memset(sets->got[s], 0, bytes);
	}
	return 0;
}

static long select_sets_run(struct select_sets *sets, const u64 addr[SEL_SETS], u64 deadline_ns,
			    bool block)
{
	long ret = select_copy_in(sets, addr);

	if (!ret)
		ret = select_check_open(sets);
	if (!ret)
		ret = select_wait(sets, deadline_ns, block);
	if (ret < 0)
		return ret;
	for (int s = 0; s < SEL_SETS; s++)
		if (addr[s] && copy_to_user(addr[s], sets->got[s], sets->words * 8))
			return -EFAULT;
	return ret;
}

static long select_run(int n, const u64 addr[SEL_SETS], u64 deadline_ns, bool block)
{
	u64 small[2 * SEL_SETS * SELECT_SMALL], *buf = small;
	struct select_sets sets;
	long ret;

	if (n < 0)
		return -EINVAL;
	sets.n = (unsigned)MIN(n, SELECT_MAX);
	sets.words = (sets.n + 63) / 64;
	if (sets.words > SELECT_SMALL) {
		buf = kmalloc(2 * SEL_SETS * 8ul * sets.words);
		if (!buf)
			return -ENOMEM;
	}
	for (int s = 0; s < SEL_SETS; s++) {
		sets.want[s] = buf + (size_t)s * sets.words;
		sets.got[s] = buf + (size_t)(SEL_SETS + s) * sets.words;
	}
	ret = select_sets_run(&sets, addr, deadline_ns, block);
	if (buf != small)
		kfree(buf);
	return ret == -ERESTARTSYS ? -ERESTARTNOHAND : ret;
}

static long select_timeout(u64 addr, u64 *rel_ns)
{
	struct __kernel_old_timeval tv;

	*rel_ns = WAIT_FOREVER;
	if (!addr)
		return 0;
	if (copy_from_user(&tv, addr, sizeof(tv)))
		return -EFAULT;
	/* Linux normalises too many microseconds here rather than refuse them. */
	if (tv.tv_sec < 0 || tv.tv_usec < 0)
		return -EINVAL;
	if ((u64)tv.tv_sec + (u64)tv.tv_usec / 1000000 < WAIT_FOREVER / NSEC_PER_SEC - 1)
		*rel_ns = (u64)tv.tv_sec * NSEC_PER_SEC + (u64)tv.tv_usec * 1000;
	return 0;
}

/* The time left in a struct timeval; see timeout_finish(). */
static long select_finish(long ret, u64 addr, u64 rel_ns, u64 deadline_ns)
{
	struct __kernel_old_timeval tv = { 0, 0 };
	u64 now = time_monotonic_ns();

	if (!addr || !rel_ns || deadline_ns == WAIT_FOREVER)
		return ret;
	if (now < deadline_ns) {
		u64 left = deadline_ns - now;

		tv.tv_sec = (long)(left / NSEC_PER_SEC);
		tv.tv_usec = (long)(left % NSEC_PER_SEC / 1000);
	}
	if (copy_to_user(addr, &tv, sizeof(tv)) && ret == -ERESTARTNOHAND)
		return -EINTR;
	return ret;
}

long sys_select(int n, u64 in, u64 out, u64 ex, u64 timeout)
{
	u64 rel, deadline;
	long ret = select_timeout(timeout, &rel);

	if (ret)
		return ret;
	deadline = deadline_after(rel);
	ret = select_run(n, (u64[SEL_SETS]){ in, out, ex }, deadline, rel != 0);
	return select_finish(ret, timeout, rel, deadline);
}

long sys_pselect6(int n, u64 in, u64 out, u64 ex, u64 timeout, u64 sig)
{
	struct { u64 mask, size; } arg = { 0, 0 };
	u64 rel, deadline;
	long ret;

	if (sig && copy_from_user(&arg, sig, sizeof(arg)))
		return -EFAULT;
	ret = timeout_from_user(timeout, &rel);
	if (!ret)
		ret = sigmask_swap(arg.mask, arg.size);
	if (ret)
		return ret;
	deadline = deadline_after(rel);
	ret = select_run(n, (u64[SEL_SETS]){ in, out, ex }, deadline, rel != 0);
	sigmask_unswap(ret == -ERESTARTNOHAND);
	return timeout_finish(ret, timeout, rel, deadline);
}
