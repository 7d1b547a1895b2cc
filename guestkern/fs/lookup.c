/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up one name: the dcache first, then the file system. A miss lets the file system
 * prefetch the whole rest of the path (walk), so that a path costs one host request, not one a
 * component. May sleep; the directory's lock is held over a miss, so that a name is looked up once.
 */
#include "fs/vfs_internal.h"

#include <linux/magic.h>
#include "husk/fdt.h"

struct vfs_stats vfs_stats;

/* Counted and traced is what may be a request to the host: not what an overlay passes on. */
static bool lookup_counts(const struct super *sb)
{
	return sb->magic != OVERLAYFS_SUPER_MAGIC && sb->magic != TMPFS_MAGIC;
}

void dcache_walk(struct dentry *start, const char *rest)
{
	struct inode *dir = start->inode;

	if (lookup_counts(dir->sb)) {
		vfs_stats.walks++;
		trace(HUSK_TRACE_FS, "fs: walk %s in %s inode %llu", rest, dir->sb->type,
		      (unsigned long long)dir->ino);
	}
	dir->ops->walk(start, rest);
}

static bool lookup_fresh(const struct dentry *d)
{
	if (d->expires_ns == ~0ull || d->mounted)
		return true;
	return d->expires_ns && time_monotonic_ns() < d->expires_ns;
}

/* Ask for an object that is cached but expired: 1: still right, 0: look it up again. */
static int lookup_revalidate(struct inode *dir, struct dentry *d)
{
	if (!dir->ops->revalidate)
		return 0;
	vfs_stats.revalidates++;
	return dir->ops->revalidate(dir, d);
}

static int lookup_miss(struct dentry *parent, const char *name, size_t len, struct dentry *old,
		       struct dentry **out)
{
	struct inode *dir = parent->inode;
	struct dentry *d;
	int err;

	d = dentry_new(parent, name, len);
	if (!d) {
		err = -ENOMEM;
		goto out_old;
	}
	if (lookup_counts(dir->sb)) {
		vfs_stats.lookups++;
		trace(HUSK_TRACE_FS, "fs: lookup %s in %s inode %llu", d->name, dir->sb->type,
		      (unsigned long long)dir->ino);
	}
	err = dir->ops->lookup(dir, d);
	if (err)
		dentry_put(d);
	else
		*out = dcache_enter(d);
out_old:
	if (old)
		dentry_put(old);
	return err;
}

/* The cached dentry if it is good, else NULL with *old what is cached and expired. */
static struct dentry *lookup_cached(struct dentry *parent, const char *name, size_t len,
				    struct dentry **old)
{
	struct dentry *d = dcache_find(parent, name, len);

	*old = NULL;
	if (!d || lookup_fresh(d))
		return d;
	*old = d;
	return NULL;
}

int dcache_lookup_locked(struct dentry *parent, const char *name, size_t len, const char *rest,
			 struct dentry **out)
{
	struct inode *dir = parent->inode;
	struct dentry *old;
	int r;

	*out = lookup_cached(parent, name, len, &old);
	if (*out)
		return 0;
	if (!dir->ops || !dir->ops->lookup) {
		if (old)
			dentry_put(old);
		return -ENOTDIR;
	}
	if (old) {
		r = lookup_revalidate(dir, old);
		if (r > 0) {
			*out = old;
			return 0;
		}
		if (r < 0) {
			dentry_put(old);
			return r;
		}
	}
	if (dir->ops->walk) {
		dcache_walk(parent, rest ? rest : name);
		if (old)
			dentry_put(old);
		*out = lookup_cached(parent, name, len, &old);
		if (*out)
			return 0;
	}
	return lookup_miss(parent, name, len, old, out);
}

int dcache_lookup(struct dentry *parent, const char *name, size_t len, const char *rest,
		  struct dentry **out)
{
	struct dentry *old;
	int err;

	*out = lookup_cached(parent, name, len, &old);
	if (*out)
		return 0;
	if (old)
		dentry_put(old);
	mutex_lock(&parent->inode->lock);
	err = dcache_lookup_locked(parent, name, len, rest, out);
	mutex_unlock(&parent->inode->lock);
	return err;
}
