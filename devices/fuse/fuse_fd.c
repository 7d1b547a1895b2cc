/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of nodes: opened when they are needed, by (parent, name) and only if the same object
 * is found there, kept in one LRU list, closed when the budget is spent. Handles and running
 * requests pin theirs.
 */
#include "devices/fuse/fuse_impl.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FD_MAX_CLIMB 512	/* levels of closed directories above a node */

static void lru_remove(struct node_fd *nf)
{
	nf->prev->next = nf->next;
	nf->next->prev = nf->prev;
	nf->prev = nf->next = NULL;
}

static void lru_add(struct fuse_server *srv, struct node_fd *nf)
{
	nf->prev = &srv->lru;
	nf->next = srv->lru.next;
	nf->next->prev = nf;
	srv->lru.next = nf;
}

static void slot_close(struct fuse_server *srv, struct node_fd *nf)
{
	close(nf->fd);
	nf->fd = -1;
	srv->nfds--;
}

static bool lru_evict(struct fuse_server *srv)
{
	struct node_fd *nf = srv->lru.prev;

	if (nf == &srv->lru)
		return false;
	lru_remove(nf);
	slot_close(srv, nf);
	return true;
}

int fd_reserve(struct fuse_server *srv)
{
	while (srv->nfds >= srv->max_fds)
		if (!lru_evict(srv))
			return -ENFILE;
	return 0;
}

static void slot_pin(struct node_fd *nf)
{
	if (nf->pins++ == 0 && nf->next)
		lru_remove(nf);
}

static void slot_set(struct fuse_server *srv, struct node_fd *nf, int fd)
{
	nf->fd = fd;
	srv->nfds++;
	if (nf->pins == 0)
		lru_add(srv, nf);
}

/* host_openat() within the budget; when the process is out of descriptors, ours give way. */
int fd_open_child(struct fuse_server *srv, int dirfd, const char *name, int flags, uint32_t mode)
{
	int fd = fd_reserve(srv);

	if (fd < 0)
		return fd;
	do {
		fd = host_openat(srv, dirfd, name, flags, mode);
	} while (fd == -EMFILE && lru_evict(srv));
	return fd == -EMFILE ? -ENFILE : fd;
}

static int open_flags(const struct fuse_node *node, enum fd_slot slot)
{
	if (slot == FD_PATH)
		return O_PATH;
	if (slot == FD_WRITE)
		return O_WRONLY | O_NONBLOCK;
	return O_RDONLY | O_NONBLOCK | (node_is_dir(node) ? O_DIRECTORY : 0);
}

/* Open with the parent's descriptor in hand, and see that it is still the same object. */
static int slot_open(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot, int dirfd,
		     const char *name)
{
	struct fuse_stat st;
	int fd, err;

	if (slot != FD_PATH && !node_is_dir(node) && !S_ISREG(node->mode))
		return S_ISLNK(node->mode) ? -ELOOP : -ENXIO;
	fd = fd_open_child(srv, dirfd, name, open_flags(node, slot), 0);
	if (fd < 0)
		return fd == -ENOENT || fd == -ELOOP || fd == -ENOTDIR ? -ESTALE : fd;
	err = host_stat(fd, "", &st);
	if (err == 0 && (!node_same(node, &st) || !export_shows(srv, node->ex, &st, fd, "")))
		err = -ESTALE;
	if (err < 0) {
		close(fd);
		return err;
	}
	slot_set(srv, &node->fds[slot], fd);
	return 0;
}

/* The root of an export has FD_PATH for good; "." needs no name. */
static int root_open(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot)
{
	int fd = fd_reserve(srv);

	if (fd < 0)
		return fd;
	if (slot != FD_READ || !node_is_dir(node))
		return slot == FD_WRITE && node_is_dir(node) ? -EISDIR : -EACCES;
	fd = openat(node->fds[FD_PATH].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	slot_set(srv, &node->fds[slot], fd);
	return 0;
}

/* Nearest first: the ancestors from node's parent up to one whose FD_PATH is open. */
static int path_climb(struct fuse_node *node, struct fuse_node **chain)
{
	int n = 0;

	for (node = node->parent; node; node = node->parent) {
		if (n == FD_MAX_CLIMB)
			return -ENAMETOOLONG;
		chain[n++] = node;
		if (node->fds[FD_PATH].fd >= 0)
			return n;
		if (!node->hashed)
			return -ESTALE;
	}
	return -ESTALE;
}

static int node_open(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot)
{
	struct fuse_node *chain[FD_MAX_CLIMB];
	int n, err = 0;

	if (!node->ex)
		return node->target ? -ELOOP : -EACCES;
	if (node == node->ex->root)
		return root_open(srv, node, slot);
	if (!node->hashed)
		return -ESTALE;
	n = path_climb(node, chain);
	if (n < 0)
		return n;
	/* Down again. Each directory is pinned while the next is opened beneath it. */
	slot_pin(&chain[n - 1]->fds[FD_PATH]);
	for (int i = n - 1; i > 0 && err == 0; i--) {
		err = slot_open(srv, chain[i - 1], FD_PATH, chain[i]->fds[FD_PATH].fd,
				chain[i - 1]->name);
		if (err == 0)
			slot_pin(&chain[i - 1]->fds[FD_PATH]);
		fd_put(srv, chain[i], FD_PATH);
		if (err < 0)
			return err;
	}
	err = slot_open(srv, node, slot, chain[0]->fds[FD_PATH].fd, node->name);
	fd_put(srv, chain[0], FD_PATH);
	return err;
}

int fd_get(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot)
{
	struct node_fd *nf = &node->fds[slot];
	int err;

	if (nf->fd < 0) {
		err = node_open(srv, node, slot);
		if (err < 0)
			return err;
	}
	slot_pin(nf);
	return nf->fd;
}

void fd_put(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot)
{
	struct node_fd *nf = &node->fds[slot];

	assert(nf->pins > 0);
	if (--nf->pins == 0 && nf->fd >= 0)
		lru_add(srv, nf);
}

int fd_get_any(struct fuse_server *srv, struct fuse_node *node, enum fd_slot *slot)
{
	static const enum fd_slot order[] = { FD_WRITE, FD_READ, FD_PATH };

	for (unsigned i = 0; i < FD_SLOTS; i++) {
		*slot = order[i];
		if (node->fds[*slot].fd >= 0)
			break;
	}
	return fd_get(srv, node, *slot);
}

void fd_install(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot, int fd)
{
	if (node->fds[slot].fd >= 0)
		close(fd);
	else
		slot_set(srv, &node->fds[slot], fd);
}

/* The node is going: nothing pins its descriptors any more. */
void fd_close_all(struct fuse_server *srv, struct fuse_node *node)
{
	for (unsigned i = 0; i < FD_SLOTS; i++) {
		struct node_fd *nf = &node->fds[i];

		if (nf->fd < 0)
			continue;
		if (nf->next)
			lru_remove(nf);
		slot_close(srv, nf);
	}
}
