/* SPDX-License-Identifier: Apache-2.0 */
/* Index of a page cache. Nodes are exactly 64 words and freed when the last one is cleared. */
#include "fs/pagetree.h"

#include "core/print.h"
#include "mm/kmalloc.h"

#define NODE_BITS	6u
#define NODE_SLOTS	64u
#define HEIGHT_MAX	11u	/* 66 bits */

static bool pagetree_covers(unsigned height, u64 index)
{
	return height >= HEIGHT_MAX || !(index >> (NODE_BITS * height));
}

static u64 *node_of(u64 word)
{
	return (u64 *)(uintptr_t)word;
}

static unsigned slot_of(u64 index, unsigned level)
{
	return (unsigned)(index >> (NODE_BITS * (level - 1))) & (NODE_SLOTS - 1);
}

u64 *pagetree_find(struct pagetree *t, u64 index)
{
	u64 *p = &t->root;

	if (!pagetree_covers(t->height, index))
		return NULL;
	for (unsigned level = t->height; level; level--) {
		if (!*p)
			return NULL;
		p = &node_of(*p)[slot_of(index, level)];
	}
	return *p ? p : NULL;
}

static bool pagetree_grow(struct pagetree *t, u64 index)
{
	while (!pagetree_covers(t->height, index)) {
		if (t->root) {
			u64 *node = kzalloc(NODE_SLOTS * sizeof(u64));

			if (!node)
				return false;
			node[0] = t->root;
			t->root = (u64)(uintptr_t)node;
		}
		t->height++;
	}
	return true;
}

static bool node_empty(const u64 *node)
{
	for (unsigned i = 0; i < NODE_SLOTS; i++) {
		if (node[i])
			return false;
	}
	return true;
}

u64 *pagetree_make(struct pagetree *t, u64 index)
{
	u64 *p = &t->root;

	if (!pagetree_grow(t, index))
		return NULL;
	for (unsigned level = t->height; level; level--) {
		if (!*p) {
			u64 *node = kzalloc(NODE_SLOTS * sizeof(u64));

			if (!node) {
				pagetree_clear(t, index);	/* empty nodes just made */
				return NULL;
			}
			*p = (u64)(uintptr_t)node;
		}
		p = &node_of(*p)[slot_of(index, level)];
	}
	return p;
}

void pagetree_clear(struct pagetree *t, u64 index)
{
	u64 *path[HEIGHT_MAX + 1], *p = &t->root;
	unsigned depth = 0;

	if (!pagetree_covers(t->height, index))
		return;
	for (unsigned level = t->height; level && *p; level--) {
		path[depth++] = p;
		p = &node_of(*p)[slot_of(index, level)];
	}
	if (depth == t->height)
		*p = 0;
	while (depth && node_empty(node_of(*path[depth - 1]))) {
		p = path[--depth];
		kfree(node_of(*p));
		*p = 0;
	}
	if (!t->root)
		t->height = 0;
}

u64 *pagetree_next(struct pagetree *t, u64 *index)
{
	u64 i = *index;

	while (t->root && pagetree_covers(t->height, i)) {
		u64 *p = &t->root;
		unsigned level = t->height;

		for (; level && *p; level--)
			p = &node_of(*p)[slot_of(i, level)];
		if (*p) {
			*index = i;
			return p;
		}
		/* Nothing below this slot: on to the next of its size. */
		i = ((i >> (NODE_BITS * level)) + 1) << (NODE_BITS * level);
		if (!i)
			break;
	}
	return NULL;
}

u64 pagetree_hole(struct pagetree *t, u64 index)
{
	while (pagetree_find(t, index))
		index++;
	return index;
}
