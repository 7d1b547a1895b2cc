/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HUSK_FUSE_WALK: a whole path, and the start of the file at its end, in one request. What the
 * reply means stands in include/husk/fuse.h.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct walk {
	struct husk_fuse_walk_in in;
	struct husk_fuse_walk_out out;
	char path[HUSK_FUSE_PATH_MAX + 1];	/* components, each ended by NUL */
	unsigned ncomponents;
};

/* Check the whole path before anything is done, and cut it up. */
static int walk_parse(struct fuse_req *req, struct walk *w)
{
	char *at = w->path, *end;
	int err = req_pull(req, &w->in, sizeof(w->in));

	if (err < 0)
		return err;
	if ((w->in.flags & ~HUSK_FUSE_WALK_READ) || w->in.path_len > HUSK_FUSE_PATH_MAX)
		return -EINVAL;
	err = req_pull(req, w->path, w->in.path_len);
	if (err < 0)
		return err;
	end = w->path + w->in.path_len;
	*end = 0;
	for (w->ncomponents = 0; at <= end; w->ncomponents++) {
		char *slash = memchr(at, '/', (size_t)(end - at));
		size_t len = (size_t)((slash ? slash : end) - at);

		if (len > HUSK_FUSE_NAME_MAX)
			return -ENAMETOOLONG;
		if (!name_valid(at, len) || w->ncomponents == HUSK_FUSE_WALK_MAX)
			return -EINVAL;
		at[len] = 0;
		at += len + 1;
	}
	return 0;
}

/* The target's text after the entries; without room for it, target_len stays 0. */
static void walk_symlink(struct fuse_req *req, struct walk *w, struct fuse_node *node)
{
	long n = node_readlink(req->srv, node, w->path, HUSK_FUSE_PATH_MAX);

	if (n > 0 && req_put(req, w->path, (size_t)n) == 0)
		w->out.target_len = (uint32_t)n;
}

static void walk_read(struct fuse_req *req, struct walk *w, struct fuse_node *node)
{
	size_t len = w->in.read_len;
	ssize_t n;
	int fd;

	if (!(w->in.flags & HUSK_FUSE_WALK_READ) || !S_ISREG(node->mode) ||
	    w->in.data_off < req->out_pos || w->in.data_off >= req->out_end)
		return;
	if (len > req->out_end - w->in.data_off)
		len = req->out_end - w->in.data_off;
	if (len > HUSK_FUSE_MAX_WRITE)
		len = HUSK_FUSE_MAX_WRITE;
	fd = fd_get(req->srv, node, FD_READ);
	if (fd < 0)
		return;
	pthread_mutex_unlock(&req->srv->lock);
	n = io_read(fd, req->out, req->nout, w->in.data_off, len, 0);
	pthread_mutex_lock(&req->srv->lock);
	fd_put(req->srv, node, FD_READ);
	if (n <= 0)
		return;
	w->out.data_len = (uint32_t)n;
	req->out_pos = w->in.data_off + (size_t)n;
}

/*
 * One step from *at: the entry into the reply, *at on to what was found. 1: the walk goes on, 0: it
 * ends here, -errno.
 */
static int walk_step(struct fuse_req *req, struct walk *w, const char *name, struct fuse_node **at)
{
	struct fuse_entry_out entry;
	struct fuse_node *node;
	struct fuse_stat st;
	int err = dir_lookup(req->srv, *at, name, &node, &st);

	if (err < 0 && err != -ENOENT)
		return err;
	if (err < 0) {
		entry_negative(*at, &entry);
	} else {
		entry_fill(req->srv, node, &st, &entry);
		node_put(req->srv, *at);
		*at = node;
	}
	w->out.count++;
	req_put(req, &entry, sizeof(entry));	/* the caller has seen to the room */
	if (err < 0)
		return 0;
	if (S_ISLNK(node->mode))
		walk_symlink(req, w, node);
	return node_is_dir(node);
}

int op_walk(struct fuse_req *req)
{
	struct fuse_node *at = req_node(req);
	size_t out_at = req->out_pos;
	struct walk w = { .ncomponents = 0 };
	int err = walk_parse(req, &w);
	const char *name = w.path;
	unsigned i;

	if (err < 0)
		return err;
	if (!at)
		return -ESTALE;
	req->out_pos += sizeof(w.out);
	node_get(at);
	for (i = 0; i < w.ncomponents && req_room(req) >= sizeof(struct fuse_entry_out); i++) {
		const char *next = name + strlen(name) + 1;

		err = walk_step(req, &w, name, &at);
		if (err <= 0)
			break;
		name = next;
	}
	if (i + 1 == w.ncomponents && err == 0)
		walk_read(req, &w, at);
	node_put(req->srv, at);
	if (err < 0 && w.out.count == 0)
		return err;
	w.out.error = err < 0 ? err : 0;
	iov_scatter(req->out, req->nout, out_at, &w.out, sizeof(w.out));
	return 0;
}
