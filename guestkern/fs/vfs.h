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
struct fdt;
struct nameidata;

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
	/*
	 * Optional: enter into the dcache (dcache_add) what one host request tells about the names
	 * in `rest`, a path without leading slash whose first component is not cached below start.
	 * It may hold several slashes and a trailing one. Stop before "." and "..", after a symbolic
	 * link (set inode->link), what is not a directory, and a missing name (add it as negative).
	 * Called with start->inode->lock held. Errors are ignored: lookup() is asked then.
	 */
	int (*walk)(struct dentry *start, const char *rest);
	/*
	 * Optional: dentry->expires_ns has passed. 1: still right, expires_ns renewed; 0: look it up
	 * again; or -errno. Without it a second lookup() that gives the same inode renews the dentry.
	 */
	int (*revalidate)(struct inode *dir, struct dentry *dentry);
	/* Each makes the object and instantiates the negative dentry. mode has the type bits. */
	int (*create)(struct inode *dir, struct dentry *dentry, u32 mode, u64 rdev);
	int (*symlink)(struct inode *dir, struct dentry *dentry, const char *target);
	int (*link)(struct inode *dir, struct dentry *dentry, struct inode *target);
	/* O_TMPFILE: instantiate the detached dentry with an inode of no links. */
	int (*tmpfile)(struct inode *dir, struct dentry *dentry, u32 mode);
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
	int (*setxattr)(struct inode *inode, const char *name, const void *val, size_t size,
			int flags);
	int (*removexattr)(struct inode *inode, const char *name);
	void (*evict)(struct inode *inode);		/* last reference is gone */
};

/*
 * iterate() starts at file->pos and emits "." and ".." too (dir_emit_dots). Its caller sets
 * file->pos to the next_pos of the last entry that emit() took.
 */
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
	/* NULL: -ENODEV; generic: pagecache_mmap */
	int (*mmap)(struct file *file, struct vma *vma);
};

/* Where the pages of a cached file come from and go to. */
struct cache_ops {
	/*
	 * Fill n consecutive new pages from page index; what is beyond the end is zeroed. 0 or
	 * -errno.
	 */
	int (*readpages)(struct inode *inode, u64 index, struct page **pages, unsigned n);
	/* Write a page back (len bytes of it are within the file). NULL: the file is read-only. */
	int (*writepage)(struct inode *inode, u64 index, struct page *page, unsigned len);
	/* Optional: the same for n consecutive pages, len bytes in all. */
	int (*writepages)(struct inode *inode, u64 index, struct page **pages, unsigned n,
			  size_t len);
	/*
	 * Set: the cache is the storage (tmpfs): pages are never reclaimed, holes read as zeros. Told
	 * of pages about to be added (-ENOSPC refuses) and removed (negative).
	 */
	int (*account)(struct inode *inode, s64 pages);
};

struct super {
	/* "tmpfs", "fuse", "overlay", "proc" ... as in /proc/mounts */
	const char *type;
	u64 dev;
	u64 magic;			/* statfs f_type */
	struct inode *root;
	void *priv;
	bool readonly;
	u64 next_ino;			/* for inode_new_ino() */
	void (*destroy)(struct super *sb);	/* after umount; NULL: stays */
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
	/* text of a symbolic link once known (kmalloc); freed with the inode */
	char *link;
	/* overlay inode of which this is the upper part; not a reference */
	struct inode *over;
	u32 seals;			/* F_SEAL_* of a memfd */
	s32 writers;			/* files open for writing (ETXTBSY) */
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
	u32 hashval;
	u32 flags;			/* DENTRY_* */
	u32 len;
	char *name;			/* NUL-terminated: inline_name, or its own after a rename */
	char inline_name[];
};
#define DENTRY_DELETED	0x01		/* unlinked while in use */
#define DENTRY_LINKABLE	0x02		/* O_TMPFILE without O_EXCL: linkat(2) may give it a name */

struct mount {
	struct list link;		/* mount_list, in order */
	struct super *sb;
	struct dentry *root, *mountpoint;
	unsigned flags;			/* MS_RDONLY ... */
	const char *source, *target;
};

extern struct list mount_list;

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
	s32 owner_pgid;			/* F_SETOWN: >0 process, <0 process group */
	s32 owner_sig;			/* F_SETSIG */
	const char *label;		/* file_new_anon()'s: "pipe", "[eventfd]" ...; else NULL */
	struct mutex pos_lock;		/* pos of a page-cached file that several share */
};

#define FILE_READABLE(f)	(((f)->flags & 3) != 1 && !((f)->flags & 010000000 /* O_PATH */))
#define FILE_WRITABLE(f)	(((f)->flags & 3) != 0 && !((f)->flags & 010000000 /* O_PATH */))

struct fs_context {			/* per process; fs_fork() copies or shares */
	unsigned refs;
	struct dentry *root, *cwd;
	u32 umask;
};

/* --- for the rest of the kernel ------------------------------------------------------------ */

void vfs_init(void);			/* caches; nothing is mounted yet */
/* root and other mounts as the FDT says (fs/root.c) */
int vfs_mount_root(const struct fdt *fdt);
/* mkdir -p by the kernel itself, in the root's tree; existing directories are fine. */
int vfs_make_path(const char *path, u32 mode, u32 uid, u32 gid);

/* File systems that root.c mounts. Each returns 0 and a super with its root inode. */
int fusefs_mount(const char *source, bool readonly, struct super **out);	/* fs/fusefs.c */
int devfs_mount(struct super **out);
int procfs_mount(struct super **out);
int tmpfs_mount(u64 max_bytes, u32 root_mode, struct super **out);	/* 0 bytes: half of RAM */

struct super *super_new(const char *type, u64 magic);	/* a dev of its own; no root yet */
/*
 * Mount sb on target (NULL: a tree of its own, for the root or an overlay's lower layer). Takes
 * over sb, not target. The strings are copied.
 */
int vfs_mount(struct super *sb, struct dentry *target, unsigned flags, const char *source,
	      struct mount **out);

/*
 * Set by their owners at start-up, NULL until then. Openers of FIFOs and of device nodes that lie
 * on tmpfs or an overlay: they set file->ops and ->priv. inode->pipe is the FIFO's state; its
 * owner's release() frees it.
 */
extern int (*vfs_fifo_open)(struct inode *inode, struct file *file);
/* S_ISCHR/S_ISBLK, ->rdev */
extern int (*vfs_device_open)(struct inode *inode, struct file *file);
/* F_GETPIPE_SZ (size 0) and F_SETPIPE_SZ: the size or -errno (-EBADF: not a pipe). */
extern long (*vfs_pipe_size)(struct file *file, u64 size);
/* mm: take pages [index, index + n) of a file out of every page table (truncate, punched holes). */
extern void (*vfs_unmap)(struct inode *inode, u64 index, u64 n);
/* last reference is gone, ->epoll not empty */
extern void (*vfs_epoll_release)(struct file *file);

/* Counters, shown under trace FS: what may have cost a host request. */
struct vfs_stats { u64 walks, lookups, revalidates, readpages, pages_read, writepages; };
extern struct vfs_stats vfs_stats;

struct inode *inode_new(struct super *sb, u32 mode);	/* refs 1, nlink 1, times now, ino unset */
/* the same with the super's next ino */
struct inode *inode_new_ino(struct super *sb, u32 mode);
/*
 * Owner, and mode with the rules of set-group-ID directories, for an object made in dir by
 * current.
 */
void inode_init_owner(struct inode *inode, const struct inode *dir, u32 mode);
struct timespec64 inode_now(void);
/* Text of a symbolic link, kept in the inode: length or -errno. */
long inode_link_text(struct inode *inode, const char **text);
/* Permission of current: mask of MAY_*. 0, -EACCES, -EROFS. */
#define MAY_EXEC	1
#define MAY_WRITE	2
#define MAY_READ	4
int inode_permission(struct inode *inode, unsigned mask);
/* refresh() if there is one, then attributes are good to show. */
int inode_refresh(struct inode *inode);
void inode_get(struct inode *inode);
void inode_put(struct inode *inode);
void dentry_get(struct dentry *dentry);
void dentry_put(struct dentry *dentry);
/* Absolute path of a dentry within the process's root; returns a pointer into buf or NULL. */
/* " (deleted)" behind if so */
char *dentry_path(struct dentry *dentry, char *buf, size_t size);
/* takes over the reference */
void dentry_instantiate(struct dentry *dentry, struct inode *inode);
/*
 * A dentry outside every tree, for a magic link to an open file without a name. Takes a reference.
 */
struct dentry *dentry_new_anon(struct inode *inode, const char *label);

/*
 * Enter what is known of a name. Takes over the inode reference (NULL: it does not exist). Returns
 * the referenced dentry (the old one, renewed, if it says the same), or NULL without memory.
 */
struct dentry *dcache_add(struct dentry *parent, const char *name, size_t len, struct inode *inode,
			  u64 expires_ns);
/* The cached dentry, expired or not, referenced, or NULL. */
struct dentry *dcache_find(struct dentry *parent, const char *name, size_t len);
/*
 * Cached or looked up, referenced; negative ones too. rest: text from this name on, for walk(), or
 * NULL: only this name (then terminated at len).
 */
int dcache_lookup(struct dentry *parent, const char *name, size_t len, const char *rest,
		  struct dentry **out);
/* Forget what is cached below (an entry changed behind our back). */
void dcache_prune(struct dentry *parent);
u64 dcache_reclaim(u64 count);		/* free unused dentries, oldest first; how many */

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
/* lowest free; consumes the reference on success */
int fd_install(struct file *file, unsigned cloexec);
/* for stdio of the first program */
int fd_install_at(struct files *files, int fd, struct file *file);

struct fs_context *fs_new(void);
struct fs_context *fs_fork(struct fs_context *old);
void fs_get(struct fs_context *fs);
void fs_put(struct fs_context *fs);

/*
 * File without a name (pipe, eventfd, memfd ...): refs 1, or NULL. It gets an inode of its own
 * with mode 0600, S_IFIFO for "pipe", S_IFSOCK | 0777 for "socket". label is not copied.
 */
struct file *file_new_anon(const struct file_ops *ops, const char *label, void *priv, u32 flags);
/* The same on an inode that is there (a pipe's other end); takes a reference of its own. */
struct file *file_new_inode(struct inode *inode, const struct file_ops *ops, const char *label,
			    void *priv, u32 flags);
/*
 * The inode that attributes, locks and xattrs belong to: the overlay's where inode is its real
 * one.
 */
struct inode *file_attr_inode(const struct file *file);
/* Open an object found by name; permission is the caller's. flags O_*. */
int file_open_dentry(struct dentry *dentry, u32 flags, struct file **out);
/* path: kernel string. Open as open(2) does. */
int file_open(const char *path, u32 flags, u32 mode, struct file **out);
/* Look up a kernel string as stat(2) (follow) or lstat(2) does; referenced. dfd as in openat(2). */
int path_lookup(int dfd, const char *path, bool follow, struct dentry **out);

/* Bind and unbind of UNIX sockets: make the S_IFSOCK node; -EADDRINUSE if the name is there. */
int path_mknod(const char *path, u32 mode, u64 rdev, struct dentry **out);

int fd_close(int fd);			/* close(2) */
unsigned fd_count(struct files *files);	/* one more than the highest open descriptor */
/* referenced, or NULL (for /proc/<pid>/fd) */
struct file *fd_file_in(struct files *files, int fd);
bool fd_cloexec(struct files *files, int fd);

/* llseek operations for page-cached files and for directories with small positions. */
s64 generic_llseek(struct file *file, s64 off, int whence);
s64 dir_llseek(struct file *file, s64 off, int whence);
/* "." at position 0 and ".." at 1 (next 2); true: both are out, go on. */
bool dir_emit_dots(struct file *file, struct dir_context *ctx);

/* --- page cache (fs/pagecache.c) ------------------------------------------------------------ */

/*
 * Referenced up-to-date page, read if need be with read-ahead. -EIO, -ENOMEM; beyond the end:
 * -ENXIO.
 */
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
int pagecache_fsync(struct file *file, bool datasync);
int pagecache_writeback(struct inode *inode);	/* all dirty pages; 0 or the first error */
/* Drop what the host has changed: clean pages from index on, those in use too. */
void pagecache_invalidate(struct inode *inode, u64 index);
/* Memory is short: drop clean pages that nobody uses, least recently used files first; how many. */
u64 pagecache_reclaim(u64 npages);
u64 pagecache_total(void);			/* pages held, for /proc/meminfo */

/* --- poll ----------------------------------------------------------------------------------- */

/* A poll operation calls this for each queue on which its state changes. pt NULL: just asked. */
void poll_wait(struct poll_table *pt, struct wait_queue *wq);
