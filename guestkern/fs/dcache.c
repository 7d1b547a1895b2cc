/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dentry cache: names hashed by (parent, name), negative ones too. A dentry holds references
 * on its inode and its parent. Unreferenced dentries stay hashed on a least-recently-used list
 * and are freed from its old end when they become too many.
 *
 * Nothing here sleeps; looking up what is not cached is in lookup.c.
 */
#include "fs/vfs_internal.h"

#define FIRST_BUCKETS	512u
#define MAX_BUCKETS	65536u

/* A bucket with next == NULL has never been used: the table starts as untouched memory. */
static struct list first_table[FIRST_BUCKETS];
static struct list *table = first_table;
static u32 table_size = FIRST_BUCKETS, hashed_count;
static struct list lru = LIST_INIT(lru);
static u64 lru_count;

static u32 dcache_hash(const struct dentry *parent, const char *name, size_t len)
{
	u64 h = (u64)(uintptr_t)parent * 0x9e3779b97f4a7c15ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (u8)name[i]) * 0x100000001b3ull;
	return (u32)(h ^ (h >> 32));
}

static struct list *dcache_bucket(u32 hashval)
{
	struct list *b = &table[hashval & (table_size - 1)];

	if (!b->next)
		list_init(b);
	return b;
}

static void dcache_grow(void)
{
	struct list *old = table, *wider;
	u32 old_size = table_size;

	if (table_size >= MAX_BUCKETS)
		return;
	wider = kzalloc(sizeof(*wider) * table_size * 4);
	if (!wider)
		return;
	table = wider;
	table_size *= 4;
	for (u32 i = 0; i < old_size; i++) {
		while (old[i].next && !list_empty(&old[i])) {
			struct dentry *d = list_first(&old[i], struct dentry, hash);

			list_del(&d->hash);
			list_add_tail(dcache_bucket(d->hashval), &d->hash);
		}
	}
	if (old != first_table)
		kfree(old);
}

static void dentry_hash(struct dentry *d)
{
	d->hashval = dcache_hash(d->parent, d->name, d->len);
	list_add(dcache_bucket(d->hashval), &d->hash);
	if (++hashed_count > table_size * 2)
		dcache_grow();
}

bool dentry_unhashed(const struct dentry *d)
{
	return list_empty(&d->hash);
}

void dentry_unhash(struct dentry *d)
{
	if (!dentry_unhashed(d)) {
		list_del(&d->hash);
		hashed_count--;
	}
}

struct dentry *dentry_new(struct dentry *parent, const char *name, size_t len)
{
	struct dentry *d = kmalloc(sizeof(*d) + len + 1);

	if (!d)
		return NULL;
	memset(d, 0, sizeof(*d));
	memcpy(d->inline_name, name, len);
	d->inline_name[len] = 0;
	d->name = d->inline_name;
	d->len = len;
	d->refs = 1;
	d->expires_ns = ~0ull;
	list_init(&d->hash);
	list_init(&d->lru);
	list_init(&d->children);
	list_init(&d->sibling);
	d->parent = parent ? parent : d;
	if (parent) {
		dentry_get(parent);
		d->mount = parent->mount;
		list_add(&parent->children, &d->sibling);
	}
	return d;
}

struct dentry *dentry_new_root(struct inode *inode, struct mount *mount)
{
	struct dentry *d = dentry_new(NULL, "", 0);

	if (d) {
		d->inode = inode;
		d->mount = mount;
	}
	return d;
}

struct dentry *dentry_new_anon(struct inode *inode, const char *label)
{
	struct dentry *d = dentry_new(NULL, label, strlen(label));

	if (d) {
		inode_get(inode);
		d->inode = inode;
	}
	return d;
}

void dentry_instantiate(struct dentry *d, struct inode *inode)
{
	kassert(!d->inode);
	d->inode = inode;
}

void dentry_get(struct dentry *d)
{
	d->refs++;
}

static void lru_remove(struct dentry *d)
{
	if (!list_empty(&d->lru)) {
		list_del(&d->lru);
		lru_count--;
	}
}

/* Frees an unreferenced dentry; the parent's reference is left to the caller. */
static struct dentry *dentry_free(struct dentry *d)
{
	struct dentry *parent = d->parent == d ? NULL : d->parent;

	dentry_unhash(d);
	lru_remove(d);
	list_del(&d->sibling);
	if (d->inode)
		inode_put(d->inode);
	if (d->name != d->inline_name)
		kfree(d->name);
	kfree(d);
	return parent;
}

static u64 lru_limit(void)
{
	static u64 limit;

	if (!limit)
		limit = MIN(MAX(page_total_count() / 8, 2048ull), 65536ull);
	return limit;
}

void dentry_put(struct dentry *d)
{
	while (d) {
		kassert(d->refs);
		if (--d->refs)
			return;
		if (!dentry_unhashed(d)) {
			lru_remove(d);
			list_add_tail(&lru, &d->lru);
			if (++lru_count > lru_limit())
				dcache_reclaim(lru_limit() / 16);
			return;
		}
		d = dentry_free(d);
	}
}

u64 dcache_reclaim(u64 count)
{
	u64 freed = 0;

	while (freed < count && !list_empty(&lru)) {
		struct dentry *d = list_first(&lru, struct dentry, lru);
		struct dentry *parent;

		lru_remove(d);
		if (d->refs)
			continue;
		parent = dentry_free(d);
		freed++;
		if (parent)
			dentry_put(parent);
	}
	return freed;
}

/* First unused dentry without children at or below d's children, or NULL. */
static struct dentry *prune_candidate(struct dentry *top)
{
	struct dentry *d = top;

	for (;;) {
		struct dentry *child, *next = NULL;

		list_for_each(child, &d->children, sibling) {
			if (!child->refs)
				return child;
		}
		/* Go down, then across: pre-order without recursion. */
		if (!list_empty(&d->children)) {
			next = list_first(&d->children, struct dentry, sibling);
		} else {
			while (d != top && d->sibling.next == &d->parent->children)
				d = d->parent;
			if (d == top)
				return NULL;
			next = list_entry(d->sibling.next, struct dentry, sibling);
		}
		d = next;
	}
}

void dcache_prune(struct dentry *parent)
{
	struct dentry *d;

	dentry_get(parent);
	while ((d = prune_candidate(parent)))
		dentry_put(dentry_free(d));
	dentry_put(parent);
}

struct dentry *dcache_find(struct dentry *parent, const char *name, size_t len)
{
	u32 h = dcache_hash(parent, name, len);
	struct dentry *d;

	list_for_each(d, dcache_bucket(h), hash) {
		if (d->hashval == h && d->parent == parent && d->len == len &&
		    !memcmp(d->name, name, len)) {
			d->refs++;
			return d;
		}
	}
	return NULL;
}

struct dentry *dcache_enter(struct dentry *d)
{
	struct dentry *old = dcache_find(d->parent, d->name, d->len);

	if (old && (old->inode == d->inode || old->mounted)) {
		old->expires_ns = d->expires_ns;
		dentry_put(d);
		return old;
	}
	if (old) {
		dentry_unhash(old);
		dentry_put(old);
	}
	dentry_hash(d);
	return d;
}

struct dentry *dcache_add(struct dentry *parent, const char *name, size_t len, struct inode *inode,
			  u64 expires_ns)
{
	struct dentry *d = dcache_find(parent, name, len);

	if (d && d->inode == inode) {	/* renewed without making one */
		d->expires_ns = expires_ns;
		if (inode)
			inode_put(inode);
		return d;
	}
	if (d)
		dentry_put(d);
	d = dentry_new(parent, name, len);
	if (!d) {
		if (inode)
			inode_put(inode);
		return NULL;
	}
	d->inode = inode;
	d->expires_ns = expires_ns;
	return dcache_enter(d);
}

void dentry_delete(struct dentry *d)
{
	struct inode *inode = d->inode;

	if (d->refs == 1 && list_empty(&d->children)) {
		d->inode = NULL;
		inode_put(inode);
		return;
	}
	d->flags |= DENTRY_DELETED;
	dentry_unhash(d);
}

/* The dentry's name and parent change: the name moves to memory of its own if it must. */
static int dentry_set_name(struct dentry *d, const char *name, size_t len)
{
	char *copy = kmalloc(len + 1);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, name, len);
	copy[len] = 0;
	if (d->name != d->inline_name)
		kfree(d->name);
	d->name = copy;
	d->len = len;
	return 0;
}

static void dentry_place(struct dentry *d, struct dentry *parent)
{
	struct dentry *old = d->parent;

	dentry_get(parent);
	list_del(&d->sibling);
	d->parent = parent;
	list_add(&parent->children, &d->sibling);
	dentry_put(old);
}

void dentry_move(struct dentry *old, struct dentry *new)
{
	dentry_unhash(old);
	dentry_unhash(new);
	if (new->inode)
		new->flags |= DENTRY_DELETED;
	/* Without memory for the name the entry is just not cached any more. */
	if (dentry_set_name(old, new->name, new->len))
		return;
	dentry_place(old, new->parent);
	old->expires_ns = ~0ull;
	dentry_hash(old);
}

void dentry_exchange(struct dentry *a, struct dentry *b)
{
	struct dentry *pa = a->parent, *pb = b->parent;
	char *name = kmalloc(a->len + 1);
	size_t len = a->len;

	dentry_unhash(a);
	dentry_unhash(b);
	if (!name)
		return;
	memcpy(name, a->name, len + 1);
	dentry_get(pa);
	if (!dentry_set_name(a, b->name, b->len)) {
		dentry_place(a, pb);
		dentry_hash(a);
		if (!dentry_set_name(b, name, len)) {
			dentry_place(b, pa);
			dentry_hash(b);
		}
	}
	dentry_put(pa);
	kfree(name);
}

bool dentry_is_below(const struct dentry *d, const struct dentry *ancestor)
{
	for (;;) {
		if (d == ancestor)
			return true;
		if (d->parent != d)
			d = d->parent;
		else if (d->mount && d->mount->mountpoint)
			d = d->mount->mountpoint;
		else
			return false;
	}
}
