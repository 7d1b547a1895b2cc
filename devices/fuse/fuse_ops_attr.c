/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on what an object is: GETATTR, SETATTR, ACCESS, STATFS, READLINK. */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

static int req_put_attr(struct fuse_req *req, struct fuse_node *node)
{
	struct fuse_attr_out out = { .attr_valid = node_valid_s(node) };
	struct fuse_stat st;
	int err = node_stat(req->srv, node, &st);

	if (err < 0)
		return err;
	attr_fill(req->srv, node, &st, &out.attr);
	return req_put(req, &out, sizeof(out));
}

int op_getattr(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);

	return node ? req_put_attr(req, node) : -ESTALE;
}

/* Changing a file's size needs a descriptor for writing; an open handle's serves. */
static int set_size(struct fuse_server *srv, struct fuse_node *node, uint64_t size)
{
	int fd, err;

	if (node_is_dir(node))
		return -EISDIR;
	if (size > INT64_MAX)
		return -EFBIG;
	fd = fd_get(srv, node, FD_WRITE);
	if (fd < 0)
		return fd;
	err = ftruncate(fd, (off_t)size) < 0 ? -errno : 0;
	if (err == 0)
		node_drop_suid(node, fd);
	fd_put(srv, node, FD_WRITE);
	return err;
}

static struct timespec set_time(uint32_t valid, uint32_t set, uint32_t now, uint64_t sec,
				uint32_t nsec)
{
	struct timespec ts = { .tv_nsec = UTIME_OMIT };

	if (valid & now) {
		ts.tv_nsec = UTIME_NOW;
	} else if (valid & set) {
		ts.tv_sec = (time_t)sec;
		ts.tv_nsec = nsec < 1000000000 ? (long)nsec : 0;
	}
	return ts;
}

static int set_times(int fd, enum fd_slot slot, const struct fuse_setattr_in *in)
{
	struct timespec ts[2] = {
		set_time(in->valid, FATTR_ATIME, FATTR_ATIME_NOW, in->atime, in->atimensec),
		set_time(in->valid, FATTR_MTIME, FATTR_MTIME_NOW, in->mtime, in->mtimensec),
	};

	if (syscall(SYS_utimensat, fd, "", ts, AT_EMPTY_PATH) == 0)
		return 0;
	/* Before 5.8 an O_PATH descriptor will not do. */
	if (errno == EINVAL && slot != FD_PATH && futimens(fd, ts) == 0)
		return 0;
	return -errno;
}

static int set_owner(int fd, const struct fuse_setattr_in *in)
{
	uid_t uid = in->valid & FATTR_UID ? in->uid : (uid_t)-1;
	gid_t gid = in->valid & FATTR_GID ? in->gid : (gid_t)-1;

	return fchownat(fd, "", uid, gid, AT_EMPTY_PATH) < 0 ? -errno : 0;
}

/* setuid and setgid on a file would lend the husk user's rights to anybody on the host. */
static uint32_t mode_allowed(const struct fuse_node *node, uint32_t mode)
{
	return mode & (node_is_dir(node) ? 03777u : 01777u);
}

/* By a real descriptor where there is one, for old kernels have no other way. */
int node_chmod(struct fuse_server *srv, struct fuse_node *node, uint32_t mode)
{
	enum fd_slot slot = FD_READ;
	int fd, err;

	if (S_ISLNK(node->mode))
		return -EOPNOTSUPP;
	if (node->fds[FD_WRITE].fd >= 0)
		slot = FD_WRITE;
	fd = fd_get(srv, node, slot);
	if (fd == -EACCES || fd == -ENXIO) {
		slot = FD_PATH;
		fd = fd_get(srv, node, slot);
	}
	if (fd < 0)
		return fd;
	if (slot == FD_PATH)
		err = host_chmod_path(fd, mode);
	else
		err = fchmod(fd, mode) < 0 ? -errno : 0;
	fd_put(srv, node, slot);
	return err;
}

static int node_setattr(struct fuse_server *srv, struct fuse_node *node,
			const struct fuse_setattr_in *in)
{
	const uint32_t times = FATTR_ATIME | FATTR_MTIME | FATTR_ATIME_NOW | FATTR_MTIME_NOW;
	enum fd_slot slot;
	int fd, err = 0;

	if (in->valid & FATTR_SIZE) {
		err = set_size(srv, node, in->size);
		if (err < 0)
			return err;
	}
	if (in->valid & FATTR_MODE)
		err = node_chmod(srv, node, mode_allowed(node, in->mode));
	if (err < 0 || !(in->valid & (times | FATTR_UID | FATTR_GID)))
		return err;
	fd = fd_get_any(srv, node, &slot);
	if (fd < 0)
		return fd;
	if (in->valid & (FATTR_UID | FATTR_GID))
		err = set_owner(fd, in);
	if (err == 0 && (in->valid & times))
		err = set_times(fd, slot, in);
	fd_put(srv, node, slot);
	return err;
}

int op_setattr(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_setattr_in in;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (!node)
		return -ESTALE;
	if (!node->ex || !node->ex->rw)
		return -EROFS;
	err = node_setattr(req->srv, node, &in);
	return err < 0 ? err : req_put_attr(req, node);
}

int op_access(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_access_in in;
	enum fd_slot slot;
	int fd, err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (!node)
		return -ESTALE;
	if (in.mask & ~7u)
		return -EINVAL;
	if ((in.mask & W_OK) && (!node->ex || !node->ex->rw))
		return -EROFS;
	if (!node->ex)
		return 0;
	fd = fd_get_any(req->srv, node, &slot);
	if (fd < 0)
		return fd;
	/* Before 5.8 there is no such call: the guest's own check of the mode stands alone. */
	if (syscall(SYS_faccessat2, fd, "", in.mask, AT_EMPTY_PATH | AT_EACCESS) < 0 &&
	    errno != ENOSYS)
		err = -errno;
	fd_put(req->srv, node, slot);
	return err;
}

int op_statfs(struct fuse_req *req)
{
	struct fuse_statfs_out out = { .st = { .bsize = 4096, .frsize = 4096, .namelen = 255 } };
	struct fuse_node *node = req_node(req);
	enum fd_slot slot;
	struct statfs sfs;
	int fd, err = 0;

	if (!node)
		return -ESTALE;
	if (node->ex) {
		fd = fd_get_any(req->srv, node, &slot);
		if (fd < 0)
			return fd;
		if (fstatfs(fd, &sfs) < 0)
			err = -errno;
		fd_put(req->srv, node, slot);
		if (err < 0)
			return err;
		out.st = (struct fuse_kstatfs){
			.blocks = sfs.f_blocks, .bfree = sfs.f_bfree, .bavail = sfs.f_bavail,
			.files = sfs.f_files, .ffree = sfs.f_ffree, .bsize = (uint32_t)sfs.f_bsize,
			.namelen = (uint32_t)sfs.f_namelen, .frsize = (uint32_t)sfs.f_frsize,
		};
	}
	return req_put(req, &out, sizeof(out));
}

int op_readlink(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	char buf[HUSK_FUSE_PATH_MAX + 1];
	long n;

	if (!node)
		return -ESTALE;
	n = node_readlink(req->srv, node, buf, HUSK_FUSE_PATH_MAX);
	if (n < 0)
		return (int)n;
	return req_put(req, buf, (size_t)n);
}
