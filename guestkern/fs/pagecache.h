/* SPDX-License-Identifier: Apache-2.0 */
/* The page cache of one inode, as its files see it. */
#pragma once

#include "fs/pagetree.h"
#include "fs/vfs_internal.h"

/* A slot holds the page's address and these bits. */
#define PC_DIRTY	1ul
#define PC_USED		2ul	/* used since reclaim last looked */
#define PC_BUSY		4ul	/* being read: wait on page_cache.wq */
#define PC_BITS		7ul

#define RA_MIN		64u	/* pages of the first read-ahead cluster */
#define RA_MAX		256u
#define RA_WHOLE	64u	/* files up to this size are read whole */

struct page_cache {
	struct pagetree tree;
	struct inode *inode;
	u64 pages, dirty;
	struct list lru;	/* all caches, least recently used first */
	struct wait_queue wq;
	u64 ra_next;		/* where a sequential reader would go on */
	u32 ra_size;
	/* mapped shared and writable: written pages stay dirty until the end */
	bool mapped_dirty;
};

extern struct list cache_lru;
extern u64 cache_total;

static inline struct page *pc_page(u64 word)
{
	return (struct page *)(uintptr_t)(word & ~PC_BITS);
}

static inline bool pc_is_storage(const struct inode *inode)
{
	return inode->cops && inode->cops->account;
}

/* Slot of a page that is not busy, or NULL; waits for one that is being read. */
u64 *pagecache_slot(struct page_cache *c, u64 index);
void pagecache_remove(struct page_cache *c, u64 index);	/* drops the cache's reference */
int pagecache_make(struct inode *inode, u64 index, struct page **out);
void pagecache_set_dirty(struct page_cache *c, u64 *slot);
/* page indexes [from, to) */
int pagecache_writeback_range(struct inode *inode, u64 from, u64 to);
/* page_alloc() that reclaims cache pages when memory is short. */
struct page *pagecache_alloc(unsigned flags);
