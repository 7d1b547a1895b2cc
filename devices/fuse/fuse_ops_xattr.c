/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended attributes: user.* of files and directories. Nothing else exists for the guest, so that
 * the frequent questions for security.* and POSIX ACLs are answered without asking the host.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

static bool xattr_name_shown(const char *name)
{
	return strncmp(name, "user.", 5) == 0;
}

/* A name of the request, and whether the node can have it. -ENODATA: it cannot. */
static int xattr_begin(struct fuse_req *req, struct fuse_node **node, char name[XATTR_NAME_MAX + 1])
{
	int err = req_string(req, name, XATTR_NAME_MAX + 1);

	if (err < 0)
		return err == -ENAMETOOLONG ? -ERANGE : err;
	*node = req_node(req);
	if (!*node)
		return -ESTALE;
	if (!(*node)->ex || !(S_ISREG((*node)->mode) || S_ISDIR((*node)->mode)) ||
	    !xattr_name_shown(name))
		return -ENODATA;
	return 0;
}

/* The value, or with size 0 its length, as both calls reply it. */
static int xattr_reply(struct fuse_req *req, uint32_t size, const void *val, size_t len)
{
	struct fuse_getxattr_out out = { .size = (uint32_t)len };

	if (size == 0)
		return req_put(req, &out, sizeof(out));
	if (len > size)
		return -ERANGE;
	return req_put(req, val, len);
}

int op_getxattr(struct fuse_req *req)
{
	char name[XATTR_NAME_MAX + 1];
	struct fuse_getxattr_in in;
	struct fuse_node *node;
	int fd, err = req_pull(req, &in, sizeof(in));
	ssize_t n = 0;
	char *val;

	if (err == 0)
		err = xattr_begin(req, &node, name);
	if (err < 0)
		return err;
	val = malloc(XATTR_SIZE_MAX);
	if (!val)
		return -ENOMEM;
	fd = fd_get(req->srv, node, FD_READ);
	if (fd >= 0) {
		n = fgetxattr(fd, name, val, XATTR_SIZE_MAX);
		err = n < 0 ? -errno : 0;
		fd_put(req->srv, node, FD_READ);
	} else {
		err = fd;
	}
	if (err == 0)
		err = xattr_reply(req, in.size, val, (size_t)n);
	free(val);
	return err;
}

/* Leave only the names that are shown; the new length. */
static size_t xattr_filter(char *list, size_t len)
{
	size_t out = 0;

	for (size_t at = 0, n; at < len; at += n) {
		n = strnlen(list + at, len - at) + 1;
		if (at + n > len)
			break;
		if (!xattr_name_shown(list + at))
			continue;
		memmove(list + out, list + at, n);
		out += n;
	}
	return out;
}

int op_listxattr(struct fuse_req *req)
{
	struct fuse_node *node = req_node(req);
	struct fuse_getxattr_in in;
	int fd, err = req_pull(req, &in, sizeof(in));
	ssize_t n = 0;
	char *list;

	if (err < 0)
		return err;
	if (!node)
		return -ESTALE;
	if (!node->ex || !(S_ISREG(node->mode) || S_ISDIR(node->mode)))
		return xattr_reply(req, in.size, "", 0);
	list = malloc(XATTR_LIST_MAX);
	if (!list)
		return -ENOMEM;
	fd = fd_get(req->srv, node, FD_READ);
	if (fd >= 0) {
		n = flistxattr(fd, list, XATTR_LIST_MAX);
		err = n < 0 ? -errno : 0;
		fd_put(req->srv, node, FD_READ);
	} else {
		err = fd;
	}
	if (err == 0)
		err = xattr_reply(req, in.size, list, xattr_filter(list, (size_t)n));
	free(list);
	return err;
}

/* Common end of the two that change something. val NULL: remove. */
static int xattr_change(struct fuse_req *req, struct fuse_node *node, const char *name,
			const void *val, size_t size, uint32_t flags)
{
	int fd, err;

	if (!node->ex->rw)
		return -EROFS;
	fd = fd_get(req->srv, node, FD_READ);
	if (fd < 0)
		return fd;
	err = val ? fsetxattr(fd, name, val, size, (int)flags) : fremovexattr(fd, name);
	err = err < 0 ? -errno : 0;
	fd_put(req->srv, node, FD_READ);
	return err;
}

/* FUSE_SETXATTR_EXT is not offered, so the header is the short one. */
int op_setxattr(struct fuse_req *req)
{
	struct fuse_setxattr_in in = { 0 };
	char name[XATTR_NAME_MAX + 1];
	struct fuse_node *node;
	char *val;
	int err = req_pull(req, &in, FUSE_COMPAT_SETXATTR_IN_SIZE);

	if (err == 0)
		err = xattr_begin(req, &node, name);
	if (err < 0)
		return err == -ENODATA ? -EOPNOTSUPP : err;
	if (in.size > XATTR_SIZE_MAX || (in.flags & ~(uint32_t)(XATTR_CREATE | XATTR_REPLACE)))
		return -EINVAL;
	val = malloc(in.size + 1);
	if (!val)
		return -ENOMEM;
	err = req_pull(req, val, in.size);
	if (err == 0)
		err = xattr_change(req, node, name, val, in.size, in.flags);
	free(val);
	return err;
}

int op_removexattr(struct fuse_req *req)
{
	char name[XATTR_NAME_MAX + 1];
	struct fuse_node *node;
	int err = xattr_begin(req, &node, name);

	return err < 0 ? err : xattr_change(req, node, name, NULL, 0, 0);
}
