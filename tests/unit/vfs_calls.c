/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File system calls one by one against the host: path rules, descriptors, fcntl, locks, vectors,
 * openat2, sendfile, extended attributes, memfd, O_TMPFILE, sizes and seeks. A test is a function
 * that is true if every call agreed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>

#include "fs/syscalls.h"
#include "tap.h"
#include "vfs_fake.h"
#include "vfs_oracle.h"

#define AT AT_FDCWD
#define BAD_PTR 0x10l

static int open_both(const char *path, int flags, unsigned mode)
{
	long fd = -1;

	return both(&fd, SYS_openat, AT, U(path), flags, mode, 0, 0) ? (int)fd : -1000;
}

static bool write_both(int fd, const char *text)
{
	return B3(SYS_write, fd, U(text), strlen(text));
}

static bool make_file(const char *path, const char *text)
{
	int fd = open_both(path, O_CREAT | O_WRONLY | O_TRUNC, 0644);

	return fd < 0 ? fd != -1000 : write_both(fd, text) && B1(SYS_close, fd);
}

static bool test_paths(void)
{
	static char longname[300], longpath[5000];
	static const char *const paths[] = {
		"",	   "/",	       "//",	    ".",
		"..",	   "/..",      "p",	    "p/",
		"p//",	   "p/.",      "p/..",	    "p/f",
		"p/f/",	   "p/f/.",    "p/f/..",    "p/f/x",
		"p/none",  "p/none/",  "p/none/x",  "p/lf",
		"p/lf/",   "p/ld",     "p/ld/",	    "p/ld/f",
		"p/loop",  "p/loop/",  "p/dang",    "p/dang/",
		"p/abs",   "p/abs/f",  "p/up/p/f",  "/p/ld/../p/f",
		"./p/./f", "p/chain9", "p/chain50",
	};
	char a[64], b[64];
	bool ok = B2(SYS_mkdir, U("p"), 0755) && make_file("p/f", "x");

	ok &= B2(SYS_symlink, U("f"), U("p/lf")) && B2(SYS_symlink, U("."), U("p/ld"));
	ok &= B2(SYS_symlink, U("loop"), U("p/loop")) && B2(SYS_symlink, U("gone"), U("p/dang"));
	ok &= B2(SYS_symlink, U("/p"), U("p/abs")) && B2(SYS_symlink, U("../.."), U("p/up"));
	ok &= B2(SYS_symlink, U("f"), U("p/chain0"));
	for (int i = 1; i <= 50; i++) {
		snprintf(a, sizeof(a), "chain%d", i - 1);
		snprintf(b, sizeof(b), "p/chain%d", i);
		ok &= B2(SYS_symlink, U(a), U(b));
	}
	for (int i = 36; i < 44; i++) {
		snprintf(b, sizeof(b), "p/chain%d", i);
		ok &= B2(SYS_stat, U(b), U_out());
	}
	memset(longname, 'n', 256);
	memset(longpath, '/', 4999);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		const char *p = paths[i];

		ok &= B2(SYS_stat, U(p), U_out()) && B2(SYS_lstat, U(p), U_out());
		ok &= B3(SYS_readlink, U(p), U_out(), 100) && B2(SYS_access, U(p), 4);
		ok &= B2(SYS_mkdir, U(p), 0755) && B2(SYS_mknod, U(p), S_IFREG | 0600);
		ok &= B2(SYS_symlink, U("t"), U(p)) && B2(SYS_link, U("p/f"), U(p));
		ok &= B2(SYS_rename, U(p), U("p/none2/x")) && B2(SYS_rename, U("p/none3"), U(p));
		for (int flags = 0; flags < 4; flags++) {
			static const int f[] = { O_RDONLY, O_RDONLY | O_NOFOLLOW,
						 O_RDONLY | O_DIRECTORY, O_PATH | O_NOFOLLOW };
			int fd = open_both(p, f[flags], 0);

			ok &= fd != -1000;
			if (fd >= 0)
				ok &= B1(SYS_close, fd);
		}
	}
	ok &= both_tree("/p");
	ok &= B2(SYS_stat, U(longname), U_out()) && B2(SYS_mkdir, U(longname), 0755);
	longname[255] = 0;
	ok &= B2(SYS_mkdir, U(longname), 0755) && B1(SYS_rmdir, U(longname));
	ok &= B2(SYS_stat, U(longpath), U_out());
	longpath[4095] = 0;
	ok &= B2(SYS_stat, U(longpath), U_out());
	ok &= B2(SYS_stat, BAD_PTR, U_out()) && B2(SYS_stat, U("/"), BAD_PTR);
	return ok;
}

static bool test_at(void)
{
	bool ok = B2(SYS_mkdir, U("at"), 0755) && make_file("at/f", "text");
	int d = open_both("at", O_RDONLY | O_DIRECTORY, 0), f = open_both("at/f", O_RDONLY, 0);
	int p = open_both("at", O_PATH, 0);

	ok &= B4(SYS_newfstatat, d, U("f"), U_out(), 0) &&
	      B4(SYS_newfstatat, f, U("x"), U_out(), 0);
	ok &= B4(SYS_newfstatat, f, U(""), U_out(), AT_EMPTY_PATH);
	ok &= B4(SYS_newfstatat, f, U(""), U_out(), 0) &&
	      B4(SYS_newfstatat, 99, U("f"), U_out(), 0);
	ok &= B4(SYS_newfstatat, 99, U("/at/f"), U_out(), 0);
	ok &= B4(SYS_newfstatat, p, U("f"), U_out(), 0) &&
	      B4(SYS_newfstatat, d, U("f"), U_out(), 0x40);
	ok &= B4(SYS_newfstatat, AT, U(""), U_out(), AT_EMPTY_PATH);
	ok &= B3(SYS_read, p, U_out(), 10) && B3(SYS_fcntl, p, F_GETFL, 0) && B1(SYS_fchdir, f);
	ok &= B1(SYS_fchdir, p) && B2(SYS_getcwd, U_out(), 100) && B2(SYS_getcwd, U_out(), 3);
	ok &= B3(SYS_mkdirat, d, U("sub"), 0777) && B3(SYS_unlinkat, d, U("sub"), 0);
	ok &= B3(SYS_unlinkat, d, U("sub"), AT_REMOVEDIR) &&
	      B3(SYS_unlinkat, d, U("f"), AT_REMOVEDIR);
	ok &= B3(SYS_unlinkat, d, U("f"), 7) && B5(SYS_linkat, f, U(""), d, U("g"), AT_EMPTY_PATH);
	ok &= B5(SYS_linkat, d, U("f"), d, U("h"), 0) && B4(SYS_fchownat, d, U("h"), 7, 8);
	ok &= B4(SYS_readlinkat, d, U("h"), U_out(), 10) &&
	      B4(SYS_readlinkat, f, U(""), U_out(), 10);
	ok &= B5(SYS_fchownat, f, U(""), 3, 4, AT_EMPTY_PATH) &&
	      B4(SYS_faccessat2, d, U("f"), 2, 0);
	ok &= B4(SYS_fchmodat2, d, U("h"), 0640, AT_SYMLINK_NOFOLLOW);
	ok &= B2(SYS_fstat, d, U_out()) && both_tree("/at") && B1(SYS_chdir, U("/"));
	return ok && B1(SYS_close, d) && B1(SYS_close, f) && B1(SYS_close, p);
}

static bool test_fds(void)
{
	bool ok = make_file("fdf", "0123456789");
	int a = open_both("fdf", O_RDWR, 0), b = open_both("fdf", O_RDONLY | O_CLOEXEC, 0);

	ok &= B1(SYS_dup, a) && B1(SYS_dup, 77) && B2(SYS_dup2, a, 20) && B2(SYS_dup2, a, a);
	ok &= B2(SYS_dup2, 77, 77) && B2(SYS_dup2, a, 9999) && B2(SYS_dup2, a, -1);
	ok &= B3(SYS_dup3, a, a, 0) && B3(SYS_dup3, a, 21, O_CLOEXEC) && B3(SYS_dup3, a, 22, 1);
	ok &= B3(SYS_fcntl, 21, F_GETFD, 0) && B3(SYS_fcntl, b, F_GETFD, 0);
	ok &= B3(SYS_fcntl, b, F_SETFD, 0) && B3(SYS_fcntl, b, F_GETFD, 0);
	ok &= B3(SYS_fcntl, a, F_DUPFD, 20) && B3(SYS_fcntl, a, F_DUPFD_CLOEXEC, 100);
	ok &= B3(SYS_fcntl, a, F_DUPFD, 70) && B3(SYS_fcntl, 100, F_GETFD, 0);
	ok &= B3(SYS_fcntl, a, F_DUPFD, 5000) && B3(SYS_fcntl, a, F_DUPFD, -1);
	ok &= B3(SYS_fcntl, a, 12345, 0) && B3(SYS_fcntl, 77, F_GETFL, 0);
	ok &= B3(SYS_fcntl, a, F_SETFL, O_APPEND | O_NONBLOCK) && B3(SYS_fcntl, a, F_GETFL, 0);
	ok &= write_both(a, "abc") && B3(SYS_lseek, 20, 0, SEEK_CUR);
	ok &= B3(SYS_fcntl, a, F_SETOWN, 1) && B3(SYS_fcntl, a, F_GETOWN, 0);
	ok &= B3(SYS_fcntl, a, F_GETSIG, 0) && B3(SYS_fcntl, a, F_SETSIG, 99);
	ok &= B3(SYS_fcntl, a, F_GETPIPE_SZ, 0) && B3(SYS_fcntl, a, F_GETLEASE, 0);
	/* A hole in the middle is found again. */
	ok &= B1(SYS_close, b) && B1(SYS_dup, a) && B1(SYS_dup, a) && B1(SYS_close, 5) &&
	      B1(SYS_dup, a);
	ok &= B3(SYS_close_range, 18, 22, 4) && B3(SYS_fcntl, 20, F_GETFD, 0);
	ok &= B3(SYS_close_range, 20, 10, 0) && B3(SYS_close_range, 19, 100, 0) &&
	      B1(SYS_close, 20);
	ok &= B3(SYS_close_range, 3, 50, 0) && B1(SYS_dup, a);
	for (int i = 0; i < 200 && ok; i++)
		ok &= open_both("fdf", O_RDONLY, 0) == 3 + i;
	return ok && B3(SYS_close_range, 3, 499, 0);
}

static bool test_rw(void)
{
	struct iovec v[4];
	bool ok = true;
	int fd = open_both("rw", O_RDWR | O_CREAT, 0644), w = open_both("rw", O_WRONLY, 0);

	v[0] = (struct iovec){ (void *)U("hello "), 6 };
	v[1] = (struct iovec){ NULL, 0 };
	v[2] = (struct iovec){ (void *)U("world"), 5 };
	v[3] = (struct iovec){ (void *)BAD_PTR, 5 };
	ok &= B3(SYS_writev, fd, U_bytes(v, sizeof(v)), 3) &&
	      B3(SYS_writev, fd, U_bytes(v, sizeof(v)), 0);
	ok &= B5(SYS_pwritev, fd, U_bytes(v, sizeof(v)), 3, 10000, 0);
	ok &= B6(SYS_pwritev2, fd, U_bytes(v, sizeof(v)), 1, -1, 0, RWF_APPEND);
	ok &= B6(SYS_pwritev2, fd, U_bytes(v, sizeof(v)), 1, -1, 0, 0x4000);
	ok &= B3(SYS_writev, fd, U_bytes(v, sizeof(v)), 2000) && B3(SYS_writev, fd, BAD_PTR, 1);
	v[0] = (struct iovec){ (void *)U_out(), 4 };
	v[1] = (struct iovec){ (void *)(U_out() + 4), 100 };
	ok &= B3(SYS_lseek, fd, 0, SEEK_SET) && B3(SYS_readv, fd, U_bytes(v, sizeof(v)), 2);
	ok &= B5(SYS_preadv, fd, U_bytes(v, sizeof(v)), 2, 9990, 0);
	ok &= B5(SYS_preadv, fd, U_bytes(v, sizeof(v)), 2, -5, 0);
	v[1].iov_len = (size_t)-1;
	ok &= B3(SYS_readv, fd, U_bytes(v, sizeof(v)), 2);
	ok &= B3(SYS_read, w, U_out(), 10) && B3(SYS_read, 77, U_out(), 1) &&
	      B3(SYS_read, fd, BAD_PTR, 1);
	ok &= B3(SYS_write, fd, BAD_PTR, 10) && B4(SYS_pread64, fd, U_out(), 10, -1);
	ok &= B3(SYS_lseek, fd, 5, 9) && B3(SYS_lseek, fd, -1, SEEK_SET);
	ok &= B3(SYS_lseek, fd, INT64_MAX, SEEK_CUR) && B3(SYS_lseek, fd, INT64_MAX, SEEK_SET);
	ok &= B3(SYS_read, fd, U_out(), 10) && B3(SYS_write, fd, U("x"), 1);
	ok &= B2(SYS_ftruncate, fd, -1) && B2(SYS_ftruncate, w, 3) && B2(SYS_fstat, fd, U_out());
	ok &= B2(SYS_ftruncate, fd, 9000) && B4(SYS_pread64, fd, U_out(), 9000, 0);
	ok &= B1(SYS_fsync, fd) && B1(SYS_fdatasync, fd) && B1(SYS_fsync, 77) && B1(SYS_syncfs, fd);
	ok &= B4(SYS_sync_file_range, fd, 0, 10, 7) && B4(SYS_fadvise64, fd, 0, 0, 3);
	ok &= B4(SYS_fadvise64, fd, 0, 0, 99) && B3(SYS_readahead, fd, 0, 4096);
	return ok && both_tree("/rw") && B1(SYS_close, fd) && B1(SYS_close, w);
}

static bool test_holes(void)
{
	bool ok = true;
	int fd = open_both("holes", O_RDWR | O_CREAT, 0644);

	ok &= B4(SYS_pwrite64, fd, U("a"), 1, 100000) && B4(SYS_pwrite64, fd, U("b"), 1, 300000);
	ok &= B2(SYS_ftruncate, fd, 400000);
	for (long at = 0; at < 410000; at += 6000)
		ok &= B3(SYS_lseek, fd, at, SEEK_DATA) && B3(SYS_lseek, fd, at, SEEK_HOLE);
	ok &= B3(SYS_lseek, fd, -1, SEEK_DATA) && B2(SYS_fstat, fd, U_out());
	ok &= B4(SYS_fallocate, fd, 3, 99000, 5000) && B2(SYS_fstat, fd, U_out());
	ok &= B4(SYS_fallocate, fd, 3, 90000, 50000) && B2(SYS_fstat, fd, U_out());
	ok &= B4(SYS_fallocate, fd, 2, 0, 10) && B4(SYS_fallocate, fd, 0, 400000, 5000);
	ok &= B2(SYS_fstat, fd, U_out()) && B4(SYS_fallocate, fd, 0, 0, 0);
	return ok && both_tree("/holes") && B1(SYS_close, fd);
}

static bool test_locks(void)
{
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 20 };
	bool ok = make_file("lk", "0123456789012345678901234567890123456789");
	int a = open_both("lk", O_RDWR, 0), b = open_both("lk", O_RDWR, 0),
	    r = open_both("lk", O_RDONLY, 0);

	/* The same process does not conflict with itself; descriptions do. */
	ok &= B3(SYS_fcntl, a, F_SETLK, U_bytes(&fl, sizeof(fl)));
	memcpy((void *)U_out(), &fl, sizeof(fl));
	ok &= B3(SYS_fcntl, b, F_GETLK, U_out());
	ok &= B3(SYS_fcntl, r, F_SETLK, U_bytes(&fl, sizeof(fl)));
	fl.l_type = 9;
	ok &= B3(SYS_fcntl, a, F_SETLK, U_bytes(&fl, sizeof(fl)));
	fl.l_type = F_WRLCK;
	ok &= B3(SYS_fcntl, b, F_OFD_SETLK, U_bytes(&fl, sizeof(fl)));
	fl.l_type = F_RDLCK;
	fl.l_start = -5;
	ok &= B3(SYS_fcntl, a, F_SETLK, U_bytes(&fl, sizeof(fl)));
	fl.l_whence = SEEK_END;
	ok &= B3(SYS_fcntl, a, F_SETLK, U_bytes(&fl, sizeof(fl)));
	/* Closing any descriptor of the file gives the process's locks up. */
	ok &= B1(SYS_close, r);
	fl = (struct flock){ .l_type = F_WRLCK, .l_start = 10, .l_len = 20 };
	ok &= B3(SYS_fcntl, b, F_OFD_SETLK, U_bytes(&fl, sizeof(fl)));
	ok &= B3(SYS_fcntl, a, F_OFD_SETLK, U_bytes(&fl, sizeof(fl)));
	fl.l_type = F_UNLCK;
	fl.l_start = 15;
	fl.l_len = 5;
	ok &= B3(SYS_fcntl, b, F_OFD_SETLK, U_bytes(&fl, sizeof(fl)));
	fl.l_type = F_WRLCK;
	for (int s = 8; s < 34; s++) {
		fl.l_start = s;
		fl.l_len = 2;
		ok &= B3(SYS_fcntl, a, F_OFD_SETLK, U_bytes(&fl, sizeof(fl)));
		memcpy((void *)U_out(), &fl, sizeof(fl));
		ok &= B3(SYS_fcntl, a, F_OFD_GETLK, U_out());
	}
	ok &= B2(SYS_flock, a, LOCK_EX) && B2(SYS_flock, b, LOCK_EX | LOCK_NB) &&
	      B2(SYS_flock, b, LOCK_UN);
	ok &= B2(SYS_flock, a, LOCK_SH) && B2(SYS_flock, b, LOCK_SH | LOCK_NB);
	ok &= B2(SYS_flock, a, LOCK_EX | LOCK_NB) && B2(SYS_flock, b, LOCK_EX | LOCK_NB);
	ok &= B2(SYS_flock, a, 77) && B2(SYS_flock, 88, LOCK_EX);
	return ok && B1(SYS_close, a) && B2(SYS_flock, b, LOCK_EX | LOCK_NB) && B1(SYS_close, b);
}

static bool how_both(int dfd, const char *path, uint64_t flags, uint64_t mode, uint64_t resolve,
		     unsigned long size)
{
	struct {
		struct open_how how;
		uint64_t more;
	} h = { { flags, mode, resolve }, 0 };
	long fd;

	if (!both(&fd, SYS_openat2, dfd, U(path), U_bytes(&h, sizeof(h)), (long)size, 0, 0))
		return false;
	return fd < 0 || B1(SYS_close, fd);
}

static bool test_openat2(void)
{
	static const char *const paths[] = { "f",   "../o2/f", "/o2/f",	   "abs",
					     "rel", "up",      "sub/../f", ".." };
	bool ok = B2(SYS_mkdir, U("o2"), 0755) && B2(SYS_mkdir, U("o2/sub"), 0755) &&
		  make_file("o2/f", "x");
	int d;

	ok &= B2(SYS_symlink, U("/o2/f"), U("o2/abs")) && B2(SYS_symlink, U("f"), U("o2/rel"));
	ok &= B2(SYS_symlink, U("../o2/f"), U("o2/up"));
	d = open_both("o2", O_PATH, 0);
	for (unsigned r = 0; r < 0x20; r++) {
		for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
			ok &= how_both(d, paths[i], O_RDONLY, 0, r, 24);
	}
	ok &= how_both(d, "f", O_RDONLY, 0644, 0, 24) &&
	      how_both(d, "n", O_CREAT | O_RDWR, 0644, 0, 24);
	ok &= how_both(d, "f", 1ull << 40, 0, 0, 24) && how_both(d, "f", 0, 0, 1 << 20, 24);
	ok &= how_both(d, "f", O_PATH | O_RDWR, 0, 0, 24) && how_both(d, "f", 0, 0, 0, 16);
	ok &= how_both(d, "f", 0, 0, 0, 32) && how_both(d, "m", O_CREAT | O_RDWR, 01007777, 0, 24);
	return ok && B1(SYS_close, d);
}

static bool test_copy(void)
{
	bool ok = make_file("src", "The quick brown fox jumps over the lazy dog");
	int in = open_both("src", O_RDONLY, 0), out = open_both("dst", O_RDWR | O_CREAT, 0644);
	int app = open_both("dst", O_WRONLY | O_APPEND, 0);
	long *off = (long *)U_out(); /* put back for the second of both */

	off[0] = off[1] = 4;
	ok &= B4(SYS_sendfile, out, in, 0, 10) && B4(SYS_sendfile, out, in, off, 5);
	ok &= B3(SYS_lseek, in, 0, SEEK_CUR) && B4(SYS_sendfile, app, in, 0, 10);
	ok &= B4(SYS_sendfile, in, in, 0, 10) && B4(SYS_sendfile, out, in, 0, 1000);
	ok &= B4(SYS_sendfile, out, 99, 0, 1);
	ok &= B6(SYS_copy_file_range, in, off, out, 0, 100, 0);
	ok &= B6(SYS_copy_file_range, in, off, out, off + 1, 3, 0);
	ok &= B6(SYS_copy_file_range, out, off, out, off + 1, 3, 0);
	ok &= B6(SYS_copy_file_range, in, 0, out, 0, 3, 1) &&
	      B6(SYS_copy_file_range, in, 0, app, 0, 3, 0);
	return ok && both_tree("/dst") && B1(SYS_close, in) && B1(SYS_close, out) &&
	       B1(SYS_close, app);
}

static bool test_xattr(void)
{
	static const char *const names[] = { "user.a", "user.bb", "trusted.t", "bogus.x",
					     "user.",  "nope",	  "" };
	bool ok = make_file("xa", "x") && B2(SYS_symlink, U("xa"), U("xl"));
	int fd;

	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
			long name = U(names[i]);

			if (!strcmp(names[i], "user.")) /* Linux's answer differs by file system */
				continue;
			ok &= B5(SYS_setxattr, U("xa"), name, U("value"), 5,
				 round ? XATTR_CREATE : 0);
			ok &= B5(SYS_setxattr, U("xa"), name, U("longer value"), 12,
				 round ? XATTR_REPLACE : 0);
			ok &= B4(SYS_getxattr, U("xa"), name, U_out(), 100);
			ok &= B4(SYS_getxattr, U("xa"), name, U_out(), 3);
			ok &= B4(SYS_getxattr, U("xa"), name, 0, 0);
			ok &= B5(SYS_lsetxattr, U("xl"), name, U("v"), 1, 0);
			ok &= B4(SYS_lgetxattr, U("xl"), name, U_out(), 100);
		}
		ok &= B3(SYS_listxattr, U("xa"), U_out(), 1000) &&
		      B3(SYS_listxattr, U("xa"), U_out(), 3);
		ok &= B3(SYS_listxattr, U("xa"), 0, 0);
	}
	fd = open_both("xa", O_RDONLY, 0);
	ok &= B5(SYS_fsetxattr, fd, U("user.f"), U("v"), 1, 4) &&
	      B5(SYS_fsetxattr, fd, U("user.f"), U("v"), 1, 0);
	ok &= B4(SYS_fgetxattr, fd, U("user.f"), U_out(), 10) &&
	      B3(SYS_flistxattr, fd, U_out(), 1000);
	ok &= B2(SYS_fremovexattr, fd, U("user.f")) && B2(SYS_removexattr, U("xa"), U("user.f"));
	ok &= both_ids(500, 500) && B5(SYS_setxattr, U("xa"), U("user.z"), U("v"), 1, 0);
	ok &= B4(SYS_getxattr, U("xa"), U("trusted.t"), U_out(), 100) &&
	      B3(SYS_listxattr, U("xa"), U_out(), 1000);
	ok &= both_ids(0, 0);
	return ok && B1(SYS_close, fd);
}

static bool test_memfd(void)
{
	long fd, fd2;
	bool ok = both(&fd, SYS_memfd_create, U("m"), MFD_ALLOW_SEALING, 0, 0, 0, 0);

	ok &= both(&fd2, SYS_memfd_create, U("n"), MFD_CLOEXEC, 0, 0, 0, 0);
	ok &= B2(SYS_memfd_create, U("n"), 0x4000) && B3(SYS_fcntl, fd, F_GETFL, 0);
	ok &= B3(SYS_fcntl, fd2, F_GETFD, 0) && B3(SYS_fcntl, fd2, F_GET_SEALS, 0);
	ok &= B3(SYS_fcntl, fd2, F_ADD_SEALS, 1) && write_both((int)fd, "some text") &&
	      B2(SYS_fstat, fd, U_out());
	ok &= B3(SYS_fcntl, fd, F_GET_SEALS, 0) && B3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK);
	ok &= B2(SYS_ftruncate, fd, 2) && B2(SYS_ftruncate, fd, 100) &&
	      B3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_GROW);
	ok &= B2(SYS_ftruncate, fd, 200) && B4(SYS_pwrite64, fd, U("abcdef"), 6, 97);
	ok &= B4(SYS_pwrite64, fd, U("abcdef"), 6, 100) && B4(SYS_fallocate, fd, 0, 0, 5000);
	ok &= B3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_WRITE) &&
	      B4(SYS_pwrite64, fd, U("abcdef"), 6, 0);
	ok &= B4(SYS_fallocate, fd, 3, 0, 10) && B3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_SEAL);
	ok &= B3(SYS_fcntl, fd, F_ADD_SEALS, F_SEAL_GROW) && B3(SYS_fcntl, fd, F_GET_SEALS, 0);
	ok &= B4(SYS_pread64, fd, U_out(), 200, 0);
	return ok && B1(SYS_close, fd) && B1(SYS_close, fd2);
}

static bool test_tmpfile(void)
{
	bool ok = B2(SYS_mkdir, U("tf"), 0755);
	int fd = open_both("tf", O_TMPFILE | O_RDWR, 0640), ro;

	ok &= write_both(fd, "anonymous") && B2(SYS_fstat, fd, U_out()) && both_tree("/tf");
	ok &= B5(SYS_linkat, fd, U(""), AT, U("tf/named"), AT_EMPTY_PATH) &&
	      B2(SYS_fstat, fd, U_out());
	ok &= both_tree("/tf") && B1(SYS_close, fd);
	ro = open_both("tf", O_TMPFILE | O_RDONLY, 0600);
	return ok && ro == -EINVAL && B3(SYS_open, U("tf/none"), O_TMPFILE | O_RDWR, 0600);
}

static bool test_unlinked(void)
{
	bool ok = B2(SYS_mkdir, U("ul"), 0755) && B2(SYS_mkdir, U("ul/d"), 0755) &&
		  make_file("ul/f", "still here");
	int f = open_both("ul/f", O_RDWR, 0), d = open_both("ul/d", O_RDONLY, 0);

	ok &= B1(SYS_unlink, U("ul/f")) && B3(SYS_read, f, U_out(), 100) &&
	      B2(SYS_fstat, f, U_out());
	ok &= make_file("ul/f", "another") && B4(SYS_pread64, f, U_out(), 100, 0);
	ok &= B5(SYS_linkat, f, U(""), AT, U("ul/back"), AT_EMPTY_PATH);
	ok &= B1(SYS_chdir, U("ul/d")) && B1(SYS_rmdir, U("../d")) && B2(SYS_getcwd, U_out(), 100);
	ok &= B2(SYS_mkdir, U("x"), 0755) && B3(SYS_open, U("y"), O_CREAT | O_RDWR, 0600) &&
	      B1(SYS_chdir, U(".."));
	ok &= B2(SYS_getcwd, U_out(), 100) && B3(SYS_getdents64, d, U_out(), 1000) &&
	      B2(SYS_fstat, d, U_out());
	ok &= B1(SYS_chdir, U("/"));
	return ok && both_tree("/ul") && B1(SYS_close, f) && B1(SYS_close, d);
}

static bool test_rename(void)
{
	static const char *const objects[] = { "f1",	  "f2",	  "d1", "d2",	"d1/sub",
					       "d2/file", "none", "l",	"d1/.", ".." };
	bool ok = B2(SYS_mkdir, U("rn"), 0755) && B1(SYS_chdir, U("rn"));

	for (int flags = 0; flags < 4; flags++) {
		for (size_t i = 0; i < 10; i++) {
			for (size_t j = 0; j < 10; j++) {
				ok &= make_file("f1", "1") && make_file("f2", "22");
				ok &= B2(SYS_mkdir, U("d1"), 0755) && B2(SYS_mkdir, U("d2"), 0755);
				ok &= B2(SYS_mkdir, U("d1/sub"), 0755) &&
				      B2(SYS_symlink, U("f1"), U("l"));
				if (i & 1)
					ok &= make_file("d2/file", "3");
				ok &= B5(SYS_renameat2, AT, U(objects[i]), AT, U(objects[j]),
					 flags);
				ok &= both_tree("/rn");
				ok &= B1(SYS_unlink, U("f1")) && B1(SYS_unlink, U("f2")) &&
				      B1(SYS_unlink, U("l"));
				ok &= B1(SYS_unlink, U("d2/file")) && B1(SYS_rmdir, U("d1/sub"));
				ok &= B1(SYS_rmdir, U("d2")) && B1(SYS_rmdir, U("d1")) &&
				      B1(SYS_unlink, U("none"));
				ok &= B1(SYS_rmdir, U("none")) && B1(SYS_unlink, U("d1")) &&
				      B1(SYS_unlink, U("d2"));
				if (!ok)
					return false;
			}
		}
	}
	return ok && B1(SYS_chdir, U("/"));
}

static bool test_chroot(void)
{
	bool ok = B2(SYS_mkdir, U("jail"), 0755) && make_file("jail/in", "x") &&
		  B1(SYS_chdir, U("jail"));
	int fd = open_both("/", O_RDONLY, 0);

	ok &= B2(SYS_symlink, U("/../../in"), U("jail-link")) && B1(SYS_chroot, U("."));
	ok &= B2(SYS_stat, U("/../../in"), U_out()) && B2(SYS_stat, U("/jail-link"), U_out());
	ok &= B2(SYS_getcwd, U_out(), 100) && both_tree("/") && B2(SYS_stat, U("/jail"), U_out());
	ok &= B1(SYS_fchdir, fd) && B1(SYS_chroot, U(".")) && B1(SYS_close, fd);
	ok &= both_ids(500, 500) && B1(SYS_chroot, U("/")) && both_ids(0, 0);
	return ok && B1(SYS_chdir, U("/"));
}

static bool test_dirs(void)
{
	bool ok = B2(SYS_mkdir, U("many"), 0755);
	char name[64];
	long n;
	int fd;

	for (int i = 0; i < 500 && ok; i++) {
		snprintf(name, sizeof(name), "many/name-%d%.*s", i, i % 40,
			 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		ok &= i % 3 ? B3(SYS_mknod, U(name), S_IFREG | 0600, 0)
			    : B2(SYS_mkdir, U(name), 0700);
	}
	ok &= both_readdir("/many");
	fd = open_both("many", O_RDONLY, 0);
	ok &= B3(SYS_getdents64, fd, U_out(), 10) && B3(SYS_getdents64, fd, BAD_PTR, 1000);
	ok &= B3(SYS_getdents64, 99, U_out(), 1000) && B3(SYS_read, fd, U_out(), 10) &&
	      B3(SYS_write, fd, U_out(), 10);
	/* Half away while reading: no name twice, none of the living missed. */
	n = sys_getdents64(fd, (unsigned long)U_out(), 2000);
	ok &= n > 0;
	for (int i = 0; i < 500 && ok; i += 2) {
		snprintf(name, sizeof(name), "many/name-%d%.*s", i, i % 40,
			 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
		ok &= B3(SYS_unlinkat, AT, U(name), i % 3 ? 0 : AT_REMOVEDIR);
	}
	while (n > 0)
		n = sys_getdents64(fd, (unsigned long)U_out(), 2000);
	return ok && n == 0 && both_readdir("/many") && B1(SYS_close, fd);
}

static bool test_perm(void)
{
	bool ok = B2(SYS_mkdir, U("pm"), 0755) && B2(SYS_mkdir, U("pm/closed"), 0700) &&
		  make_file("pm/closed/f", "x");

	ok &= B2(SYS_mkdir, U("pm/noexec"), 0644) && make_file("pm/noexec/f", "x") &&
	      make_file("pm/secret", "x");
	ok &= B2(SYS_chmod, U("pm/secret"), 0600) && B2(SYS_mkdir, U("pm/tmp"), 0777) &&
	      B2(SYS_chmod, U("pm/tmp"), 01777);
	ok &= make_file("pm/tmp/roots", "x") && B3(SYS_chown, U("pm/secret"), 0, 500) &&
	      make_file("pm/x", "x");
	ok &= B2(SYS_access, U("pm/x"), 1) && B2(SYS_chmod, U("pm/x"), 0611) &&
	      B2(SYS_access, U("pm/x"), 1);
	ok &= both_ids(500, 500);
	ok &= B3(SYS_open, U("pm/closed/f"), O_RDONLY, 0) &&
	      B3(SYS_open, U("pm/noexec/f"), O_RDONLY, 0);
	ok &= B2(SYS_stat, U("pm/noexec"), U_out()) && both_readdir("pm/noexec") &&
	      both_readdir("pm/closed");
	ok &= B3(SYS_open, U("pm/secret"), O_RDONLY, 0) && B3(SYS_open, U("pm/x"), O_WRONLY, 0);
	ok &= B1(SYS_unlink, U("pm/tmp/roots")) &&
	      B2(SYS_rename, U("pm/tmp/roots"), U("pm/tmp/mine"));
	ok &= make_file("pm/tmp/mine", "x") && B2(SYS_chmod, U("pm/tmp/mine"), 06777) &&
	      B2(SYS_stat, U("pm/tmp/mine"), U_out());
	ok &= B3(SYS_chown, U("pm/tmp/mine"), 0, -1) && B3(SYS_chown, U("pm/tmp/mine"), 500, 500);
	ok &= B2(SYS_stat, U("pm/tmp/mine"), U_out()) && B3(SYS_chown, U("pm/tmp/mine"), -1, 7);
	ok &= B2(SYS_chmod, U("pm/x"), 0777) && B2(SYS_mkdir, U("pm/new"), 0755) &&
	      B2(SYS_truncate, U("pm/x"), 0);
	ok &= B4(SYS_utimensat, AT, U("pm/x"), 0, 0) && B2(SYS_access, U("pm/closed"), 1) &&
	      B1(SYS_chdir, U("pm/closed"));
	ok &= B3(SYS_mknod, U("pm/tmp/dev"), S_IFCHR | 0600, 0x103) &&
	      B3(SYS_open, U("pm/tmp/mine"), O_RDONLY | O_NOATIME, 0);
	return ok && both_ids(0, 0) && B3(SYS_close_range, 3, 20, 0) && both_tree("/pm");
}

static bool test_times(void)
{
	long ts[4] = { 11, 22, 33, 44 }, bad[4] = { 0, -1, 0, 0 },
	     omit[4] = { 0, UTIME_OMIT, 0, UTIME_OMIT };
	long half[4] = { 0, UTIME_OMIT, 5, 6 };
	bool ok = make_file("tm", "x") && B2(SYS_symlink, U("tm"), U("tl"));
	int fd = open_both("tm", O_RDONLY, 0);

	ok &= B4(SYS_utimensat, AT, U("tm"), U_bytes(ts, 32), 0) && B2(SYS_stat, U("tm"), U_out());
	ok &= B4(SYS_utimensat, AT, U("tl"), U_bytes(half, 32), AT_SYMLINK_NOFOLLOW) &&
	      B2(SYS_lstat, U("tl"), U_out());
	ok &= B4(SYS_utimensat, AT, U("tm"), U_bytes(bad, 32), 0) &&
	      B4(SYS_utimensat, AT, U("none"), U_bytes(omit, 32), 0);
	ok &= B4(SYS_utimensat, fd, 0, U_bytes(half, 32), 0) && B2(SYS_fstat, fd, U_out());
	ok &= B4(SYS_utimensat, fd, 0, 0, AT_SYMLINK_NOFOLLOW) && B4(SYS_utimensat, AT, 0, 0, 0);
	ok &= B4(SYS_utimensat, AT, U("tm"), BAD_PTR, 0) &&
	      B2(SYS_utimes, U("tm"), U_bytes(ts, 32));
	ok &= B2(SYS_stat, U("tm"), U_out()) && B2(SYS_utime, U("tm"), U_bytes(ts, 16)) &&
	      B2(SYS_stat, U("tm"), U_out());
	ok &= B3(SYS_futimesat, AT, U("tm"), U_bytes(bad, 32));
	return ok && B1(SYS_close, fd);
}

static const struct {
	const char *name;
	bool (*fn)(void);
} tests[] = {
	{ "paths, links, trailing slashes", test_paths },
	{ "the *at calls", test_at },
	{ "descriptors and fcntl", test_fds },
	{ "read, write, vectors, seek", test_rw },
	{ "holes", test_holes },
	{ "record locks and flock", test_locks },
	{ "openat2", test_openat2 },
	{ "sendfile and copy_file_range", test_copy },
	{ "extended attributes", test_xattr },
	{ "memfd and seals", test_memfd },
	{ "O_TMPFILE", test_tmpfile },
	{ "unlinked files and directories", test_unlinked },
	{ "rename matrix", test_rename },
	{ "chroot", test_chroot },
	{ "big directories", test_dirs },
	{ "permissions", test_perm },
	{ "times", test_times },
};

static void run(bool overlay)
{
	oracle_overlay = overlay;
	if (!oracle_start()) {
		printf("1..0 # SKIP the host's oracle needs root (chroot)\n");
		exit(77);
	}
	if (fake_root_tmpfs() || (overlay && fake_root_overlay()))
		abort();
	for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
		tap_ok(tests[i].fn(), "%s%s", tests[i].name, overlay ? ", overlay" : "");
		both_ids(0, 0);
		B1(SYS_chdir, U("/"));
		B3(SYS_close_range, 3, 499, 0);
	}
	tap_ok(both_tree("/"), "the whole tree%s", overlay ? ", overlay" : "");
	oracle_stop();
}

int main(void)
{
	fake_init();
	run(false);
	run(true);
	fake_fini();
	return tap_done();
}
