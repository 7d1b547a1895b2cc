/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes of tmpfs objects: user., trusted. and security., in a list each. Who may
 * see which is decided in xattr.c.
 */
#include "fs/tmpfs.h"

#include <linux/xattr.h>

#define XATTR_BYTES_MAX (256ull << 10)	/* of one object */

struct tmpfs_xattr {
	struct list link;
	size_t size;
	char *name;
	u8 value[];
};

static bool xattr_supported(const char *name)
{
	return !strncmp(name, XATTR_USER_PREFIX, XATTR_USER_PREFIX_LEN) ||
	       !strncmp(name, XATTR_TRUSTED_PREFIX, XATTR_TRUSTED_PREFIX_LEN) ||
	       !strncmp(name, XATTR_SECURITY_PREFIX, XATTR_SECURITY_PREFIX_LEN);
}

static struct tmpfs_xattr *xattr_find(struct tmpfs_inode *ti, const char *name)
{
	struct tmpfs_xattr *x;

	list_for_each(x, &ti->xattrs, link) {
		if (!strcmp(x->name, name))
			return x;
	}
	return NULL;
}

static void xattr_del(struct tmpfs_inode *ti, struct tmpfs_xattr *x)
{
	ti->xattr_bytes -= x->size + strlen(x->name);
	list_del(&x->link);
	kfree(x->name);
	kfree(x);
}

void tmpfs_xattr_free(struct tmpfs_inode *ti)
{
	while (!list_empty(&ti->xattrs))
		xattr_del(ti, list_first(&ti->xattrs, struct tmpfs_xattr, link));
}

/* buf is a kernel buffer, as xattr.c hands it over. */
long tmpfs_getxattr(struct inode *inode, const char *name, void *buf, size_t size)
{
	struct tmpfs_xattr *x;

	if (!xattr_supported(name))
		return -EOPNOTSUPP;
	x = xattr_find(tmpfs_i(inode), name);
	if (!x)
		return -ENODATA;
	if (!size)
		return (long)x->size;
	if (x->size > size)
		return -ERANGE;
	memcpy(buf, x->value, x->size);
	return (long)x->size;
}

long tmpfs_listxattr(struct inode *inode, void *buf, size_t size)
{
	struct tmpfs_xattr *x;
	size_t need = 0;

	list_for_each(x, &tmpfs_i(inode)->xattrs, link) {
		size_t len = strlen(x->name) + 1;

		if (size) {
			if (need + len > size)
				return -ERANGE;
			memcpy((char *)buf + need, x->name, len);
		}
		need += len;
	}
	return (long)need;
}

int tmpfs_setxattr(struct inode *inode, const char *name, const void *val, size_t size, int flags)
{
	struct tmpfs_inode *ti = tmpfs_i(inode);
	struct tmpfs_xattr *old, *x;

	if (!xattr_supported(name))
		return -EOPNOTSUPP;
	old = xattr_find(ti, name);
	if (old && (flags & XATTR_CREATE))
		return -EEXIST;
	if (!old && (flags & XATTR_REPLACE))
		return -ENODATA;
	if (ti->xattr_bytes + size + strlen(name) > XATTR_BYTES_MAX)
		return -ENOSPC;
	x = kmalloc(sizeof(*x) + size);
	if (!x)
		return -ENOMEM;
	x->name = kstrdup(name);
	if (!x->name) {
		kfree(x);
		return -ENOMEM;
	}
	x->size = size;
	memcpy(x->value, val, size);
	if (old)
		xattr_del(ti, old);
	list_add_tail(&ti->xattrs, &x->link);
	ti->xattr_bytes += size + strlen(name);
	inode->ctime = inode_now();
	return 0;
}

int tmpfs_removexattr(struct inode *inode, const char *name)
{
	struct tmpfs_inode *ti = tmpfs_i(inode);
	struct tmpfs_xattr *x;

	if (!xattr_supported(name))
		return -EOPNOTSUPP;
	x = xattr_find(ti, name);
	if (!x)
		return -ENODATA;
	xattr_del(ti, x);
	inode->ctime = inode_now();
	return 0;
}
