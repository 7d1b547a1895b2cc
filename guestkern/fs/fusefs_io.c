/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File data of the FUSE client. Reads fill the page cache, a cluster by one request; writes go to
 * the host at once, exactly the bytes written, and update the pages that are cached. Dirty pages
 * exist only where a file is mapped shared and writable.
 */
#include <asm-generic/resource.h>
#include "fs/fusefs.h"
#include "mm/uaccess.h"
#include "proc/task.h"

#define SIGNAL_XFSZ	25
#define IO_PIECES	136		/* of one READ or WRITE: a cluster, and its headers */
#define BOUNCE_ORDER	5		/* 128 KiB: user memory passes through here */

/* Pages [0, n) of `pages` that one READ's pieces can hold; reads and zeroes what lies behind the end. */
static long read_some(struct inode *inode, u64 index, struct page **pages, unsigned n)
{
	struct fuse_node *node = fuse_node_of(inode);
	struct fuse_handle *h = fuse_handle_for(node, false);
	struct fuse_read_in in = { .fh = h ? h->fh : 0, .offset = index << PAGE_SHIFT };
	struct io_seg out[IO_PIECES];
	struct fuse_args args;
	unsigned count = 0;
	long len;

	fuse_args_init(&args, FUSE_READ, node->nodeid);
	fuse_args_more_out(&args, out, IO_PIECES);
	fuse_in(&args, &in, sizeof(in));
	while (count < n && in.size < HUSK_FUSE_MAX_WRITE &&
	       fuse_out(&args, page_addr(pages[count]), PAGE_SIZE)) {
		count++;
		in.size += PAGE_SIZE;
	}
	len = fuse_send(&args);
	if (len < 0)
		return len;
	for (unsigned i = (unsigned)(len >> PAGE_SHIFT); i < count; i++) {
		size_t from = i == len >> PAGE_SHIFT ? len & (PAGE_SIZE - 1) : 0;

		memset((u8 *)page_addr(pages[i]) + from, 0, PAGE_SIZE - from);
	}
	return count;
}

static int fusefs_readpages(struct inode *inode, u64 index, struct page **pages, unsigned n)
{
	struct fuse_node *node = fuse_node_of(inode);
	unsigned done = 0;

	while (done < n) {
		u64 writes = node->writes;
		long count = read_some(inode, index + done, pages + done, n - done);

		if (count < 0)
			return (int)count;
		/* Somebody wrote while we slept: what we got may be from before. */
		if (writes == node->writes)
			done += (unsigned)count;
	}
	return 0;
}

/* One WRITE of n pieces of kernel memory, len bytes in all: bytes written, or -errno. */
static long write_host(struct fuse_node *node, const struct fuse_handle *h, const struct io_seg *seg,
		       unsigned n, u32 len, u64 pos)
{
	struct fuse_write_in in = { .fh = h->fh, .offset = pos, .size = len, .flags = h->flags };
	struct io_seg pieces[IO_PIECES];
	struct fuse_write_out out;
	struct fuse_args args;
	long got;

	fuse_args_init(&args, FUSE_WRITE, node->nodeid);
	fuse_args_more_in(&args, pieces, IO_PIECES);
	fuse_in(&args, &in, sizeof(in));
	while (n--) {
		fuse_in(&args, seg->p, seg->len);
		seg++;
	}
	fuse_out(&args, &out, sizeof(out));
	node->writes++;
	got = fuse_send(&args);
	if (got < 0)
		return got;
	return got < (long)sizeof(out) || out.size > len ? -EIO : (long)out.size;
}

/* A handle to write a mapping's pages with: mappings keep the file open, so one is there as a rule. */
static int writeback_handle(struct fuse_node *node, struct fuse_handle **h, bool *own)
{
	*h = fuse_handle_for(node, true);
	*own = !*h;
	return *h ? 0 : fuse_handle_open(node, O_WRONLY, h);
}

static int fusefs_writepages(struct inode *inode, u64 index, struct page **pages, unsigned n, size_t len)
{
	struct fuse_node *node = fuse_node_of(inode);
	struct fuse_handle *h;
	bool own;
	int err = writeback_handle(node, &h, &own);

	for (unsigned i = 0; !err && i < n && len;) {
		struct io_seg seg[IO_PIECES - 2];
		unsigned count = 0;
		size_t bytes = 0;
		long got;

		while (i + count < n && count < ARRAY_SIZE(seg) && bytes < len) {
			size_t part = MIN(len - bytes, PAGE_SIZE);

			seg[count] = (struct io_seg){ page_addr(pages[i + count]), (u32)part };
			count++;
			bytes += part;
		}
		got = write_host(node, h, seg, count, (u32)bytes, (index + i) << PAGE_SHIFT);
		/* A short count is a full disk, which the next try would tell. */
		err = got < 0 ? (int)got : got != (long)bytes ? -ENOSPC : 0;
		i += count;
		len -= bytes;
	}
	node->own_writes = node->stat_stale = true;
	if (own && h)
		fuse_handle_release(node, h);
	return err;
}

/* Bring the cached pages up to what was written at pos. */
static void write_update_cache(struct inode *inode, const u8 *p, size_t len, u64 pos)
{
	while (len) {
		size_t off = pos & (PAGE_SIZE - 1), n = MIN(len, PAGE_SIZE - off);
		struct page *page = pagecache_peek(inode, pos >> PAGE_SHIFT);

		if (page) {
			memcpy((u8 *)page_addr(page) + off, p, n);
			page_put(page);
		}
		p += n;
		pos += n;
		len -= n;
	}
}

/* How much may be written at pos, or -errno (setrlimit(2), RLIMIT_FSIZE). */
static long write_limit(u64 pos, size_t len)
{
	u64 limit = MIN(current->proc->rlim[RLIMIT_FSIZE].cur, 0x7fffffffffffffffull);

	if (pos < limit)
		return (long)MIN(len, limit - pos);
	if (limit != 0x7fffffffffffffffull)
		signal_send_current(SIGNAL_XFSZ);
	return -EFBIG;
}

/* With inode->lock held. */
static long write_locked(struct file *file, const void *buf, size_t len, u64 *pos, u8 *bounce,
			 size_t size)
{
	struct inode *inode = file->inode;
	struct fuse_node *node = fuse_node_of(inode);
	size_t done = 0;
	long n = 0;

	while (done < len) {
		size_t part = MIN(len - done, size);

		struct io_seg seg = { bounce, (u32)part };

		n = copy_in(bounce, (const u8 *)buf + done, part);
		if (!n)
			n = write_host(node, file->priv, &seg, 1, (u32)part, *pos);
		if (n <= 0)
			break;
		write_update_cache(inode, bounce, (size_t)n, *pos);
		*pos += (u64)n;
		done += (size_t)n;
		if (*pos > inode->size)
			inode->size = *pos;
		if ((size_t)n < part)
			break;
	}
	if (done) {
		node->own_writes = node->stat_stale = true;
		inode->mtime = inode->ctime = inode_now();
	}
	return done ? (long)done : n;
}

static struct page *bounce_alloc(size_t len, size_t *size)
{
	unsigned order = 0;
	struct page *page;

	while (order < BOUNCE_ORDER && (PAGE_SIZE << order) < len)
		order++;
	do {
		page = page_alloc(order, 0);
		*size = PAGE_SIZE << order;
	} while (!page && order--);
	return page;
}

long fusefs_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	struct inode *inode = file->inode;
	struct page *bounce;
	size_t size;
	long n = 0;

	if (!len)
		return 0;
	if (!file->priv)
		return -EBADF;
	bounce = bounce_alloc(len, &size);
	if (!bounce)
		return -ENOMEM;
	mutex_lock(&inode->lock);
	if (file->flags & O_APPEND) {
		n = fuse_refresh_data(inode);	/* the host may have appended too */
		*pos = inode->size;
	}
	if (!n)
		n = write_limit(*pos, len);
	if (n > 0)
		n = write_locked(file, buf, (size_t)n, pos, page_addr(bounce), size);
	mutex_unlock(&inode->lock);
	page_put(bounce);
	return n;
}

const struct cache_ops fusefs_cache_ops = {
	.readpages = fusefs_readpages,
	.writepages = fusefs_writepages,
};

const struct cache_ops fusefs_cache_ops_ro = {
	.readpages = fusefs_readpages,
};
