/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations on file data: READ, WRITE, FSYNC, LSEEK, FALLOCATE, COPY_FILE_RANGE, SYNCFS. Data
 * goes between the host's file and guest memory directly. The server's lock is dropped meanwhile;
 * the pinned descriptor and the referenced node stay.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COPY_MAX	(64u << 20)	/* one request's time is bounded; a short count is legal */

int io_begin(struct fuse_server *srv, uint64_t nodeid, uint64_t fh, enum fd_slot want,
	     struct fuse_io *io)
{
	struct fuse_node *node = node_by_id(srv, nodeid);

	if (!node)
		return -ESTALE;
	if (fh) {
		struct fuse_open_file *file = handle_get(srv, fh, node);

		if (!file || !(want == FD_WRITE ? file->writable : file->readable))
			return -EBADF;
	} else if (want == FD_WRITE) {
		return -EBADF;
	}
	io->fd = fd_get(srv, node, want);
	if (io->fd < 0)
		return io->fd;
	io->node = node;
	io->slot = want;
	node_get(node);
	return 0;
}

void io_end(struct fuse_server *srv, struct fuse_io *io)
{
	fd_put(srv, io->node, io->slot);
	node_put(srv, io->node);
}

/* For what works on any handle: by the one it has. */
static int io_begin_any(struct fuse_server *srv, uint64_t nodeid, uint64_t fh, struct fuse_io *io)
{
	struct fuse_open_file *file = id_get(&srv->handles, fh);
	bool write_only = file && file->writable && !file->readable;

	return io_begin(srv, nodeid, fh, write_only ? FD_WRITE : FD_READ, io);
}

ssize_t io_read(int fd, const struct iovec *iov, unsigned n, size_t skip, size_t len, uint64_t off)
{
	struct iovec part[HUSK_FUSE_MAX_IOV];
	size_t done = 0;

	/* A short count that is not the end of the file would look like one to the guest. */
	while (done < len) {
		unsigned m = iov_slice(iov, n, skip + done, len - done, part, HUSK_FUSE_MAX_IOV);
		ssize_t got = preadv(fd, part, (int)m, (off_t)(off + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return done ? (ssize_t)done : -errno;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

int op_read(struct fuse_req *req)
{
	struct fuse_read_in in;
	struct fuse_io io;
	size_t len;
	ssize_t n;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	len = in.size < HUSK_FUSE_MAX_WRITE ? in.size : HUSK_FUSE_MAX_WRITE;
	if (len > req_room(req))
		len = req_room(req);
	if (in.offset > (uint64_t)INT64_MAX - len)
		return -EINVAL;
	err = io_begin(req->srv, req->h.nodeid, in.fh, FD_READ, &io);
	if (err < 0)
		return err;
	pthread_mutex_unlock(&req->srv->lock);
	n = io_read(io.fd, req->out, req->nout, req->out_pos, len, in.offset);
	pthread_mutex_lock(&req->srv->lock);
	io_end(req->srv, &io);
	if (n < 0)
		return (int)n;
	req->out_pos += (size_t)n;
	return 0;
}

/* RWF_* for the flags the file was opened with. */
static int write_sync_flags(uint32_t flags)
{
	if ((flags & O_SYNC) == O_SYNC)
		return RWF_SYNC;
	return flags & O_DSYNC ? RWF_DSYNC : 0;
}

void node_drop_suid(struct fuse_node *node, int fd)
{
	struct fuse_stat st;

	if (!node->suid)
		return;
	if (host_stat(fd, "", &st) == 0)
		fchmod(fd, st.mode & 01777);
	node->suid = false;
}

static ssize_t io_write(struct fuse_req *req, int fd, const struct fuse_write_in *in)
{
	int rwf = write_sync_flags(in->flags);
	struct iovec part[HUSK_FUSE_MAX_IOV];
	size_t done = 0;

	while (done < in->size) {
		unsigned m = iov_slice(req->in, req->nin, req->in_pos + done, in->size - done, part,
				       HUSK_FUSE_MAX_IOV);
		uint64_t off = in->offset + done;
		ssize_t n = rwf ? syscall(SYS_pwritev2, fd, part, m, off, 0, rwf) :
				  pwritev(fd, part, (int)m, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return done ? (ssize_t)done : n < 0 ? -errno : 0;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int op_write(struct fuse_req *req)
{
	struct fuse_write_out out = { 0 };
	struct fuse_write_in in;
	struct fuse_io io;
	ssize_t n;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (in.size > HUSK_FUSE_MAX_WRITE || in.size > req->in_end - req->in_pos ||
	    in.offset > (uint64_t)INT64_MAX - in.size)
		return -EINVAL;
	err = io_begin(req->srv, req->h.nodeid, in.fh, FD_WRITE, &io);
	if (err < 0)
		return err;
	node_drop_suid(io.node, io.fd);
	pthread_mutex_unlock(&req->srv->lock);
	n = io_write(req, io.fd, &in);
	pthread_mutex_lock(&req->srv->lock);
	io_end(req->srv, &io);
	if (n < 0)
		return (int)n;
	out.size = (uint32_t)n;
	return req_put(req, &out, sizeof(out));
}

int op_fsync(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_fsync_in in;
	struct fuse_io io;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (!node)
		return -ESTALE;
	if (!node->ex || !node->ex->rw)
		return 0;	/* nothing was written by this guest */
	err = io_begin_any(req->srv, req->h.nodeid, in.fh, &io);
	if (err < 0)
		return err;
	pthread_mutex_unlock(&req->srv->lock);
	err = in.fsync_flags & FUSE_FSYNC_FDATASYNC ? fdatasync(io.fd) : fsync(io.fd);
	if (err < 0)
		err = -errno;
	pthread_mutex_lock(&req->srv->lock);
	io_end(req->srv, &io);
	return err;
}

int op_syncfs(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_io io;
	int err;

	if (!node)
		return -ESTALE;
	if (!node->ex || !node->ex->rw)
		return 0;
	err = io_begin(req->srv, node->ex->root->id, 0, FD_READ, &io);
	if (err < 0)
		return err;
	pthread_mutex_unlock(&req->srv->lock);
	err = syscall(SYS_syncfs, io.fd) < 0 ? -errno : 0;
	pthread_mutex_lock(&req->srv->lock);
	io_end(req->srv, &io);
	return err;
}

/* SEEK_DATA and SEEK_HOLE; the other directions need nothing from here. */
int op_lseek(struct fuse_req *req)
{
	struct fuse_lseek_out out;
	struct fuse_lseek_in in;
	struct fuse_io io;
	off_t at;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if ((in.whence != SEEK_DATA && in.whence != SEEK_HOLE) || in.offset > INT64_MAX)
		return -EINVAL;
	err = io_begin_any(req->srv, req->h.nodeid, in.fh, &io);
	if (err < 0)
		return err;
	at = S_ISREG(io.node->mode) ? lseek(io.fd, (off_t)in.offset, (int)in.whence) : -1;
	if (at < 0)
		err = S_ISREG(io.node->mode) ? -errno : -EINVAL;
	io_end(req->srv, &io);
	if (err < 0)
		return err;
	out.offset = (uint64_t)at;
	return req_put(req, &out, sizeof(out));
}

int op_fallocate(struct fuse_req *req)
{
	const uint32_t modes = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE |
			       FALLOC_FL_COLLAPSE_RANGE | FALLOC_FL_INSERT_RANGE;
	struct fuse_fallocate_in in;
	struct fuse_io io;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (in.mode & ~modes)
		return -EOPNOTSUPP;
	if (in.offset > INT64_MAX || in.length > INT64_MAX)
		return -EINVAL;
	err = io_begin(req->srv, req->h.nodeid, in.fh, FD_WRITE, &io);
	if (err < 0)
		return err;
	node_drop_suid(io.node, io.fd);
	pthread_mutex_unlock(&req->srv->lock);
	do {
		err = fallocate(io.fd, (int)in.mode, (off_t)in.offset, (off_t)in.length);
		err = err < 0 ? -errno : 0;
	} while (err == -EINTR);
	pthread_mutex_lock(&req->srv->lock);
	io_end(req->srv, &io);
	return err;
}

int op_copy_file_range(struct fuse_req *req)
{
	struct fuse_copy_file_range_in in;
	struct fuse_write_out out = { 0 };
	struct fuse_io from, to;
	loff_t off_in, off_out;
	ssize_t n;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (in.flags || in.off_in > INT64_MAX || in.off_out > INT64_MAX)
		return -EINVAL;
	err = io_begin(req->srv, req->h.nodeid, in.fh_in, FD_READ, &from);
	if (err < 0)
		return err;
	err = io_begin(req->srv, in.nodeid_out, in.fh_out, FD_WRITE, &to);
	if (err < 0) {
		io_end(req->srv, &from);
		return err;
	}
	node_drop_suid(to.node, to.fd);
	off_in = (loff_t)in.off_in;
	off_out = (loff_t)in.off_out;
	pthread_mutex_unlock(&req->srv->lock);
	n = syscall(SYS_copy_file_range, from.fd, &off_in, to.fd, &off_out,
		    in.len < COPY_MAX ? in.len : COPY_MAX, 0);
	if (n < 0)
		err = -errno;
	pthread_mutex_lock(&req->srv->lock);
	io_end(req->srv, &to);
	io_end(req->srv, &from);
	if (err < 0)
		return err;
	out.size = (uint32_t)n;
	return req_put(req, &out, sizeof(out));
}
