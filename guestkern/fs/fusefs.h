/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the FUSE client share. All mounts use the one connection; an inode is known by
 * (super, node id), and holds as many lookup references as the server gave out for it.
 *
 * Every request is a VM exit, hence: no INIT and no OPEN where the server promises to do without
 * (include/husk/fuse.h), paths by WALK, FORGET in batches.
 */
#pragma once

#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include "core/string.h"
#include "drivers/drivers.h"
#include "fs/vfs.h"
#include "husk/fuse.h"
#include "mm/kmalloc.h"
#include "mm/page.h"

#define FUSE_ARGS_IN	8
#define FUSE_ARGS_OUT	4

/*
 * One request and its reply, in pieces; the first piece of both is the header. Whoever needs more
 * pieces sets in or out, and its size, before he adds the first.
 */
struct fuse_args {
	struct fuse_in_header in_header;
	struct fuse_out_header out_header;
	unsigned nin, nout, in_max, out_max;
	struct io_seg *in, *out;
	struct io_seg in_few[FUSE_ARGS_IN], out_few[FUSE_ARGS_OUT];
};

/* An open file of the server's. */
struct fuse_handle {
	struct list link;		/* node->handles */
	u64 fh;
	u32 flags;			/* as opened */
};

struct fuse_node {
	struct list hash;
	struct inode *inode;
	u64 nodeid, nlookup;
	u64 attr_expires_ns;
	struct list handles;
	struct fuse_handle *created;	/* of CREATE, for the open that follows it */
	u64 writes;			/* counts our changes of the file's data */
	bool own_writes;		/* the next mtime that differs is our doing */
	bool stat_stale;		/* times and blocks have changed by our doing */
	/* Directories: names asked for one by one after a listing are fetched in bulk (fusefs_dir.c). */
	bool listed;
	u8 misses;
	u64 bulk_pos;
};

static inline struct fuse_node *fuse_node_of(const struct inode *inode)
{
	return inode->priv;
}

/* --- fusefs_req.c --- */
void fuse_args_init(struct fuse_args *args, u32 opcode, u64 nodeid);
void fuse_args_more_in(struct fuse_args *args, struct io_seg *in, unsigned max);
void fuse_args_more_out(struct fuse_args *args, struct io_seg *out, unsigned max);
/* Add a piece; neighbours in memory share one. false: no room for more pieces. */
bool fuse_in(struct fuse_args *args, const void *p, size_t len);
bool fuse_out(struct fuse_args *args, void *p, size_t len);
/* The length of the reply's body, or -errno. */
long fuse_send(struct fuse_args *args);
/* The common shape: one argument structure and/or a name in, one structure out, exact size. */
int fuse_simple(u32 opcode, u64 nodeid, const void *arg, size_t arg_len, const char *name,
		void *reply, size_t reply_len);
void fuse_forget(u64 nodeid, u64 nlookup);
u64 fuse_expiry(u64 sec, u32 nsec);			/* monotonic time when a validity ends */

/* --- fusefs_inode.c --- */
extern const struct inode_ops fusefs_inode_ops, fusefs_dir_inode_ops;
/* The inode for an entry with nodeid != 0, whose lookup reference it takes over. NULL: no memory. */
struct inode *fuse_iget(struct super *sb, const struct fuse_entry_out *entry);
void fuse_attr_apply(struct inode *inode, const struct fuse_attr *attr, u64 valid, u32 valid_nsec);
int fuse_getattr(struct inode *inode);
int fusefs_refresh(struct inode *inode);
int fuse_refresh_data(struct inode *inode);	/* the same, but our own writes do not count */
void fuse_attr_expire(struct inode *inode);
int fusefs_setattr(struct inode *inode, const struct attr *attr);
int fusefs_statfs(struct inode *inode, void *statfs64);
int fusefs_readlink(struct inode *inode, char *buf, size_t size);
void fusefs_evict(struct inode *inode);

/* --- fusefs_name.c --- */
int fusefs_lookup(struct inode *dir, struct dentry *dentry);
int fusefs_create(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev);
int fusefs_symlink(struct inode *dir, struct dentry *dentry, const char *target);
int fusefs_link(struct inode *dir, struct dentry *dentry, struct inode *target);
int fusefs_unlink(struct inode *dir, struct dentry *dentry);
int fusefs_rmdir(struct inode *dir, struct dentry *dentry);
int fusefs_rename(struct inode *olddir, struct dentry *old, struct inode *newdir,
		  struct dentry *new, unsigned flags);

/* --- fusefs_walk.c --- */
int fusefs_walk(struct dentry *start, const char *rest);
/* The inode at a path of components below nodeid, looked up anew. */
int fuse_walk_inode(struct super *sb, u64 nodeid, const char *path, struct inode **out);

/* --- fusefs_dir.c --- */
extern const struct file_ops fusefs_dir_ops;
/* Fetch entries of dir in bulk if the way it is used asks for it; true: some came. */
bool fuse_dir_bulk(struct dentry *dir);

/* --- fusefs_file.c --- */
extern const struct file_ops fusefs_file_ops;
struct fuse_handle *fuse_handle_new(struct fuse_node *node, u64 fh, u32 flags);
int fuse_handle_open(struct fuse_node *node, u32 flags, struct fuse_handle **out);
void fuse_handle_release(struct fuse_node *node, struct fuse_handle *h);
/* Handle to read (write false) or write the node with, or NULL. */
struct fuse_handle *fuse_handle_for(struct fuse_node *node, bool write);

/* --- fusefs_io.c --- */
extern const struct cache_ops fusefs_cache_ops, fusefs_cache_ops_ro;
long fusefs_write(struct file *file, const void *buf, size_t len, u64 *pos);

/* --- fusefs_xattr.c --- */
long fusefs_getxattr(struct inode *inode, const char *name, void *buf, size_t size);
long fusefs_listxattr(struct inode *inode, void *buf, size_t size);
int fusefs_setxattr(struct inode *inode, const char *name, const void *val, size_t size, int flags);
int fusefs_removexattr(struct inode *inode, const char *name);
