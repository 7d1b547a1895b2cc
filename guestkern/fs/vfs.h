/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual file system: inodes, dentries, mounts, open files, and the operations a file system
 * supplies. All under the kernel lock (core/wait.h).
 *
 * Errors are -errno everywhere. Buffers named `buf` are kernel or checked user addresses: touch
 * them only through copy_in()/copy_out()/clear_out() (mm/uaccess.h).
 */
#pragma once

#include "core/list.h"
#include "core/time.h"
#include "core/wait.h"

struct page;
struct vma;
struct inode;
struct dentry;
struct file;
struct poll_table;
struct process;

struct attr {			/* inode attributes; setattr uses the fields named in `valid` */
	u32 valid;		/* ATTR_* */
	u32 mode, uid, gid;
	u64 size;
	struct timespec64 atime, mtime, ctime;
};
#define ATTR_MODE	0x01
#define ATTR_UID	0x02
#define ATTR_GID	0x04
#define ATTR_SIZE	0x08
#define ATTR_ATIME	0x10
#define ATTR_MTIME	0x20
#define ATTR_CTIME	0x40

struct inode_ops {
	/* Look up dentry->name in dir: set dentry->inode, or leave it NULL (negative). */
	int (*lookup)(struct inode *dir, struct dentry *dentry);
	/* Each makes the object and instantiates the negative dentry. mode has the type bits. */
	int (*create)(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev);
	int (*symlink)(struct inode *dir, struct dentry *dentry, const char *target);
	int (*link)(struct inode *dir, struct dentry *dentry, struct inode *target);
	int (*unlink)(struct inode *dir, struct dentry *dentry);	/* not a directory */
	int (*rmdir)(struct inode *dir, struct dentry *dentry);
	int (*rename)(struct inode *olddir, struct dentry *old, struct inode *newdir,
		      struct dentry *new, unsigned flags);
	int (*readlink)(struct inode *inode, char *buf, size_t size);	/* length, no NUL */
	/* /proc magic links: a referenced path instead of a text. */
	int (*follow)(struct inode *inode, struct dentry **target);
	int (*refresh)(struct inode *inode);		/* attributes may be stale: fetch them */
	int (*setattr)(struct inode *inode, const struct attr *attr);
	int (*statfs)(struct inode *inode, void *statfs64);
	long (*getxattr)(struct inode *inode, const char *name, void *buf, size_t size);
	long (*listxattr)(struct inode *inode, void *buf, size_t size);
	int (*setxattr)(struct inode *inode, const char *name, const void *val, size_t size, int flags);
	int (*removexattr)(struct inode *inode, const char *name);
	void (*evict)(struct inode *inode);		/* last reference is gone */
};

struct dir_context {
	/* 0: go on; nonzero: the buffer is full, stop before this entry. */
	int (*emit)(struct dir_context *ctx, const char *name, size_t len, u64 ino, unsigned type,
		    u64 next_pos);
};

struct file_ops {
	int (*open)(struct inode *inode, struct file *file);
	void (*release)(struct file *file);		/* last reference */
	void (*flush)(struct file *file);		/* each close(2) */
	/* Bytes done or -errno. *pos is advanced by the callee for seekable files. */
	long (*read)(struct file *file, void *buf, size_t len, u64 *pos);
	long (*write)(struct file *file, const void *buf, size_t len, u64 *pos);
	s64 (*llseek)(struct file *file, s64 off, int whence);	/* NULL: -ESPIPE */
	int (*iterate)(struct file *file, struct dir_context *ctx);	/* from file->pos */
	long (*ioctl)(struct file *file, unsigned cmd, u64 arg);
	u32 (*poll)(struct file *file, struct poll_table *pt);	/* POLL* mask; NULL: always ready */
	int (*fsync)(struct file *file, bool datasync);
	int (*fallocate)(struct file *file, int mode, u64 off, u64 len);
	int (*mmap)(struct file *file, struct vma *vma);	/* NULL: -ENODEV; generic: pagecache_mmap */
};

/* Where the pages of a cached file come from and go to. */
struct cache_ops {
	/* Fill n consecutive new pages from page index; what is beyond the end is zeroed. 0 or -errno. */
	int (*readpages)(struct inode *inode, u64 index, struct page **pages, unsigned n);
	int (*writepage)(struct inode *inode, u64 index, struct page *page, unsigned len);
};

struct super {
	const char *type;		/* "tmpfs", "fuse", "overlay", "proc" ... as in /proc/mounts */
	u64 dev;
	u64 magic;			/* statfs f_type */
	struct inode *root;
	void *priv;
	bool readonly;
};

struct inode {
	unsigned refs;
	const struct inode_ops *ops;
	const struct file_ops *fops;
	const struct cache_ops *cops;	/* NULL: not page-cached */
	struct super *sb;
	u64 ino;
	u32 mode, nlink, uid, gid;
	u64 rdev, size, blocks;
	u32 blksize;
	struct timespec64 atime, mtime, ctime;
	struct page_cache *cache;	/* made on first use */
	struct mutex lock;		/* directory changes and writes that may sleep */
	void *pipe;			/* FIFO state */
	void *flocks;			/* file locks */
	void *priv;			/* file system's own */
};

struct dentry {
	unsigned refs;
	struct dentry *parent;		/* itself for a root; holds a reference */
	struct inode *inode;		/* NULL: known not to exist */
	struct list hash;		/* by (parent, name) */
	struct list lru;		/* unreferenced ones, reclaimable */
	struct list children, sibling;
	u64 expires_ns;			/* look up again after this monotonic time; ~0: never */
	struct mount *mount;		/* the mount this dentry belongs to */
	struct mount *mounted;		/* what is mounted on it */
	u32 len;
	char name[];
};

struct mount {
	struct list link;		/* mount_list, in order */
	struct super *sb;
	struct dentry *root, *mountpoint;
	unsigned flags;			/* MS_RDONLY ... */
	const char *source, *target;
};

struct file {
	unsigned refs;
	const struct file_ops *ops;
	struct inode *inode;
	struct dentry *dentry;		/* NULL for pipes and the like */
	u32 flags;			/* O_* */
	u64 pos;
	u64 version_ra;			/* read-ahead: next expected index */
	void *priv;
	struct list epoll;		/* watches on this file */
	s32 owner_pgid;
};

struct fs_context {			/* per process; fs_fork() copies or shares */
	unsigned refs;
	struct dentry *root, *cwd;
	u32 umask;
};

/* --- for the rest of the kernel ------------------------------------------------------------ */

void vfs_init(void);			/* caches, tmpfs, proc, dev; then mounts from the FDT */

struct inode *inode_new(struct super *sb, u32 mode);	/* refs 1, times now, ino unset */
void inode_get(struct inode *inode);
void inode_put(struct inode *inode);
void dentry_get(struct dentry *dentry);
void dentry_put(struct dentry *dentry);
/* Absolute path of a dentry within the process's root; returns a pointer into buf or NULL. */
char *dentry_path(struct dentry *dentry, char *buf, size_t size);

void file_get(struct file *file);
void file_put(struct file *file);

/* Kernel's own opens (exec, interpreter): path relative to cwd; checks execute permission. */
int file_open_exec(const char *path, struct file **out);
/* The same for a path relative to dirfd (execveat); AT_* flags. */
int file_open_exec_at(int dirfd, const char *path, int flags, struct file **out);
long file_read_kernel(struct file *file, void *buf, size_t len, u64 pos);

/* Descriptor tables. */
struct files *files_new(void);
struct files *files_fork(struct files *old);		/* a copy */
void files_get(struct files *files);
void files_put(struct files *files);			/* closes all with the last reference */
void files_close_on_exec(struct files *files);
struct file *fd_file(int fd);				/* referenced, or NULL; current's table */
int fd_install(struct file *file, unsigned cloexec);	/* lowest free; consumes the reference on success */
int fd_install_at(struct files *files, int fd, struct file *file);	/* for stdio of the first program */

struct fs_context *fs_new(void);
struct fs_context *fs_fork(struct fs_context *old);
void fs_get(struct fs_context *fs);
void fs_put(struct fs_context *fs);

/* File without a name (pipe, eventfd, memfd ...): refs 1, or NULL. */
struct file *file_new_anon(const struct file_ops *ops, const char *label, void *priv, u32 flags);

/* --- page cache (fs/pagecache.c) ------------------------------------------------------------ */

/* Referenced up-to-date page, read if need be with read-ahead. -EIO, -ENOMEM; beyond the end: -ENXIO. */
int pagecache_get(struct inode *inode, u64 index, struct page **out);
/* The page if it is there and up to date, referenced, else NULL. Never sleeps (fault-around). */
struct page *pagecache_peek(struct inode *inode, u64 index);
void pagecache_dirty(struct inode *inode, u64 index);
void pagecache_truncate(struct inode *inode, u64 size);
void pagecache_drop(struct inode *inode);		/* all pages (inode eviction) */
/* file_ops for page-cached files. */
long pagecache_read(struct file *file, void *buf, size_t len, u64 *pos);
long pagecache_write(struct file *file, const void *buf, size_t len, u64 *pos);
int pagecache_mmap(struct file *file, struct vma *vma);

/* --- poll ----------------------------------------------------------------------------------- */

/* A poll operation calls this for each queue on which its state changes. pt NULL: just asked. */
void poll_wait(struct poll_table *pt, struct wait_queue *wq);
