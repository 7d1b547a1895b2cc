/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing back and reading ahead on request: sync(2) and its kin, posix_fadvise(2), readahead(2).
 */
#include "fs/pagecache.h"
#include "fs/syscalls.h"

#include <linux/fadvise.h>

#define SYNC_RANGE_FLAGS 7u	/* SYNC_FILE_RANGE_WAIT_BEFORE, WRITE, WAIT_AFTER */

long sys_sync(void)
{
	struct page_cache *c;
	struct inode *inode;
	bool again = true;

	/* The list may change while a write sleeps: start over after each one. */
	while (again) {
		again = false;
		list_for_each(c, &cache_lru, lru) {
			if (!c->dirty || c->mapped_dirty || pc_is_storage(c->inode))
				continue;
			inode = c->inode;
			inode_get(inode);
			again = !pagecache_writeback(inode);
			inode_put(inode);
			break;
		}
	}
	return 0;
}

static long sync_fd(int fd, bool datasync)
{
	struct file *file;
	long err = file_get_fd(fd, &file);

	if (err)
		return err;
	if (file->ops->fsync)
		err = file->ops->fsync(file, datasync);
	else if (!S_ISREG(file->inode->mode) && !inode_is_dir(file->inode))
		err = -EINVAL;
	file_put(file);
	return err;
}

long sys_fsync(int fd)
{
	return sync_fd(fd, false);
}

long sys_fdatasync(int fd)
{
	return sync_fd(fd, true);
}

long sys_syncfs(int fd)
{
	struct file *file;
	long err = file_get_fd(fd, &file);

	if (err)
		return err;
	file_put(file);
	return sys_sync();
}

long sys_sync_file_range(int fd, s64 off, s64 len, u32 flags)
{
	struct file *file;
	long err;

	if (off < 0 || len < 0 || (flags & ~SYNC_RANGE_FLAGS) || off + len < off)
		return -EINVAL;
	err = file_get_fd(fd, &file);
	if (err)
		return err;
	if (!S_ISREG(file->inode->mode) && !inode_is_dir(file->inode))
		err = -ESPIPE;
	else
		err = pagecache_writeback(file->inode);
	file_put(file);
	return err;
}

/* Pages wholly inside the range are dropped if clean and unused. */
static void advise_dontneed(struct inode *inode, u64 off, u64 end)
{
	struct page_cache *c = inode->cache;
	u64 index = (off + PAGE_SIZE - 1) >> PAGE_SHIFT, last = end >> PAGE_SHIFT, *slot;

	if (!c || pc_is_storage(inode))
		return;
	while ((slot = pagetree_next(&c->tree, &index)) && index < last) {
		if (!(*slot & (PC_DIRTY | PC_BUSY)) && pc_page(*slot)->refs == 1)
			pagecache_remove(c, index);
		index++;
	}
}

static long advise(struct file *file, u64 off, u64 len, int advice)
{
	u64 end = len && off + len > off ? off + len : ~0ull;

	switch (advice) {
	case POSIX_FADV_WILLNEED:
		if (file->inode->cops)
			pagecache_prefetch(file->inode, off >> PAGE_SHIFT,
					   MIN((end - off) >> PAGE_SHIFT, 8192ull) + 1);
		return 0;
	case POSIX_FADV_DONTNEED:
		advise_dontneed(file->inode, off, end);
		return 0;
	case POSIX_FADV_NORMAL:
	case POSIX_FADV_RANDOM:
	case POSIX_FADV_SEQUENTIAL:
	case POSIX_FADV_NOREUSE:
		return 0;
	default:
		return -EINVAL;
	}
}

long sys_fadvise64(int fd, s64 off, s64 len, int advice)
{
	struct file *file;
	long err = file_get_fd(fd, &file);

	if (err)
		return err;
	if (S_ISFIFO(file->inode->mode))
		err = -ESPIPE;
	else if (len < 0)
		err = -EINVAL;
	else
		err = advise(file, (u64)off, (u64)len, advice);
	file_put(file);
	return err;
}

long sys_readahead(int fd, s64 off, u64 count)
{
	struct file *file;
	long err = file_get_fd(fd, &file);

	if (err)
		return err;
	if (!FILE_READABLE(file))
		err = -EBADF;
	else if (!S_ISREG(file->inode->mode) || !file->inode->cops)
		err = -EINVAL;
	else
		pagecache_prefetch(file->inode, (u64)off >> PAGE_SHIFT,
				   (MIN(count, 32ull << 20) + PAGE_SIZE - 1) >> PAGE_SHIFT);
	file_put(file);
	return err;
}
