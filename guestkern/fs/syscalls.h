/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of the file system: integer arguments in order, user pointers as u64. The result is
 * what the program gets: >= 0 or -errno (or an internal -ERESTART*).
 */
#pragma once

#include "core/types.h"

/* open.c */
long sys_openat(int dfd, u64 path, int flags, u32 mode);
long sys_open(u64 path, int flags, u32 mode);
long sys_creat(u64 path, u32 mode);
long sys_openat2(int dfd, u64 path, u64 uhow, u64 size);

/* fdtable.c */
long sys_close(int fd);
long sys_close_range(u32 first, u32 last, u32 flags);
long sys_dup(int fd);
long sys_dup2(int oldfd, int newfd);
long sys_dup3(int oldfd, int newfd, int flags);

/* fcntl.c */
long sys_fcntl(int fd, u32 cmd, u64 arg);

/* locks.c */
long sys_flock(int fd, int op);

/* readwrite.c */
long sys_read(int fd, u64 buf, u64 count);
long sys_write(int fd, u64 buf, u64 count);
long sys_pread64(int fd, u64 buf, u64 count, s64 pos);
long sys_pwrite64(int fd, u64 buf, u64 count, s64 pos);
long sys_lseek(int fd, s64 off, u32 whence);

/* iov.c */
long sys_readv(int fd, u64 vec, u64 n);
long sys_writev(int fd, u64 vec, u64 n);
long sys_preadv(int fd, u64 vec, u64 n, s64 pos, u64 pos_high);
long sys_pwritev(int fd, u64 vec, u64 n, s64 pos, u64 pos_high);
long sys_preadv2(int fd, u64 vec, u64 n, s64 pos, u64 pos_high, u32 flags);
long sys_pwritev2(int fd, u64 vec, u64 n, s64 pos, u64 pos_high, u32 flags);

/* sendfile.c */
long sys_sendfile(int out_fd, int in_fd, u64 uoff, u64 count);
long sys_copy_file_range(int in_fd, u64 in_off, int out_fd, u64 out_off, u64 len, u32 flags);

/* sync.c */
long sys_sync(void);
long sys_fsync(int fd);
long sys_fdatasync(int fd);
long sys_syncfs(int fd);
long sys_sync_file_range(int fd, s64 off, s64 len, u32 flags);
long sys_fadvise64(int fd, s64 off, s64 len, int advice);
long sys_readahead(int fd, s64 off, u64 count);

/* stat.c */
long sys_newfstatat(int dfd, u64 path, u64 ust, int flags);
long sys_stat(u64 path, u64 ust);
long sys_lstat(u64 path, u64 ust);
long sys_fstat(int fd, u64 ust);
long sys_statx(int dfd, u64 path, int flags, u32 mask, u64 ustx);
long sys_statfs(u64 path, u64 ust);
long sys_fstatfs(int fd, u64 ust);

/* dirs.c */
long sys_getdents64(int fd, u64 buf, u32 count);
long sys_getdents(int fd, u64 buf, u32 count);

/* names.c */
long sys_mkdirat(int dfd, u64 path, u32 mode);
long sys_mkdir(u64 path, u32 mode);
long sys_mknodat(int dfd, u64 path, u32 mode, u32 dev);
long sys_mknod(u64 path, u32 mode, u32 dev);
long sys_symlinkat(u64 target, int dfd, u64 path);
long sys_symlink(u64 target, u64 path);
long sys_linkat(int olddfd, u64 oldpath, int newdfd, u64 newpath, int flags);
long sys_link(u64 oldpath, u64 newpath);
long sys_unlinkat(int dfd, u64 path, int flags);
long sys_unlink(u64 path);
long sys_rmdir(u64 path);
long sys_readlinkat(int dfd, u64 path, u64 buf, int size);
long sys_readlink(u64 path, u64 buf, int size);

/* rename.c */
long sys_renameat2(int olddfd, u64 oldpath, int newdfd, u64 newpath, u32 flags);
long sys_renameat(int olddfd, u64 oldpath, int newdfd, u64 newpath);
long sys_rename(u64 oldpath, u64 newpath);

/* path.c */
long sys_getcwd(u64 buf, u64 size);
long sys_chdir(u64 path);
long sys_fchdir(int fd);
long sys_chroot(u64 path);
long sys_umask(u32 mask);

/* attr.c */
long sys_fchmodat2(int dfd, u64 path, u32 mode, u32 flags);
long sys_fchmodat(int dfd, u64 path, u32 mode);
long sys_chmod(u64 path, u32 mode);
long sys_fchmod(int fd, u32 mode);
long sys_fchownat(int dfd, u64 path, u32 uid, u32 gid, int flags);
long sys_chown(u64 path, u32 uid, u32 gid);
long sys_lchown(u64 path, u32 uid, u32 gid);
long sys_fchown(int fd, u32 uid, u32 gid);
long sys_truncate(u64 path, s64 size);
long sys_ftruncate(int fd, s64 size);
long sys_faccessat2(int dfd, u64 path, u32 mode, int flags);
long sys_faccessat(int dfd, u64 path, u32 mode);
long sys_access(u64 path, u32 mode);
long sys_fallocate(int fd, int mode, s64 off, s64 len);

/* times.c */
long sys_utimensat(int dfd, u64 path, u64 utimes, int flags);
long sys_futimesat(int dfd, u64 path, u64 utimes);
long sys_utimes(u64 path, u64 utimes);
long sys_utime(u64 path, u64 utimbuf);

/* xattr.c */
long sys_setxattr(u64 path, u64 name, u64 val, u64 size, int flags);
long sys_lsetxattr(u64 path, u64 name, u64 val, u64 size, int flags);
long sys_fsetxattr(int fd, u64 name, u64 val, u64 size, int flags);
long sys_getxattr(u64 path, u64 name, u64 val, u64 size);
long sys_lgetxattr(u64 path, u64 name, u64 val, u64 size);
long sys_fgetxattr(int fd, u64 name, u64 val, u64 size);
long sys_listxattr(u64 path, u64 buf, u64 size);
long sys_llistxattr(u64 path, u64 buf, u64 size);
long sys_flistxattr(int fd, u64 buf, u64 size);
long sys_removexattr(u64 path, u64 name);
long sys_lremovexattr(u64 path, u64 name);
long sys_fremovexattr(int fd, u64 name);

/* memfd.c */
long sys_memfd_create(u64 name, u32 flags);

/* mount.c */
long sys_umount2(u64 path, int flags);
long sys_mount(u64 source, u64 target, u64 type, u64 flags, u64 data);

long sys_ioctl(int fd, u32 cmd, u64 arg);
