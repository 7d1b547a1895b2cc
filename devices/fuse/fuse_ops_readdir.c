/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READDIR and READDIRPLUS. A directory lists its grafts first, under the offsets 1 to their number,
 * then what the host has, under the host's offsets shifted by that number. What LOOKUP would not
 * find is not listed.
 */
#include "devices/fuse/fuse_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The kernel's struct linux_dirent64. */
struct host_dirent {
	uint64_t ino;
	int64_t off;
	uint16_t reclen;
	uint8_t type;
	char name[];
};

struct listing {
	struct fuse_req *req;
	struct fuse_node *dir;
	uint64_t ngrafts;
	size_t left;		/* bytes the guest still takes */
	bool plus;
	bool full;
};

/* One entry with its padding; in a PLUS reply a node of 0 is just a name. */
static void list_put(struct listing *l, const char *name, uint64_t ino, uint32_t type, uint64_t off,
		     const struct fuse_entry_out *entry)
{
	struct fuse_dirent d = { .ino = ino, .off = off, .type = type };
	static const char zero[8];
	size_t size;

	d.namelen = (uint32_t)strlen(name);
	size = FUSE_DIRENT_SIZE(&d);
	if (entry)
		req_put(l->req, entry, sizeof(*entry));
	req_put(l->req, &d, FUSE_NAME_OFFSET);
	req_put(l->req, name, d.namelen);
	req_put(l->req, zero, size - FUSE_NAME_OFFSET - d.namelen);
	l->left -= size + (entry ? sizeof(*entry) : 0);
}

/* Is there room for this name? Asked before anything is looked up. */
static bool list_fits(struct listing *l, const char *name)
{
	struct fuse_dirent d = { .namelen = (uint32_t)strlen(name) };
	size_t size = FUSE_DIRENT_SIZE(&d) + (l->plus ? sizeof(struct fuse_entry_out) : 0);

	l->full = size > l->left;
	return !l->full;
}

static void list_node(struct listing *l, const char *name, struct fuse_node *node,
		      const struct fuse_stat *st, uint64_t off)
{
	struct fuse_entry_out entry;
	struct fuse_attr attr;

	attr_fill(l->req->srv, node, st, &attr);
	if (l->plus)
		entry_fill(l->req->srv, node, st, &entry);
	list_put(l, name, attr.ino, st->mode >> 12 & 15, off, l->plus ? &entry : NULL);
}

/* "." and "..": the tree's own, whatever the host has above an export's root. */
static void list_dot(struct listing *l, const char *name, uint64_t off)
{
	struct fuse_node *node = name[1] && l->dir->parent ? l->dir->parent : l->dir;
	struct fuse_entry_out none = { 0 };
	uint64_t ino = node->ex ? dev_ino(l->req->srv, node->dev, node->ino) : node->ino;

	list_put(l, name, ino, DT_DIR, off, l->plus ? &none : NULL);
}

/*
 * Does the entry need a look at the object? A plain listing of an export that hides nothing takes
 * the host's word, except for directories: another file system may be mounted there.
 */
static bool list_needs_stat(const struct listing *l, uint8_t type)
{
	return l->plus || l->dir->ex->public_only || type == DT_UNKNOWN || type == DT_DIR;
}

static bool type_shown(const struct export_state *ex, uint8_t type)
{
	if (type == DT_FIFO || type == DT_SOCK)
		return ex->rw;
	return type == DT_REG || type == DT_DIR || type == DT_LNK;
}

static void list_host_entry(struct listing *l, int dirfd, const struct host_dirent *e, uint64_t off)
{
	struct fuse_server *srv = l->req->srv;
	struct fuse_node *node;
	struct fuse_stat st;

	if (e->name[0] == '.' && (!e->name[1] || (e->name[1] == '.' && !e->name[2]))) {
		list_dot(l, e->name, off);
		return;
	}
	if (dir_graft(l->dir, e->name) || !name_valid(e->name, strlen(e->name)))
		return;
	if (!list_needs_stat(l, e->type)) {
		if (type_shown(l->dir->ex, e->type))
			list_put(l, e->name, dev_ino(srv, l->dir->dev, e->ino), e->type, off, NULL);
		return;
	}
	if (l->plus) {
		if (dir_lookup(srv, l->dir, e->name, &node, &st) < 0)
			return;
		list_node(l, e->name, node, &st, off);
		node_put(srv, node);
	} else if (host_stat(dirfd, e->name, &st) == 0 &&
		   export_shows(srv, l->dir->ex, &st, dirfd, e->name)) {
		list_put(l, e->name, dev_ino(srv, st.dev, st.ino), st.mode >> 12 & 15, off, NULL);
	}
}

static int list_host(struct listing *l, uint64_t off)
{
	struct fuse_server *srv = l->req->srv;
	int fd = fd_get(srv, l->dir, FD_READ), err = 0;

	if (fd < 0)
		return fd;
	if (lseek(fd, (off_t)off, SEEK_SET) < 0)
		err = -errno;
	while (err == 0 && !l->full) {
		long n = syscall(SYS_getdents64, fd, srv->dirbuf, FUSE_DIRBUF_SIZE);

		if (n < 0)
			err = -errno;
		if (n <= 0)
			break;
		for (long at = 0; at < n && !l->full;) {
			struct host_dirent *e = (struct host_dirent *)(srv->dirbuf + at);

			if (list_fits(l, e->name))
				list_host_entry(l, fd, e, (uint64_t)e->off + l->ngrafts);
			at += e->reclen;
		}
	}
	fd_put(srv, l->dir, FD_READ);
	return err;
}

/* Entries of our own from offset `off` on; a synthetic directory also has "." and "..". */
static void list_grafts(struct listing *l, uint64_t off)
{
	static const char *const dots[] = { ".", ".." };
	uint64_t ndots = l->dir->ex ? 0 : 2;
	struct graft *g = l->dir->grafts;
	struct fuse_stat st;

	for (uint64_t i = 0; i < l->ngrafts; i++) {
		const char *name = i < ndots ? dots[i] : g->node->name;

		if (i >= off && !list_fits(l, name))
			return;
		if (i < ndots) {
			if (i >= off)
				list_dot(l, name, i + 1);
			continue;
		}
		if (i >= off && node_stat(l->req->srv, g->node, &st) == 0)
			list_node(l, name, g->node, &st, i + 1);
		g = g->next;
	}
}

static int dir_list(struct fuse_req *req, bool plus)
{
	struct fuse_read_in in;
	struct fuse_node *dir = req_node(req);
	struct listing l = { .req = req, .dir = dir, .plus = plus };
	int err = req_pull(req, &in, sizeof(in));
	size_t start = req->out_pos;

	if (err < 0)
		return err;
	if (!dir)
		return -ESTALE;
	if (!node_is_dir(dir))
		return -ENOTDIR;
	if (in.fh && !handle_get(req->srv, in.fh, dir))
		return -EBADF;
	l.left = in.size < HUSK_FUSE_MAX_WRITE ? in.size : HUSK_FUSE_MAX_WRITE;
	if (l.left > req_room(req))
		l.left = req_room(req);
	l.ngrafts = dir->ex ? 0 : 2;
	for (struct graft *g = dir->grafts; g; g = g->next)
		l.ngrafts++;
	if (in.offset < l.ngrafts) {
		list_grafts(&l, in.offset);
		in.offset = l.ngrafts;
	}
	if (dir->ex && !l.full) {
		err = list_host(&l, in.offset - l.ngrafts);
		/* An error after some entries comes again with the next request. */
		if (req->out_pos > start)
			err = 0;
	}
	if (err == 0 && l.full && req->out_pos == start)
		err = -EINVAL;	/* not even one entry fits */
	return err;
}

int op_readdir(struct fuse_req *req)
{
	return dir_list(req, false);
}

int op_readdirplus(struct fuse_req *req)
{
	return dir_list(req, true);
}
