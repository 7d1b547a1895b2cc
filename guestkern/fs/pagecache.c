/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page cache: pages of a file by index, read in clusters, because each request to the host
 * costs far more than the copy of some pages. Pages being read are in the index, marked busy;
 * whoever wants one sleeps. Reading and writing files is in pagecache_rw.c, what takes pages away
 * again in pagecache_wb.c.
 */
#include "fs/pagecache.h"

#include "husk/fdt.h"

struct list cache_lru = LIST_INIT(cache_lru);
u64 cache_total;

struct page_cache *pagecache_of(struct inode *inode)
{
	struct page_cache *c = inode->cache;

	if (c)
		return c;
	c = kzalloc(sizeof(*c));
	if (!c)
		return NULL;
	c->inode = inode;
	c->ra_size = RA_MIN / 2;
	wait_queue_init(&c->wq);
	list_add_tail(&cache_lru, &c->lru);
	inode->cache = c;
	return c;
}

u64 *pagecache_slot(struct page_cache *c, u64 index)
{
	u64 *slot = pagetree_find(&c->tree, index);

	while (slot && (*slot & PC_BUSY)) {
		wait_event_nointr(&c->wq, !((slot = pagetree_find(&c->tree, index)) &&
					    (*slot & PC_BUSY)));
	}
	return slot;
}

struct page *pagecache_alloc(unsigned flags)
{
	struct page *page = page_alloc(0, flags);

	if (!page && pagecache_reclaim(256))
		page = page_alloc(0, flags);
	return page;
}

static int cache_enter(struct page_cache *c, u64 index, struct page *page, u64 bits)
{
	u64 *slot = pagetree_make(&c->tree, index);

	if (!slot)
		return -ENOMEM;
	*slot = (u64)(uintptr_t)page | bits;
	c->pages++;
	cache_total++;
	if (bits & PC_DIRTY)
		c->dirty++;
	return 0;
}

void pagecache_remove(struct page_cache *c, u64 index)
{
	u64 *slot = pagetree_find(&c->tree, index);
	u64 word;

	if (!slot)
		return;
	word = *slot;
	pagetree_clear(&c->tree, index);
	c->pages--;
	cache_total--;
	if (word & PC_DIRTY)
		c->dirty--;
	if (pc_is_storage(c->inode))
		c->inode->cops->account(c->inode, -1);
	page_put(pc_page(word));
}

void pagecache_set_dirty(struct page_cache *c, u64 *slot)
{
	if (!(*slot & PC_DIRTY)) {
		*slot |= PC_DIRTY;
		c->dirty++;
	}
}

int pagecache_insert(struct inode *inode, u64 index, struct page *page, bool dirty)
{
	struct page_cache *c = pagecache_of(inode);
	int err;

	if (!c)
		return -ENOMEM;
	if (pagetree_find(&c->tree, index))
		return -EEXIST;
	err = pc_is_storage(inode) ? inode->cops->account(inode, 1) : 0;
	if (err)
		return err;
	err = cache_enter(c, index, page, PC_USED | (dirty ? PC_DIRTY : 0));
	if (err && pc_is_storage(inode))
		inode->cops->account(inode, -1);
	return err;
}

int pagecache_make(struct inode *inode, u64 index, struct page **out)
{
	struct page_cache *c = pagecache_of(inode);
	u64 *slot = c ? pagecache_slot(c, index) : NULL;
	struct page *page;
	int err;

	if (slot) {
		*out = pc_page(*slot);
		page_get(*out);
		return 0;
	}
	page = c ? pagecache_alloc(PAGE_ZEROED) : NULL;
	if (!page)
		return -ENOMEM;
	err = pagecache_insert(inode, index, page, false);
	if (err) {
		page_put(page);
		return err;
	}
	page_get(page);
	*out = page;
	return 0;
}

static u64 file_pages(const struct inode *inode)
{
	return (inode->size + PAGE_SIZE - 1) >> PAGE_SHIFT;
}

/* Which pages to read for a miss at index: [*start, return value). */
static u64 cluster_choose(struct page_cache *c, u64 index, unsigned want, u64 *start)
{
	u64 end = file_pages(c->inode), lowest = index, n = want;

	if (end <= RA_WHOLE) {
		lowest = 0;
		n = end;
	} else if (index == c->ra_next) {
		c->ra_size = MIN(c->ra_size * 2, RA_MAX);
		n = MAX(n, c->ra_size);
	} else {
		c->ra_size = RA_MIN;
		if (want < RA_MIN) {
			lowest = ALIGN_DOWN(index, (u64)RA_MIN);
			n = RA_MIN + (index - lowest);	/* at least as far ahead as behind */
		}
	}
	n = MIN(n, (u64)RA_MAX);
	end = MIN(end, (lowest < index ? lowest : index) + n);
	/* Only what is missing, in one piece around index. */
	for (*start = index; *start > lowest && !pagetree_find(&c->tree, *start - 1); (*start)--)
		;
	for (n = index + 1; n < end && !pagetree_find(&c->tree, n); n++)
		;
	c->ra_next = n;
	return n;
}

/* New busy pages [start, start + n) in the index; how many there was memory for. */
static unsigned cluster_make(struct page_cache *c, u64 start, unsigned n, struct page **pages)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		pages[i] = pagecache_alloc(0);
		if (!pages[i])
			break;
		/* pagecache_alloc() may have freed nodes, but never ours: busy pages stay. */
		if (cache_enter(c, start + i, pages[i], PC_BUSY)) {
			page_put(pages[i]);
			break;
		}
	}
	return i;
}

static void cluster_done(struct page_cache *c, u64 start, unsigned n, int err)
{
	for (unsigned i = 0; i < n; i++) {
		u64 *slot = pagetree_find(&c->tree, start + i);

		*slot &= ~PC_BUSY;
		if (err)
			pagecache_remove(c, start + i);
	}
	if (!list_empty(&c->wq.waiters))
		wake_all(&c->wq);
}

/* Read a cluster that contains index, which is not in the cache. */
static int cluster_read(struct page_cache *c, u64 index, unsigned want)
{
	struct inode *inode = c->inode;
	struct page **pages;
	u64 start, end;
	unsigned n;
	int err;

	end = cluster_choose(c, index, want, &start);
	pages = kmalloc(RA_MAX * sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	n = cluster_make(c, start, (unsigned)(end - start), pages);
	if (start + n <= index) {	/* short of memory: just the one */
		cluster_done(c, start, n, -ENOMEM);
		start = index;
		n = cluster_make(c, start, 1, pages);
	}
	err = n ? 0 : -ENOMEM;
	if (!err) {
		vfs_stats.readpages++;
		vfs_stats.pages_read += n;
		trace(HUSK_TRACE_FS, "fs: read %s inode %llu pages %llu+%u", inode->sb->type,
		      (unsigned long long)inode->ino, (unsigned long long)start, n);
		inode_get(inode);
		err = inode->cops->readpages(inode, start, pages, n);
		cluster_done(c, start, n, err);
		inode_put(inode);
	}
	kfree(pages);
	return err;
}

static void cache_touch(struct page_cache *c)
{
	if (c->lru.next != &cache_lru) {
		list_del(&c->lru);
		list_add_tail(&cache_lru, &c->lru);
	}
}

int pagecache_get_want(struct inode *inode, u64 index, unsigned want, struct page **out)
{
	struct page_cache *c = pagecache_of(inode);
	u64 *slot;
	int err;

	if (!c)
		return -ENOMEM;
	for (;;) {
		slot = pagecache_slot(c, index);
		if (slot)
			break;
		if (index >= file_pages(inode))
			return -ENXIO;
		if (pc_is_storage(inode))
			return pagecache_make(inode, index, out);
		cache_touch(c);
		err = cluster_read(c, index, want);
		if (err)
			return err;
	}
	*slot |= PC_USED;
	*out = pc_page(*slot);
	page_get(*out);
	return 0;
}

int pagecache_get(struct inode *inode, u64 index, struct page **out)
{
	if (!inode->cops)
		return -EIO;
	if (index >= file_pages(inode))
		return -ENXIO;
	return pagecache_get_want(inode, index, 1, out);
}

struct page *pagecache_peek(struct inode *inode, u64 index)
{
	u64 *slot;

	if (!inode->cache || index >= file_pages(inode))
		return NULL;
	slot = pagetree_find(&inode->cache->tree, index);
	if (!slot || (*slot & PC_BUSY))
		return NULL;
	*slot |= PC_USED;
	page_get(pc_page(*slot));
	return pc_page(*slot);
}

void pagecache_dirty(struct inode *inode, u64 index)
{
	u64 *slot = inode->cache ? pagetree_find(&inode->cache->tree, index) : NULL;

	if (slot)
		pagecache_set_dirty(inode->cache, slot);
}

int pagecache_prefetch(struct inode *inode, u64 index, u64 n)
{
	u64 end = MIN(file_pages(inode), index + n);
	struct page_cache *c = pagecache_of(inode);
	int err = 0;

	if (!c || !inode->cops || pc_is_storage(inode))
		return 0;
	for (; !err && index < end; index++) {
		if (!pagetree_find(&c->tree, index))
			err = cluster_read(c, index, (unsigned)MIN(end - index, (u64)RA_MAX));
	}
	return err;
}

u64 pagecache_pages(struct inode *inode)
{
	return inode->cache ? inode->cache->pages : 0;
}

u64 pagecache_total(void)
{
	return cache_total;
}

u64 pagecache_next(struct inode *inode, u64 index, bool hole)
{
	if (!inode->cache)
		return hole ? index : ~0ull;
	if (hole)
		return pagetree_hole(&inode->cache->tree, index);
	return pagetree_next(&inode->cache->tree, &index) ? index : ~0ull;
}
