/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server as a whole: making and ending it, and the way of one request: copy and check the
 * header, find the operation in the table, check the sizes it asks for, run it under the lock,
 * write the reply's header.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct fuse_op {
	fuse_op_fn *fn;
	uint16_t in;		/* least bytes of the body */
	uint16_t out;		/* least room for the reply's body */
	bool no_reply;
};

/* No request is longer: a WRITE of the largest size. */
#define REQUEST_MAX (HUSK_FUSE_MAX_WRITE + 4096)

#define OP(fn, in, out) { fn, in, out, false }
#define ENTRY sizeof(struct fuse_entry_out)

static int op_init(struct fuse_req *req);
static int op_destroy(struct fuse_req *req);

static int op_nothing(struct fuse_req *req)
{
	return 0;
}

#define IN(name) sizeof(struct fuse_##name##_in)
#define OUT(name) sizeof(struct fuse_##name##_out)

static const struct fuse_op ops[] = {
	[FUSE_LOOKUP]		= OP(op_lookup, 2, ENTRY),
	[FUSE_FORGET]		= { op_forget, 0, 0, true },
	[FUSE_GETATTR]		= OP(op_getattr, IN(getattr), OUT(attr)),
	[FUSE_SETATTR]		= OP(op_setattr, IN(setattr), OUT(attr)),
	[FUSE_READLINK]		= OP(op_readlink, 0, 0),
	[FUSE_SYMLINK]		= OP(op_symlink, 4, ENTRY),
	[FUSE_MKNOD]		= OP(op_mknod, IN(mknod), ENTRY),
	[FUSE_MKDIR]		= OP(op_mkdir, IN(mkdir), ENTRY),
	[FUSE_UNLINK]		= OP(op_unlink, 2, 0),
	[FUSE_RMDIR]		= OP(op_rmdir, 2, 0),
	[FUSE_RENAME]		= OP(op_rename, IN(rename), 0),
	[FUSE_LINK]		= OP(op_link, IN(link), ENTRY),
	[FUSE_OPEN]		= OP(op_open, IN(open), OUT(open)),
	[FUSE_READ]		= OP(op_read, IN(read), 0),
	[FUSE_WRITE]		= OP(op_write, IN(write), OUT(write)),
	[FUSE_STATFS]		= OP(op_statfs, 0, OUT(statfs)),
	[FUSE_RELEASE]		= OP(op_release, IN(release), 0),
	[FUSE_FSYNC]		= OP(op_fsync, IN(fsync), 0),
	[FUSE_SETXATTR]		= OP(op_setxattr, FUSE_COMPAT_SETXATTR_IN_SIZE, 0),
	[FUSE_GETXATTR]		= OP(op_getxattr, IN(getxattr), 0),
	[FUSE_LISTXATTR]	= OP(op_listxattr, IN(getxattr), 0),
	[FUSE_REMOVEXATTR]	= OP(op_removexattr, 2, 0),
	[FUSE_FLUSH]		= OP(op_flush, IN(flush), 0),
	[FUSE_INIT]		= OP(op_init, 16, FUSE_COMPAT_22_INIT_OUT_SIZE),
	[FUSE_OPENDIR]		= OP(op_opendir, IN(open), OUT(open)),
	[FUSE_READDIR]		= OP(op_readdir, IN(read), 0),
	[FUSE_RELEASEDIR]	= OP(op_release, IN(release), 0),
	[FUSE_FSYNCDIR]		= OP(op_fsync, IN(fsync), 0),
	[FUSE_ACCESS]		= OP(op_access, IN(access), 0),
	[FUSE_CREATE]		= OP(op_create, IN(create), ENTRY + OUT(open)),
	[FUSE_INTERRUPT]	= { op_nothing, 0, 0, true },
	[FUSE_DESTROY]		= OP(op_destroy, 0, 0),
	[FUSE_BATCH_FORGET]	= { op_batch_forget, 0, 0, true },
	[FUSE_FALLOCATE]	= OP(op_fallocate, IN(fallocate), 0),
	[FUSE_READDIRPLUS]	= OP(op_readdirplus, IN(read), 0),
	[FUSE_RENAME2]		= OP(op_rename2, IN(rename2), 0),
	[FUSE_LSEEK]		= OP(op_lseek, IN(lseek), OUT(lseek)),
	[FUSE_COPY_FILE_RANGE]	= OP(op_copy_file_range, IN(copy_file_range), OUT(write)),
	[FUSE_SYNCFS]		= OP(op_syncfs, IN(syncfs), 0),
};

static const struct fuse_op walk_op = OP(op_walk, sizeof(struct husk_fuse_walk_in),
					 sizeof(struct husk_fuse_walk_out) + ENTRY);

static const struct fuse_op *op_find(uint32_t opcode)
{
	if (opcode == HUSK_FUSE_WALK)
		return &walk_op;
	if (opcode >= sizeof(ops) / sizeof(ops[0]) || !ops[opcode].fn)
		return NULL;
	return &ops[opcode];
}

struct fuse_node *req_node(const struct fuse_req *req)
{
	return node_by_id(req->srv, req->h.nodeid);
}

static int op_init(struct fuse_req *req)
{
	const uint32_t wanted = FUSE_ASYNC_READ | FUSE_BIG_WRITES | FUSE_ATOMIC_O_TRUNC |
		FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |
		FUSE_ASYNC_DIO | FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV | FUSE_MAX_PAGES |
		FUSE_CACHE_SYMLINKS;
	struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_background = 64,
		.congestion_threshold = 48,
		.max_write = HUSK_FUSE_MAX_WRITE,
		.time_gran = 1,
		.max_pages = HUSK_FUSE_MAX_PAGES,
	};
	struct fuse_init_in in = { 0 };
	size_t len = sizeof(out);

	if (req_pull(req, &in, 16) < 0 || in.major < FUSE_KERNEL_VERSION)
		return -EPROTO;
	/* A newer major asks again with ours; an older minor than 31 is not spoken. */
	if (in.major == FUSE_KERNEL_VERSION) {
		if (in.minor < 31)
			return -EPROTO;
		out.max_readahead = in.max_readahead;
		out.flags = in.flags & wanted;
	}
	if (len > req_room(req))
		len = FUSE_COMPAT_22_INIT_OUT_SIZE;
	return req_put(req, &out, len);
}

/* Handles first, then lookups; a node in use by a running request goes when that is done. */
static void server_forget_all(struct fuse_server *srv)
{
	for (uint32_t i = 1; i < srv->handles.size; i++)
		if (srv->handles.slot[i].obj)
			handle_close(srv, i | (uint64_t)srv->handles.slot[i].gen << 32);
	for (uint32_t i = 1; i < srv->nodes.size; i++) {
		struct fuse_node *node = srv->nodes.slot[i].obj;

		if (node)
			node_forget(srv, node, UINT64_MAX);
	}
}

static int op_destroy(struct fuse_req *req)
{
	server_forget_all(req->srv);
	return 0;
}

void fuse_server_reset(struct fuse_server *srv)
{
	pthread_mutex_lock(&srv->lock);
	server_forget_all(srv);
	pthread_mutex_unlock(&srv->lock);
}

static int req_run(struct fuse_req *req, const struct fuse_op *op)
{
	int err;

	if (!op)
		return -ENOSYS;
	if (req->in_end - req->in_pos < op->in || req_room(req) < op->out)
		return -EINVAL;
	pthread_mutex_lock(&req->srv->lock);
	err = op->fn(req);
	pthread_mutex_unlock(&req->srv->lock);
	return err;
}

size_t fuse_handle(struct fuse_server *srv, const struct iovec *in, unsigned nin,
		   const struct iovec *out, unsigned nout)
{
	struct fuse_req req = {
		.srv = srv, .in = in, .nin = nin, .out = out, .nout = nout,
		.in_pos = sizeof(req.h), .out_pos = sizeof(struct fuse_out_header),
		.out_end = iov_bytes(out, nout),
	};
	struct fuse_out_header reply = { 0 };
	const struct fuse_op *op;
	int err;

	/* Without a header there is no telling if a reply is awaited: answer if there is room. */
	if (iov_gather(in, nin, 0, &req.h, sizeof(req.h)) != sizeof(req.h))
		req.h = (struct fuse_in_header){ 0 };
	op = op_find(req.h.opcode);
	if (req.out_end < sizeof(reply) && !(op && op->no_reply))
		return 0;
	req.in_end = req.h.len;
	if (req.h.len < sizeof(req.h) || req.h.len > iov_bytes(in, nin) ||
	    req.h.len > REQUEST_MAX || nin > HUSK_FUSE_MAX_IOV || nout > HUSK_FUSE_MAX_IOV)
		err = -EINVAL;
	else
		err = req_run(&req, op);
	if (op && op->no_reply)
		return 0;
	reply.unique = req.h.unique;
	reply.error = err;
	reply.len = (uint32_t)(err < 0 ? sizeof(reply) : req.out_pos);
	iov_scatter(out, nout, 0, &reply, sizeof(reply));
	return reply.len;
}

/* Half of few, all but 256 of many: the rest of the program needs some too. */
static unsigned fd_budget(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) < 0 || rl.rlim_cur < 128)
		return 64;
	if (rl.rlim_cur < 1024)
		return (unsigned)rl.rlim_cur / 2;
	return rl.rlim_cur > FUSE_MAX_FDS + 256 ? FUSE_MAX_FDS : (unsigned)rl.rlim_cur - 256;
}

/* st_dev of /dev if that is a file system of its own: devtmpfs cannot be told from a tmpfs. */
static uint64_t dev_fs(void)
{
	struct fuse_stat root, dev;

	if (host_stat(-1, "/", &root) < 0 || host_stat(-1, "/dev", &dev) < 0)
		return 0;
	return root.dev == dev.dev ? 0 : dev.dev;
}

struct fuse_server *fuse_server_new(void)
{
	struct fuse_server *srv = calloc(1, sizeof(*srv));
	struct fuse_stat st = { .mode = S_IFDIR, .ino = 0x7fffull << 48 };

	if (!srv)
		return NULL;
	srv->lru.prev = srv->lru.next = &srv->lru;
	srv->max_fds = fd_budget();
	srv->start_s = time(NULL);
	srv->host_dev_fs = dev_fs();
	srv->umask = umask(0);
	umask(srv->umask);
	if (node_table_init(srv) < 0)
		goto no_hash;
	srv->root = node_new(srv, NULL, NULL, NULL, &st);	/* the first: FUSE_ROOT_ID */
	if (!srv->root)
		goto no_root;
	pthread_mutex_init(&srv->lock, NULL);
	return srv;

no_root:
	free(srv->nodes.slot);
	free(srv->hash);
no_hash:
	free(srv);
	errno = ENOMEM;
	return NULL;
}

void fuse_server_free(struct fuse_server *srv)
{
	if (!srv)
		return;
	server_forget_all(srv);
	/* What is left is pinned by exports and grafts; none of it is needed for the rest. */
	for (uint32_t i = 1; i < srv->nodes.size; i++) {
		struct fuse_node *node = srv->nodes.slot[i].obj;

		if (!node)
			continue;
		for (struct graft *g = node->grafts, *next; g; g = next) {
			next = g->next;
			free(g);
		}
		fd_close_all(srv, node);
		free(node->name);
		free(node->target);
		free(node);
	}
	for (struct export_state *ex = srv->exports, *next; ex; ex = next) {
		next = ex->next;
		free(ex);
	}
	free(srv->nodes.slot);
	free(srv->handles.slot);
	free(srv->hash);
	free(srv->devs);
	pthread_mutex_destroy(&srv->lock);
	free(srv);
}
