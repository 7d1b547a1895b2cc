/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read(2), write(2) and mmap(2) on page-cached files. A write holds inode->lock. Writes to a file
 * that has a backing store go through to it before the call returns, so that the host sees them.
 *
 * The user's buffer may be a mapping of the very file: no page is busy while it is copied.
 */
#include "fs/pagecache.h"

#include <asm/resource.h>
#include "mm/vm.h"

#define SIGXFSZ 25		/* <asm/signal.h> does not go with proc/signal.h */

static long read_chunk(struct inode *inode, void *buf, size_t n, u64 pos, size_t left)
{
	size_t off = pos & (PAGE_SIZE - 1);
	u64 index = pos >> PAGE_SHIFT;
	unsigned want = (unsigned)MIN((left + off + PAGE_SIZE - 1) >> PAGE_SHIFT, (u64)RA_MAX);
	struct page *page;
	int err;

	if (pc_is_storage(inode) &&
	    (!inode->cache || !pagetree_find(&inode->cache->tree, index)))
		return clear_out(buf, n);
	err = pagecache_get_want(inode, index, want, &page);
	if (err)
		return err;
	err = copy_out(buf, (char *)page_addr(page) + off, n);
	page_put(page);
	return err;
}

long pagecache_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	struct inode *inode = file->inode;
	size_t done = 0;
	long err = 0;

	while (done < len && *pos < inode->size) {
		size_t n = PAGE_SIZE - (*pos & (PAGE_SIZE - 1));
		size_t left = MIN(len - done, inode->size - *pos);

		n = MIN(n, left);
		err = read_chunk(inode, (char *)buf + done, n, *pos, left);
		if (err)
			break;
		done += n;
		*pos += n;
	}
	if (pc_is_storage(inode) && len && !(file->flags & O_NOATIME))
		inode_touch_atime(inode);
	return done || err == -ENXIO ? (long)done : err;
}

/* Whether the old contents of a page show after a write of n bytes at offset off in it. */
static bool write_needs_old(const struct inode *inode, u64 index, size_t off, size_t n)
{
	u64 start = index << PAGE_SHIFT;

	if (start >= inode->size || n == PAGE_SIZE)
		return false;
	return off || start + n < inode->size;
}

/* A new page: filled before it can be found, so that a fault on the buffer meets no busy page. */
static int write_new(struct inode *inode, u64 index, size_t off, const void *buf, size_t n)
{
	struct page *page = pagecache_alloc(n == PAGE_SIZE ? 0 : PAGE_ZEROED);
	int err;

	if (!page)
		return pc_is_storage(inode) ? -ENOSPC : -ENOMEM;
	err = copy_in((char *)page_addr(page) + off, buf, n);
	if (!err)
		err = pagecache_insert(inode, index, page, !pc_is_storage(inode));
	if (err)
		page_put(page);
	return err;
}

static int write_chunk(struct inode *inode, u64 pos, const void *buf, size_t n)
{
	struct page_cache *c = pagecache_of(inode);
	size_t off = pos & (PAGE_SIZE - 1);
	u64 index = pos >> PAGE_SHIFT, *slot;
	struct page *page;
	int err;

	if (!c)
		return -ENOMEM;
	slot = pagecache_slot(c, index);
	if (!slot && (pc_is_storage(inode) || !write_needs_old(inode, index, off, n))) {
		err = write_new(inode, index, off, buf, n);
		if (err != -EEXIST)
			return err;
	}
	err = pagecache_get_want(inode, index, 1, &page);
	if (err)
		return err == -ENXIO ? -EIO : err;
	err = copy_in((char *)page_addr(page) + off, buf, n);
	page_put(page);
	slot = pagetree_find(&c->tree, index);
	if (!err && slot && !pc_is_storage(inode))
		pagecache_set_dirty(c, slot);
	return err;
}

/* How much may be written at pos, or -errno. */
static long write_limit(struct inode *inode, u64 pos, size_t len)
{
	u64 limit = current->proc->rlim[RLIMIT_FSIZE].cur;

	if (inode->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
		return -EPERM;
	if (pos >= limit) {
		signal_send_current(SIGXFSZ);
		return -EFBIG;
	}
	if (pos >= MAX_OFFSET)
		return -EFBIG;
	len = MIN(MIN(len, limit - pos), MAX_OFFSET - pos);
	if ((inode->seals & F_SEAL_GROW) && pos + len > inode->size) {
		u64 whole = ALIGN_DOWN(inode->size, PAGE_SIZE);	/* Linux stops at a page */

		return pos < whole ? (long)(whole - pos) : -EPERM;
	}
	return (long)len;
}

static long write_locked(struct inode *inode, const void *buf, size_t len, u64 *pos)
{
	u64 first = *pos >> PAGE_SHIFT;
	size_t done = 0;
	int err = 0;

	inode_remove_suid(inode);
	while (done < len) {
		size_t n = MIN(PAGE_SIZE - (*pos & (PAGE_SIZE - 1)), len - done);

		err = write_chunk(inode, *pos, (const char *)buf + done, n);
		if (err)
			break;
		done += n;
		*pos += n;
		if (*pos > inode->size)
			inode->size = *pos;
	}
	if (done)
		inode_touch(inode);
	if (done && !pc_is_storage(inode)) {
		int wb = pagecache_writeback_range(inode, first, (*pos >> PAGE_SHIFT) + 1);

		if (wb)
			return wb;
	}
	return done ? (long)done : err;
}

long pagecache_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	struct inode *inode = file->inode;
	long n;

	if (!len)
		return 0;
	mutex_lock(&inode->lock);
	if (file->flags & O_APPEND)
		*pos = inode->size;
	n = write_limit(inode, *pos, len);
	if (n > 0)
		n = write_locked(inode, buf, (size_t)n, pos);
	mutex_unlock(&inode->lock);
	return n;
}

int pagecache_mmap(struct file *file, struct vma *vma)
{
	struct inode *inode = file->inode;

	if (!inode->cops)
		return -ENODEV;
	if ((vma->flags & VM_SHARED) && (vma->flags & VM_WRITE)) {
		struct page_cache *c = pagecache_of(inode);

		if (!c)
			return -ENOMEM;
		if (inode->seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE))
			return -EPERM;
		c->mapped_dirty = !pc_is_storage(inode);
	}
	vma->inode = inode;
	return 0;
}
