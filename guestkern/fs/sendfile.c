/* SPDX-License-Identifier: Apache-2.0 */
/* sendfile(2) and copy_file_range(2): from the page cache straight into the other file's write. */
#include "fs/readwrite.h"
#include "fs/syscalls.h"

#include <linux/uio.h>

/* One piece, at most a page: bytes written, 0 at the end of the source, or -errno. */
static long copy_piece(struct file *in, u64 *in_pos, struct file *out, u64 *out_pos, size_t len)
{
	size_t off = *in_pos & (PAGE_SIZE - 1);
	struct page *page;
	long n;
	int err;

	if (*in_pos >= in->inode->size)
		return 0;
	len = MIN(MIN(len, PAGE_SIZE - off), in->inode->size - *in_pos);
	err = pagecache_get_want(in->inode, *in_pos >> PAGE_SHIFT, 16, &page);
	if (err)
		return err == -ENXIO ? 0 : err;
	n = out->ops->write(out, (char *)page_addr(page) + off, len, out_pos);
	page_put(page);
	if (n > 0)
		*in_pos += (u64)n;
	return n;
}

/* The same for sources that are not cached. */
static long copy_bounce(struct file *in, u64 *in_pos, struct file *out, u64 *out_pos, size_t len)
{
	char *buf = kmalloc(PAGE_SIZE);
	u64 start = *in_pos;
	long n, w;

	if (!buf)
		return -ENOMEM;
	n = in->ops->read(in, buf, MIN(len, PAGE_SIZE), in_pos);
	if (n > 0) {
		w = out->ops->write(out, buf, (size_t)n, out_pos);
		*in_pos = start + (u64)MAX(w, 0l);
		n = w;
	}
	kfree(buf);
	return n;
}

static long copy_files(struct file *in, u64 *in_pos, struct file *out, u64 *out_pos, size_t len)
{
	size_t done = 0;
	long n = 0;

	len = MIN(len, MAX_RW);
	while (done < len) {
		n = in->inode->cops ? copy_piece(in, in_pos, out, out_pos, len - done) :
				      copy_bounce(in, in_pos, out, out_pos, len - done);
		if (n <= 0)
			break;
		done += (size_t)n;
		if (signal_pending())
			break;
	}
	return done ? (long)done : n;
}

/* An offset from user space or, where there is none, the file's own position. */
static int offset_get(u64 uoff, const struct file *file, u64 *pos)
{
	*pos = file->pos;
	if (uoff && copy_from_user(pos, uoff, sizeof(*pos)))
		return -EFAULT;
	return (s64)*pos < 0 ? -EINVAL : 0;
}

static int offset_put(u64 uoff, struct file *file, u64 pos)
{
	if (uoff)
		return copy_to_user(uoff, &pos, sizeof(pos));
	file->pos = pos;
	return 0;
}

long sys_sendfile(int out_fd, int in_fd, u64 uoff, u64 count)
{
	struct file *in, *out;
	u64 pos;
	long n = rw_begin(in_fd, uoff ? RW_POS : 0, &in);

	if (n)
		return n == -EISDIR ? -EINVAL : n;
	n = rw_begin(out_fd, RW_WRITE, &out);
	if (n)
		goto out_in;
	n = offset_get(uoff, in, &pos);
	if (!n && (out->flags & O_APPEND))
		n = -EINVAL;
	if (n)
		goto out_both;
	n = copy_files(in, &pos, out, &out->pos, count);
	if (offset_put(uoff, in, pos) && n >= 0)
		n = -EFAULT;
out_both:
	file_put(out);
out_in:
	file_put(in);
	return n;
}

static long copy_range_check(struct file *in, u64 in_pos, struct file *out, u64 out_pos, u64 len)
{
	if (inode_is_dir(in->inode) || inode_is_dir(out->inode))
		return -EISDIR;
	if (!S_ISREG(in->inode->mode) || !S_ISREG(out->inode->mode))
		return -EINVAL;
	if (out->flags & O_APPEND)
		return -EBADF;
	if (in_pos + len < in_pos || out_pos + len < out_pos)
		return -EOVERFLOW;
	if (in->inode == out->inode && in_pos < out_pos + len && out_pos < in_pos + len)
		return -EINVAL;
	return 0;
}

long sys_copy_file_range(int in_fd, u64 in_off, int out_fd, u64 out_off, u64 len, u32 flags)
{
	struct file *in, *out;
	u64 in_pos, out_pos;
	long n;

	if (flags)
		return -EINVAL;
	n = rw_begin(in_fd, 0, &in);
	if (n)
		return n;
	n = rw_begin(out_fd, RW_WRITE, &out);
	if (n)
		goto out_in;
	n = offset_get(in_off, in, &in_pos);
	if (!n)
		n = offset_get(out_off, out, &out_pos);
	if (!n)
		n = copy_range_check(in, in_pos, out, out_pos, MIN(len, MAX_RW));
	if (n || !len)
		goto out_both;
	n = copy_files(in, &in_pos, out, &out_pos, len);
	if (n >= 0 && (offset_put(in_off, in, in_pos) || offset_put(out_off, out, out_pos)))
		n = -EFAULT;
out_both:
	file_put(out);
out_in:
	file_put(in);
	return n;
}
