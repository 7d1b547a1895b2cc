/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside the FUSE server: nodes, descriptors, handles and requests, shared by the fuse_*.c files.
 *
 * A node is an object of an export, known by (export, device, inode, birth time), and remembers
 * the name under which it was last found: (parent, name) is how it is reached, one component at a
 * time. It has up to three descriptors, all of them a cache (struct node_fd) that can be closed
 * and opened again by name as long as the same object is found there.
 *
 * Everything here is called with srv->lock held unless it says otherwise.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>
#include "devices/fuse/fuse_server.h"
#include "husk/fuse.h"

#define FUSE_MAX_NODES		(1u << 19)
#define FUSE_MAX_HANDLES	(1u << 16)
#define FUSE_MAX_DEVS		4095
#define FUSE_MAX_FDS		16384
#define FUSE_DIRBUF_SIZE	32768

/* What the server needs of statx(2). */
struct fuse_stat {
	uint64_t dev, ino, rdev, size, blocks;
	int64_t btime_ns;		/* 0: the file system has none */
	uint32_t mode, nlink, uid, gid, blksize;
	struct { int64_t sec; uint32_t nsec; } atime, mtime, ctime;
};

/* A host file system: number in the tree's st_ino, and whether it is hidden from guests. */
struct fuse_dev {
	uint64_t dev;
	bool hidden;
};

enum fd_slot {
	FD_PATH,			/* O_PATH: lookups, readlink, attributes */
	FD_READ,
	FD_WRITE,			/* O_WRONLY, or O_RDWR when it comes from CREATE */
	FD_SLOTS
};

struct node_fd {
	int fd;				/* -1: closed */
	unsigned pins;			/* requests and open handles that use it */
	struct node_fd *prev, *next;	/* in srv->lru while it is open and not pinned */
};

struct export_state {
	bool rw, public_only;
	uint32_t valid_s;		/* entry_valid and attr_valid */
	struct fuse_node *root;
	struct export_state *next;
};

/* A name that is there by our own doing: over or beside what the host has in the directory. */
struct graft {
	struct fuse_node *node;		/* its name is the graft's */
	struct graft *next;
};

struct fuse_node {
	uint64_t id;			/* index in srv->nodes, generation << 32 */
	uint64_t nlookup;		/* references of the guest */
	unsigned refs;			/* children, handles, grafts, running requests */
	struct export_state *ex;	/* NULL: synthetic directory or symlink */
	uint64_t dev, ino;
	int64_t btime_ns;
	uint32_t mode;			/* type bits as at the first lookup */
	bool hashed;			/* false: gone from its name, or synthetic */
	bool suid;			/* setuid or setgid when last seen: writes clear it */
	struct fuse_node *hash_next;
	struct fuse_node *parent;	/* holds a reference; NULL for the tree's root */
	char *name;			/* NULL for the tree's root */
	char *target;			/* of a synthetic symlink */
	int64_t mtime_s;		/* of a synthetic node; 0: when the server started */
	struct graft *grafts;
	struct node_fd fds[FD_SLOTS];
};

struct fuse_open_file {
	struct fuse_node *node;		/* NULL: free */
	bool readable, writable;
};

/* Tables from index to object: an index is used again under another generation. */
struct id_slot {
	void *obj;
	uint32_t gen;
	uint32_t next_free;
};

struct id_table {
	struct id_slot *slot;
	uint32_t size, max, free;	/* free: first free index, 0 none; index 0 is never used */
	uint32_t used;
};

struct fuse_server {
	pthread_mutex_t lock;
	struct id_table nodes, handles;
	struct fuse_node *root;
	struct fuse_node **hash;
	uint32_t hash_size, hash_used;
	struct export_state *exports;
	struct node_fd lru;		/* list head; next is the most recently used */
	unsigned nfds, max_fds;
	struct fuse_dev *devs;
	unsigned ndevs;
	uint64_t host_dev_fs;		/* st_dev of /dev when it is a file system of its own */
	uint64_t next_synthetic;
	int64_t start_s;
	uint32_t umask;
	bool no_openat2;
	char dirbuf[FUSE_DIRBUF_SIZE] __attribute__((aligned(8)));	/* READDIR */
};

/* --- fuse_msg.c: one request ----------------------------------------------------------------- */

struct fuse_req {
	struct fuse_server *srv;
	struct fuse_in_header h;	/* our copy */
	const struct iovec *in, *out;
	unsigned nin, nout;
	size_t in_pos, in_end;		/* what is left of the request's body */
	size_t out_pos, out_end; /* where the reply's body goes on; out_end is the room's end */
};

size_t iov_bytes(const struct iovec *iov, unsigned n);
size_t iov_gather(const struct iovec *iov, unsigned n, size_t skip, void *dst, size_t len);
size_t iov_scatter(const struct iovec *iov, unsigned n, size_t skip, const void *src, size_t len);
/* The pieces of [skip, skip + len) of src into dst (max pieces); how many. */
unsigned iov_slice(const struct iovec *src, unsigned n, size_t skip, size_t len,
		   struct iovec *dst, unsigned max);

/* Next len bytes of the request; -EINVAL when it is shorter. */
int req_pull(struct fuse_req *req, void *dst, size_t len);
/* Next NUL-terminated string; -EINVAL without a NUL, -ENAMETOOLONG. */
int req_string(struct fuse_req *req, char *buf, size_t size);
/* The same as a file name: one component, not "." or "..". */
int req_name(struct fuse_req *req, char name[HUSK_FUSE_NAME_MAX + 1]);
size_t req_room(const struct fuse_req *req);
/* Append to the reply; -EINVAL when there is no room. */
int req_put(struct fuse_req *req, const void *src, size_t len);
bool name_valid(const char *name, size_t len);

/* --- fuse_table.c ---------------------------------------------------------------------------- */

uint64_t id_alloc(struct id_table *t, void *obj);	/* 0: full */
void *id_get(const struct id_table *t, uint64_t id);	/* NULL: no such id */
void id_free(struct id_table *t, uint64_t id);

/* --- fuse_host.c: calls on the host, no state but the device table --------------------------- */

/* statx(2); name "" is the descriptor itself. Symlinks and automounts are not followed. */
int host_stat(int dirfd, const char *name, struct fuse_stat *st);
/* Open one checked component of dirfd without following anything. */
int host_openat(struct fuse_server *srv, int dirfd, const char *name, int flags, uint32_t mode);
int host_chmod_path(int fd, uint32_t mode);		/* fd: O_PATH */
/* Is dev shown to guests? fd: any descriptor on it or, with name, the directory it is in. */
bool dev_visible(struct fuse_server *srv, uint64_t dev, int fd, const char *name);
uint64_t dev_ino(struct fuse_server *srv, uint64_t dev, uint64_t ino);

/* --- fuse_fd.c: descriptors of nodes --------------------------------------------------------- */

/* A descriptor of the node, pinned until fd_put(); or -errno (-ESTALE: not found by its name). */
int fd_get(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot);
void fd_put(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot);
/* The same for any slot: an open one, or FD_PATH. *slot says which. */
int fd_get_any(struct fuse_server *srv, struct fuse_node *node, enum fd_slot *slot);
/* Give the node a descriptor it has not opened itself; closed when the slot is taken. */
void fd_install(struct fuse_server *srv, struct fuse_node *node, enum fd_slot slot, int fd);
/* Make room for one more descriptor: 0 or -ENFILE. */
int fd_reserve(struct fuse_server *srv);
void fd_close_all(struct fuse_server *srv, struct fuse_node *node);
int fd_open_child(struct fuse_server *srv, int dirfd, const char *name, int flags, uint32_t mode);

/* --- fuse_node.c ----------------------------------------------------------------------------- */

int node_table_init(struct fuse_server *srv);
struct fuse_node *node_by_id(struct fuse_server *srv, uint64_t id);
struct fuse_node *node_find(struct fuse_server *srv, const struct export_state *ex,
			    const struct fuse_stat *st);
/* Known or new node for what st says is at (parent, name). Not referenced. NULL: no memory. */
struct fuse_node *node_obtain(struct fuse_server *srv, struct fuse_node *parent, const char *name,
			      const struct fuse_stat *st);
struct fuse_node *node_new(struct fuse_server *srv, struct export_state *ex,
			   struct fuse_node *parent, const char *name, const struct fuse_stat *st);
int node_place(struct fuse_server *srv, struct fuse_node *node, struct fuse_node *parent,
	       const char *name);
void node_unhash(struct fuse_server *srv, struct fuse_node *node);
void node_get(struct fuse_node *node);
void node_put(struct fuse_server *srv, struct fuse_node *node);	/* may free it */
void node_forget(struct fuse_server *srv, struct fuse_node *node, uint64_t nlookup);
bool node_same(const struct fuse_node *node, const struct fuse_stat *st);
bool node_is_dir(const struct fuse_node *node);

uint64_t handle_new(struct fuse_server *srv, struct fuse_node *node, bool readable, bool writable);
struct fuse_open_file *handle_get(struct fuse_server *srv, uint64_t fh,
				  const struct fuse_node *node);
void handle_close(struct fuse_server *srv, uint64_t fh);

/* --- fuse_lookup.c --------------------------------------------------------------------------- */

/* Find name in dir. 0 with *out and *st, -ENOENT when it does not exist for the guest. */
int dir_lookup(struct fuse_server *srv, struct fuse_node *dir, const char *name,
	       struct fuse_node **out, struct fuse_stat *st);
struct fuse_node *dir_graft(const struct fuse_node *dir, const char *name);
/* May the guest know of this object of the export? dirfd, name: where it is. */
bool export_shows(struct fuse_server *srv, const struct export_state *ex,
		  const struct fuse_stat *st, int dirfd, const char *name);
int node_stat(struct fuse_server *srv, struct fuse_node *node, struct fuse_stat *st);
long node_readlink(struct fuse_server *srv, struct fuse_node *node, char *buf, size_t size);
void attr_fill(struct fuse_server *srv, struct fuse_node *node, const struct fuse_stat *st,
	       struct fuse_attr *attr);
/* Fill an entry and count the guest's reference. */
void entry_fill(struct fuse_server *srv, struct fuse_node *node, const struct fuse_stat *st,
		struct fuse_entry_out *entry);
void entry_negative(const struct fuse_node *dir, struct fuse_entry_out *entry);
int node_chmod(struct fuse_server *srv, struct fuse_node *node, uint32_t mode);
uint32_t node_valid_s(const struct fuse_node *node);
/* Look up what was just made and reply with its entry. */
int req_put_entry(struct fuse_req *req, struct fuse_node *dir, const char *name);

/* --- operations ------------------------------------------------------------------------------ */

/* The request's node, or NULL. */
struct fuse_node *req_node(const struct fuse_req *req);
/* The request's node when it is a directory in a rw export, else -errno. */
int req_writable_dir(const struct fuse_req *req, struct fuse_node **dir);

typedef int fuse_op_fn(struct fuse_req *req);	/* 0 or -errno; the body is in the reply then */

fuse_op_fn op_lookup, op_walk, op_forget, op_batch_forget;
fuse_op_fn op_getattr, op_setattr, op_access, op_statfs, op_readlink;
fuse_op_fn op_getxattr, op_listxattr, op_setxattr, op_removexattr;
fuse_op_fn op_mknod, op_mkdir, op_symlink, op_link, op_unlink, op_rmdir, op_rename, op_rename2;
fuse_op_fn op_open, op_create, op_opendir, op_release, op_flush;
fuse_op_fn op_read, op_write, op_fsync, op_syncfs, op_lseek, op_fallocate, op_copy_file_range;
fuse_op_fn op_readdir, op_readdirplus;

/* Pin a descriptor of the request's node for data: by handle, or by node id when fh is 0. */
struct fuse_io {
	struct fuse_node *node;
	enum fd_slot slot;
	int fd;
};
int io_begin(struct fuse_server *srv, uint64_t nodeid, uint64_t fh, enum fd_slot want,
	     struct fuse_io *io);
void io_end(struct fuse_server *srv, struct fuse_io *io);
/* A write to the file: setuid and setgid go (FUSE_HANDLE_KILLPRIV). */
void node_drop_suid(struct fuse_node *node, int fd);
/* preadv(2) until the end of the file or of len; the reply's bytes from skip. No lock needed. */
ssize_t io_read(int fd, const struct iovec *iov, unsigned n, size_t skip, size_t len, uint64_t off);
