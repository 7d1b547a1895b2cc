/* SPDX-License-Identifier: Apache-2.0 */
/* Open files: life, the kinds without a name, seeking, and the kernel's own reads. */
#include "fs/vfs_internal.h"

#include <linux/fs.h>
#include "fs/pagecache.h"

int (*vfs_fifo_open)(struct inode *inode, struct file *file);
int (*vfs_device_open)(struct inode *inode, struct file *file);
long (*vfs_pipe_size)(struct file *file, u64 size);
void (*vfs_epoll_release)(struct file *file);
void (*vfs_unmap)(struct inode *inode, u64 index, u64 n);

struct file *file_alloc(struct dentry *dentry, struct inode *inode, u32 flags)
{
	struct file *file = kzalloc(sizeof(*file));

	if (!file)
		return NULL;
	file->refs = 1;
	file->flags = flags;
	file->dentry = dentry;
	file->inode = inode;
	if (dentry)
		dentry_get(dentry);
	inode_get(inode);
	list_init(&file->epoll);
	mutex_init(&file->pos_lock);
	return file;
}

struct inode *file_attr_inode(const struct file *file)
{
	return file->dentry && file->dentry->inode ? file->dentry->inode : file->inode;
}

/* The last writer is gone: what mappings dirtied is final now. */
static void file_write_out(struct file *file)
{
	struct inode *inode = file->inode;

	inode->writers--;
	if (inode->writers > 0 || !inode->cache)
		return;
	inode->cache->mapped_dirty = false;
	pagecache_writeback(inode);
}

void file_get(struct file *file)
{
	file->refs++;
}

void file_put(struct file *file)
{
	kassert(file->refs);
	if (--file->refs)
		return;
	file->refs = 1;		/* for what release() may do with it */
	if (vfs_epoll_release && !list_empty(&file->epoll))
		vfs_epoll_release(file);
	locks_release_file(file);
	if (FILE_WRITABLE(file))
		file_write_out(file);
	if (file->ops && file->ops->release)
		file->ops->release(file);
	if (file->inode)
		inode_put(file->inode);
	if (file->dentry)
		dentry_put(file->dentry);
	kfree(file);
}

static struct super *anon_super(void)
{
	static struct super *sb;

	if (!sb)
		sb = super_new("anon_inodefs", 0x09041934);	/* ANON_INODE_FS_MAGIC */
	return sb;
}

struct file *file_new_inode(struct inode *inode, const struct file_ops *ops, const char *label,
			    void *priv, u32 flags)
{
	struct file *file = file_alloc(NULL, inode, flags);

	if (!file)
		return NULL;
	file->ops = ops;
	file->label = label;
	file->priv = priv;
	if (FILE_WRITABLE(file))
		inode->writers++;
	return file;
}

struct file *file_new_anon(const struct file_ops *ops, const char *label, void *priv, u32 flags)
{
	struct super *sb = anon_super();
	u32 mode = 0600;
	struct inode *inode;
	struct file *file;

	if (!strcmp(label, "pipe"))
		mode = S_IFIFO | 0600;
	else if (!strcmp(label, "socket"))
		mode = S_IFSOCK | 0777;
	inode = sb ? inode_new_ino(sb, mode) : NULL;
	if (!inode)
		return NULL;
	inode->uid = current->proc->cred.fsuid;
	inode->gid = current->proc->cred.fsgid;
	file = file_new_inode(inode, ops, label, priv, flags);
	inode_put(inode);
	return file;
}

int file_get_fd(int fd, struct file **out)
{
	*out = fd_file(fd);
	if (!*out)
		return -EBADF;
	if ((*out)->flags & O_PATH) {
		file_put(*out);
		return -EBADF;
	}
	return 0;
}

long file_read_kernel(struct file *file, void *buf, size_t len, u64 pos)
{
	if (!file->ops || !file->ops->read)
		return -EINVAL;
	return file->ops->read(file, buf, len, &pos);
}

static s64 seek_data_hole(struct inode *inode, u64 off, bool hole)
{
	u64 index;

	if (off >= inode->size)
		return -ENXIO;
	if (!pc_is_storage(inode))	/* the host's holes are not known: all is data */
		return hole ? (s64)inode->size : (s64)off;
	index = pagecache_next(inode, off >> PAGE_SHIFT, hole);
	if (index == ~0ull || index << PAGE_SHIFT >= inode->size)
		return hole ? (s64)inode->size : -ENXIO;
	return (s64)MAX(off, index << PAGE_SHIFT);
}

s64 generic_llseek(struct file *file, s64 off, int whence)
{
	struct inode *inode = file->inode;
	s64 pos;

	switch (whence) {
	case SEEK_SET:
		pos = off;
		break;
	case SEEK_CUR:
		if (__builtin_add_overflow(off, (s64)file->pos, &pos))
			return -EINVAL;
		break;
	case SEEK_END:
		inode_refresh(inode);
		if (__builtin_add_overflow(off, (s64)inode->size, &pos))
			return -EINVAL;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (off < 0)
			return -ENXIO;
		pos = seek_data_hole(inode, (u64)off, whence == SEEK_HOLE);
		if (pos < 0)
			return pos;
		break;
	default:
		return -EINVAL;
	}
	if (pos < 0)
		return -EINVAL;
	file->pos = (u64)pos;
	return pos;
}

s64 dir_llseek(struct file *file, s64 off, int whence)
{
	if (whence == SEEK_CUR)
		off += (s64)file->pos;
	else if (whence != SEEK_SET)
		return -EINVAL;
	if (off < 0)
		return -EINVAL;
	file->pos = (u64)off;
	return off;
}

bool dir_emit_dots(struct file *file, struct dir_context *ctx)
{
	struct dentry *d = file->dentry;
	u64 ino = file_attr_inode(file)->ino, up = ino;

	if (d && d->parent && d->parent->inode)
		up = d->parent->inode->ino;
	if (file->pos == 0) {
		if (ctx->emit(ctx, ".", 1, ino, DT_DIR, 1))
			return false;
		file->pos = 1;
	}
	if (file->pos == 1) {
		if (ctx->emit(ctx, "..", 2, up, DT_DIR, 2))
			return false;
		file->pos = 2;
	}
	return true;
}
