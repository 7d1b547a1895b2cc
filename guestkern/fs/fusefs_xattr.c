/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes of the FUSE client. The server has user.* only; questions for other
 * namespaces, which programs ask at every turn, are answered here without a request.
 */
#include <linux/limits.h>
#include "fs/fusefs.h"
#include "mm/uaccess.h"

static bool name_is_user(const char *name)
{
	return !strncmp(name, "user.", 5);
}

/* GETXATTR or LISTXATTR; size 0 asks for the length alone. buf may be the user's. */
static long xattr_fetch(u32 opcode, struct inode *inode, const char *name, void *buf, size_t size)
{
	struct fuse_getxattr_in in = { .size = (u32)MIN(size, (size_t)XATTR_SIZE_MAX) };
	struct fuse_getxattr_out out;
	struct fuse_args args;
	void *copy = NULL;
	long len;

	fuse_args_init(&args, opcode, fuse_node_of(inode)->nodeid);
	fuse_in(&args, &in, sizeof(in));
	if (name)
		fuse_in(&args, name, strlen(name) + 1);
	if (!in.size) {
		fuse_out(&args, &out, sizeof(out));
		len = fuse_send(&args);
		return len < 0 ? len : len < (long)sizeof(out) ? -EIO : (long)out.size;
	}
	copy = kmalloc(in.size);
	if (!copy)
		return -ENOMEM;
	fuse_out(&args, copy, in.size);
	len = fuse_send(&args);
	if (len > 0 && copy_out(buf, copy, (size_t)len))
		len = -EFAULT;
	kfree(copy);
	return len;
}

long fusefs_getxattr(struct inode *inode, const char *name, void *buf, size_t size)
{
	if (!name_is_user(name))
		return -ENODATA;
	return xattr_fetch(FUSE_GETXATTR, inode, name, buf, size);
}

long fusefs_listxattr(struct inode *inode, void *buf, size_t size)
{
	return xattr_fetch(FUSE_LISTXATTR, inode, NULL, buf, size);
}

int fusefs_setxattr(struct inode *inode, const char *name, const void *val, size_t size, int flags)
{
	struct fuse_setxattr_in in = { .size = (u32)size, .flags = (u32)flags };
	struct fuse_args args;
	void *copy;
	int err;

	if (!name_is_user(name))
		return -EOPNOTSUPP;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	copy = kmalloc(size + 1);
	if (!copy)
		return -ENOMEM;
	err = copy_in(copy, val, size);
	if (!err) {
		fuse_args_init(&args, FUSE_SETXATTR, fuse_node_of(inode)->nodeid);
		fuse_in(&args, &in, FUSE_COMPAT_SETXATTR_IN_SIZE);
		fuse_in(&args, name, strlen(name) + 1);
		if (size)
			fuse_in(&args, copy, size);
		err = (int)fuse_send(&args);
	}
	kfree(copy);
	fuse_attr_expire(inode);
	return MIN(err, 0);
}

int fusefs_removexattr(struct inode *inode, const char *name)
{
	if (!name_is_user(name))
		return -ENODATA;
	fuse_attr_expire(inode);
	return fuse_simple(FUSE_REMOVEXATTR, fuse_node_of(inode)->nodeid, NULL, 0, name, NULL, 0);
}
