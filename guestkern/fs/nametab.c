/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of names: a hash for finding, a list for reading in order. Never sleeps. */
#include "fs/nametab.h"

#include "core/string.h"
#include "mm/kmalloc.h"

#define NAMETAB_BUCKETS 8u

static u32 nametab_hash(const char *name, size_t len)
{
	u64 h = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (u8)name[i]) * 0x100000001b3ull;
	return (u32)(h ^ (h >> 32));
}

void nametab_init(struct nametab *t)
{
	list_init(&t->order);
	t->buckets = NULL;
	t->nbuckets = t->count = 0;
	t->next_cookie = NAMETAB_FIRST_COOKIE;
}

struct nament *nametab_find(struct nametab *t, const char *name, size_t len)
{
	u32 h = nametab_hash(name, len);
	struct nament *e;

	if (!t->nbuckets)
		return NULL;
	for (e = t->buckets[h & (t->nbuckets - 1)]; e; e = e->next) {
		if (e->hash == h && e->len == len && !memcmp(e->name, name, len))
			return e;
	}
	return NULL;
}

static bool nametab_grow(struct nametab *t)
{
	u32 n = t->nbuckets ? t->nbuckets * 4 : NAMETAB_BUCKETS;
	struct nament **wider = kzalloc(n * sizeof(*wider)), *e;

	if (!wider)
		return t->nbuckets != 0;	/* slower, not wrong */
	list_for_each(e, &t->order, order) {
		e->next = wider[e->hash & (n - 1)];
		wider[e->hash & (n - 1)] = e;
	}
	kfree(t->buckets);
	t->buckets = wider;
	t->nbuckets = n;
	return true;
}

struct nament *nametab_add(struct nametab *t, const char *name, size_t len)
{
	struct nament *e, **b;

	if (t->count >= t->nbuckets * 2 && !nametab_grow(t))
		return NULL;
	e = kmalloc(sizeof(*e) + len + 1);
	if (!e)
		return NULL;
	memset(e, 0, sizeof(*e));
	memcpy(e->name, name, len);
	e->name[len] = 0;
	e->len = (u16)len;
	e->hash = nametab_hash(name, len);
	e->cookie = t->next_cookie++;
	b = &t->buckets[e->hash & (t->nbuckets - 1)];
	e->next = *b;
	*b = e;
	list_add_tail(&t->order, &e->order);
	t->count++;
	return e;
}

void nametab_del(struct nametab *t, struct nament *e)
{
	struct nament **p = &t->buckets[e->hash & (t->nbuckets - 1)];

	while (*p != e)
		p = &(*p)->next;
	*p = e->next;
	list_del(&e->order);
	t->count--;
	kfree(e);
}

void nametab_free(struct nametab *t)
{
	struct nament *e, *tmp;

	list_for_each_safe(e, tmp, &t->order, order)
		kfree(e);
	kfree(t->buckets);
	nametab_init(t);
}

struct nament *nametab_from(struct nametab *t, u64 cookie)
{
	struct nament *e;

	list_for_each(e, &t->order, order) {
		if (e->cookie >= cookie)
			return e;
	}
	return NULL;
}

struct nament *nametab_next(struct nametab *t, struct nament *e)
{
	return e->order.next == &t->order ? NULL : list_entry(e->order.next, struct nament, order);
}
