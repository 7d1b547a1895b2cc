/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes and open files: their tables, and how long they live. A node stays while the guest holds
 * lookups of it or anything of ours refers to it: children, handles, grafts, running requests.
 */
#include "devices/fuse/fuse_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool node_is_dir(const struct fuse_node *node)
{
	return S_ISDIR(node->mode);
}

bool node_same(const struct fuse_node *node, const struct fuse_stat *st)
{
	return node->dev == st->dev && node->ino == st->ino && node->btime_ns == st->btime_ns &&
	       (node->mode & S_IFMT) == (st->mode & S_IFMT);
}

static uint32_t node_hash(const struct fuse_server *srv, const struct export_state *ex,
			  uint64_t dev, uint64_t ino)
{
	uint64_t h = (ino ^ dev << 17 ^ (uint64_t)(uintptr_t)ex) * 0x9e3779b97f4a7c15u;

	return (uint32_t)(h >> 32) & (srv->hash_size - 1);
}

static void hash_add(struct fuse_server *srv, struct fuse_node *node)
{
	uint32_t h = node_hash(srv, node->ex, node->dev, node->ino);

	node->hash_next = srv->hash[h];
	srv->hash[h] = node;
	node->hashed = true;
}

/* Twice the buckets; without memory for them the chains just grow. */
static void hash_grow(struct fuse_server *srv)
{
	uint32_t old_size = srv->hash_size;
	struct fuse_node **old = srv->hash;
	struct fuse_node **bigger = calloc(old_size * 2, sizeof(*bigger));

	if (!bigger)
		return;
	srv->hash = bigger;
	srv->hash_size = old_size * 2;
	for (uint32_t i = 0; i < old_size; i++) {
		while (old[i]) {
			struct fuse_node *node = old[i];

			old[i] = node->hash_next;
			hash_add(srv, node);
		}
	}
	free(old);
}

int node_table_init(struct fuse_server *srv)
{
	srv->nodes.max = FUSE_MAX_NODES;
	srv->handles.max = FUSE_MAX_HANDLES;
	srv->hash_size = 1024;
	srv->hash = calloc(srv->hash_size, sizeof(*srv->hash));
	return srv->hash ? 0 : -ENOMEM;
}

void node_unhash(struct fuse_server *srv, struct fuse_node *node)
{
	struct fuse_node **p;

	if (!node->hashed)
		return;
	p = &srv->hash[node_hash(srv, node->ex, node->dev, node->ino)];
	while (*p != node)
		p = &(*p)->hash_next;
	*p = node->hash_next;
	node->hashed = false;
	srv->hash_used--;
}

struct fuse_node *node_find(struct fuse_server *srv, const struct export_state *ex,
			    const struct fuse_stat *st)
{
	struct fuse_node *node = srv->hash[node_hash(srv, ex, st->dev, st->ino)];

	while (node && (node->ex != ex || !node_same(node, st)))
		node = node->hash_next;
	return node;
}

struct fuse_node *node_by_id(struct fuse_server *srv, uint64_t id)
{
	return id_get(&srv->nodes, id);
}

/* With one reference. ex NULL: a synthetic node, not in the hash. */
struct fuse_node *node_new(struct fuse_server *srv, struct export_state *ex,
			   struct fuse_node *parent, const char *name, const struct fuse_stat *st)
{
	struct fuse_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->ex = ex;
	node->dev = st->dev;
	node->ino = st->ino;
	node->btime_ns = st->btime_ns;
	node->mode = st->mode & S_IFMT;
	node->refs = 1;
	for (unsigned i = 0; i < FD_SLOTS; i++)
		node->fds[i].fd = -1;
	node->name = name ? strdup(name) : NULL;
	node->id = name && !node->name ? 0 : id_alloc(&srv->nodes, node);
	if (!node->id) {
		free(node->name);
		free(node);
		return NULL;
	}
	node->parent = parent;
	if (parent)
		node_get(parent);
	if (ex) {
		if (srv->hash_used++ >= srv->hash_size)
			hash_grow(srv);
		hash_add(srv, node);
	}
	return node;
}

static bool node_is_above(const struct fuse_node *node, const struct fuse_node *below)
{
	while (below && below != node)
		below = below->parent;
	return below != NULL;
}

/*
 * The node was seen at (parent, name). A directory that the host moves while the guest looks could
 * seem to be inside itself: it then keeps its old place, and is found stale when it is next opened.
 */
int node_place(struct fuse_server *srv, struct fuse_node *node, struct fuse_node *parent,
	       const char *name)
{
	struct fuse_node *old = node->parent;

	if (old != parent && node_is_dir(node) && node_is_above(node, parent))
		return -ESTALE;
	if (strcmp(node->name, name) != 0) {
		char *copy = strdup(name);

		if (!copy)
			return -ENOMEM;
		free(node->name);
		node->name = copy;
	}
	if (old != parent) {
		node_get(parent);
		node->parent = parent;
		node_put(srv, old);
	}
	return 0;
}

struct fuse_node *node_obtain(struct fuse_server *srv, struct fuse_node *parent, const char *name,
			      const struct fuse_stat *st)
{
	struct fuse_node *node = node_find(srv, parent->ex, st);

	if (!node)
		return node_new(srv, parent->ex, parent, name, st);
	if (node != parent->ex->root && node_place(srv, node, parent, name) == -ENOMEM)
		return NULL;
	node_get(node);
	return node;
}

void node_get(struct fuse_node *node)
{
	node->refs++;
}

/* Free the node if nothing holds it, then its parent, and so on upwards. */
static void node_reap(struct fuse_server *srv, struct fuse_node *node)
{
	while (node && node->refs == 0 && node->nlookup == 0) {
		struct fuse_node *parent = node->parent;

		node_unhash(srv, node);
		fd_close_all(srv, node);
		id_free(&srv->nodes, node->id);
		free(node->name);
		free(node->target);
		free(node);
		if (parent)
			parent->refs--;
		node = parent;
	}
}

void node_put(struct fuse_server *srv, struct fuse_node *node)
{
	assert(node->refs > 0);
	node->refs--;
	node_reap(srv, node);
}

void node_forget(struct fuse_server *srv, struct fuse_node *node, uint64_t nlookup)
{
	node->nlookup -= nlookup < node->nlookup ? nlookup : node->nlookup;
	node_reap(srv, node);
}

/* Takes over the pins of FD_READ and FD_WRITE that the caller has made. 0: no room. */
uint64_t handle_new(struct fuse_server *srv, struct fuse_node *node, bool readable, bool writable)
{
	struct fuse_open_file *file = calloc(1, sizeof(*file));
	uint64_t fh = file ? id_alloc(&srv->handles, file) : 0;

	if (!fh) {
		free(file);
		return 0;
	}
	*file = (struct fuse_open_file){ node, readable, writable };
	node_get(node);
	return fh;
}

struct fuse_open_file *handle_get(struct fuse_server *srv, uint64_t fh,
				  const struct fuse_node *node)
{
	struct fuse_open_file *file = id_get(&srv->handles, fh);

	return file && file->node == node ? file : NULL;
}

void handle_close(struct fuse_server *srv, uint64_t fh)
{
	struct fuse_open_file *file = id_get(&srv->handles, fh);

	if (!file)
		return;
	id_free(&srv->handles, fh);
	if (file->readable)
		fd_put(srv, file->node, FD_READ);
	if (file->writable)
		fd_put(srv, file->node, FD_WRITE);
	node_put(srv, file->node);
	free(file);
}
