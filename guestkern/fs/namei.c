/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Path walk, path_resolution(7): from a text to dentries, across mounts and symbolic links. A
 * link's text is put in front of the rest of the path, so there is no recursion.
 *
 * Usual course: nd_begin(), nd_parent() to the last component, then what the system call does
 * with it: nd_lookup_last(), nd_follow() and nd_parent() again for a link, nd_end().
 */
#include "fs/vfs_internal.h"

#include <linux/magic.h>

int pathname_get(struct pathname *pn, u64 path)
{
	long n = strncpy_from_user(pn->small, path, sizeof(pn->small));

	pn->s = pn->small;
	if (n != -ENAMETOOLONG)
		return n < 0 ? (int)n : 0;
	pn->s = kmalloc(PATH_MAX);
	if (!pn->s)
		return -ENOMEM;
	n = strncpy_from_user(pn->s, path, PATH_MAX);
	if (n < 0)
		pathname_put(pn);
	return n < 0 ? (int)n : 0;
}

void pathname_put(struct pathname *pn)
{
	if (pn->s != pn->small)
		kfree(pn->s);
	pn->s = pn->small;
}

static int nd_start(struct nameidata *nd, int dfd)
{
	struct fs_context *fs = current->proc->fs;
	struct file *file;

	if (*nd->rest == '/' && !(nd->flags & LOOKUP_IN_ROOT)) {
		if (nd->flags & LOOKUP_BENEATH)
			return -EXDEV;
		nd->at = fs->root;
	} else if (dfd == AT_FDCWD) {
		nd->at = fs->cwd;
	} else {
		file = fd_file(dfd);
		if (!file)
			return -EBADF;
		nd->at = file->dentry;
		if (!nd->at || (*nd->rest && !inode_is_dir(nd->at->inode))) {
			file_put(file);
			return -ENOTDIR;
		}
		dentry_get(nd->at);
		file_put(file);
		return 0;
	}
	dentry_get(nd->at);
	return 0;
}

int nd_begin(struct nameidata *nd, int dfd, const char *path, unsigned flags)
{
	int err;

	memset(nd, 0, sizeof(*nd));
	nd->rest = path;
	nd->flags = flags;
	if (!*path && !(flags & LOOKUP_EMPTY))
		return -ENOENT;
	err = nd_start(nd, dfd);
	if (err) {
		nd->at = NULL;
		return err;
	}
	nd->root = flags & LOOKUP_IN_ROOT ? nd->at : current->proc->fs->root;
	nd->start = nd->at;
	dentry_get(nd->root);
	dentry_get(nd->start);
	return 0;
}

void nd_end(struct nameidata *nd)
{
	if (!nd->at)
		return;
	dentry_put(nd->at);
	dentry_put(nd->root);
	dentry_put(nd->start);
	kfree(nd->buf);
	nd->at = NULL;
	nd->buf = NULL;
}

static void nd_move(struct nameidata *nd, struct dentry *to)	/* consumes `to` */
{
	dentry_put(nd->at);
	nd->at = to;
}

static int nd_up(struct nameidata *nd)
{
	struct dentry *d = nd->at;

	if ((nd->flags & LOOKUP_BENEATH) && d == nd->start)
		return -EXDEV;
	while (d != nd->root && d->parent == d && d->mount && d->mount->mountpoint) {
		if (nd->flags & LOOKUP_NO_XDEV)
			return -EXDEV;
		d = d->mount->mountpoint;
	}
	if (d == nd->root)
		return 0;
	dentry_get(d->parent);
	nd_move(nd, mount_cross(d->parent));
	return 0;
}

static int nd_dir_check(const struct nameidata *nd)
{
	if (!inode_is_dir(nd->at->inode))
		return -ENOTDIR;
	return inode_permission(nd->at->inode, MAY_EXEC);
}

/*
 * Put the text of a link in front of what is left; the slash behind the link decides on must_dir.
 */
static int nd_push(struct nameidata *nd, const char *text, size_t len)
{
	size_t rest = strlen(nd->rest);
	char *buf = kmalloc(len + rest + 2);

	if (!buf)
		return -ENOMEM;
	memcpy(buf, text, len);
	buf[len] = '/';
	memcpy(buf + len + 1, nd->rest, rest + 1);
	if (!rest)
		buf[len] = 0;
	kfree(nd->buf);
	nd->buf = buf;
	nd->rest = buf;
	return 0;
}

static int nd_follow_magic(struct nameidata *nd, struct inode *inode)
{
	struct dentry *target;
	int err;

	if (nd->flags & (LOOKUP_NO_MAGICLINKS | LOOKUP_BENEATH | LOOKUP_IN_ROOT))
		return nd->flags & LOOKUP_NO_MAGICLINKS ? -ELOOP : -EXDEV;
	err = inode->ops->follow(inode, &target);
	if (err)
		return err;
	if ((nd->flags & LOOKUP_NO_XDEV) && target->mount != nd->at->mount) {
		dentry_put(target);
		return -EXDEV;
	}
	nd_move(nd, target);
	return 0;
}

int nd_follow(struct nameidata *nd, struct dentry *link)
{
	struct inode *inode = link->inode;
	const char *text;
	long len;
	int err;

	nd->must_dir |= nd->slash;
	if ((nd->flags & LOOKUP_NO_SYMLINKS) || ++nd->links > SYMLINK_MAX)
		return -ELOOP;
	if (inode->ops->follow)
		return nd_follow_magic(nd, inode);
	len = inode_link_text(inode, &text);
	if (len < 0)
		return (int)len;
	if (!len)
		return -ENOENT;
	if (*text == '/') {
		if (nd->flags & LOOKUP_BENEATH)
			return -EXDEV;
		/* Linux has not looked at the root yet then, and says so. */
		if ((nd->flags & LOOKUP_NO_XDEV) && nd->start != nd->root)
			return -EXDEV;
	}
	err = nd_push(nd, text, (size_t)len);
	if (!err && *text == '/') {
		dentry_get(nd->root);
		nd_move(nd, nd->root);
	}
	return err;
}

/* Look up a name in nd->at and cross what is mounted there; negative dentries too. */
static int nd_child(struct nameidata *nd, const char *name, size_t len, bool locked,
		    struct dentry **out)
{
	struct dentry *d;
	int err;

	if (len > NAME_MAX)
		return -ENAMETOOLONG;
	/* name lies in the text, with the rest of the path behind it */
	err = locked ? dcache_lookup_locked(nd->at, name, len, name, &d) :
		       dcache_lookup(nd->at, name, len, name, &d);
	if (err)
		return err;
	if (d->mounted) {
		if (nd->flags & LOOKUP_NO_XDEV) {
			dentry_put(d);
			return -EXDEV;
		}
		d = mount_cross(d);
	}
	*out = d;
	return 0;
}

/* One component that others follow. */
static int nd_step(struct nameidata *nd, const char *name, size_t len)
{
	struct dentry *d;
	int err;

	if (name_is(name, len, "."))
		return 0;
	if (name_is(name, len, ".."))
		return nd_up(nd);
	err = nd_child(nd, name, len, false, &d);
	if (err)
		return err;
	if (!d->inode) {
		dentry_put(d);
		return -ENOENT;
	}
	if (S_ISLNK(d->inode->mode)) {
		nd->slash = false;
		err = nd_follow(nd, d);
		dentry_put(d);
		return err;
	}
	nd_move(nd, d);
	return 0;
}

static enum last_type nd_type(const char *name, size_t len)
{
	if (name_is(name, len, "."))
		return LAST_DOT;
	return name_is(name, len, "..") ? LAST_DOTDOT : LAST_NORM;
}

int nd_parent(struct nameidata *nd)
{
	const char *p, *q, *r;
	int err;

	for (;;) {
		for (p = nd->rest; *p == '/'; p++)
			;
		if (!*p) {	/* "/", or a magic link was the last component */
			nd->type = p == nd->rest ? LAST_DOT : LAST_ROOT;
			nd->last_len = 0;
			nd->slash = false;
			return 0;
		}
		for (q = p; *q && *q != '/'; q++)
			;
		for (r = q; *r == '/'; r++)
			;
		err = nd_dir_check(nd);
		if (err)
			return err;
		nd->rest = r;
		if (!*r)
			break;
		err = nd_step(nd, p, (size_t)(q - p));
		if (err)
			return err;
	}
	nd->last = p;
	nd->last_len = (size_t)(q - p);
	nd->slash = r != q;
	nd->type = nd_type(p, nd->last_len);
	return 0;
}

int nd_lookup_last(struct nameidata *nd, bool locked, struct dentry **out)
{
	int err = 0;

	if (nd->type == LAST_NORM)
		return nd_child(nd, nd->last, nd->last_len, locked, out);
	if (nd->type == LAST_DOTDOT)
		err = nd_up(nd);
	if (err)
		return err;
	dentry_get(nd->at);
	*out = nd->at;
	return 0;
}

bool nd_wants_follow(const struct nameidata *nd)
{
	return (nd->flags & LOOKUP_FOLLOW) || nd->slash || nd->must_dir;
}

int nd_lookup(struct nameidata *nd, struct dentry **out)
{
	struct dentry *d;
	int err;

	for (;;) {
		err = nd_parent(nd);
		if (!err)
			err = nd_lookup_last(nd, false, &d);
		if (err)
			return err;
		if (!d->inode) {
			err = -ENOENT;
			break;
		}
		/* What a magic link gave is the object itself, a link too. */
		if (S_ISLNK(d->inode->mode) && nd->type == LAST_NORM && nd_wants_follow(nd)) {
			err = nd_follow(nd, d);
			dentry_put(d);
			if (err)
				return err;
			continue;
		}
		if ((nd->slash || nd->must_dir || (nd->flags & LOOKUP_DIRECTORY)) &&
		    !inode_is_dir(d->inode)) {
			err = -ENOTDIR;
			break;
		}
		*out = d;
		return 0;
	}
	dentry_put(d);
	return err;
}

static int namei_text(int dfd, const char *path, unsigned flags, struct dentry **out)
{
	struct nameidata nd;
	int err = nd_begin(&nd, dfd, path, flags);

	if (!err)
		err = nd_lookup(&nd, out);
	nd_end(&nd);
	return err;
}

int path_lookup(int dfd, const char *path, bool follow, struct dentry **out)
{
	return namei_text(dfd, path, follow ? LOOKUP_FOLLOW : 0, out);
}

int namei(int dfd, u64 path, unsigned flags, struct dentry **out)
{
	struct pathname pn;
	int err = pathname_get(&pn, path);

	if (err)
		return err;
	err = namei_text(dfd, pn.s, flags, out);
	pathname_put(&pn);
	return err;
}

int namei_at(int dfd, u64 path, int at_flags, struct dentry **out)
{
	unsigned flags = at_flags & AT_SYMLINK_NOFOLLOW ? 0 : LOOKUP_FOLLOW;

	if (at_flags & AT_EMPTY_PATH)
		flags |= LOOKUP_EMPTY;
	return namei(dfd, path, flags, out);
}
