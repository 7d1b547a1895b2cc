/* SPDX-License-Identifier: Apache-2.0 */
/* Extended attributes, xattr(7): who may see and set which, and the twelve system calls. */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/xattr.h>

struct xattr_target {		/* what a call works on: one of both is referenced */
	struct dentry *dentry;
	struct file *file;
	struct inode *inode;
};

static int target_path(struct xattr_target *t, u64 path, bool follow)
{
	int err = namei(AT_FDCWD, path, follow ? LOOKUP_FOLLOW : 0, &t->dentry);

	t->file = NULL;
	if (!err)
		t->inode = t->dentry->inode;
	return err;
}

static int target_fd(struct xattr_target *t, int fd)
{
	int err = file_get_fd(fd, &t->file);

	t->dentry = NULL;
	if (!err)
		t->inode = file_attr_inode(t->file);
	return err;
}

static void target_put(struct xattr_target *t)
{
	if (t->dentry)
		dentry_put(t->dentry);
	if (t->file)
		file_put(t->file);
}

static bool target_readonly(const struct xattr_target *t)
{
	const struct dentry *d = t->dentry ? t->dentry : t->file->dentry;

	return d && mount_readonly(d);
}

static bool xattr_in(const char *name, const char *prefix)
{
	return !strncmp(name, prefix, strlen(prefix));
}

static int xattr_permission(struct inode *inode, const char *name, unsigned mask)
{
	bool root = current->proc->cred.euid == 0;

	if (xattr_in(name, XATTR_TRUSTED_PREFIX))
		return root ? 0 : mask & MAY_WRITE ? -EPERM : -ENODATA;
	if (xattr_in(name, XATTR_SECURITY_PREFIX))
		return root || !(mask & MAY_WRITE) ? 0 : -EPERM;
	if (xattr_in(name, XATTR_USER_PREFIX)) {
		if (!S_ISREG(inode->mode) && !S_ISDIR(inode->mode))
			return mask & MAY_WRITE ? -EPERM : -ENODATA;
		if (S_ISDIR(inode->mode) && (inode->mode & S_ISVTX) && (mask & MAY_WRITE) &&
		    !inode_owner_or_root(inode))
			return -EPERM;
	}
	return inode_permission(inode, mask);
}

static int xattr_name(char name[XATTR_NAME_MAX + 1], u64 uname)
{
	long n = strncpy_from_user(name, uname, XATTR_NAME_MAX + 1);

	if (n < 0)
		return n == -ENAMETOOLONG ? -ERANGE : (int)n;
	return *name ? 0 : -ERANGE;
}

static long xattr_set(struct xattr_target *t, u64 uname, u64 uval, u64 size, int flags)
{
	char name[XATTR_NAME_MAX + 1], *val;
	struct inode *inode = t->inode;
	int err;

	if (flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	err = xattr_name(name, uname);
	if (err)
		return err;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	if (target_readonly(t))
		return -EROFS;
	val = kmalloc(size + 1);
	if (!val)
		return -ENOMEM;
	err = copy_from_user(val, uval, size);
	if (!err)
		err = xattr_permission(inode, name, MAY_WRITE);
	if (!err && (!inode->ops || !inode->ops->setxattr))
		err = -EOPNOTSUPP;
	if (!err) {
		mutex_lock(&inode->lock);
		err = inode->ops->setxattr(inode, name, val, size, flags);
		mutex_unlock(&inode->lock);
	}
	kfree(val);
	return err;
}

static long xattr_get(struct xattr_target *t, u64 uname, u64 uval, u64 size)
{
	char name[XATTR_NAME_MAX + 1], *val;
	struct inode *inode = t->inode;
	long n = xattr_name(name, uname);

	if (n)
		return n;
	n = xattr_permission(inode, name, MAY_READ);
	if (n)
		return n;
	if (!inode->ops || !inode->ops->getxattr)
		return -EOPNOTSUPP;
	size = MIN(size, (u64)XATTR_SIZE_MAX);
	val = size ? kmalloc(size) : NULL;
	if (size && !val)
		return -ENOMEM;
	n = inode->ops->getxattr(inode, name, val, size);
	if (n > 0 && size && copy_to_user(uval, val, (size_t)n))
		n = -EFAULT;
	kfree(val);
	return n;
}

/* Only root sees the names of trusted attributes: the rest of the list moves up. */
static long list_filter(char *list, long n)
{
	long kept = 0, len;

	if (current->proc->cred.euid == 0)
		return n;
	for (long at = 0; at < n; at += len) {
		len = (long)strlen(list + at) + 1;
		if (xattr_in(list + at, XATTR_TRUSTED_PREFIX))
			continue;
		memmove(list + kept, list + at, (size_t)len);
		kept += len;
	}
	return kept;
}

static long xattr_list(struct xattr_target *t, u64 ubuf, u64 size)
{
	struct inode *inode = t->inode;
	char *list;
	long n;

	if (!inode->ops || !inode->ops->listxattr)
		return 0;
	list = kmalloc(XATTR_LIST_MAX);
	if (!list)
		return -ENOMEM;
	n = inode->ops->listxattr(inode, list, XATTR_LIST_MAX);
	if (n > 0)
		n = list_filter(list, n);
	if (n > 0 && size)
		n = (u64)n > size ? -ERANGE : copy_to_user(ubuf, list, (size_t)n) ? -EFAULT : n;
	kfree(list);
	return n;
}

static long xattr_remove(struct xattr_target *t, u64 uname)
{
	char name[XATTR_NAME_MAX + 1];
	struct inode *inode = t->inode;
	int err = xattr_name(name, uname);

	if (err)
		return err;
	if (target_readonly(t))
		return -EROFS;
	err = xattr_permission(inode, name, MAY_WRITE);
	if (err)
		return err;
	if (!inode->ops || !inode->ops->removexattr)
		return -EOPNOTSUPP;
	mutex_lock(&inode->lock);
	err = inode->ops->removexattr(inode, name);
	mutex_unlock(&inode->lock);
	return err;
}

/* Each call in its three forms: by path, by path without following a link, by descriptor. */
#define XATTR_CALL(target, call) do {		\
	struct xattr_target t;			\
	long r = target;			\
						\
	if (r)					\
		return r;			\
	r = call;				\
	target_put(&t);				\
	return r;				\
} while (0)

long sys_setxattr(u64 path, u64 name, u64 val, u64 size, int flags)
{
	XATTR_CALL(target_path(&t, path, true), xattr_set(&t, name, val, size, flags));
}

long sys_lsetxattr(u64 path, u64 name, u64 val, u64 size, int flags)
{
	XATTR_CALL(target_path(&t, path, false), xattr_set(&t, name, val, size, flags));
}

long sys_fsetxattr(int fd, u64 name, u64 val, u64 size, int flags)
{
	XATTR_CALL(target_fd(&t, fd), xattr_set(&t, name, val, size, flags));
}

long sys_getxattr(u64 path, u64 name, u64 val, u64 size)
{
	XATTR_CALL(target_path(&t, path, true), xattr_get(&t, name, val, size));
}

long sys_lgetxattr(u64 path, u64 name, u64 val, u64 size)
{
	XATTR_CALL(target_path(&t, path, false), xattr_get(&t, name, val, size));
}

long sys_fgetxattr(int fd, u64 name, u64 val, u64 size)
{
	XATTR_CALL(target_fd(&t, fd), xattr_get(&t, name, val, size));
}

long sys_listxattr(u64 path, u64 buf, u64 size)
{
	XATTR_CALL(target_path(&t, path, true), xattr_list(&t, buf, size));
}

long sys_llistxattr(u64 path, u64 buf, u64 size)
{
	XATTR_CALL(target_path(&t, path, false), xattr_list(&t, buf, size));
}

long sys_flistxattr(int fd, u64 buf, u64 size)
{
	XATTR_CALL(target_fd(&t, fd), xattr_list(&t, buf, size));
}

long sys_removexattr(u64 path, u64 name)
{
	XATTR_CALL(target_path(&t, path, true), xattr_remove(&t, name));
}

long sys_lremovexattr(u64 path, u64 name)
{
	XATTR_CALL(target_path(&t, path, false), xattr_remove(&t, name));
}

long sys_fremovexattr(int fd, u64 name)
{
	XATTR_CALL(target_fd(&t, fd), xattr_remove(&t, name));
}
