/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing standard streams without blocking a vCPU and without O_NONBLOCK, which is a
 * property of the open file and would show in every process that shares it. Where the kernel takes
 * RWF_NOWAIT (pipes, sockets) one call does it; else poll() first, then at most PIPE_BUF bytes:
 * that much fits a pipe that polls writable. Used by virtio_console.c.
 */
#include "devices/console_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define POLLED_MAX	4096	/* PIPE_BUF */
#define NOWAIT		0x8	/* RWF_NOWAIT of <linux/fs.h> */

static enum stream_kind stream_kind_of(int fd)
{
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return STREAM_NONE;
	if (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
		return STREAM_FILE;
	return STREAM_POLLED;
}

int stream_open(struct console_stream *s, int fd, const struct console_stream *others,
		unsigned nothers)
{
	s->kind = stream_kind_of(fd);
	s->fd = s->kind == STREAM_NONE ? -1 : fd;
	/* The event loop knows a descriptor by its number: one watch each. */
	for (unsigned i = 0; i < nothers && s->fd >= 0 && !s->own_fd; i++) {
		if (others[i].fd != fd)
			continue;
		s->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (s->fd < 0)
			return -errno;
		s->own_fd = true;
	}
	return 0;
}

void stream_close(struct console_stream *s, struct loop *loop)
{
	if (s->watched)
		loop_del(loop, s->fd);
	if (s->own_fd)
		close(s->fd);
	s->watched = s->own_fd = false;
	s->kind = STREAM_NONE;
}

/* Copy pieces of src from byte `skip` on, `max` bytes at most; how many pieces. */
static int stream_slice(struct iovec *dst, const struct iovec *src, unsigned n, size_t skip,
			size_t max)
{
	int out = 0;

	for (unsigned i = 0; i < n && max; i++) {
		size_t len = src[i].iov_len;

		if (skip >= len) {
			skip -= len;
			continue;
		}
		len = len - skip < max ? len - skip : max;
		dst[out++] = (struct iovec){ (uint8_t *)src[i].iov_base + skip, len };
		skip = 0;
		max -= len;
	}
	return out;
}

static bool stream_ready(const struct console_stream *s, short events)
{
	struct pollfd pfd = { .fd = s->fd, .events = events };

	/* An error or a hang-up counts: the call that follows will say which. */
	return poll(&pfd, 1, 0) > 0;
}

/* One try with RWF_NOWAIT; -EOPNOTSUPP when this kind of file, or kernel, has no such thing. */
static ssize_t stream_nowait(struct console_stream *s, long nr, const struct iovec *iov, int n)
{
	ssize_t ret = syscall(nr, s->fd, iov, n, -1L, -1L, NOWAIT);

	if (ret >= 0)
		return ret;
	if (errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EPERM) {
		s->may_block = true;
		return -EOPNOTSUPP;
	}
	return -errno;
}

static ssize_t stream_write_some(struct console_stream *s)
{
	struct iovec iov[VIRTQ_MAX_IOV];
	ssize_t ret;
	int n;

	if (s->kind == STREAM_POLLED && !s->may_block) {
		n = stream_slice(iov, s->elem.iov, s->elem.nout, s->done, SIZE_MAX);
		ret = stream_nowait(s, SYS_pwritev2, iov, n);
		if (ret != -EOPNOTSUPP)
			return ret;
	}
	if (s->kind == STREAM_POLLED && !stream_ready(s, POLLOUT))
		return -EAGAIN;
	n = stream_slice(iov, s->elem.iov, s->elem.nout, s->done,
			 s->kind == STREAM_POLLED ? POLLED_MAX : SIZE_MAX);
	ret = writev(s->fd, iov, n);
	return ret < 0 ? -errno : ret;
}

int stream_write(struct console_stream *s)
{
	if (s->kind == STREAM_NONE)
		return 0;
	while (s->done < s->elem.out_bytes) {
		ssize_t n = stream_write_some(s);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		s->done += (size_t)n;
	}
	return 0;
}

ssize_t stream_read(struct console_stream *s)
{
	const struct iovec *iov = s->elem.iov + s->elem.nout;
	ssize_t ret;

	if (s->kind == STREAM_NONE || s->elem.in_bytes == 0)
		return 0;
	do {
		ret = -EOPNOTSUPP;
		if (s->kind == STREAM_POLLED && !s->may_block)
			ret = stream_nowait(s, SYS_preadv2, iov, (int)s->elem.nin);
		if (ret != -EOPNOTSUPP)
			continue;
		if (s->kind == STREAM_POLLED && !stream_ready(s, POLLIN))
			return -EAGAIN;
		ret = readv(s->fd, iov, (int)s->elem.nin);
		ret = ret < 0 ? -errno : ret;
	} while (ret == -EINTR);
	return ret;
}

int stream_watch(struct console_stream *s, struct loop *loop, uint32_t events, loop_fn *fn,
		 void *arg)
{
	int ret = s->watched ? loop_mod(loop, s->fd, events) :
			       loop_add(loop, s->fd, events, fn, arg);

	if (ret == 0)
		s->watched = true;
	if (ret == -EPERM && s->kind == STREAM_FILE)
		return -EIO;		/* says EAGAIN and cannot be waited for */
	if (ret == -EPERM)
		s->kind = STREAM_FILE;
	return ret;
}
