/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of lookups: statx(2) and openat2(2) on one checked component, and the table of
 * file systems met, which keeps proc, sysfs and their like away from guests and makes st_ino
 * unique. Includes <linux/stat.h>, so no <sys/stat.h> here: the two differ under musl.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef AT_NO_AUTOMOUNT
#define AT_NO_AUTOMOUNT 0x800
#endif

/* Those that <linux/magic.h> lacks. */
#define MAGIC_CONFIGFS	0x62656570
#define MAGIC_MQUEUE	0x19800202
#define MAGIC_FUSECTL	0x65735543
#define MAGIC_RPC_PIPE	0x67596969
#define MAGIC_NFSD	0x6e667364

int host_stat(int dirfd, const char *name, struct fuse_stat *st)
{
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
	struct statx x;

	if (syscall(SYS_statx, dirfd, name, flags, STATX_BASIC_STATS | STATX_BTIME, &x) < 0)
		return -errno;
	*st = (struct fuse_stat){
		.dev = (uint64_t)x.stx_dev_major << 32 | x.stx_dev_minor,
		.ino = x.stx_ino,
		/* the encoding of new_encode_dev(), which FUSE uses */
		.rdev = (x.stx_rdev_minor & 0xff) | x.stx_rdev_major << 8 |
			(uint64_t)(x.stx_rdev_minor & ~0xffu) << 12,
		.size = x.stx_size, .blocks = x.stx_blocks, .blksize = x.stx_blksize,
		.mode = x.stx_mode, .nlink = x.stx_nlink, .uid = x.stx_uid, .gid = x.stx_gid,
		.atime = { x.stx_atime.tv_sec, x.stx_atime.tv_nsec },
		.mtime = { x.stx_mtime.tv_sec, x.stx_mtime.tv_nsec },
		.ctime = { x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec },
	};
	if (x.stx_mask & STATX_BTIME)
		st->btime_ns = (int64_t)((uint64_t)x.stx_btime.tv_sec * 1000000000u +
					 x.stx_btime.tv_nsec);
	return 0;
}

/* Without openat2 (before 5.6): the name is one component, so O_NOFOLLOW says all there is to. */
int host_openat(struct fuse_server *srv, int dirfd, const char *name, int flags, uint32_t mode)
{
	struct open_how how = {
		.flags = (unsigned)(flags | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS,
	};
	long fd;

	if (flags & O_PATH)
		how.flags &= ~(uint64_t)O_NOCTTY;
	for (unsigned tries = 0; !srv->no_openat2; tries++) {
		fd = syscall(SYS_openat2, dirfd, name, &how, sizeof(how));
		if (fd >= 0)
			return (int)fd;
		if (errno == ENOSYS)
			srv->no_openat2 = true;
		else if ((errno != EAGAIN && errno != EINTR) || tries > 16)
			return -errno;
	}
	fd = openat(dirfd, name, (int)how.flags, mode);
	return fd < 0 ? -errno : (int)fd;
}

/* For what cannot be opened; only since 6.6. */
int host_chmod_path(int fd, uint32_t mode)
{
	if (syscall(SYS_fchmodat2, fd, "", mode, AT_EMPTY_PATH) == 0)
		return 0;
	return errno == ENOSYS ? -EOPNOTSUPP : -errno;
}

static bool fs_is_pseudo(int fd)
{
	static const uint32_t pseudo[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, DEVPTS_SUPER_MAGIC, SECURITYFS_MAGIC, SELINUX_MAGIC,
		SMACK_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
		BPF_FS_MAGIC, PSTOREFS_MAGIC, EFIVARFS_MAGIC, BINFMTFS_MAGIC, NSFS_MAGIC,
		RDTGROUP_SUPER_MAGIC, AUTOFS_SUPER_MAGIC, XENFS_SUPER_MAGIC, BINDERFS_SUPER_MAGIC,
		MAGIC_CONFIGFS, MAGIC_MQUEUE, MAGIC_FUSECTL, MAGIC_RPC_PIPE, MAGIC_NFSD,
	};
	struct statfs sfs;

	if (fstatfs(fd, &sfs) < 0)
		return true;
	for (unsigned i = 0; i < sizeof(pseudo) / sizeof(pseudo[0]); i++)
		if ((uint32_t)sfs.f_type == pseudo[i])
			return true;
	return false;
}

static int dev_find(const struct fuse_server *srv, uint64_t dev)
{
	for (unsigned i = 0; i < srv->ndevs; i++)
		if (srv->devs[i].dev == dev)
			return (int)i;
	return -1;
}

static int dev_add(struct fuse_server *srv, uint64_t dev, bool hidden)
{
	struct fuse_dev *devs;

	if (srv->ndevs >= FUSE_MAX_DEVS)
		return -1;
	devs = realloc(srv->devs, (srv->ndevs + 1) * sizeof(*devs));
	if (!devs)
		return -1;
	devs[srv->ndevs] = (struct fuse_dev){ .dev = dev, .hidden = hidden };
	srv->devs = devs;
	return (int)srv->ndevs++;
}

bool dev_visible(struct fuse_server *srv, uint64_t dev, int fd, const char *name)
{
	int i = dev_find(srv, dev);
	struct fuse_stat st;
	int own = fd;

	if (i >= 0)
		return !srv->devs[i].hidden;
	/* A file system is only met at a directory or file; it is asked once. */
	if (*name) {
		own = host_openat(srv, fd, name, O_PATH, 0);
		if (own < 0)
			return false;
	}
	if (host_stat(own, "", &st) == 0 && st.dev == dev)
		i = dev_add(srv, dev, dev == srv->host_dev_fs || fs_is_pseudo(own));
	if (own != fd)
		close(own);
	return i >= 0 && !srv->devs[i].hidden;
}

/* The first file system met, mostly the only one, keeps its inode numbers. */
uint64_t dev_ino(struct fuse_server *srv, uint64_t dev, uint64_t ino)
{
	int i = dev_find(srv, dev);

	if (i <= 0)
		return ino;
	if (ino >> 48)
		return ino ^ (uint64_t)i * 0x9e3779b97f4a7c15u;
	return ino | (uint64_t)i << 48;
}
