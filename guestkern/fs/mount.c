/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts: a dentry tree each, hung on a dentry of another tree. The list is in mount order, as
 * /proc/mounts shows it. mount(2) and umount2(2) for the file systems that live in memory.
 */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/fs.h>
#include <linux/mount.h>

#ifndef UMOUNT_NOFOLLOW		/* <sys/mount.h>, not in the UAPI headers */
#define MNT_FORCE	1
#define MNT_DETACH	2
#define MNT_EXPIRE	4
#define UMOUNT_NOFOLLOW	8
#endif

#define MS_KEPT	(MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_RELATIME)
#define MS_PROPAGATION (MS_SHARED | MS_PRIVATE | MS_SLAVE | MS_UNBINDABLE)

struct list mount_list = LIST_INIT(mount_list);
static struct dentry *root;

struct dentry *root_dentry(void)
{
	return root;
}

void mount_set_root(struct dentry *dentry)
{
	root = dentry;
}

struct dentry *mount_cross(struct dentry *d)
{
	while (d->mounted) {
		struct dentry *top = d->mounted->root;

		dentry_get(top);
		dentry_put(d);
		d = top;
	}
	return d;
}

bool mount_readonly(const struct dentry *d)
{
	return (d->mount && (d->mount->flags & MS_RDONLY)) ||
	       (d->inode && d->inode->sb && d->inode->sb->readonly);
}

static void mount_free(struct mount *m)
{
	kfree(m->source);
	kfree(m->target);
	kfree(m);
}

static char *mount_target_text(struct dentry *target)
{
	char *buf, *path, *copy;

	if (!target)
		return kstrdup("/");
	buf = kmalloc(PATH_MAX);
	if (!buf)
		return NULL;
	path = dentry_path(target, buf, PATH_MAX);
	copy = kstrdup(path ? path : "?");
	kfree(buf);
	return copy;
}

int vfs_mount(struct super *sb, struct dentry *target, unsigned flags, const char *source,
	      struct mount **out)
{
	struct mount *m = kzalloc(sizeof(*m));

	if (!m)
		return -ENOMEM;
	list_init(&m->link);
	m->sb = sb;
	m->flags = flags;
	m->source = kstrdup(source);
	m->target = mount_target_text(target);
	m->root = m->source && m->target ? dentry_new_root(sb->root, m) : NULL;
	if (!m->root) {
		mount_free(m);
		return -ENOMEM;
	}
	inode_get(sb->root);
	if (target) {
		kassert(!target->mounted);
		dentry_get(target);
		m->mountpoint = target;
		target->mounted = m;
		list_add_tail(&mount_list, &m->link);
	}
	if (out)
		*out = m;
	return 0;
}

/* Take a mount out of the tree; open files keep what they use. */
static void mount_detach(struct mount *m)
{
	struct super *sb = m->sb;
	bool unused;

	list_del(&m->link);
	m->mountpoint->mounted = NULL;
	dentry_put(m->mountpoint);
	m->mountpoint = NULL;
	dcache_prune(m->root);
	unused = m->root->refs == 1;
	dentry_unhash(m->root);
	if (!unused) {
		/* Lazily detached: who still has files there keeps root, mount and super alive. */
		dentry_put(m->root);
		return;
	}
	dentry_put(m->root);
	mount_free(m);
	inode_put(sb->root);
	if (sb->destroy)
		sb->destroy(sb);
}

static bool mount_has_submounts(const struct mount *m)
{
	const struct mount *other;

	list_for_each(other, &mount_list, link) {
		if (other->mountpoint && other->mountpoint->mount == m)
			return true;
	}
	return false;
}

long sys_umount2(u64 path, int flags)
{
	struct dentry *d;
	struct mount *m;
	int err;

	if (flags & ~(MNT_FORCE | MNT_DETACH | MNT_EXPIRE | UMOUNT_NOFOLLOW))
		return -EINVAL;
	if (!capable_root())
		return -EPERM;
	err = namei(AT_FDCWD, path, flags & UMOUNT_NOFOLLOW ? 0 : LOOKUP_FOLLOW, &d);
	if (err)
		return err;
	m = d->mount;
	if (!m || m->root != d || !m->mountpoint) {
		dentry_put(d);
		return -EINVAL;
	}
	dcache_prune(d);
	if (mount_has_submounts(m) || (!(flags & MNT_DETACH) && d->refs > 2)) {
		dentry_put(d);
		return -EBUSY;
	}
	dentry_put(d);
	mount_detach(m);
	return 0;
}

/* Value of an option "name=123[kmg%]" in a comma-separated list. */
static bool mount_option(const char *data, const char *name, unsigned base, u64 *value)
{
	size_t len = strlen(name);

	while (*data) {
		if (!strncmp(data, name, len) && data[len] == '=') {
			const char *p = data + len + 1;

			for (*value = 0; *p >= '0' && *p < (char)('0' + base) && *p <= '9'; p++)
				*value = *value * base + (u64)(*p - '0');
			if (*p == 'k' || *p == 'K')
				*value <<= 10;
			else if (*p == 'm' || *p == 'M')
				*value <<= 20;
			else if (*p == 'g' || *p == 'G')
				*value <<= 30;
			else if (*p == '%')
				*value = *value * page_total_count() / 100 * PAGE_SIZE;
			return true;
		}
		while (*data && *data != ',')
			data++;
		while (*data == ',')
			data++;
	}
	return false;
}

static int mount_tmpfs(const char *data, struct super **out)
{
	u64 size = 0, mode = 01777, id;
	int err;

	mount_option(data, "size", 10, &size);
	mount_option(data, "mode", 8, &mode);
	err = tmpfs_mount(size, (u32)mode & 07777, out);
	if (err)
		return err;
	if (mount_option(data, "uid", 10, &id))
		(*out)->root->uid = (u32)id;
	if (mount_option(data, "gid", 10, &id))
		(*out)->root->gid = (u32)id;
	return 0;
}

static int mount_new(const char *type, const char *data, struct super **out)
{
	if (!strcmp(type, "tmpfs") || !strcmp(type, "ramfs"))
		return mount_tmpfs(data, out);
	if (!strcmp(type, "proc"))
		return procfs_mount(out);
	if (!strcmp(type, "devtmpfs"))
		return devfs_mount(out);
	return -ENODEV;
}

static int mount_do(const char *source, struct dentry *target, const char *type, u64 flags,
		    const char *data)
{
	struct super *sb;
	int err;

	if (flags & MS_PROPAGATION)
		return 0;	/* one namespace: nothing to propagate to */
	if (flags & (MS_BIND | MS_MOVE))
		return -ENOSYS;
	if (flags & MS_REMOUNT) {
		if (!target->mount || target->mount->root != target)
			return -EINVAL;
		target->mount->flags = (unsigned)(flags & MS_KEPT);
		return 0;
	}
	if (!inode_is_dir(target->inode))
		return -ENOTDIR;
	err = mount_new(type, data, &sb);
	return err ? err : vfs_mount(sb, target, (unsigned)(flags & MS_KEPT), source, NULL);
}

long sys_mount(u64 source, u64 target, u64 type, u64 flags, u64 data)
{
	struct pathname src = { .s = "" };
	struct dentry *d;
	char *opts, kind[32] = "";
	long n;
	int err;

	if (!capable_root())
		return -EPERM;
	n = type ? strncpy_from_user(kind, type, sizeof(kind)) : 0;
	if (n < 0)
		return n == -ENAMETOOLONG ? -ENODEV : n;
	opts = kzalloc(PAGE_SIZE);
	if (!opts)
		return -ENOMEM;
	n = data ? strncpy_from_user(opts, data, PAGE_SIZE) : 0;
	if (n < 0)
		opts[0] = 0;	/* binary data of other file systems: no options */
	src.small[0] = 0;
	src.s = src.small;
	err = source ? pathname_get(&src, source) : 0;
	if (err)
		goto out_opts;
	err = namei(AT_FDCWD, target, LOOKUP_FOLLOW, &d);
	if (err)
		goto out_src;
	err = mount_do(src.s, d, kind, flags, opts);
	dentry_put(d);
out_src:
	pathname_put(&src);
out_opts:
	kfree(opts);
	return err;
}
