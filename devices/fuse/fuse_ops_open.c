/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OPEN, CREATE, OPENDIR, RELEASE, FLUSH. A handle is a pin on the node's descriptors: several
 * handles of one file share them, for all data goes by explicit offsets.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pin what the access mode asks for and make the handle. */
static int open_node(struct fuse_server *srv, struct fuse_node *node, uint32_t flags,
		     struct fuse_open_out *out)
{
	bool rd = (flags & O_ACCMODE) != O_WRONLY, wr = (flags & O_ACCMODE) != O_RDONLY;
	int err = 0;

	if (rd)
		err = fd_get(srv, node, FD_READ);
	if (err < 0)
		return err;
	if (wr)
		err = fd_get(srv, node, FD_WRITE);
	if (err < 0) {
		if (rd)
			fd_put(srv, node, FD_READ);
		return err;
	}
	out->fh = handle_new(srv, node, rd, wr);
	if (out->fh) {
		/* What a read-only export holds does not change: its pages stay good. */
		out->open_flags = node->ex && !node->ex->rw ? FOPEN_KEEP_CACHE : 0;
		return 0;
	}
	if (rd)
		fd_put(srv, node, FD_READ);
	if (wr)
		fd_put(srv, node, FD_WRITE);
	return -ENFILE;
}

static int open_truncate(struct fuse_server *srv, struct fuse_node *node)
{
	int fd = fd_get(srv, node, FD_WRITE), err;

	if (fd < 0)
		return fd;
	err = ftruncate(fd, 0) < 0 ? -errno : 0;
	if (err == 0)
		node_drop_suid(node, fd);
	fd_put(srv, node, FD_WRITE);
	return err;
}

static int open_checked(struct fuse_server *srv, struct fuse_node *node, uint32_t flags,
			struct fuse_open_out *out)
{
	int err;

	if ((flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	if (node_is_dir(node))
		return -EISDIR;
	if (!S_ISREG(node->mode))
		return S_ISLNK(node->mode) ? -ELOOP : -ENXIO;
	if (((flags & O_ACCMODE) != O_RDONLY || (flags & O_TRUNC)) && !node->ex->rw)
		return -EROFS;
	err = open_node(srv, node, flags, out);
	if (err == 0 && (flags & O_TRUNC)) {
		err = open_truncate(srv, node);
		if (err < 0)
			handle_close(srv, out->fh);
	}
	return err;
}

int op_open(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_open_out out = { 0 };
	struct fuse_open_in in;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (!node)
		return -ESTALE;
	err = open_checked(req->srv, node, in.flags, &out);
	return err < 0 ? err : req_put(req, &out, sizeof(out));
}

/* A synthetic directory has nothing to open: its handle pins nothing. */
int op_opendir(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_open_out out = { 0 };
	int err = 0;

	if (!node)
		return -ESTALE;
	if (!node_is_dir(node))
		return -ENOTDIR;
	if (node->ex)
		err = open_node(req->srv, node, O_RDONLY, &out);
	else if (!(out.fh = handle_new(req->srv, node, false, false)))
		err = -ENFILE;
	return err < 0 ? err : req_put(req, &out, sizeof(out));
}

int op_release(struct fuse_req *req)
{
	struct fuse_release_in in;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0 || in.fh == 0)
		return err;
	if (!handle_get(req->srv, in.fh, req_node(req)))
		return -EBADF;
	handle_close(req->srv, in.fh);
	return 0;
}

int op_flush(struct fuse_req *req)
{
	struct fuse_flush_in in;
	int err = req_pull(req, &in, sizeof(in));

	if (err < 0 || in.fh == 0)
		return err;
	return handle_get(req->srv, in.fh, req_node(req)) ? 0 : -EBADF;
}

/*
 * The file just made, with the descriptor that made it: it may be written through that one even
 * when its mode says nobody may.
 */
static int create_node(struct fuse_server *srv, struct fuse_node *dir, const char *name, int fd,
		       uint32_t flags, struct fuse_node **out, struct fuse_stat *st)
{
	struct fuse_stat made;
	int err = host_stat(fd, "", &made);
	int rd = -1;

	if (err == 0)
		err = dir_lookup(srv, dir, name, out, st);
	if (err < 0)
		goto close_fd;
	if (!node_same(*out, &made)) {
		err = -ESTALE;
		goto put_node;
	}
	if ((flags & O_ACCMODE) == O_RDWR && (*out)->fds[FD_READ].fd < 0) {
		err = fd_reserve(srv);
		rd = err < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
		if (err == 0 && rd < 0)
			err = -errno;
		if (err < 0)
			goto put_node;
		fd_install(srv, *out, FD_READ, rd);
	}
	fd_install(srv, *out, (flags & O_ACCMODE) == O_RDONLY ? FD_READ : FD_WRITE, fd);
	return 0;

put_node:
	node_put(srv, *out);
close_fd:
	close(fd);
	return err;
}

/* Make the file, or find that it is there: *fresh says which. */
static int create_or_find(struct fuse_server *srv, struct fuse_node *dir, const char *name,
			  const struct fuse_create_in *in, struct fuse_node **node,
			  struct fuse_stat *st, bool *fresh)
{
	int dirfd = fd_get(srv, dir, FD_PATH), fd, err = -ENOENT;
	uint32_t mode = in->mode & 01777;

	if (dirfd < 0)
		return dirfd;
	/* Somebody on the host may make and take it away in between: a few times is enough. */
	for (unsigned tries = 0; tries < 8 && err == -ENOENT; tries++) {
		*fresh = !dir_graft(dir, name);
		fd = *fresh ? fd_open_child(srv, dirfd, name, (int)(in->flags & O_ACCMODE) |
					    O_CREAT | O_EXCL | O_NONBLOCK, mode) : -EEXIST;
		if (fd >= 0) {
			if (mode & srv->umask)
				fchmod(fd, mode);
			err = create_node(srv, dir, name, fd, in->flags, node, st);
			break;
		}
		*fresh = false;
		err = fd;
		if (fd == -EEXIST && !(in->flags & O_EXCL))
			err = dir_lookup(srv, dir, name, node, st);
	}
	fd_put(srv, dir, FD_PATH);
	return err;
}

int op_create(struct fuse_req *req)
{
	struct { struct fuse_entry_out entry; struct fuse_open_out open; } out = { 0 };
	struct fuse_server *srv = req->srv;
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_node *dir, *node;
	struct fuse_create_in in;
	struct fuse_stat st;
	bool fresh;
	int err = req_pull(req, &in, sizeof(in));

	if (err == 0)
		err = req_name(req, name);
	if (err == 0)
		err = req_writable_dir(req, &dir);
	if (err < 0)
		return err;
	if ((in.flags & O_ACCMODE) == O_ACCMODE)
		return -EINVAL;
	err = create_or_find(srv, dir, name, &in, &node, &st, &fresh);
	if (err < 0)
		return err;
	err = open_checked(srv, node, fresh ? in.flags & ~(uint32_t)O_TRUNC : in.flags, &out.open);
	if (err == 0 && !fresh)
		err = node_stat(srv, node, &st);
	if (err == 0) {
		entry_fill(srv, node, &st, &out.entry);
		err = req_put(req, &out, sizeof(out));
	} else if (out.open.fh) {
		handle_close(srv, out.open.fh);
	}
	node_put(srv, node);
	return err;
}
