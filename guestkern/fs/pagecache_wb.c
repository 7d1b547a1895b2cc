/* SPDX-License-Identifier: Apache-2.0 */
/* The page cache's other half: writing dirty pages back, truncating, and giving memory back. */
#include "fs/pagecache.h"

#include "husk/fdt.h"

#define WB_BATCH 64u

static size_t wb_len(const struct inode *inode, u64 index, unsigned n)
{
	u64 start = index << PAGE_SHIFT, len = (u64)n << PAGE_SHIFT;

	return start >= inode->size ? 0 : MIN(len, inode->size - start);
}

static int wb_write(struct inode *inode, u64 index, struct page **pages, unsigned n)
{
	int err = 0;

	vfs_stats.writepages++;
	trace(HUSK_TRACE_FS, "fs: write %s inode %llu pages %llu+%u", inode->sb->type,
	      (unsigned long long)inode->ino, (unsigned long long)index, n);
	if (inode->cops->writepages)
		return inode->cops->writepages(inode, index, pages, n, wb_len(inode, index, n));
	for (unsigned i = 0; i < n && !err; i++) {
		size_t len = wb_len(inode, index + i, 1);

		if (len)
			err = inode->cops->writepage(inode, index + i, pages[i], (unsigned)len);
	}
	return err;
}

/* A run of dirty pages from *index, below to: referenced in pages, marked clean. */
static unsigned wb_collect(struct page_cache *c, u64 *index, u64 to, struct page **pages)
{
	unsigned n = 0;
	u64 *slot;

	while ((slot = pagetree_next(&c->tree, index)) && *index < to) {
		if ((*slot & PC_DIRTY) && !(*slot & PC_BUSY))
			break;
		(*index)++;
	}
	for (; n < WB_BATCH && *index + n < to; n++) {
		slot = pagetree_find(&c->tree, *index + n);
		if (!slot || !(*slot & PC_DIRTY))
			break;
		if (!c->mapped_dirty) {
			*slot &= ~PC_DIRTY;
			c->dirty--;
		}
		pages[n] = pc_page(*slot);
		page_get(pages[n]);
	}
	return n;
}

int pagecache_writeback_range(struct inode *inode, u64 from, u64 to)
{
	struct page_cache *c = inode->cache;
	struct page **pages;
	int err = 0;
	unsigned n;

	if (!c || !c->dirty || !inode->cops || !(inode->cops->writepage || inode->cops->writepages))
		return 0;
	pages = kmalloc(WB_BATCH * sizeof(*pages));
	if (!pages)
		return -ENOMEM;
	while (!err && (n = wb_collect(c, &from, to, pages))) {
		err = wb_write(inode, from, pages, n);
		for (unsigned i = 0; i < n; i++) {
			if (err)
				pagecache_dirty(inode, from + i);
			page_put(pages[i]);
		}
		from += n;
	}
	kfree(pages);
	return err;
}

int pagecache_writeback(struct inode *inode)
{
	return pagecache_writeback_range(inode, 0, ~0ull);
}

int pagecache_fsync(struct file *file, bool datasync)
{
	return pagecache_writeback(file->inode);
}

/* Drop [from, to). Nobody may go on seeing the pages through a mapping. */
static void cache_drop_range(struct page_cache *c, u64 from, u64 to)
{
	u64 index = from;

	if (vfs_unmap && c->pages && from < to)
		vfs_unmap(c->inode, from, to - from);
	while (pagetree_next(&c->tree, &index) && index < to) {
		pagecache_slot(c, index);	/* wait for a read */
		pagecache_remove(c, index);
		index++;
	}
}

/* Zero bytes [from, to) of one page, if it is there. */
static void cache_zero_part(struct inode *inode, u64 from, u64 to)
{
	u64 *slot = pagecache_slot(inode->cache, from >> PAGE_SHIFT);
	size_t off = from & (PAGE_SIZE - 1);

	if (!slot || from >= to)
		return;
	memset((char *)page_addr(pc_page(*slot)) + off, 0, to - from);
	if (!pc_is_storage(inode))
		pagecache_set_dirty(inode->cache, slot);
}

int pagecache_zero(struct inode *inode, u64 from, u64 to)
{
	u64 first = ALIGN_UP(from, PAGE_SIZE), last = ALIGN_DOWN(to, PAGE_SIZE);

	if (!inode->cache || from >= to)
		return 0;
	if (first > last) {		/* inside one page */
		cache_zero_part(inode, from, to);
		return 0;
	}
	cache_zero_part(inode, from, first);
	cache_zero_part(inode, last, to);
	cache_drop_range(inode->cache, first >> PAGE_SHIFT, last >> PAGE_SHIFT);
	return 0;
}

void pagecache_truncate(struct inode *inode, u64 size)
{
	struct page_cache *c = inode->cache;

	if (!c)
		return;
	if (size & (PAGE_SIZE - 1)) {
		u64 *slot = pagecache_slot(c, size >> PAGE_SHIFT);

		if (slot) {
			size_t off = size & (PAGE_SIZE - 1);

			memset((char *)page_addr(pc_page(*slot)) + off, 0, PAGE_SIZE - off);
		}
	}
	cache_drop_range(c, (size + PAGE_SIZE - 1) >> PAGE_SHIFT, ~0ull);
}

/* Drop clean pages, those in use too: who has one mapped keeps an old copy. */
void pagecache_invalidate(struct inode *inode, u64 index)
{
	struct page_cache *c = inode->cache;
	u64 *slot;

	if (!c || pc_is_storage(inode))
		return;
	while ((slot = pagetree_next(&c->tree, &index))) {
		if (!(*slot & (PC_DIRTY | PC_BUSY)))
			pagecache_remove(c, index);
		index++;
	}
}

void pagecache_drop(struct inode *inode)
{
	struct page_cache *c = inode->cache;
	u64 index = 0;

	while (pagetree_next(&c->tree, &index))
		pagecache_remove(c, index);
	list_del(&c->lru);
	kfree(c);
	inode->cache = NULL;
}

/* Clean pages of one file that nobody uses; `all`: those used lately too. */
static u64 cache_shrink(struct page_cache *c, u64 npages, bool all)
{
	u64 freed = 0, index = 0, *slot;

	while (freed < npages && (slot = pagetree_next(&c->tree, &index))) {
		if ((*slot & PC_USED) && !all)
			*slot &= ~PC_USED;
		else if (!(*slot & (PC_DIRTY | PC_BUSY)) && pc_page(*slot)->refs == 1) {
			pagecache_remove(c, index);
			freed++;
		}
		index++;
	}
	return freed;
}

u64 pagecache_reclaim(u64 npages)
{
	struct page_cache *c;
	u64 freed = 0;

	for (int pass = 0; pass < 2 && freed < npages; pass++) {
		list_for_each(c, &cache_lru, lru) {
			if (freed >= npages)
				break;
			if (!pc_is_storage(c->inode))
				freed += cache_shrink(c, npages - freed, pass);
		}
	}
	return freed;
}
