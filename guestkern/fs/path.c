/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths from dentries, the per-process root and working directory, and the calls that read and
 * change them.
 */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

/* Puts "/name" before p, or NULL when it does not fit. */
static char *path_prepend(char *buf, char *p, const char *name, size_t len)
{
	if ((size_t)(p - buf) < len + 1)
		return NULL;
	p -= len;
	memcpy(p, name, len);
	*--p = '/';
	return p;
}

static const struct dentry *path_top(void)
{
	return current && current->proc && current->proc->fs ? current->proc->fs->root : NULL;
}

char *dentry_path(struct dentry *dentry, char *buf, size_t size)
{
	static const char deleted[] = " (deleted)";
	const struct dentry *top = path_top(), *d = dentry;
	char *p = buf + size - 1;

	if (!size)
		return NULL;
	*p = 0;
	if (d->flags & DENTRY_DELETED) {
		if (size < sizeof(deleted) + 1)
			return NULL;
		p -= sizeof(deleted) - 1;
		memcpy(p, deleted, sizeof(deleted) - 1);
	}
	if (d->parent == d && !d->mount)	/* a nameless object: its label */
		return path_prepend(buf, p, d->name, d->len) ? p - d->len : NULL;
	while (d != top) {
		if (d->parent == d) {
			if (!d->mount || !d->mount->mountpoint)
				break;
			d = d->mount->mountpoint;
			continue;
		}
		p = path_prepend(buf, p, d->name, d->len);
		if (!p)
			return NULL;
		d = d->parent;
	}
	if (*p != '/')
		p = path_prepend(buf, p, "", 0);
	return p;
}

struct fs_context *fs_new(void)
{
	struct fs_context *fs = kzalloc(sizeof(*fs));

	if (!fs)
		return NULL;
	fs->refs = 1;
	fs->umask = 022;
	fs->root = fs->cwd = root_dentry();
	if (fs->root) {
		dentry_get(fs->root);
		dentry_get(fs->cwd);
	}
	return fs;
}

struct fs_context *fs_fork(struct fs_context *old)
{
	struct fs_context *fs = kzalloc(sizeof(*fs));

	if (!fs)
		return NULL;
	*fs = *old;
	fs->refs = 1;
	if (fs->root) {
		dentry_get(fs->root);
		dentry_get(fs->cwd);
	}
	return fs;
}

void fs_get(struct fs_context *fs)
{
	fs->refs++;
}

void fs_put(struct fs_context *fs)
{
	if (--fs->refs)
		return;
	if (fs->root) {
		dentry_put(fs->root);
		dentry_put(fs->cwd);
	}
	kfree(fs);
}

long sys_getcwd(u64 buf, u64 size)
{
	struct dentry *cwd = current->proc->fs->cwd;
	char *text, *path;
	long n;

	if (cwd->flags & DENTRY_DELETED)
		return -ENOENT;
	text = kmalloc(PATH_MAX);
	if (!text)
		return -ENOMEM;
	path = dentry_path(cwd, text, PATH_MAX);
	n = path ? (long)strlen(path) + 1 : -ENAMETOOLONG;
	if (n > 0 && (u64)n > size)
		n = -ERANGE;
	else if (n > 0 && copy_to_user(buf, path, (size_t)n))
		n = -EFAULT;
	kfree(text);
	return n;
}

/* Takes over the reference. */
static long path_set_cwd(struct dentry *d)
{
	struct fs_context *fs = current->proc->fs;
	int err = inode_is_dir(d->inode) ? inode_permission(d->inode, MAY_EXEC) : -ENOTDIR;

	if (err) {
		dentry_put(d);
		return err;
	}
	dentry_put(fs->cwd);
	fs->cwd = d;
	return 0;
}

long sys_chdir(u64 path)
{
	struct dentry *d;
	int err = namei(AT_FDCWD, path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &d);

	return err ? err : path_set_cwd(d);
}

long sys_fchdir(int fd)
{
	struct file *file = fd_file(fd);
	struct dentry *d;

	if (!file)
		return -EBADF;
	d = file->dentry;
	if (d)
		dentry_get(d);
	file_put(file);
	return d ? path_set_cwd(d) : -ENOTDIR;
}

long sys_chroot(u64 path)
{
	struct fs_context *fs = current->proc->fs;
	struct dentry *d;
	int err = namei(AT_FDCWD, path, LOOKUP_FOLLOW | LOOKUP_DIRECTORY, &d);

	if (err)
		return err;
	err = inode_permission(d->inode, MAY_EXEC);
	if (!err && !capable_root())
		err = -EPERM;
	if (err) {
		dentry_put(d);
		return err;
	}
	dentry_put(fs->root);
	fs->root = d;
	return 0;
}

long sys_umask(u32 mask)
{
	struct fs_context *fs = current->proc->fs;
	u32 old = fs->umask;

	fs->umask = mask & 0777;
	return old;
}
