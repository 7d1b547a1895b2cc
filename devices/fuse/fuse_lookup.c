/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups: one component at a time beneath a descriptor of the directory, never through a symlink,
 * never to what the export hides. Also what the guest is told of a node: attributes, entries.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool export_shows(struct fuse_server *srv, const struct export_state *ex,
		  const struct fuse_stat *st, int dirfd, const char *name)
{
	switch (st->mode & S_IFMT) {
	case S_IFREG:
		if (ex->public_only && !(st->mode & S_IROTH))
			return false;
		break;
	case S_IFDIR:
		if (ex->public_only && (~st->mode & (S_IROTH | S_IXOTH)))
			return false;
		break;
	case S_IFLNK:
		break;
	case S_IFIFO:
	case S_IFSOCK:
		if (!ex->rw)
			return false;
		break;
	default:
		return false;
	}
	return dev_visible(srv, st->dev, dirfd, name);
}

struct fuse_node *dir_graft(const struct fuse_node *dir, const char *name)
{
	for (const struct graft *g = dir->grafts; g; g = g->next)
		if (strcmp(g->node->name, name) == 0)
			return g->node;
	return NULL;
}

/* The node found has a reference of the caller's. */
int dir_lookup(struct fuse_server *srv, struct fuse_node *dir, const char *name,
	       struct fuse_node **out, struct fuse_stat *st)
{
	struct fuse_node *node;
	int fd, err;

	if (!node_is_dir(dir))
		return -ENOTDIR;
	node = dir_graft(dir, name);
	if (node) {
		err = node_stat(srv, node, st);
		if (err == 0)
			node_get(node);
		*out = node;
		return err;
	}
	if (!dir->ex)
		return -ENOENT;
	fd = fd_get(srv, dir, FD_PATH);
	if (fd < 0)
		return fd;
	err = host_stat(fd, name, st);
	if (err == 0 && !export_shows(srv, dir->ex, st, fd, name))
		err = -ENOENT;
	fd_put(srv, dir, FD_PATH);
	if (err < 0)
		return err;
	node = node_obtain(srv, dir, name, st);
	if (!node)
		return -ENOMEM;
	node->suid = (st->mode & (S_ISUID | S_ISGID)) != 0;
	*out = node;
	return 0;
}

static void synthetic_stat(const struct fuse_server *srv, const struct fuse_node *node,
			   struct fuse_stat *st)
{
	int64_t when = node->mtime_s ? node->mtime_s : srv->start_s;

	*st = (struct fuse_stat){
		.dev = node->dev, .ino = node->ino, .blksize = 4096,
		.mode = node->mode | (node->target ? 0777 : 0755),
		.nlink = node->target ? 1 : 2,
		.size = node->target ? strlen(node->target) : 0,
		.atime.sec = when, .mtime.sec = when, .ctime.sec = when,
	};
}

/* By an open descriptor if there is one, else by name, which costs no descriptor. */
int node_stat(struct fuse_server *srv, struct fuse_node *node, struct fuse_stat *st)
{
	int err = 0, fd = -1;

	if (!node->ex) {
		synthetic_stat(srv, node, st);
		return 0;
	}
	for (unsigned i = 0; i < FD_SLOTS && fd < 0; i++)
		fd = node->fds[i].fd;
	if (fd >= 0) {
		err = host_stat(fd, "", st);
		if (err == 0 && node != node->ex->root &&
		    !export_shows(srv, node->ex, st, fd, ""))
			err = -ESTALE;
	} else if (!node->hashed) {
		err = -ESTALE;
	} else {
		fd = fd_get(srv, node->parent, FD_PATH);
		if (fd < 0)
			return fd;
		err = host_stat(fd, node->name, st);
		if (err == -ENOENT || (err == 0 && (!node_same(node, st) ||
		    !export_shows(srv, node->ex, st, fd, node->name))))
			err = -ESTALE;
		fd_put(srv, node->parent, FD_PATH);
	}
	if (err == 0)
		node->suid = (st->mode & (S_ISUID | S_ISGID)) != 0;
	return err;
}

long node_readlink(struct fuse_server *srv, struct fuse_node *node, char *buf, size_t size)
{
	ssize_t n;
	int fd;

	if (!S_ISLNK(node->mode))
		return -EINVAL;
	if (node->target) {
		n = (ssize_t)strlen(node->target);
		n = n < (ssize_t)size ? n : (ssize_t)size;
		memcpy(buf, node->target, (size_t)n);
		return n;
	}
	fd = fd_get(srv, node, FD_PATH);
	if (fd < 0)
		return fd;
	n = readlinkat(fd, "", buf, size);
	if (n < 0)
		n = -errno;
	fd_put(srv, node, FD_PATH);
	return n;
}

uint32_t node_valid_s(const struct fuse_node *node)
{
	return node->ex ? node->ex->valid_s : 10;
}

void attr_fill(struct fuse_server *srv, struct fuse_node *node, const struct fuse_stat *st,
	       struct fuse_attr *attr)
{
	*attr = (struct fuse_attr){
		.ino = node->ex ? dev_ino(srv, st->dev, st->ino) : st->ino,
		.size = st->size, .blocks = st->blocks,
		.atime = (uint64_t)st->atime.sec, .atimensec = st->atime.nsec,
		.mtime = (uint64_t)st->mtime.sec, .mtimensec = st->mtime.nsec,
		.ctime = (uint64_t)st->ctime.sec, .ctimensec = st->ctime.nsec,
		.mode = st->mode, .nlink = st->nlink, .uid = st->uid, .gid = st->gid,
		.rdev = (uint32_t)st->rdev, .blksize = st->blksize,
	};
}

void entry_fill(struct fuse_server *srv, struct fuse_node *node, const struct fuse_stat *st,
		struct fuse_entry_out *entry)
{
	*entry = (struct fuse_entry_out){
		.nodeid = node->id,
		.generation = node->id >> 32,
		.entry_valid = node_valid_s(node),
		.attr_valid = node_valid_s(node),
	};
	attr_fill(srv, node, st, &entry->attr);
	node->nlookup++;
}

void entry_negative(const struct fuse_node *dir, struct fuse_entry_out *entry)
{
	*entry = (struct fuse_entry_out){ .entry_valid = node_valid_s(dir) };
}

int req_put_entry(struct fuse_req *req, struct fuse_node *dir, const char *name)
{
	struct fuse_entry_out entry;
	struct fuse_node *node;
	struct fuse_stat st;
	int err = dir_lookup(req->srv, dir, name, &node, &st);

	if (err < 0)
		return err;
	entry_fill(req->srv, node, &st, &entry);
	node_put(req->srv, node);
	return req_put(req, &entry, sizeof(entry));
}

int op_lookup(struct fuse_req *req)
{
	struct fuse_node *dir = req_node(req);
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_entry_out entry;
	int err = req_name(req, name);

	if (err < 0)
		return err;
	if (!dir)
		return -ESTALE;
	err = req_put_entry(req, dir, name);
	if (err != -ENOENT)
		return err;
	entry_negative(dir, &entry);
	return req_put(req, &entry, sizeof(entry));
}

static void forget_one(struct fuse_server *srv, uint64_t id, uint64_t nlookup)
{
	struct fuse_node *node = node_by_id(srv, id);

	if (node)
		node_forget(srv, node, nlookup);
}

int op_forget(struct fuse_req *req)
{
	struct fuse_forget_in in;

	if (req_pull(req, &in, sizeof(in)) == 0)
		forget_one(req->srv, req->h.nodeid, in.nlookup);
	return 0;
}

int op_batch_forget(struct fuse_req *req)
{
	struct fuse_batch_forget_in in;
	struct fuse_forget_one one;

	if (req_pull(req, &in, sizeof(in)) < 0)
		return 0;
	while (in.count-- > 0 && req_pull(req, &one, sizeof(one)) == 0)
		forget_one(req->srv, one.nodeid, one.nlookup);
	return 0;
}
