/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File locks: record locks (fcntl: by process and by open file description) and flock(2). An
 * inode's state is made with its first lock and goes with the inode.
 */
#include "fs/locks.h"
#include "fs/syscalls.h"

#define LOCK_SH 1	/* flock(2), as in <linux/fcntl.h> of the C library */
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8

struct lock {
	struct list link;
	const void *owner;
	struct lock_range range;
};

struct locks {			/* inode->flocks */
	struct list records;	/* sorted by nothing; an owner's do not overlap */
	struct list flocks;
	struct wait_queue wq;
};

/* Who waits for whom, for EDEADLK: process locks only. */
struct lock_wait {
	struct list link;
	const void *owner, *blocker;
};
static struct list lock_waits = LIST_INIT(lock_waits);

static struct locks *locks_of(struct inode *inode)
{
	struct locks *l = inode->flocks;

	if (l)
		return l;
	l = kzalloc(sizeof(*l));
	if (!l)
		return NULL;
	list_init(&l->records);
	list_init(&l->flocks);
	wait_queue_init(&l->wq);
	inode->flocks = l;
	return l;
}

void locks_free(struct inode *inode)
{
	struct locks *l = inode->flocks;
	struct lock *k, *tmp;

	list_for_each_safe(k, tmp, &l->records, link)
		kfree(k);
	list_for_each_safe(k, tmp, &l->flocks, link)
		kfree(k);
	kfree(l);
	inode->flocks = NULL;
}

static bool range_overlap(const struct lock_range *a, const struct lock_range *b)
{
	return a->start <= b->end && b->start <= a->end;
}

static struct lock *locks_conflict(const struct list *list, const void *owner,
				   const struct lock_range *range)
{
	struct lock *k;

	list_for_each(k, list, link) {
		if (k->owner != owner && range_overlap(&k->range, range) &&
		    (k->range.type == LOCK_TYPE_WRITE || range->type == LOCK_TYPE_WRITE))
			return k;
	}
	return NULL;
}

void locks_test(struct inode *inode, const void *owner, struct lock_range *range)
{
	struct locks *l = inode->flocks;
	struct lock *k = l ? locks_conflict(&l->records, owner, range) : NULL;

	if (k)
		*range = k->range;
	else
		range->type = LOCK_TYPE_NONE;
}

/* Cut a range out of the owner's locks; `spare` serves the one that may fall in two. */
static void records_cut(struct locks *l, const void *owner, const struct lock_range *range,
			struct lock **spare)
{
	struct lock *k, *tmp;

	list_for_each_safe(k, tmp, &l->records, link) {
		if (k->owner != owner || !range_overlap(&k->range, range))
			continue;
		if (k->range.start < range->start && k->range.end > range->end) {
			struct lock *tail = *spare;

			*spare = NULL;
			*tail = *k;
			tail->range.start = range->end + 1;
			list_add(&k->link, &tail->link);
			k->range.end = range->start - 1;
			return;
		}
		if (k->range.start < range->start) {
			k->range.end = range->start - 1;
		} else if (k->range.end > range->end) {
			k->range.start = range->end + 1;
		} else {
			list_del(&k->link);
			kfree(k);
		}
	}
}

/* Join with the owner's neighbours of the same type. */
static void records_join(struct locks *l, struct lock *lock)
{
	struct lock *k, *tmp;

	list_for_each_safe(k, tmp, &l->records, link) {
		if (k == lock || k->owner != lock->owner || k->range.type != lock->range.type)
			continue;
		if (k->range.end + 1 == lock->range.start)
			lock->range.start = k->range.start;
		else if (lock->range.end + 1 == k->range.start)
			lock->range.end = k->range.end;
		else
			continue;
		list_del(&k->link);
		kfree(k);
	}
}

static int records_apply(struct locks *l, const void *owner, const struct lock_range *range)
{
	struct lock *lock = kzalloc(sizeof(*lock)), *spare = kzalloc(sizeof(*spare));

	if (!lock || !spare) {
		kfree(lock);
		kfree(spare);
		return -ENOLCK;
	}
	records_cut(l, owner, range, &spare);
	if (range->type == LOCK_TYPE_NONE) {
		kfree(lock);
	} else {
		lock->owner = owner;
		lock->range = *range;
		list_add_tail(&l->records, &lock->link);
		records_join(l, lock);
	}
	kfree(spare);
	wake_all(&l->wq);	/* an unlock, or a write lock that became a read lock */
	return 0;
}

/* Would waiting for blocker close a circle? */
static bool wait_deadlocks(const void *owner, const void *blocker)
{
	struct lock_wait *w;
	bool found = true;

	while (found && blocker != owner) {
		found = false;
		list_for_each(w, &lock_waits, link) {
			if (w->owner == blocker) {
				blocker = w->blocker;
				found = true;
				break;
			}
		}
	}
	return blocker == owner;
}

int locks_set(struct inode *inode, const void *owner, const struct lock_range *range, bool wait)
{
	struct locks *l = locks_of(inode);
	struct lock_wait w;
	struct lock *k;
	int err = 0;

	if (!l)
		return -ENOLCK;
	while (range->type != LOCK_TYPE_NONE && (k = locks_conflict(&l->records, owner, range))) {
		if (!wait)
			return -EAGAIN;
		if (range->pid >= 0 && wait_deadlocks(owner, k->owner))
			return -EDEADLK;
		w.owner = owner;
		w.blocker = k->owner;
		list_add(&lock_waits, &w.link);
		err = wait_event(&l->wq, locks_conflict(&l->records, owner, range) != k,
				 WAIT_FOREVER);
		list_del(&w.link);
		if (err)
			return err;
	}
	return records_apply(l, owner, range);
}

static void locks_release(struct list *list, struct locks *l, const void *owner)
{
	struct lock *k, *tmp;
	bool any = false;

	list_for_each_safe(k, tmp, list, link) {
		if (k->owner == owner) {
			list_del(&k->link);
			kfree(k);
			any = true;
		}
	}
	if (any)
		wake_all(&l->wq);
}

void locks_release_posix(struct inode *inode, struct files *owner)
{
	struct locks *l = inode ? inode->flocks : NULL;

	if (l)
		locks_release(&l->records, l, owner);
}

void locks_release_file(struct file *file)
{
	struct inode *inode = file->inode ? file_attr_inode(file) : NULL;
	struct locks *l = inode ? inode->flocks : NULL;

	if (!l)
		return;
	locks_release(&l->records, l, file);
	locks_release(&l->flocks, l, file);
}

static long flock_set(struct file *file, int op)
{
	struct lock_range range = { .end = ~0ull, .pid = current->proc->pid };
	struct locks *l = locks_of(file_attr_inode(file));
	struct lock *lock;
	int err = 0;

	if (!l)
		return -ENOLCK;
	range.type = (op & ~LOCK_NB) == LOCK_EX ? LOCK_TYPE_WRITE : LOCK_TYPE_READ;
	list_for_each(lock, &l->flocks, link) {
		if (lock->owner == file && (op & ~LOCK_NB) != LOCK_UN &&
		    lock->range.type == range.type)
			return 0;
	}
	/* A conversion gives up the old lock first, as Linux does. */
	locks_release(&l->flocks, l, file);
	if ((op & ~LOCK_NB) == LOCK_UN)
		return 0;
	if (locks_conflict(&l->flocks, file, &range)) {
		if (op & LOCK_NB)
			return -EAGAIN;
		err = wait_event(&l->wq, !locks_conflict(&l->flocks, file, &range), WAIT_FOREVER);
		if (err)
			return err;
	}
	lock = kzalloc(sizeof(*lock));
	if (!lock)
		return -ENOLCK;
	lock->owner = file;
	lock->range = range;
	list_add_tail(&l->flocks, &lock->link);
	return 0;
}

long sys_flock(int fd, int op)
{
	struct file *file;
	long err;

	switch (op & ~LOCK_NB) {
	case LOCK_SH:
	case LOCK_EX:
	case LOCK_UN:
		break;
	default:
		return -EINVAL;
	}
	err = file_get_fd(fd, &file);
	if (err)
		return err;
	err = flock_set(file, op);
	file_put(file);
	return err;
}
