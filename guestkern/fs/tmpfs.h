/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of tmpfs share. */
#pragma once

#include "fs/nametab.h"
#include "fs/vfs_internal.h"

#include <linux/falloc.h>

#define TMPFS_NAME_BYTES 20	/* what Linux adds to a directory's size for an entry */

struct tmpfs_super {
	u64 pages, max_pages, inodes, max_inodes;
};

struct tmpfs_inode {
	struct inode *self;
	struct nametab names;	/* of a directory */
	u32 places, subdirs;	/* of a directory: entries that name it (two while it moves) */
	u32 whiteouts;		/* among the names: upper directories of overlays */
	bool opaque;		/* the overlay's lower directory does not show through */
	struct list xattrs;
	u64 xattr_bytes;
	struct list dead;	/* tree removal */
};

extern const struct inode_ops tmpfs_inode_ops, tmpfs_dir_inode_ops;
struct tmpfs_inode *tmpfs_i(struct inode *inode);
void tmpfs_evict(struct inode *inode);
void tmpfs_xattr_free(struct tmpfs_inode *ti);
/* Page of storage for writing, zeroed if new: referenced. */
int pagecache_make(struct inode *inode, u64 index, struct page **out);
