/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Directories of the FUSE client: listing, by a buffer that each open directory keeps, and bulk
 * lookups. A listing asks for names only, since most programs want no more; one that then looks
 * at entry after entry gets them by READDIRPLUS, many at a time.
 */
#include "fs/fusefs.h"

#define LIST_SIZE	(32u << 10)
#define BULK_SIZE	(64u << 10)
#define BULK_MISSES	6	/* single lookups after a listing before the rest comes in bulk */

struct dir_buf {
	u64 pos;		/* what the next entry in the buffer starts at */
	u32 at, len;
	u8 data[];
};

static long dir_fetch(struct inode *dir, u32 opcode, u64 pos, void *buf, u32 size)
{
	struct fuse_read_in in = { .offset = pos, .size = size };
	struct fuse_args args;

	fuse_args_init(&args, opcode, fuse_node_of(dir)->nodeid);
	fuse_in(&args, &in, sizeof(in));
	fuse_out(&args, buf, size);
	return fuse_send(&args);
}

/* The dirent at buf if it is whole within len bytes, else NULL. */
static const struct fuse_dirent *dirent_at(const void *buf, u32 len)
{
	const struct fuse_dirent *d = buf;

	if (len < FUSE_NAME_OFFSET || d->namelen > HUSK_FUSE_NAME_MAX || !d->namelen ||
	    FUSE_NAME_OFFSET + d->namelen > len)
		return NULL;
	return d;
}

/* Fill the buffer from file->pos: 1, 0 at the end, or -errno. */
static int dir_buf_fill(struct file *file, struct dir_buf *buf)
{
	struct fuse_node *node = fuse_node_of(file->inode);
	long len;

	if (file->pos == 0) {
		node->listed = true;
		node->misses = 0;
		node->bulk_pos = 0;
	}
	len = dir_fetch(file->inode, FUSE_READDIR, file->pos, buf->data, LIST_SIZE);
	buf->at = 0;
	buf->len = len > 0 ? (u32)len : 0;
	buf->pos = file->pos;
	return len < 0 ? (int)len : len > 0;
}

/* Emit what is in the buffer: 1 all of it, 0 the caller has enough, -EIO. */
static int dir_buf_emit(struct file *file, struct dir_buf *buf, struct dir_context *ctx)
{
	while (buf->at < buf->len) {
		const struct fuse_dirent *d = dirent_at(buf->data + buf->at, buf->len - buf->at);

		if (!d)
			return -EIO;
		if (ctx->emit(ctx, d->name, d->namelen, d->ino, d->type, d->off))
			return 0;
		buf->at += (u32)FUSE_DIRENT_SIZE(d);
		buf->pos = file->pos = d->off;
	}
	return 1;
}

static int fusefs_iterate(struct file *file, struct dir_context *ctx)
{
	struct dir_buf *buf = file->priv;
	int ret = 1;

	if (!buf) {
		buf = kmalloc(sizeof(*buf) + LIST_SIZE);
		if (!buf)
			return -ENOMEM;
		buf->at = buf->len = 0;
		buf->pos = 0;
		file->priv = buf;
	}
	while (ret > 0) {
		if (buf->pos != file->pos || buf->at >= buf->len)
			ret = dir_buf_fill(file, buf);
		if (ret > 0)
			ret = dir_buf_emit(file, buf, ctx);
	}
	return ret;
}

/* Positions are the host's cookies: any, but the end is not known. */
static s64 fusefs_dir_llseek(struct file *file, s64 off, int whence)
{
	if (whence == SEEK_CUR)
		off += (s64)file->pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (off < 0)
		return -EINVAL;
	file->pos = (u64)off;
	if (file->priv)
		((struct dir_buf *)file->priv)->len = 0;	/* a rewind reads anew */
	return off;
}

static void fusefs_dir_release(struct file *file)
{
	kfree(file->priv);
}

static int fusefs_dir_fsync(struct file *file, bool datasync)
{
	struct fuse_fsync_in in = { .fsync_flags = datasync ? FUSE_FSYNC_FDATASYNC : 0 };

	return fuse_simple(FUSE_FSYNCDIR, fuse_node_of(file->inode)->nodeid, &in, sizeof(in), NULL,
			   NULL, 0);
}

const struct file_ops fusefs_dir_ops = {
	.release = fusefs_dir_release,
	.llseek = fusefs_dir_llseek,
	.iterate = fusefs_iterate,
	.fsync = fusefs_dir_fsync,
};

/* Enter one READDIRPLUS entry. "." and ".." have no node and are left out. */
static void bulk_enter(struct dentry *dir, const struct fuse_direntplus *e)
{
	const struct fuse_entry_out *entry = &e->entry_out;
	struct dentry *d;
	struct inode *inode;

	if (!entry->nodeid)
		return;
	inode = fuse_iget(dir->inode->sb, entry);
	if (!inode)
		return;
	d = dcache_add(dir, e->dirent.name, e->dirent.namelen, inode,
		       fuse_expiry(entry->entry_valid, entry->entry_valid_nsec));
	if (d)
		dentry_put(d);
}

/* Enter a reply's entries; the position behind them, which is `pos` if there are none. */
static u64 bulk_enter_all(struct dentry *dir, const u8 *buf, u32 len, u64 pos)
{
	const u32 skip = offsetof(struct fuse_direntplus, dirent);
	u32 at = 0;

	while (at + skip < len) {
		const struct fuse_dirent *d = dirent_at(buf + at + skip, len - at - skip);

		if (!d)
			break;
		bulk_enter(dir, (const struct fuse_direntplus *)(buf + at));
		pos = d->off;
		at += (u32)FUSE_DIRENTPLUS_SIZE((const struct fuse_direntplus *)(buf + at));
	}
	return pos;
}

bool fuse_dir_bulk(struct dentry *dir)
{
	struct fuse_node *node = fuse_node_of(dir->inode);
	u64 pos;
	long len;
	u8 *buf;

	if (!node->listed || ++node->misses < BULK_MISSES)
		return false;
	node->misses = BULK_MISSES / 2;		/* still asking one by one: sooner again */
	buf = kmalloc(BULK_SIZE);
	if (!buf)
		return false;
	len = dir_fetch(dir->inode, FUSE_READDIRPLUS, node->bulk_pos, buf, BULK_SIZE);
	pos = len > 0 ? bulk_enter_all(dir, buf, (u32)len, node->bulk_pos) : node->bulk_pos;
	kfree(buf);
	if (pos == node->bulk_pos) {
		node->listed = false;		/* that was all */
		return false;
	}
	node->bulk_pos = pos;
	return true;
}
