/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the VFS core share among themselves; the rest of the kernel uses vfs.h. */
#pragma once

#include "core/print.h"
#include "core/string.h"
#include "fs/vfs.h"
#include "mm/kmalloc.h"
#include "mm/page.h"
#include "mm/uaccess.h"
#include "proc/task.h"

#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/stat.h>

#define O_ACCMODE_MASK	3
#define SYMLINK_MAX	40	/* path_resolution(7) */
#define MAX_RW		0x7ffff000ul
#define MAX_OFFSET	0x7fffffffffffffffull

/* --- dcache.c --- */
/* refs 1, unhashed */
struct dentry *dentry_new(struct dentry *parent, const char *name, size_t len);
/* takes over inode */
struct dentry *dentry_new_root(struct inode *inode, struct mount *mount);
/*
 * Hash a dentry that was looked up. Takes over the reference; returns a referenced one: the old
 * dentry of that name, renewed, if it has the same inode.
 */
struct dentry *dcache_enter(struct dentry *dentry);
void dentry_unhash(struct dentry *dentry);
/* after rename: old gets new's place */
void dentry_move(struct dentry *old, struct dentry *new);
void dentry_exchange(struct dentry *a, struct dentry *b);
/* After unlink or rmdir: negative if nobody else uses it, else out of the hash and marked. */
void dentry_delete(struct dentry *dentry);
bool dentry_unhashed(const struct dentry *dentry);
/* or equal */
bool dentry_is_below(const struct dentry *dentry, const struct dentry *ancestor);
/* The caller holds parent->inode->lock. */
int dcache_lookup_locked(struct dentry *parent, const char *name, size_t len, const char *rest,
			 struct dentry **out);

/* The file system's walk(), counted; start->inode->lock is held. */
void dcache_walk(struct dentry *start, const char *rest);

/* --- inode.c --- */
bool inode_owner_or_root(const struct inode *inode);
bool group_member(u32 gid);
int inode_permission_as(struct inode *inode, unsigned mask, u32 uid, u32 gid);
/* setattr with the checks and side effects of chmod, chown, utimes and truncate done before. */
int inode_setattr(struct inode *inode, const struct attr *attr);
int inode_truncate(struct inode *inode, u64 size);
/* copy into the inode */
void inode_setattr_simple(struct inode *inode, const struct attr *attr);
/* A write or chown by an ordinary user takes set-ID bits away: the mode to set, or the old one. */
u32 inode_mode_without_suid(const struct inode *inode);
u32 inode_mode_dropped(const struct inode *inode);	/* the same whoever asks: chown(2) */
void inode_remove_suid(struct inode *inode);
void inode_touch_atime(struct inode *inode);
void inode_touch(struct inode *inode);			/* mtime and ctime */
bool mount_readonly(const struct dentry *dentry);

/* --- namei.c --- */
#define LOOKUP_FOLLOW		0x01
#define LOOKUP_DIRECTORY	0x02
#define LOOKUP_EMPTY		0x04	/* AT_EMPTY_PATH */
#define LOOKUP_BENEATH		0x10	/* openat2(2) RESOLVE_* */
#define LOOKUP_IN_ROOT		0x20
#define LOOKUP_NO_XDEV		0x40
#define LOOKUP_NO_SYMLINKS	0x80
#define LOOKUP_NO_MAGICLINKS	0x100

enum last_type { LAST_NORM, LAST_DOT, LAST_DOTDOT, LAST_ROOT };

struct nameidata {
	struct dentry *root;	/* ".." and absolute links stop here */
	struct dentry *start;	/* where it began: LOOKUP_BENEATH */
	struct dentry *at;	/* the directory reached */
	const char *rest;	/* text not walked yet */
	char *buf;		/* memory of rest once a link was followed */
	const char *last;	/* last component, in rest's text */
	size_t last_len;
	enum last_type type;
	bool slash;		/* slashes behind the last component */
	bool must_dir;		/* there were some on the way through links */
	unsigned links, flags;
};

/* Path text from user space. */
struct pathname {
	char *s;
	char small[192];
};
/* -EFAULT, -ENAMETOOLONG; empty is allowed */
int pathname_get(struct pathname *pn, u64 path);
void pathname_put(struct pathname *pn);

int nd_begin(struct nameidata *nd, int dfd, const char *path, unsigned flags);
void nd_end(struct nameidata *nd);
int nd_parent(struct nameidata *nd);			/* walk all but the last component */
int nd_lookup_last(struct nameidata *nd, bool locked, struct dentry **out);
int nd_follow(struct nameidata *nd, struct dentry *link);	/* then nd_parent() again */
int nd_lookup(struct nameidata *nd, struct dentry **out);
bool nd_wants_follow(const struct nameidata *nd);
/* All in one, from user space. Referenced positive dentry. */
int namei(int dfd, u64 path, unsigned flags, struct dentry **out);
/* For AT_* system calls: AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH; `follow` is the call's default. */
int namei_at(int dfd, u64 path, int at_flags, struct dentry **out);

/* --- mount.c --- */
/* down to what is mounted; consumes, references */
struct dentry *mount_cross(struct dentry *dentry);
struct dentry *root_dentry(void);			/* of the whole tree; not referenced */
void mount_set_root(struct dentry *dentry);

/* --- file.c, open.c --- */
struct file *file_alloc(struct dentry *dentry, struct inode *inode, u32 flags);
int may_create(struct dentry *parent);
int may_delete(struct dentry *parent, struct dentry *victim, bool is_dir);
int file_get_fd(int fd, struct file **out);		/* -EBADF */

/* --- fdtable.c --- */
int fd_install_from(struct file *file, u32 from, bool cloexec);
void fd_set_cloexec(int fd, bool on);

/* --- memfd.c --- */
long memfd_seals(struct file *file, int cmd, u64 arg);

/* --- names.c --- */
/* Parent locked and the negative dentry of the last component, for mkdir, mknod, symlink, link. */
int create_begin(struct nameidata *nd, bool want_dir, struct dentry **out);
void create_end(struct nameidata *nd, struct dentry *dentry);

void rename_init(void);

/* --- locks.c --- */
void locks_release_posix(struct inode *inode, struct files *owner);	/* at close(2) */
void locks_release_file(struct file *file);				/* at the last close */
void locks_free(struct inode *inode);

/* --- pagecache.c --- */
struct page_cache *pagecache_of(struct inode *inode);	/* made if need be; NULL: no memory */
/* As pagecache_get, with a hint how many pages the caller is going to read. */
int pagecache_get_want(struct inode *inode, u64 index, unsigned want, struct page **out);
u64 pagecache_next(struct inode *inode, u64 index, bool hole);	/* SEEK_DATA/SEEK_HOLE; ~0: none */
u64 pagecache_pages(struct inode *inode);
int pagecache_zero(struct inode *inode, u64 from, u64 to);	/* bytes; whole pages are dropped */
/* Put a page that is filled and up to date; takes over the reference. -EEXIST if one is there. */
int pagecache_insert(struct inode *inode, u64 index, struct page *page, bool dirty);
int pagecache_prefetch(struct inode *inode, u64 index, u64 n);

/* --- tmpfs.c: also used as the upper part of overlays --- */
extern const struct file_ops tmpfs_file_ops, tmpfs_dir_ops;
bool inode_is_tmpfs(const struct inode *inode);
/* An object without links yet: refs 1. */
struct inode *tmpfs_inode_new(struct super *sb, u32 mode, u64 rdev);
int tmpfs_symlink_new(struct super *sb, const char *target, struct inode **out);
struct nament;
struct nament *tmpfs_find(struct inode *dir, const char *name, size_t len);
/* Enter a name (over a whiteout too); takes a reference of its own. inode NULL: a whiteout. */
int tmpfs_enter(struct inode *dir, const char *name, size_t len, struct inode *inode);
/* Take the name out; the object loses a link. */
void tmpfs_remove(struct inode *dir, const char *name, size_t len);
int tmpfs_setattr(struct inode *inode, const struct attr *attr);
int tmpfs_statfs(struct inode *inode, void *statfs64);
long tmpfs_getxattr(struct inode *inode, const char *name, void *buf, size_t size);
long tmpfs_listxattr(struct inode *inode, void *buf, size_t size);
int tmpfs_setxattr(struct inode *inode, const char *name, const void *val, size_t size, int flags);
int tmpfs_removexattr(struct inode *inode, const char *name);
struct tmpfs_dir *tmpfs_dir_of(struct inode *dir);
bool tmpfs_opaque(struct inode *dir);
void tmpfs_set_opaque(struct inode *dir, bool opaque);
struct nametab *tmpfs_names(struct inode *dir);

/* --- overlay.c --- */
int overlay_new(struct super *lower, struct super **out);
/*
 * Directories in the upper part without asking the lower one; merged with it when looked at, but
 * the last hides it if opaque. Before anything looked there.
 */
int overlay_make_path(struct super *sb, const char *path, u32 mode, u32 uid, u32 gid, bool opaque);
bool super_is_overlay(const struct super *sb);

/* <dirent.h>: the file type bits of a mode, shifted down. */
#define DT_DIR	4
#define DT_WHT	14

static inline bool name_is(const char *name, size_t len, const char *s)
{
	return strlen(s) == len && !memcmp(name, s, len);
}

static inline bool inode_is_dir(const struct inode *inode)
{
	return S_ISDIR(inode->mode);
}

static inline unsigned mode_to_dtype(u32 mode)
{
	return (mode & S_IFMT) >> 12;
}
