/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree that the first program finds: the root from the host, /dev, /proc, places to write in,
 * and the shares that the command line asks for. A boot has about 100 us: nothing here asks the
 * host for what the program may never look at. Mount points are entered into the dcache unseen,
 * and directories to write in are made in the overlay's upper part without looking below.
 */
#include "fs/kfs.h"
#include "fs/vfs_internal.h"

#include <linux/mount.h>
#include "core/fdt.h"
#include "husk/fdt.h"

static const struct inode_ops shadow_ops;	/* of a directory that is only ever mounted on */

static struct dentry *shadow_new(struct dentry *parent, const char *name, size_t len)
{
	struct inode *inode = inode_new_ino(parent->inode->sb, S_IFDIR | 0755);

	if (!inode)
		return NULL;
	inode->ops = &shadow_ops;
	return dcache_add(parent, name, len, inode, ~0ull);
}

static size_t component(const char **path)
{
	const char *p = *path;
	size_t len = 0;

	while (*p == '/')
		p++;
	*path = p;
	while (p[len] && p[len] != '/')
		len++;
	return len;
}

static bool is_last(const char *name, size_t len)
{
	name += len;
	while (*name == '/')
		name++;
	return !*name;
}

/* A dentry to mount on; the last component is not looked up. Referenced, or NULL. */
static struct dentry *mountpoint_get(const char *path)
{
	struct dentry *at = root_dentry(), *d;
	size_t len;

	dentry_get(at);
	for (; (len = component(&path)); path += len) {
		bool last = is_last(path, len);

		d = dcache_find(at, path, len);
		if (!last && d && !d->inode) {
			dentry_put(d);
			d = NULL;
		}
		if (!d && !last && (dcache_lookup(at, path, len, path, &d) || !d->inode))
			d = shadow_new(at, path, len);
		if (last && (!d || !d->inode)) {
			if (d)
				dentry_put(d);
			d = shadow_new(at, path, len);
		}
		dentry_put(at);
		if (!d)
			return NULL;
		at = mount_cross(d);
	}
	return at;
}

static int root_mount_on(struct super *sb, const char *path, unsigned flags, const char *source)
{
	struct dentry *d;
	int err = -ENOMEM;

	if (super_is_overlay(root_dentry()->inode->sb))
		overlay_make_path(root_dentry()->inode->sb, path, 0755, 0, 0, true);
	d = mountpoint_get(path);
	if (d) {
		err = vfs_mount(sb, d, flags, source, NULL);
		dentry_put(d);
	}
	if (err)
		klog("cannot mount %s on %s: error %d", source, path, -err);
	return err;
}

static int mount_host(const struct fdt *fdt, int node, struct super **out, unsigned *flags)
{
	const char *source = fdt_str(fdt, node, HUSK_FDT_MOUNT_SOURCE);
	bool overlay = fdt_prop(fdt, node, HUSK_FDT_MOUNT_OVERLAY, NULL) != NULL;
	bool rw = fdt_prop(fdt, node, HUSK_FDT_MOUNT_RW, NULL) != NULL;
	struct super *sb;
	int err = fusefs_mount(source ? source : "", overlay || !rw, &sb);

	*flags = overlay || rw ? 0 : MS_RDONLY;
	if (!err && overlay)
		return overlay_new(sb, out);
	*out = sb;
	return err;
}

static int mount_root(const struct fdt *fdt, int node)
{
	struct mount *m;
	struct super *sb;
	unsigned flags;
	int err = mount_host(fdt, node, &sb, &flags);

	if (!err)
		err = vfs_mount(sb, NULL, flags, sb->type, &m);
	if (err)
		return err;
	list_add_tail(&mount_list, &m->link);
	mount_set_root(m->root);
	return 0;
}

static int mount_tmpfs_on(const char *path, u32 mode)
{
	struct super *sb;
	int err = tmpfs_mount(0, mode, &sb);

	return err ? err : root_mount_on(sb, path, MS_NOSUID | MS_NODEV, "tmpfs");
}

/* HOME of the program's environment, or NULL. */
static const char *init_home(const struct fdt *fdt, int init)
{
	u32 len = 0;
	const char *env = fdt_prop(fdt, init, HUSK_FDT_ENVP, &len), *end = env + len;

	if (!env || !len || end[-1])
		return NULL;
	for (; env < end; env += strlen(env) + 1) {
		if (!strncmp(env, "HOME=/", 6))
			return env + 5;
	}
	return NULL;
}

/* Directories to write in. On a root that is the host's, writable, nothing is hidden or made. */
static int make_places(const struct fdt *fdt, int init)
{
	static const struct { const char *path; u32 mode; } place[] = {
		{ "/tmp", 01777 }, { "/run", 0755 }, { "/var/tmp", 01777 },
	};
	struct super *sb = root_dentry()->inode->sb;
	bool overlay = super_is_overlay(sb);
	const char *home = init_home(fdt, init);
	int err = 0;

	if (!overlay && !mount_readonly(root_dentry()))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(place) && !err; i++) {
		err = overlay ? overlay_make_path(sb, place[i].path, place[i].mode, 0, 0, true) :
				mount_tmpfs_on(place[i].path, place[i].mode);
	}
	if (!err && overlay)
		err = overlay_make_path(sb, "/root", 0700, 0, 0, false);
	if (!err && overlay && home && strcmp(home, "/root") && strcmp(home, "/"))
		err = overlay_make_path(sb, home, 0755,
					(u32)fdt_u32(fdt, init, HUSK_FDT_UID, 0),
					(u32)fdt_u32(fdt, init, HUSK_FDT_GID, 0), false);
	return err;
}

static int mount_kernel_fs(void)
{
	struct super *sb;
	int err = devfs_mount(&sb);

	if (!err)
		err = root_mount_on(sb, "/dev", MS_NOSUID, "dev");
	if (!err)
		err = procfs_mount(&sb);
	if (!err)
		err = root_mount_on(sb, "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, "proc");
	if (!err)
		err = sysfs_mount(&sb);
	if (!err)
		err = root_mount_on(sb, "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, "sysfs");
	if (!err)
		err = mount_tmpfs_on("/dev/shm", 01777);
	return err;
}

static int mount_share(const struct fdt *fdt, int node)
{
	const char *target = fdt_str(fdt, node, HUSK_FDT_MOUNT_TARGET);
	struct super *sb;
	unsigned flags;
	int err;

	if (!target || *target != '/')
		return -EINVAL;
	err = mount_host(fdt, node, &sb, &flags);
	return err ? err : root_mount_on(sb, target, flags, sb->type);
}

static int next_mount(const struct fdt *fdt, int node)
{
	static const char prefix[] = HUSK_FDT_MOUNT "@";

	while (node >= 0 && strncmp(fdt_name(fdt, node), prefix, sizeof(prefix) - 1))
		node = fdt_next(fdt, node);
	return node;
}

int vfs_mount_root(const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");
	int init = chosen < 0 ? chosen : fdt_find(fdt, chosen, HUSK_FDT_INIT);
	int node = init < 0 ? init : next_mount(fdt, fdt_child(fdt, init));
	int err;

	if (node < 0)
		return -ENOENT;
	err = mount_root(fdt, node);
	if (!err)
		err = make_places(fdt, init);
	if (!err)
		err = mount_kernel_fs();
	while (!err && (node = next_mount(fdt, fdt_next(fdt, node))) >= 0)
		err = mount_share(fdt, node);
	trace(HUSK_TRACE_FS, "fs: mounted with %llu lookups, %llu walks",
	      (unsigned long long)vfs_stats.lookups, (unsigned long long)vfs_stats.walks);
	return err;
}

static int make_dir(struct dentry *parent, struct dentry *d, u32 mode, u32 uid, u32 gid)
{
	struct inode *dir = parent->inode;
	struct attr attr = { .valid = ATTR_UID | ATTR_GID | ATTR_MODE, .mode = mode, .uid = uid,
			     .gid = gid };
	int err = dir->ops->create ? dir->ops->create(dir, d, S_IFDIR | mode, 0) : -EPERM;

	return err ? err : inode_setattr(d->inode, &attr);
}

int vfs_make_path(const char *path, u32 mode, u32 uid, u32 gid)
{
	struct dentry *at = root_dentry(), *d;
	size_t len;
	int err = 0;

	dentry_get(at);
	for (; !err && (len = component(&path)); path += len) {
		mutex_lock(&at->inode->lock);
		err = dcache_lookup_locked(at, path, len, path, &d);
		if (!err && !d->inode) {
			err = make_dir(at, d, mode, uid, gid);
			if (err)
				dentry_put(d);
		}
		mutex_unlock(&at->inode->lock);
		if (err)
			break;
		dentry_put(at);
		at = mount_cross(d);
	}
	dentry_put(at);
	return err;
}

void vfs_init(void)
{
	rename_init();
}
