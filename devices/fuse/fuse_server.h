/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FUSE server: host directories and files ("exports"), placed at guest paths in one tree, over
 * the protocol of include/husk/fuse.h. Knows nothing of virtio; every request is hostile.
 *
 * Any number of threads may call fuse_handle(). One lock covers the server's own state; it is
 * dropped around reads, writes and syncs of file data.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct fuse_server;

struct fuse_export {
	const char *host;	/* path of a directory or regular file; of a symlink: its text */
	const char *guest;	/* absolute, without empty, "." and ".." components */
	bool rw;
	/*
	 * Only what everybody may read exists for the guest: files o+r, directories o+rx. For what
	 * is shown without anybody having asked for it.
	 */
	bool public_only;
	bool symlink;		/* put a symlink there */
	int64_t mtime_s;	/* of the symlink; 0: now */
};

/*
 * An empty tree: a root directory nobody can write to. Descriptors are cached up to RLIMIT_NOFILE
 * less a reserve for the rest of the program, so raise it before. NULL: errno says why.
 */
struct fuse_server *fuse_server_new(void);
void fuse_server_free(struct fuse_server *srv);		/* when no request is running */

/*
 * Add an export. Parents before children; -EEXIST when there is one at the place. Directories on
 * the way that do not exist are made up (0755, nobody can write to them).
 * -errno: -ENOENT and what open(2) says of the host path; -EINVAL not a directory or regular file;
 * -EXDEV a pseudo file system like /proc; -EACCES hidden by public_only; -ELOOP, -ENOTDIR the
 * guest path goes through a symlink or a file. Not while requests are handled.
 */
int fuse_server_add(struct fuse_server *srv, const struct fuse_export *export);

/* Forget everything the guest knows: lookups and open files. Any thread. */
void fuse_server_reset(struct fuse_server *srv);

/*
 * One request in `in`, its reply into `out`. Returns the bytes written to out: 0 for requests that
 * have no reply, and when there is no room for the header of one.
 */
size_t fuse_handle(struct fuse_server *srv, const struct iovec *in, unsigned nin,
		   const struct iovec *out, unsigned nout);

/*
 * O_PATH descriptors of the roots of all exports that are writable (rw) or not, for the jail's
 * rules. They stay the server's. How many there are; at most max of them are stored.
 */
size_t fuse_server_roots(struct fuse_server *srv, bool rw, int *fds, size_t max);

/* The same path rule as for fuse_export.guest. */
bool fuse_path_valid(const char *path);
