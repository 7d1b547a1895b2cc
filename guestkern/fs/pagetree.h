/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sparse array of non-zero words by 64-bit index: a tree of 64-way nodes that grows in height as
 * needed. One word at index 0 costs no node, so a small file costs none.
 */
#pragma once

#include "core/types.h"

struct pagetree {
	/* height 0: the word at index 0; else the address of the top node */
	u64 root;
	unsigned height;
};

u64 *pagetree_find(struct pagetree *t, u64 index);	/* its slot, or NULL where nothing is */
/* The slot, for the caller to set at once; NULL without memory. */
u64 *pagetree_make(struct pagetree *t, u64 index);
void pagetree_clear(struct pagetree *t, u64 index);
/* First used slot at or after *index, which becomes its index; NULL: none. */
u64 *pagetree_next(struct pagetree *t, u64 *index);
/* First unused index at or after index. */
u64 pagetree_hole(struct pagetree *t, u64 index);
