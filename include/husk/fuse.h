/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUSE as husk's server speaks it: protocol 7.31 or later of <linux/fuse.h>, and what is added or
 * promised beyond it. Every request is one VM exit, so the additions save exits: a walk down a
 * whole path, reads without OPEN, and limits that are known without INIT.
 *
 * Promised to our guest (a stock Linux guest needs none of it and works by the standard):
 *
 * - INIT is optional. Without it the limits below hold and every operation works.
 * - OPEN and OPENDIR are optional for reading: READ, LSEEK, READDIR, READDIRPLUS, FSYNC and the
 *   xattr requests take fh 0 and work on the node id; the server opens and caches by itself. FLUSH,
 *   RELEASE and RELEASEDIR of fh 0 succeed and are not needed. A file that is written, or may be
 *   unlinked while in use, wants a real OPEN: WRITE, FALLOCATE and COPY_FILE_RANGE insist on one.
 * - ESTALE: a node whose name was taken away on the host, with nothing open, answers -ESTALE:
 *   look it up again.
 * - LOOKUP of a missing name succeeds with nodeid 0 (negative entry; entry_valid counts).
 * - st_ino is unique over the whole tree. Node ids carry their generation: one that was forgotten
 *   is never used again for another file; using it is -ESTALE.
 * - umask: the client applies it (FUSE_DONT_MASK is not offered). The server's own does not bite.
 * - O_APPEND is the client's: writes go where `offset` says. O_DSYNC and O_SYNC in
 *   fuse_write_in.flags are honoured for that write.
 * - Files of read-only exports keep their bits; what writes to them is -EROFS. Sockets, FIFOs and
 *   device nodes do not exist, except that rw exports show FIFOs and sockets, not to be opened.
 * - setuid and setgid bits that the guest sets on files are dropped.
 * - Names in rw exports change under the guest's feet; in all others nothing is expected to
 *   change. Hence entry_valid and attr_valid.
 */
#pragma once

#include <linux/fuse.h>

#define HUSK_FUSE_TAG		"husk"		/* virtio-fs tag */
#define HUSK_FUSE_MAX_WRITE	(1u << 20)	/* bytes of data in one READ, WRITE, READDIR */
#define HUSK_FUSE_MAX_PAGES	256
#define HUSK_FUSE_MAX_IOV	272		/* pieces of one request or one reply */
#define HUSK_FUSE_NAME_MAX	255
#define HUSK_FUSE_PATH_MAX	4095		/* of a WALK's path, of a symlink's target */

/*
 * HUSK_FUSE_WALK: look up several components in one request.
 *
 * Request: fuse_in_header (nodeid: the directory to start in), husk_fuse_walk_in, then path_len
 * bytes of path: components separated by single '/', none empty, "." or "..", no leading or
 * trailing '/', no NUL needed. -EINVAL otherwise, or with more than HUSK_FUSE_WALK_MAX components.
 *
 * Reply: fuse_out_header, husk_fuse_walk_out, then `count` fuse_entry_out, one a component from
 * the first, each with nodeid != 0 holding one lookup reference (FORGET it as after LOOKUP). The
 * walk ends after the first of these:
 *
 *   missing		the last entry has nodeid 0 (negative, entry_valid counts)
 *   not a directory	the last entry is it; whether components are left over says if it is ENOTDIR
 *   symlink		the last entry is it; target_len bytes of its text follow the entries
 *			(0 when they do not fit: READLINK)
 *   path used up	count = number of components
 *   error		`error` = -errno of the component after the `count` that follow
 *   reply full		fewer entries than components though the last is a directory: go on from it
 *
 * An error in the first component is the error of the whole request.
 *
 * With HUSK_FUSE_WALK_READ, when the path is used up and ends at a regular file that may be read,
 * up to read_len bytes from its start are put into the reply at byte data_off, counted from the
 * fuse_out_header's first byte, so that a page-aligned piece can take them; data_len says how many
 * (0 also when there is nothing to read; compare attr.size). What lies between the target's end
 * and data_off is left alone. data_off 0 or inside the part before means no data.
 */
#define HUSK_FUSE_WALK		0x7000
#define HUSK_FUSE_WALK_MAX	40		/* components, so a page is room for a walk of 31 */

#define HUSK_FUSE_WALK_READ	0x1		/* flags */

struct husk_fuse_walk_in {
	uint32_t flags;
	uint32_t path_len;
	uint32_t read_len;
	uint32_t data_off;
};

struct husk_fuse_walk_out {
	uint32_t count;
	uint32_t target_len;
	int32_t error;
	uint32_t data_len;
};
