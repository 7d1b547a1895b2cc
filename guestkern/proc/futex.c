/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Futexes: wait, wake, requeue, bitsets, wake-op, robust lists. PI futexes: ENOSYS.
 */
#include "proc/futex.h"
#include "proc/syscalls.h"
#include "proc/task.h"
#include "core/sched.h"
#include "core/time.h"
#include "mm/pgtable.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include <linux/errno.h>
#include <linux/futex.h>

#define BUCKETS 64
#define ROBUST_LIMIT 2048

struct futex_key {
	const struct mm *mm;		/* NULL: shared memory */
	u64 addr;			/* in mm, or physical */
};

struct futex_waiter {
	struct list link;
	struct task *task;
	struct futex_key key;
	u32 bitset;
	bool woken;
};

static struct list buckets[BUCKETS];

static bool key_same(const struct futex_key *a, const struct futex_key *b)
{
	return a->mm == b->mm && a->addr == b->addr;
}

static struct list *bucket(const struct futex_key *key)
{
	struct list *b = &buckets[(key->addr >> 2 ^ key->addr >> 12) % BUCKETS];

	if (!b->next)
		list_init(b);
	return b;
}

/*
 * Private memory is known by address space and address (its page may move, by copy-on-write),
 * shared memory by its physical address, so that relatives meet.
 */
static int futex_key(u64 addr, struct futex_key *key)
{
	struct mm *mm = current->proc->mm;
	struct vma *vma;
	bool huge;
	u64 *pte;
	u32 val;

	if (addr & 3)
		return -EINVAL;
	if (copy_from_user(&val, addr, 4))
		return -EFAULT;
	vma = vma_find(mm, addr);
	if (!vma)
		return -EFAULT;
	if (!(vma->flags & VM_SHARED)) {
		*key = (struct futex_key){ mm, addr };
		return 0;
	}
	pte = pte_find(mm, addr, &huge);
	*key = (struct futex_key){ NULL, (*pte & PTE_ADDR) + (addr & (PAGE_SIZE - 1)) };
	return 0;
}

static int wake_key(const struct futex_key *key, unsigned n, u32 bitset)
{
	struct futex_waiter *w, *tmp;
	unsigned done = 0;

	list_for_each_safe(w, tmp, bucket(key), link) {
		if (done >= n)
			break;
		if (!key_same(&w->key, key) || !(w->bitset & bitset))
			continue;
		list_del(&w->link);
		w->woken = true;
		task_wake(w->task);
		done++;
	}
	return (int)done;
}

int futex_wake(u64 addr, unsigned n)
{
	struct futex_key key;
	int ret = futex_key(addr, &key);

	return ret ? ret : wake_key(&key, n, FUTEX_BITSET_MATCH_ANY);
}

static int futex_wait(u64 addr, u32 val, u64 deadline, u32 bitset)
{
	struct futex_waiter w = { .task = current, .bitset = bitset };
	int ret = futex_key(addr, &w.key);
	u32 now;

	if (ret)
		return ret;
	if (!bitset)
		return -EINVAL;
	if (copy_from_user(&now, addr, 4))
		return -EFAULT;
	if (now != val)
		return -EAGAIN;
	list_add_tail(bucket(&w.key), &w.link);
	while (!w.woken && !ret)
		ret = wait_sleep(true, deadline);
	list_del(&w.link);
	return w.woken ? 0 : ret;
}

static int futex_requeue(u64 addr, unsigned nwake, unsigned nmove, u64 addr2, const u32 *cmp)
{
	struct futex_waiter *w, *tmp;
	struct futex_key key, key2;
	unsigned moved = 0;
	int ret = futex_key(addr, &key), woken;
	u32 now;

	if (!ret)
		ret = futex_key(addr2, &key2);
	if (ret)
		return ret;
	if (cmp && copy_from_user(&now, addr, 4))
		return -EFAULT;
	if (cmp && now != *cmp)
		return -EAGAIN;
	woken = wake_key(&key, nwake, FUTEX_BITSET_MATCH_ANY);
	if (key_same(&key, &key2))
		return woken;
	list_for_each_safe(w, tmp, bucket(&key), link) {
		if (moved >= nmove)
			break;
		if (!key_same(&w->key, &key))
			continue;
		list_del(&w->link);
		w->key = key2;
		list_add_tail(bucket(&key2), &w->link);
		moved++;
	}
	return woken + (int)moved;
}

static int wake_op(u64 addr, unsigned n, unsigned n2, u64 addr2, u32 enc)
{
	u32 op = enc >> 28 & 7, cmp = enc >> 24 & 15, old, new;
	s32 oparg = (s32)(enc << 8) >> 20, cmparg = (s32)(enc << 20) >> 20;
	bool hit;
	int ret;

	if (enc >> 28 & FUTEX_OP_OPARG_SHIFT)	/* the top bit of op */
		oparg = 1 << (oparg & 31);
	if (copy_from_user(&old, addr2, 4))
		return -EFAULT;
	switch (op) {
	case FUTEX_OP_SET: new = (u32)oparg; break;
	case FUTEX_OP_ADD: new = old + (u32)oparg; break;
	case FUTEX_OP_OR: new = old | (u32)oparg; break;
	case FUTEX_OP_ANDN: new = old & ~(u32)oparg; break;
	case FUTEX_OP_XOR: new = old ^ (u32)oparg; break;
	default: return -ENOSYS;
	}
	if (copy_to_user(addr2, &new, 4))
		return -EFAULT;
	switch (cmp) {
	case FUTEX_OP_CMP_EQ: hit = (s32)old == cmparg; break;
	case FUTEX_OP_CMP_NE: hit = (s32)old != cmparg; break;
	case FUTEX_OP_CMP_LT: hit = (s32)old < cmparg; break;
	case FUTEX_OP_CMP_GE: hit = (s32)old >= cmparg; break;
	case FUTEX_OP_CMP_LE: hit = (s32)old <= cmparg; break;
	case FUTEX_OP_CMP_GT: hit = (s32)old > cmparg; break;
	default: return -ENOSYS;
	}
	ret = futex_wake(addr, n);
	return ret < 0 || !hit ? ret : ret + futex_wake(addr2, n2);
}

static int futex_deadline(u64 timeout, int op, u64 *deadline)
{
	bool absolute = (op & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	struct timespec64 ts;
	u64 ns;

	*deadline = WAIT_FOREVER;
	if (!timeout)
		return 0;
	if (copy_from_user(&ts, timeout, sizeof(ts)))
		return -EFAULT;
	if (ts.sec < 0 || ts.nsec < 0 || ts.nsec >= (s64)NSEC_PER_SEC)
		return -EINVAL;
	ns = (u64)ts.sec > 0xffffffffull ? WAIT_FOREVER / 2 : (u64)ts.sec * NSEC_PER_SEC + (u64)ts.nsec;
	if (!absolute)
		*deadline = time_monotonic_ns() + ns;
	else if (op & FUTEX_CLOCK_REALTIME)
		*deadline = time_monotonic_ns() + MAX((s64)(ns - time_realtime_ns()), 0);
	else
		*deadline = ns;
	return 0;
}

long sys_futex(u64 addr, int op, u32 val, u64 timeout, u64 addr2, u32 val3)
{
	u64 deadline;
	int ret;

	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		val3 = FUTEX_BITSET_MATCH_ANY;
		/* fall through */
	case FUTEX_WAIT_BITSET:
		ret = futex_deadline(timeout, op, &deadline);
		return ret ? ret : futex_wait(addr, val, deadline, val3);
	case FUTEX_WAKE:
		return futex_wake(addr, val);
	case FUTEX_WAKE_BITSET: {
		struct futex_key key;

		if (!val3)
			return -EINVAL;
		ret = futex_key(addr, &key);
		return ret ? ret : wake_key(&key, val, val3);
	}
	case FUTEX_REQUEUE:
		return futex_requeue(addr, val, (u32)timeout, addr2, NULL);
	case FUTEX_CMP_REQUEUE:
		return futex_requeue(addr, val, (u32)timeout, addr2, &val3);
	case FUTEX_WAKE_OP:
		return wake_op(addr, val, (u32)timeout, addr2, val3);
	default:
		return -ENOSYS;
	}
}

/* get_robust_list(2): mark each lock that the thread still owns, and wake a waiter. */
static void robust_release(u64 addr, s32 tid)
{
	u32 val;

	if (copy_from_user(&val, addr, 4) || (val & FUTEX_TID_MASK) != (u32)tid)
		return;
	val = (val & FUTEX_WAITERS) | FUTEX_OWNER_DIED;
	if (!copy_to_user(addr, &val, 4))
		futex_wake(addr, 1);
}

void futex_robust_exit(struct task *task)
{
	u64 at, pending, next;
	s64 offset;

	if (!task->robust_list || copy_from_user(&at, task->robust_list, 8) ||
	    copy_from_user(&offset, task->robust_list + 8, 8) ||
	    copy_from_user(&pending, task->robust_list + 16, 8))
		return;
	for (unsigned i = 0; at != task->robust_list && i < ROBUST_LIMIT; i++) {
		if (copy_from_user(&next, at & ~1ull, 8))
			return;
		if (at != pending)
			robust_release((at & ~1ull) + (u64)offset, task->tid);
		at = next;
	}
	if (pending)
		robust_release((pending & ~1ull) + (u64)offset, task->tid);
}
