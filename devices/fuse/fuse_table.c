/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers that the guest holds for our objects (node ids, file handles): an index and, in the
 * upper half, a generation that changes each time an index is given out again. A number that is
 * stale or made up finds nothing.
 */
#include "devices/fuse/fuse_impl.h"

#include <stdlib.h>

static bool id_grow(struct id_table *t)
{
	uint32_t size = t->size ? t->size * 2 : 64;
	struct id_slot *slot;

	if (t->size >= t->max)
		return false;
	if (size > t->max)
		size = t->max;
	slot = realloc(t->slot, size * sizeof(*slot));
	if (!slot)
		return false;
	/* Lowest index first: the very first one given out is 1, FUSE_ROOT_ID. */
	for (uint32_t i = size; i-- > t->size;) {
		slot[i] = (struct id_slot){ .next_free = t->free };
		if (i > 0)
			t->free = i;
	}
	t->slot = slot;
	t->size = size;
	return true;
}

uint64_t id_alloc(struct id_table *t, void *obj)
{
	uint32_t i;

	if (!t->free && !id_grow(t))
		return 0;
	i = t->free;
	t->free = t->slot[i].next_free;
	t->slot[i].obj = obj;
	t->used++;
	return i | (uint64_t)t->slot[i].gen << 32;
}

void *id_get(const struct id_table *t, uint64_t id)
{
	uint32_t i = (uint32_t)id;

	if (i == 0 || i >= t->size || t->slot[i].gen != id >> 32)
		return NULL;
	return t->slot[i].obj;
}

void id_free(struct id_table *t, uint64_t id)
{
	uint32_t i = (uint32_t)id;

	t->slot[i].obj = NULL;
	t->slot[i].gen++;
	t->slot[i].next_free = t->free;
	t->free = i;
	t->used--;
}
