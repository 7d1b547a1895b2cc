/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open files of the FUSE client. Where nothing can change, that is on read-only mounts, a file is
 * read by its node id and needs no OPEN; only one that not everybody may read is opened, since
 * the host has the last word on permissions and has it at open(2). On writable mounts every open
 * file has a handle of the server's, so that it survives its name.
 */
#include <linux/falloc.h>
#include "fs/fusefs.h"

#define OPEN_FLAGS (O_ACCMODE | O_APPEND | O_DSYNC | O_SYNC)

struct fuse_handle *fuse_handle_new(struct fuse_node *node, u64 fh, u32 flags)
{
	struct fuse_handle *h = kmalloc(sizeof(*h));

	if (!h)
		return NULL;
	h->fh = fh;
	h->flags = flags;
	list_add(&node->handles, &h->link);
	return h;
}

static void handle_close(struct fuse_node *node, u64 fh, u32 flags)
{
	struct fuse_release_in in = { .fh = fh, .flags = flags };

	fuse_simple(FUSE_RELEASE, node->nodeid, &in, sizeof(in), NULL, NULL, 0);
}

void fuse_handle_release(struct fuse_node *node, struct fuse_handle *h)
{
	list_del(&h->link);
	handle_close(node, h->fh, h->flags);
	kfree(h);
}

struct fuse_handle *fuse_handle_for(struct fuse_node *node, bool write)
{
	struct fuse_handle *h;

	list_for_each(h, &node->handles, link) {
		u32 mode = h->flags & O_ACCMODE;

		if (mode == O_RDWR || mode == (write ? O_WRONLY : O_RDONLY))
			return h;
	}
	return NULL;
}

int fuse_handle_open(struct fuse_node *node, u32 flags, struct fuse_handle **out)
{
	struct fuse_open_in in = { .flags = flags & OPEN_FLAGS & ~(u32)O_APPEND };
	struct fuse_open_out reply;
	int err = fuse_simple(FUSE_OPEN, node->nodeid, &in, sizeof(in), NULL, &reply, sizeof(reply));

	if (err < 0)
		return err;
	*out = fuse_handle_new(node, reply.fh, flags);
	if (*out)
		return 0;
	handle_close(node, reply.fh, flags);
	return -ENOMEM;
}

static int fusefs_open(struct inode *inode, struct file *file)
{
	struct fuse_node *node = fuse_node_of(inode);
	struct fuse_handle *h = NULL;
	int err = 0;

	if (node->created) {
		h = node->created;
		node->created = NULL;
	} else if (!inode->sb->readonly || !(inode->mode & S_IROTH)) {
		err = fuse_handle_open(node, file->flags, &h);
	}
	file->priv = h;
	return err;
}

static void fusefs_release(struct file *file)
{
	struct fuse_handle *h = file->priv;

	if (!h)
		return;
	if ((h->flags & O_ACCMODE) != O_RDONLY && file->inode->cache)
		pagecache_writeback(file->inode);	/* of mappings; while there is a handle */
	fuse_handle_release(fuse_node_of(file->inode), h);
}

static long fusefs_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	/* The host may have changed it; then the pages go with the old attributes. */
	if (!file->inode->sb->readonly) {
		int err = fuse_refresh_data(file->inode);

		if (err < 0)
			return err;
	}
	return pagecache_read(file, buf, len, pos);
}

static s64 seek_host(struct file *file, s64 off, int whence)
{
	struct fuse_node *node = fuse_node_of(file->inode);
	struct fuse_handle *h = file->priv;
	struct fuse_lseek_in in = { .fh = h ? h->fh : 0, .offset = (u64)off, .whence = (u32)whence };
	struct fuse_lseek_out out;
	int err;

	if (off < 0)
		return -ENXIO;
	err = pagecache_writeback(file->inode);
	if (!err)
		err = fuse_simple(FUSE_LSEEK, node->nodeid, &in, sizeof(in), NULL, &out, sizeof(out));
	if (err < 0)
		return err;
	file->pos = out.offset;
	return (s64)out.offset;
}

static s64 fusefs_llseek(struct file *file, s64 off, int whence)
{
	if (whence == SEEK_DATA || whence == SEEK_HOLE)
		return seek_host(file, off, whence);
	if (whence == SEEK_END) {
		int err = fuse_refresh_data(file->inode);

		if (err < 0)
			return err;
	}
	return generic_llseek(file, off, whence);
}

static int fusefs_fsync(struct file *file, bool datasync)
{
	struct fuse_handle *h = file->priv;
	struct fuse_fsync_in in = {
		.fh = h ? h->fh : 0,
		.fsync_flags = datasync ? FUSE_FSYNC_FDATASYNC : 0,
	};
	int err;

	if (file->inode->sb->readonly)
		return 0;
	err = pagecache_writeback(file->inode);
	if (err < 0)
		return err;
	return fuse_simple(FUSE_FSYNC, fuse_node_of(file->inode)->nodeid, &in, sizeof(in), NULL, NULL,
			   0);
}

/* Modes beyond plain allocation change data behind the cache's back. */
static int fusefs_fallocate(struct file *file, int mode, u64 off, u64 len)
{
	struct inode *inode = file->inode;
	struct fuse_node *node = fuse_node_of(inode);
	struct fuse_handle *h = file->priv;
	struct fuse_fallocate_in in = { .offset = off, .length = len, .mode = (u32)mode };
	int err;

	if (!h)
		return -EBADF;
	in.fh = h->fh;
	mutex_lock(&inode->lock);
	err = pagecache_writeback(inode);
	if (!err)
		err = fuse_simple(FUSE_FALLOCATE, node->nodeid, &in, sizeof(in), NULL, NULL, 0);
	if (!err) {
		node->writes++;
		if (mode & ~FALLOC_FL_KEEP_SIZE)
			pagecache_invalidate(inode, off >> PAGE_SHIFT);
		node->own_writes = true;
		fuse_attr_expire(inode);
		err = fuse_getattr(inode);
	}
	mutex_unlock(&inode->lock);
	return err;
}

const struct file_ops fusefs_file_ops = {
	.open = fusefs_open,
	.release = fusefs_release,
	.read = fusefs_read,
	.write = fusefs_write,
	.llseek = fusefs_llseek,
	.fsync = fusefs_fsync,
	.fallocate = fusefs_fallocate,
	.mmap = pagecache_mmap,
};
