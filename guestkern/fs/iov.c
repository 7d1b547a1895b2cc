/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readv(2), writev(2) and their positional forms. Cached files take the pieces one by one. Pipes,
 * sockets and terminals get one call: pieces go through a buffer, so that a write stays in one
 * piece and a read does not wait for more once it has something.
 */
#include "fs/readwrite.h"
#include "fs/syscalls.h"

#include <linux/uio.h>

#define IOV_FEW		8u
#define BOUNCE_MAX	65536u
#define RWF_KNOWN	0x1fu	/* RWF_HIPRI DSYNC SYNC NOWAIT APPEND */
#define RWF_APPEND_BIT	0x10u

struct iov {
	struct iovec few[IOV_FEW];
	struct iovec *v;
	u32 n;
	size_t total;
};

static void iov_put(struct iov *iov)
{
	if (iov->v != iov->few)
		kfree(iov->v);
}

static int iov_check(struct iov *iov)
{
	iov->total = 0;
	for (u32 i = 0; i < iov->n; i++) {
		size_t len = iov->v[i].iov_len;

		if ((s64)len < 0)
			return -EINVAL;
		if (!user_ok((u64)(uintptr_t)iov->v[i].iov_base, len))
			return -EFAULT;
		len = MIN(len, MAX_RW - iov->total);
		iov->v[i].iov_len = len;
		iov->total += len;
	}
	return 0;
}

static int iov_get(struct iov *iov, u64 uvec, u64 n)
{
	int err;

	if (n > UIO_MAXIOV)
		return -EINVAL;
	iov->n = (u32)n;
	iov->v = n <= IOV_FEW ? iov->few : kmalloc(n * sizeof(struct iovec));
	if (!iov->v)
		return -ENOMEM;
	err = copy_from_user(iov->v, uvec, n * sizeof(struct iovec));
	if (!err)
		err = iov_check(iov);
	if (err)
		iov_put(iov);
	return err;
}

static long iov_each(struct file *file, unsigned how, struct iov *iov, u64 *pos)
{
	long done = 0;

	for (u32 i = 0; i < iov->n; i++) {
		long n;

		if (!iov->v[i].iov_len)
			continue;
		n = rw_one(file, how, iov->v[i].iov_base, iov->v[i].iov_len, pos);
		if (n < 0)
			return done ? done : n;
		done += n;
		if ((size_t)n < iov->v[i].iov_len)
			break;
	}
	return done;
}

static int iov_gather(const struct iov *iov, char *buf, size_t len)
{
	size_t at = 0;

	for (u32 i = 0; i < iov->n && at < len; i++) {
		size_t n = MIN(iov->v[i].iov_len, len - at);

		if (copy_in(buf + at, iov->v[i].iov_base, n))
			return -EFAULT;
		at += n;
	}
	return 0;
}

static int iov_scatter(const struct iov *iov, const char *buf, size_t len)
{
	size_t at = 0;

	for (u32 i = 0; i < iov->n && at < len; i++) {
		size_t n = MIN(iov->v[i].iov_len, len - at);

		if (copy_out(iov->v[i].iov_base, buf + at, n))
			return -EFAULT;
		at += n;
	}
	return 0;
}

static long iov_bounce(struct file *file, unsigned how, struct iov *iov, u64 *pos)
{
	size_t len = MIN(iov->total, BOUNCE_MAX);
	char *buf = kmalloc(len);
	long n;

	if (!buf)
		return -ENOMEM;
	if (how & RW_WRITE) {
		n = iov_gather(iov, buf, len);
		if (!n)
			n = file->ops->write(file, buf, len, pos);
	} else {
		n = file->ops->read(file, buf, len, pos);
		if (n > 0 && iov_scatter(iov, buf, (size_t)n))
			n = -EFAULT;
	}
	kfree(buf);
	return n;
}

static unsigned iov_used(const struct iov *iov)
{
	unsigned used = 0;

	for (u32 i = 0; i < iov->n; i++)
		used += iov->v[i].iov_len != 0;
	return used;
}

static long iov_rw(struct file *file, unsigned how, struct iov *iov, u64 *pos)
{
	if (!iov->total)
		return 0;
	if (file->inode->cops || iov_used(iov) == 1 ||
	    ((how & RW_WRITE) && iov->total > BOUNCE_MAX))
		return iov_each(file, how, iov, pos);
	return iov_bounce(file, how, iov, pos);
}

static long iov_fd(int fd, u64 vec, u64 n, unsigned how, u64 at, u32 rwf)
{
	struct file *file;
	struct iov iov;
	bool locked;
	u32 flags;
	long r = rw_begin(fd, how, &file);

	if (r)
		return r;
	r = iov_get(&iov, vec, n);
	if (r)
		goto out;
	flags = file->flags;
	if (rwf & RWF_APPEND_BIT)
		file->flags |= O_APPEND;
	if (how & RW_POS) {
		r = iov_rw(file, how, &iov, &at);
	} else {
		locked = pos_lock(file);
		r = iov_rw(file, how, &iov, &file->pos);
		pos_unlock(file, locked);
	}
	if (rwf & RWF_APPEND_BIT)
		file->flags = flags;
	iov_put(&iov);
out:
	file_put(file);
	return r;
}

long sys_readv(int fd, u64 vec, u64 n)
{
	return iov_fd(fd, vec, n, 0, 0, 0);
}

long sys_writev(int fd, u64 vec, u64 n)
{
	return iov_fd(fd, vec, n, RW_WRITE, 0, 0);
}

long sys_preadv(int fd, u64 vec, u64 n, s64 pos, u64 pos_high)
{
	return pos < 0 ? -EINVAL : iov_fd(fd, vec, n, RW_POS, (u64)pos, 0);
}

long sys_pwritev(int fd, u64 vec, u64 n, s64 pos, u64 pos_high)
{
	return pos < 0 ? -EINVAL : iov_fd(fd, vec, n, RW_POS | RW_WRITE, (u64)pos, 0);
}

/* Position -1: the file's own. */
static long iov_v2(int fd, u64 vec, u64 n, unsigned how, s64 pos, u32 rwf)
{
	if (rwf & ~RWF_KNOWN)
		return -EOPNOTSUPP;
	if (pos < -1)
		return -EINVAL;
	return iov_fd(fd, vec, n, how | (pos == -1 ? 0 : RW_POS), (u64)pos, rwf);
}

long sys_preadv2(int fd, u64 vec, u64 n, s64 pos, u64 pos_high, u32 flags)
{
	return iov_v2(fd, vec, n, 0, pos, flags & ~RWF_APPEND_BIT);
}

long sys_pwritev2(int fd, u64 vec, u64 n, s64 pos, u64 pos_high, u32 flags)
{
	return iov_v2(fd, vec, n, RW_WRITE, pos, flags);
}
