/* SPDX-License-Identifier: Apache-2.0 */
/* getdents(2) and getdents64(2). */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

struct dirent_old {		/* struct linux_dirent; the type is in the last byte */
	u64 ino, off;
	u16 reclen;
	char name[];
};

struct dirent_new {		/* struct linux_dirent64 */
	u64 ino, off;
	u16 reclen;
	u8 type;
	char name[];
};

struct getdents {
	struct dir_context ctx;
	u64 buf;
	u32 left, used;
	u64 next_pos;
	int err;
};

/* One entry: built here, copied out at once. */
static int getdents_put(struct getdents *g, const void *entry, size_t len, u64 next_pos)
{
	if (len > g->left) {
		if (!g->used)
			g->err = -EINVAL;	/* not even one fits */
		return 1;
	}
	if (copy_to_user(g->buf + g->used, entry, len)) {
		g->err = -EFAULT;
		return 1;
	}
	g->used += (u32)len;
	g->left -= (u32)len;
	g->next_pos = next_pos;
	return 0;
}

static int getdents64_emit(struct dir_context *ctx, const char *name, size_t len, u64 ino,
			   unsigned type, u64 next_pos)
{
	u64 mem[(sizeof(struct dirent_new) + NAME_MAX + 1) / 8 + 1] = { 0 };
	struct dirent_new *d = (struct dirent_new *)mem;

	if (len > NAME_MAX)
		return 0;
	d->ino = ino;
	d->off = next_pos;
	d->reclen = (u16)ALIGN_UP(offsetof(struct dirent_new, name) + len + 1, 8ul);
	d->type = (u8)type;
	memcpy(d->name, name, len);
	return getdents_put(container_of(ctx, struct getdents, ctx), d, d->reclen, next_pos);
}

static int getdents_emit(struct dir_context *ctx, const char *name, size_t len, u64 ino,
			 unsigned type, u64 next_pos)
{
	u64 mem[(sizeof(struct dirent_old) + NAME_MAX + 2) / 8 + 2] = { 0 };
	struct dirent_old *d = (struct dirent_old *)mem;

	if (len > NAME_MAX)
		return 0;
	d->ino = ino;
	d->off = next_pos;
	d->reclen = (u16)ALIGN_UP(offsetof(struct dirent_old, name) + len + 2, 8ul);
	memcpy(d->name, name, len);
	((char *)d)[d->reclen - 1] = (char)type;
	return getdents_put(container_of(ctx, struct getdents, ctx), d, d->reclen, next_pos);
}

static long getdents_file(struct file *file, struct getdents *g)
{
	struct dentry *d = file->dentry;
	int err;

	if (!inode_is_dir(file->inode) || !file->ops->iterate)
		return -ENOTDIR;
	if (d && (d->flags & DENTRY_DELETED))
		return -ENOENT;
	err = file->ops->iterate(file, &g->ctx);
	if (g->used) {
		file->pos = g->next_pos;
		return g->used;
	}
	return g->err ? g->err : err;
}

static long getdents_fd(int fd, u64 buf, u32 count,
			int (*emit)(struct dir_context *, const char *, size_t, u64, unsigned, u64))
{
	struct getdents g = { .ctx.emit = emit, .buf = buf, .left = count };
	struct file *file;
	long n = file_get_fd(fd, &file);

	if (n)
		return n;
	n = getdents_file(file, &g);
	file_put(file);
	return n;
}

long sys_getdents64(int fd, u64 buf, u32 count)
{
	return getdents_fd(fd, buf, count, getdents64_emit);
}

long sys_getdents(int fd, u64 buf, u32 count)
{
	return getdents_fd(fd, buf, count, getdents_emit);
}
