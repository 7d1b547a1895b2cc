/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Putting exports into the tree. An export is grafted onto its parent directory: a made-up one, or
 * a real directory of an export further up, which then stays known for good. A graft hides what
 * the host has under its name.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VALID_RW_S	1	/* the host may change the files */
#define VALID_RO_S	10

bool fuse_path_valid(const char *path)
{
	if (*path++ != '/')
		return false;
	if (!*path)
		return true;
	for (;;) {
		size_t len = strcspn(path, "/");

		if (!name_valid(path, len))
			return false;
		if (!path[len])
			return true;
		path += len + 1;
	}
}

/* Takes over the caller's reference of node. */
static int graft_add(struct fuse_node *dir, struct fuse_node *node)
{
	struct graft *g = malloc(sizeof(*g)), **p = &dir->grafts;

	if (!g)
		return -ENOMEM;
	*g = (struct graft){ .node = node };
	while (*p)
		p = &(*p)->next;
	*p = g;				/* dir stays: it is its parent */
	return 0;
}

static struct fuse_node *node_synthetic(struct fuse_server *srv, struct fuse_node *parent,
					const char *name, const char *target)
{
	struct fuse_stat st = {
		.ino = 0x7fffull << 48 | ++srv->next_synthetic,
		.mode = target ? S_IFLNK : S_IFDIR,
	};
	struct fuse_node *node = node_new(srv, NULL, parent, name, &st);

	if (node && target) {
		node->target = strdup(target);
		if (!node->target) {
			node_put(srv, node);
			return NULL;
		}
	}
	return node;
}

/* The directory `name` of dir on the way to an export, made up if it does not exist. */
static int place_step(struct fuse_server *srv, struct fuse_node *dir, const char *name,
		      struct fuse_node **out)
{
	struct fuse_node *node;
	struct fuse_stat st;
	int err = dir_lookup(srv, dir, name, &node, &st);

	if (err == 0) {
		if (!node_is_dir(node))
			err = S_ISLNK(node->mode) ? -ELOOP : -ENOTDIR;
		if (err < 0)
			node_put(srv, node);
		*out = node;
		return err;
	}
	if (err != -ENOENT)
		return err;
	node = node_synthetic(srv, dir, name, NULL);
	if (!node)
		return -ENOMEM;
	err = graft_add(dir, node);
	if (err < 0)
		node_put(srv, node);
	else
		node_get(node);
	*out = node;
	return err;
}

/* The parent directory of a guest path, referenced, and the last component. */
static int place_parent(struct fuse_server *srv, const char *guest, struct fuse_node **parent,
			char name[HUSK_FUSE_NAME_MAX + 1])
{
	struct fuse_node *dir = srv->root, *next = NULL;

	node_get(dir);
	for (guest++;; guest += strlen(name) + 1) {
		size_t len = strcspn(guest, "/");
		int err;

		memcpy(name, guest, len);
		name[len] = 0;
		if (!guest[len])
			break;
		err = place_step(srv, dir, name, &next);
		node_put(srv, dir);
		if (err < 0)
			return err;
		dir = next;
	}
	*parent = dir;
	return 0;
}

/* Open what data of a single shared file will need: it has no parent to open it from later. */
static int root_open_file(struct fuse_server *srv, struct fuse_node *node, const char *host,
			  bool rw)
{
	static const enum fd_slot slots[] = { FD_READ, FD_WRITE };

	for (unsigned i = 0; i < (rw ? 2u : 1u); i++) {
		int flags = slots[i] == FD_WRITE ? O_WRONLY : O_RDONLY;
		int fd = open(host, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		struct fuse_stat st;
		int err = fd < 0 ? -errno : host_stat(fd, "", &st);

		if (err == 0 && !node_same(node, &st))
			err = -ESTALE;
		if (err < 0) {
			if (fd >= 0)
				close(fd);
			return err;
		}
		fd_install(srv, node, slots[i], fd);
		fd_get(srv, node, slots[i]);
	}
	return 0;
}

/* Open and check the host's object and make the node for it. fd is O_PATH. */
static int root_make(struct fuse_server *srv, struct export_state *ex, struct fuse_node *parent,
		     const char *name, const char *host, int fd)
{
	struct fuse_node *node;
	struct fuse_stat st;
	int err = host_stat(fd, "", &st);

	if (err < 0)
		return err;
	if (!S_ISDIR(st.mode) && !S_ISREG(st.mode))
		return -EINVAL;
	if (!dev_visible(srv, st.dev, fd, ""))
		return -EXDEV;
	if (!export_shows(srv, ex, &st, fd, ""))
		return -EACCES;
	if (!parent && !S_ISDIR(st.mode))
		return -ENOTDIR;
	node = node_new(srv, ex, parent, name, &st);
	if (!node)
		return -ENOMEM;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	err = fd < 0 ? -errno : 0;
	if (err == 0) {
		fd_install(srv, node, FD_PATH, fd);
		fd_get(srv, node, FD_PATH);	/* for good */
		if (S_ISREG(st.mode))
			err = root_open_file(srv, node, host, ex->rw);
	}
	if (err < 0) {
		node_put(srv, node);
		return err;
	}
	ex->root = node;
	return 0;
}

/* "/": the tree's root becomes the export, before anything was put into it. */
static int add_at_root(struct fuse_server *srv, struct export_state *ex, const char *host, int fd)
{
	struct fuse_node *old = srv->root;
	int err;

	if (old->ex || old->grafts || srv->nodes.used != 1)
		return -EEXIST;
	/* Its number, FUSE_ROOT_ID, is free again only in the next generation: swap the objects. */
	err = root_make(srv, ex, NULL, NULL, host, fd);
	if (err < 0)
		return err;
	srv->nodes.slot[(uint32_t)old->id].obj = ex->root;
	srv->nodes.slot[(uint32_t)ex->root->id].obj = old;
	srv->root = ex->root;
	srv->root->id ^= old->id;
	old->id ^= srv->root->id;
	srv->root->id ^= old->id;
	node_put(srv, old);
	return 0;
}

static int add_below(struct fuse_server *srv, const struct fuse_export *cfg,
		     struct export_state *ex, int fd)
{
	char name[HUSK_FUSE_NAME_MAX + 1];
	struct fuse_node *parent, *node;
	int err = place_parent(srv, cfg->guest, &parent, name);

	if (err < 0)
		return err;
	if (dir_graft(parent, name)) {
		node_put(srv, parent);
		return -EEXIST;
	}
	if (cfg->symlink) {
		node = node_synthetic(srv, parent, name, cfg->host);
		err = node ? 0 : -ENOMEM;
		if (node)
			node->mtime_s = cfg->mtime_s;
	} else {
		err = root_make(srv, ex, parent, name, cfg->host, fd);
		node = ex->root;
	}
	if (err == 0) {
		err = graft_add(parent, node);
		if (err < 0)
			node_put(srv, node);
	}
	node_put(srv, parent);
	return err;
}

int fuse_server_add(struct fuse_server *srv, const struct fuse_export *cfg)
{
	struct export_state *ex = calloc(1, sizeof(*ex));
	int fd = -1, err = 0;

	if (!ex)
		return -ENOMEM;
	if (!fuse_path_valid(cfg->guest) || (cfg->symlink && !cfg->guest[1]))
		err = -EINVAL;
	if (err == 0 && !cfg->symlink) {
		fd = open(cfg->host, O_PATH | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	}
	ex->rw = cfg->rw;
	ex->public_only = cfg->public_only;
	ex->valid_s = cfg->rw ? VALID_RW_S : VALID_RO_S;
	pthread_mutex_lock(&srv->lock);
	if (err == 0)
		err = cfg->guest[1] ? add_below(srv, cfg, ex, fd) :
				      add_at_root(srv, ex, cfg->host, fd);
	pthread_mutex_unlock(&srv->lock);
	if (fd >= 0)
		close(fd);
	if (err < 0 || cfg->symlink) {
		free(ex);
		return err;
	}
	ex->next = srv->exports;
	srv->exports = ex;
	return 0;
}

size_t fuse_server_roots(struct fuse_server *srv, bool rw, int *fds, size_t max)
{
	size_t n = 0;

	for (const struct export_state *ex = srv->exports; ex; ex = ex->next) {
		if (ex->rw != rw || !ex->root || ex->root->fds[FD_PATH].fd < 0)
			continue;
		if (n < max)
			fds[n] = ex->root->fds[FD_PATH].fd;
		n++;
	}
	return n;
}
