/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical pages. Every RAM page has a struct page; all RAM is in the direct map, so a page's
 * kernel address is arithmetic. Pages that were never used are known to be zero.
 */
#pragma once

#include "core/list.h"

struct page {
	u32 refs;		/* 0: free */
	u8 order;		/* of the block, in its first page */
	u8 flags;
	u16 pad;
	struct list link;	/* free list, or its owner's (page cache) */
};

#define PAGE_ZEROED	0x01	/* page_alloc() flag: contents must be zero */

/* 2^order contiguous pages, refs 1, or NULL when memory is out. Never sleeps. */
struct page *page_alloc(unsigned order, unsigned flags);
void page_get(struct page *page);
void page_put(struct page *page);	/* frees the block with the last reference */

void *page_addr(const struct page *page);	/* kernel (direct map) address */
u64 page_phys(const struct page *page);
struct page *page_of(const void *addr);		/* from a direct-map address */
struct page *page_of_phys(u64 phys);
u64 page_free_count(void);
u64 page_total_count(void);
