/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations that change directories of rw exports: MKNOD, MKDIR, SYMLINK, LINK, UNLINK, RMDIR,
 * RENAME. Each acts on one checked name beneath the directory's descriptor.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE	1
#define RENAME_EXCHANGE		2
#endif

/* A directory of a rw export that may be changed. */
static int dir_writable(const struct fuse_node *dir)
{
	if (!dir)
		return -ESTALE;
	if (!node_is_dir(dir))
		return -ENOTDIR;
	return dir->ex && dir->ex->rw ? 0 : -EROFS;
}

int req_writable_dir(const struct fuse_req *req, struct fuse_node **dir)
{
	*dir = req_node(req);
	return dir_writable(*dir);
}

/* Name and directory of a request that makes something there. fd: FD_PATH, pinned. */
static int make_begin(struct fuse_req *req, struct fuse_node **dir, char *name, int *fd)
{
	int err = req_name(req, name);

	if (err == 0)
		err = req_writable_dir(req, dir);
	if (err < 0)
		return err;
	if (dir_graft(*dir, name))
		return -EEXIST;
	*fd = fd_get(req->srv, *dir, FD_PATH);
	return *fd < 0 ? *fd : 0;
}

/*
 * End of such a request. The server's umask must not bite: the client has applied the program's.
 * rc and errno are those of the call that made it.
 */
static int make_end(struct fuse_req *req, struct fuse_node *dir, const char *name, int rc,
		    uint32_t mode)
{
	struct fuse_server *srv = req->srv;
	int err = rc < 0 ? -errno : 0;

	if (err == 0 && (mode & srv->umask)) {
		struct fuse_node *node;
		struct fuse_stat st;

		err = dir_lookup(srv, dir, name, &node, &st);
		if (err == 0) {
			/* A directory inherits setgid. */
			err = node_chmod(srv, node, mode | (st.mode & S_ISGID));
			/* An old host kernel cannot, for a FIFO: it stays as the umask made it. */
			if (err == -EOPNOTSUPP)
				err = 0;
			node_put(srv, node);
		}
	}
	if (err == 0)
		err = req_put_entry(req, dir, name);
	fd_put(srv, dir, FD_PATH);
	return err;
}

int op_mknod(struct fuse_req *req)
{
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_mknod_in in;
	struct fuse_node *dir;
	int fd, err = req_pull(req, &in, sizeof(in));

	if (err < 0)
		return err;
	if (S_ISCHR(in.mode) || S_ISBLK(in.mode))
		return -EPERM;
	if (!S_ISREG(in.mode) && !S_ISFIFO(in.mode) && !S_ISSOCK(in.mode))
		return -EINVAL;
	err = make_begin(req, &dir, name, &fd);
	if (err < 0)
		return err;
	in.mode &= S_IFMT | 01777;
	return make_end(req, dir, name, mknodat(fd, name, in.mode, 0), in.mode & 01777);
}

int op_mkdir(struct fuse_req *req)
{
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_mkdir_in in;
	struct fuse_node *dir;
	int fd, err = req_pull(req, &in, sizeof(in));

	if (err == 0)
		err = make_begin(req, &dir, name, &fd);
	if (err < 0)
		return err;
	in.mode &= 01777;
	return make_end(req, dir, name, mkdirat(fd, name, in.mode), in.mode);
}

int op_symlink(struct fuse_req *req)
{
	char name[HUSK_FUSE_NAME_MAX + 1], target[HUSK_FUSE_PATH_MAX + 1];
	struct fuse_node *dir;
	int fd, err = make_begin(req, &dir, name, &fd);

	if (err < 0)
		return err;
	err = req_string(req, target, sizeof(target));
	if (err < 0) {
		fd_put(req->srv, dir, FD_PATH);
		return err;
	}
	return make_end(req, dir, name, symlinkat(target, fd, name), 0);
}

/*
 * A link by (parent, name) of the old node. Should another object have come there meanwhile, the
 * new name is taken away again; it was never outside the export.
 */
static int link_checked(struct fuse_server *srv, struct fuse_node *old, int dirfd, const char *name)
{
	struct fuse_stat st;
	int err, fd;

	if (!old->hashed)
		return -ENOENT;
	fd = fd_get(srv, old->parent, FD_PATH);
	if (fd < 0)
		return fd;
	err = linkat(fd, old->name, dirfd, name, 0) < 0 ? -errno : 0;
	fd_put(srv, old->parent, FD_PATH);
	if (err < 0)
		return err;
	err = host_stat(dirfd, name, &st);
	if (err == 0 && !node_same(old, &st)) {
		unlinkat(dirfd, name, 0);
		err = -ESTALE;
	}
	return err;
}

int op_link(struct fuse_req *req)
{
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_node *dir, *old;
	struct fuse_link_in in;
	int fd, err = req_pull(req, &in, sizeof(in));

	if (err == 0)
		err = make_begin(req, &dir, name, &fd);
	if (err < 0)
		return err;
	old = node_by_id(req->srv, in.oldnodeid);
	if (!old)
		err = -ESTALE;
	else if (node_is_dir(old))
		err = -EPERM;
	else if (old->ex != dir->ex || old == old->ex->root)
		err = -EXDEV;
	else
		err = link_checked(req->srv, old, fd, name);
	errno = -err;
	return make_end(req, dir, name, err, 0);
}

/*
 * The node known for what is at a name, or NULL. *last: it is its last name, so that the number
 * may soon be another file's.
 */
static struct fuse_node *name_node(struct fuse_server *srv, struct fuse_node *dir, int dirfd,
				   const char *name, bool *last)
{
	struct fuse_stat st;

	if (host_stat(dirfd, name, &st) < 0)
		return NULL;
	*last = S_ISDIR(st.mode) || st.nlink <= 1;
	return node_find(srv, dir->ex, &st);
}

static int name_remove(struct fuse_req *req, int flags)
{
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_node *dir = NULL, *node;
	int fd, err = req_name(req, name);
	bool last = false;

	if (err == 0)
		err = req_writable_dir(req, &dir);
	if (err < 0)
		return err;
	if (dir_graft(dir, name))
		return -EBUSY;
	fd = fd_get(req->srv, dir, FD_PATH);
	if (fd < 0)
		return fd;
	node = name_node(req->srv, dir, fd, name, &last);
	if (unlinkat(fd, name, flags) < 0)
		err = -errno;
	else if (node && last)
		node_unhash(req->srv, node);
	fd_put(req->srv, dir, FD_PATH);
	return err;
}

int op_unlink(struct fuse_req *req)
{
	return name_remove(req, 0);
}

int op_rmdir(struct fuse_req *req)
{
	return name_remove(req, AT_REMOVEDIR);
}

struct rename {
	struct fuse_node *olddir, *newdir;
	char oldname[HUSK_FUSE_NAME_MAX + 1], newname[HUSK_FUSE_NAME_MAX + 1];
	uint32_t flags;
};

/* With both directories pinned. */
static int rename_do(struct fuse_server *srv, struct rename *r, int oldfd, int newfd)
{
	bool moved_last, over_last = false;
	struct fuse_node *moved = name_node(srv, r->olddir, oldfd, r->oldname, &moved_last);
	struct fuse_node *over = name_node(srv, r->newdir, newfd, r->newname, &over_last);

	if (syscall(SYS_renameat2, oldfd, r->oldname, newfd, r->newname, r->flags) < 0)
		return -errno;
	if (moved == over)
		return 0;	/* two names of one file: nothing happened */
	if (over && (r->flags & RENAME_EXCHANGE))
		node_place(srv, over, r->olddir, r->oldname);
	else if (over && over_last)
		node_unhash(srv, over);
	if (moved)
		node_place(srv, moved, r->newdir, r->newname);
	return 0;
}

static int name_rename(struct fuse_req *req, uint64_t newdir, uint32_t flags)
{
	struct fuse_server *srv = req->srv;
	struct rename r = { .newdir = node_by_id(srv, newdir), .flags = flags };
	int oldfd, newfd, err = req_name(req, r.oldname);

	if (err == 0)
		err = req_name(req, r.newname);
	if (err == 0)
		err = req_writable_dir(req, &r.olddir);
	if (err == 0)
		err = dir_writable(r.newdir);
	if (err < 0)
		return err;
	if (flags & ~(uint32_t)(RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	if (r.olddir->ex != r.newdir->ex)
		return -EXDEV;
	if (dir_graft(r.olddir, r.oldname) || dir_graft(r.newdir, r.newname))
		return -EBUSY;
	oldfd = fd_get(srv, r.olddir, FD_PATH);
	if (oldfd < 0)
		return oldfd;
	newfd = fd_get(srv, r.newdir, FD_PATH);
	if (newfd >= 0) {
		err = rename_do(srv, &r, oldfd, newfd);
		fd_put(srv, r.newdir, FD_PATH);
	} else {
		err = newfd;
	}
	fd_put(srv, r.olddir, FD_PATH);
	return err;
}

int op_rename(struct fuse_req *req)
{
	struct fuse_rename_in in;
	int err = req_pull(req, &in, sizeof(in));

	return err < 0 ? err : name_rename(req, in.newdir, 0);
}

int op_rename2(struct fuse_req *req)
{
	struct fuse_rename2_in in;
	int err = req_pull(req, &in, sizeof(in));

	return err < 0 ? err : name_rename(req, in.newdir, in.flags);
}
