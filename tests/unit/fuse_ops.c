/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of the FUSE server on a scratch tree, as a well-behaved client uses it. */
#include <dirent.h>
#include <linux/falloc.h>
#include <sys/statfs.h>
#include "tests/unit/fuse_client.h"

static struct client c;
static uint64_t rw, ro;		/* the two exports' roots: one host directory */

static long write_str(uint64_t node, uint64_t fh, uint64_t off, const char *s)
{
	return client_write(&c, node, fh, off, s, (uint32_t)strlen(s));
}

static bool read_is(uint64_t node, uint64_t fh, uint64_t off, uint32_t size, const char *want)
{
	long n = client_read(&c, node, fh, off, size);

	return n == (long)strlen(want) && memcmp(c.out + 16, want, strlen(want)) == 0;
}

static void test_init(void)
{
	struct fuse_init_in in = { .major = 7, .minor = 31, .flags = ~0u, .max_readahead = 65536 };
	struct fuse_init_out out;

	tap_ok(client_call(&c, FUSE_INIT, 0, &in, sizeof(in), NULL, NULL) == sizeof(out), "INIT");
	out = REPLY(&c, struct fuse_init_out);
	tap_ok(out.major == 7 && out.minor >= 31 && out.max_write == HUSK_FUSE_MAX_WRITE &&
	       out.max_pages == 256, "INIT: limits");
	tap_ok((out.flags & FUSE_DO_READDIRPLUS) && (out.flags & FUSE_MAX_PAGES) &&
	       !(out.flags & FUSE_DONT_MASK) && !(out.flags & FUSE_WRITEBACK_CACHE) &&
	       !(out.flags & FUSE_POSIX_LOCKS), "INIT: flags");
	in.major = 8;
	tap_ok(client_call(&c, FUSE_INIT, 0, &in, sizeof(in), NULL, NULL) > 0 &&
	       REPLY(&c, struct fuse_init_out).major == 7, "INIT: a newer major is told ours");
	in.major = 6;
	tap_ok(client_call(&c, FUSE_INIT, 0, &in, sizeof(in), NULL, NULL) == -EPROTO,
	       "INIT: an older major is refused");
	tap_ok(client_call(&c, FUSE_IOCTL, 1, &in, sizeof(in), NULL, NULL) == -ENOSYS &&
	       client_call(&c, 4711, 1, &in, sizeof(in), NULL, NULL) == -ENOSYS, "others: ENOSYS");
}

static void test_create_write_read(void)
{
	struct fuse_entry_out e;
	struct fuse_attr attr;
	struct stat st;
	uint64_t fh;

	tap_ok(client_create(&c, rw, "new", O_RDWR | O_EXCL, 0666, &e, &fh) == 0, "CREATE");
	tap_ok(stat("dir/new", &st) == 0 && (st.st_mode & 0777) == 0666,
	       "CREATE: umask does not bite");
	tap_ok(e.attr.ino == st.st_ino && S_ISREG(e.attr.mode) && e.entry_valid == 1,
	       "CREATE: entry");
	tap_ok(write_str(e.nodeid, fh, 0, "hello world") == 11, "WRITE");
	tap_ok(write_str(e.nodeid, fh, 6, "husks") == 5, "WRITE at an offset");
	tap_ok(read_is(e.nodeid, fh, 0, 100, "hello husks"), "READ by handle, short at the end");
	tap_ok(read_is(e.nodeid, 0, 6, 3, "hus"), "READ without OPEN");
	tap_ok(read_is(e.nodeid, fh, 100, 10, ""), "READ beyond the end");
	tap_ok(client_getattr(&c, e.nodeid, &attr) == 0 && attr.size == 11, "GETATTR: size");
	tap_ok(client_create(&c, rw, "new", O_RDWR | O_EXCL, 0666, &e, &fh) == -EEXIST,
	       "CREATE, O_EXCL: EEXIST");
	tap_ok(client_write(&c, e.nodeid, 0, 0, "x", 1) == -EBADF, "WRITE without OPEN: EBADF");
	tap_ok(client_release(&c, FUSE_RELEASE, e.nodeid, fh) == 0, "RELEASE");
	tap_ok(client_write(&c, e.nodeid, fh, 0, "x", 1) == -EBADF, "WRITE after RELEASE: EBADF");
	tap_ok(client_release(&c, FUSE_RELEASE, e.nodeid, fh) == -EBADF &&
	       client_release(&c, FUSE_RELEASE, e.nodeid, 0) == 0, "RELEASE again, RELEASE of 0");
	tap_ok(client_create(&c, rw, "new", O_RDWR | O_TRUNC, 0600, &e, &fh) == 0 &&
		   e.attr.size == 0,
	       "CREATE of what is there, O_TRUNC");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	/* git makes its objects so */
	tap_ok(client_create(&c, rw, "locked", O_RDWR | O_EXCL, 0444, &e, &fh) == 0 &&
	       write_str(e.nodeid, fh, 0, "abc") == 3 && read_is(e.nodeid, fh, 0, 9, "abc"),
	       "a file made with mode 0444 is written by its maker");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	tap_ok(client_create(&c, rw, "su", O_WRONLY, 06755, &e, &fh) == 0 &&
		   stat("dir/su", &st) == 0 && (st.st_mode & 07777) == 0755,
	       "CREATE: no setuid");
	tap_ok(client_read(&c, e.nodeid, fh, 0, 10) == -EBADF,
	       "READ of a write-only handle: EBADF");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
}

static void test_big_io(void)
{
	uint32_t size = HUSK_FUSE_MAX_WRITE;
	char *data = malloc(size);
	struct fuse_entry_out e;
	uint64_t fh;

	for (uint32_t i = 0; i < size; i++)
		data[i] = (char)(i * 7 + i / 251);
	client_create(&c, rw, "big", O_RDWR, 0644, &e, &fh);
	tap_ok(client_write(&c, e.nodeid, fh, 12345, data, size) == size, "WRITE of 1 MiB");
	tap_ok(client_read(&c, e.nodeid, fh, 12345, size) == size &&
	       memcmp(c.out + 16, data, size) == 0, "READ of 1 MiB");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	free(data);
}

static void test_open(void)
{
	struct fuse_entry_out e, d;
	uint64_t fh;

	client_lookup(&c, rw, "file", &e);
	tap_ok(client_open(&c, FUSE_OPEN, e.nodeid, O_RDONLY, &fh) == 0 &&
	       read_is(e.nodeid, fh, 0, 10, "contents"), "OPEN, READ");
	tap_ok(client_write(&c, e.nodeid, fh, 0, "x", 1) == -EBADF,
	       "WRITE of a read-only handle: EBADF");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	tap_ok(client_open(&c, FUSE_OPEN, e.nodeid, O_WRONLY | O_TRUNC, &fh) == 0 &&
	       write_str(e.nodeid, fh, 0, "other") == 5 && read_is(e.nodeid, 0, 0, 10, "other"),
	       "OPEN with O_TRUNC");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	client_lookup(&c, rw, "sub", &d);
	tap_ok(client_open(&c, FUSE_OPEN, d.nodeid, O_RDONLY, &fh) == -EISDIR &&
		   client_open(&c, FUSE_OPENDIR, e.nodeid, O_RDONLY, &fh) == -ENOTDIR,
	       "OPEN of a directory and the reverse");
	client_lookup(&c, rw, "link", &e);
	tap_ok(client_open(&c, FUSE_OPEN, e.nodeid, O_RDONLY, &fh) == -ELOOP,
	       "OPEN of a symlink: ELOOP");
	tap_ok(client_lookup(&c, rw, "fifo", &e) == 0 && S_ISFIFO(e.attr.mode) &&
		   client_open(&c, FUSE_OPEN, e.nodeid, O_RDONLY, &fh) == -ENXIO &&
		   client_read(&c, e.nodeid, 0, 0, 1) == -ENXIO,
	       "a FIFO is seen in a rw export, not opened");
	tap_ok(client_lookup(&c, ro, "fifo", &e) == -ENOENT,
	       "and does not exist in a read-only one");
}

static void test_attr(void)
{
	struct fuse_setattr_in in = { .valid = FATTR_MODE, .mode = 04640 };
	struct fuse_access_in acc = { .mask = R_OK | W_OK };
	struct fuse_entry_out e;
	struct fuse_attr a;
	struct stat st;

	client_lookup(&c, rw, "file", &e);
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) > 0 &&
		   stat("dir/file", &st) == 0 && (st.st_mode & 07777) == 0640,
	       "SETATTR: mode, without setuid");
	in.mode = 0;
	client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL);
	in.mode = 0644;
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) > 0 &&
		   stat("dir/file", &st) == 0 && (st.st_mode & 07777) == 0644,
	       "SETATTR: mode 0 and back");
	in = (struct fuse_setattr_in){ .valid = FATTR_SIZE, .size = 3 };
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) > 0 &&
	       REPLY(&c, struct fuse_attr_out).attr.size == 3, "SETATTR: size");
	in = (struct fuse_setattr_in) { .valid = FATTR_MTIME | FATTR_ATIME_NOW,
					.mtime = 1000,
					.mtimensec = 5 };
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) > 0 &&
	       stat("dir/file", &st) == 0 && st.st_mtim.tv_sec == 1000 && st.st_mtim.tv_nsec == 5,
	       "SETATTR: times");
	in = (struct fuse_setattr_in) { .valid = FATTR_UID | FATTR_GID,
					.uid = getuid(),
					.gid = getgid() };
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) > 0,
	       "SETATTR: owner");
	tap_ok(client_call(&c, FUSE_ACCESS, e.nodeid, &acc, sizeof(acc), NULL, NULL) == 0,
	       "ACCESS");
	client_lookup(&c, rw, "link", &e);
	in = (struct fuse_setattr_in){ .valid = FATTR_MTIME, .mtime = 77 };
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) > 0 &&
		   lstat("dir/link", &st) == 0 && st.st_mtim.tv_sec == 77,
	       "SETATTR: times of a symlink itself");
	tap_ok(client_call(&c, FUSE_READLINK, e.nodeid, NULL, 0, NULL, NULL) == 4 &&
	       memcmp(c.out + 16, "file", 4) == 0, "READLINK");
	client_lookup(&c, ro, "file", &e);
	tap_ok(client_call(&c, FUSE_SETATTR, e.nodeid, &in, sizeof(in), NULL, NULL) == -EROFS &&
	       client_call(&c, FUSE_ACCESS, e.nodeid, &acc, sizeof(acc), NULL, NULL) == -EROFS,
	       "read-only: SETATTR, ACCESS are EROFS");
	tap_ok(client_getattr(&c, FUSE_ROOT_ID, &a) == 0 && a.mode == (S_IFDIR | 0755) &&
		   a.nlink == 2,
	       "GETATTR of the synthetic root");
	tap_ok(client_call(&c, FUSE_STATFS, rw, NULL, 0, NULL, NULL) ==
		       sizeof(struct fuse_statfs_out) &&
		   REPLY(&c, struct fuse_statfs_out).st.namelen >= 255 &&
		   client_call(&c, FUSE_STATFS, 1, NULL, 0, NULL, NULL) > 0,
	       "STATFS");
}

static void test_names(void)
{
	struct fuse_mkdir_in md = { .mode = 0777 };
	struct fuse_mknod_in mn = { .mode = S_IFREG | 0666 };
	struct fuse_rename2_in rn = { .newdir = rw };
	struct fuse_entry_out e, f;
	struct fuse_link_in ln;
	struct stat st;

	tap_ok(client_call(&c, FUSE_MKDIR, rw, &md, sizeof(md), "d", NULL) > 0 &&
	       stat("dir/d", &st) == 0 && (st.st_mode & 07777) == 0777, "MKDIR");
	e = REPLY(&c, struct fuse_entry_out);
	tap_ok(client_call(&c, FUSE_MKNOD, e.nodeid, &mn, sizeof(mn), "n", NULL) > 0 &&
	       stat("dir/d/n", &st) == 0 && (st.st_mode & 07777) == 0666, "MKNOD of a file");
	mn.mode = S_IFCHR | 0666;
	tap_ok(client_call(&c, FUSE_MKNOD, rw, &mn, sizeof(mn), "null", NULL) == -EPERM,
	       "MKNOD of a device: EPERM");
	mn.mode = S_IFIFO | 0600;
	tap_ok(client_call(&c, FUSE_MKNOD, rw, &mn, sizeof(mn), "p", NULL) > 0, "MKNOD of a FIFO");
	tap_ok(client_call(&c, FUSE_SYMLINK, rw, NULL, 0, "s", "/etc/shadow") > 0 &&
	       S_ISLNK(REPLY(&c, struct fuse_entry_out).attr.mode), "SYMLINK");
	client_lookup(&c, e.nodeid, "n", &f);
	ln.oldnodeid = f.nodeid;
	tap_ok(client_call(&c, FUSE_LINK, rw, &ln, sizeof(ln), "hard", NULL) > 0 &&
	       REPLY(&c, struct fuse_entry_out).nodeid == f.nodeid &&
	       REPLY(&c, struct fuse_entry_out).attr.nlink == 2, "LINK");
	ln.oldnodeid = e.nodeid;
	tap_ok(client_call(&c, FUSE_LINK, rw, &ln, sizeof(ln), "x", NULL) == -EPERM,
	       "LINK of a directory: EPERM");
	client_lookup(&c, ro, "file", &f);
	ln.oldnodeid = f.nodeid;
	tap_ok(client_call(&c, FUSE_LINK, rw, &ln, sizeof(ln), "x", NULL) == -EXDEV,
	       "LINK between exports: EXDEV");
	tap_ok(client_call(&c, FUSE_RENAME, e.nodeid, &rn.newdir, 8, "n", "moved") == 0 &&
	       stat("dir/moved", &st) == 0, "RENAME");
	tap_ok(client_lookup(&c, rw, "moved", &f) == 0 &&
		   client_getattr(&c, f.nodeid, &f.attr) == 0,
	       "the node moved along");
	rn.flags = 1;
	tap_ok(client_call(&c, FUSE_RENAME2, rw, &rn, sizeof(rn), "moved", "file") == -EEXIST,
	       "RENAME2: no replace");
	rn.flags = 2;
	tap_ok(client_call(&c, FUSE_RENAME2, rw, &rn, sizeof(rn), "moved", "file") == 0,
	       "RENAME2: exchange");
	rn.flags = 4;
	tap_ok(client_call(&c, FUSE_RENAME2, rw, &rn, sizeof(rn), "moved", "file") == -EINVAL,
	       "RENAME2: whiteout is refused");
	rn = (struct fuse_rename2_in){ .newdir = ro };
	tap_ok(client_call(&c, FUSE_RENAME2, rw, &rn, sizeof(rn), "moved", "z") == -EROFS,
	       "RENAME to a read-only export");
	tap_ok(client_call(&c, FUSE_UNLINK, rw, NULL, 0, "moved", NULL) == 0 &&
		   stat("dir/moved", &st) < 0,
	       "UNLINK");
	tap_ok(client_call(&c, FUSE_RMDIR, rw, NULL, 0, "sub", NULL) == -ENOTEMPTY &&
	       client_call(&c, FUSE_RMDIR, rw, NULL, 0, "d", NULL) == 0, "RMDIR");
	tap_ok(client_getattr(&c, e.nodeid, &e.attr) == -ESTALE || e.attr.nlink == 0,
	       "the removed node");
	tap_ok(client_call(&c, FUSE_UNLINK, ro, NULL, 0, "file", NULL) == -EROFS &&
	       client_call(&c, FUSE_MKDIR, ro, &md, sizeof(md), "d", NULL) == -EROFS &&
	       client_call(&c, FUSE_SYMLINK, ro, NULL, 0, "s", "t") == -EROFS &&
	       client_call(&c, FUSE_MKDIR, 1, &md, sizeof(md), "d", NULL) == -EROFS &&
	       client_create(&c, ro, "c", O_RDWR, 0600, &e, &(uint64_t){ 0 }) == -EROFS,
	       "read-only: changes are EROFS");
}

/* What was unlinked while open goes on; a new file with its inode number is another node. */
static void test_unlinked(void)
{
	struct fuse_entry_out e, f;
	struct fuse_attr a;
	uint64_t fh, fh2;

	client_create(&c, rw, "tmp1", O_RDWR, 0600, &e, &fh);
	write_str(e.nodeid, fh, 0, "still here");
	client_call(&c, FUSE_UNLINK, rw, NULL, 0, "tmp1", NULL);
	tap_ok(read_is(e.nodeid, fh, 0, 100, "still here") &&
		   client_getattr(&c, e.nodeid, &a) == 0 && a.nlink == 0,
	       "an unlinked file that is open is read and has attributes");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	client_create(&c, rw, "tmp1", O_RDWR, 0600, &f, &fh2);
	tap_ok(f.nodeid != e.nodeid, "a file made under the same name is another node");
	client_release(&c, FUSE_RELEASE, f.nodeid, fh2);
	for (int i = 0; i < 20; i++) {
		client_call(&c, FUSE_UNLINK, rw, NULL, 0, "tmp1", NULL);
		client_create(&c, rw, "tmp1", O_RDWR, 0600, &e, &fh);
		client_release(&c, FUSE_RELEASE, e.nodeid, fh);
		if (e.nodeid == f.nodeid)
			break;
		f = e;
	}
	tap_ok(e.nodeid == f.nodeid && client_getattr(&c, f.nodeid, &a) == 0, "again and again");
}

static void test_data(void)
{
	struct fuse_fallocate_in fa = { .length = 65536 };
	struct fuse_lseek_in ls = { .whence = SEEK_HOLE };
	struct fuse_copy_file_range_in cp = { .len = 4096 };
	struct fuse_fsync_in fs = { .fsync_flags = 1 };
	struct fuse_syncfs_in sy = { 0 };
	struct fuse_flush_in fl = { 0 };
	struct fuse_entry_out e, f;
	uint64_t fh, fh2;

	client_create(&c, rw, "data", O_RDWR, 0600, &e, &fh);
	client_create(&c, rw, "copy", O_WRONLY, 0600, &f, &fh2);
	fa.fh = ls.fh = fs.fh = cp.fh_in = fl.fh = fh;
	tap_ok(client_call(&c, FUSE_FALLOCATE, e.nodeid, &fa, sizeof(fa), NULL, NULL) == 0 &&
	       client_getattr(&c, e.nodeid, &e.attr) == 0 && e.attr.size == 65536, "FALLOCATE");
	write_str(e.nodeid, fh, 0, "start");
	tap_ok(client_call(&c, FUSE_LSEEK, e.nodeid, &ls, sizeof(ls), NULL, NULL) == 8 &&
	       REPLY(&c, uint64_t) <= 65536, "LSEEK: hole");
	ls.whence = SEEK_END;
	tap_ok(client_call(&c, FUSE_LSEEK, e.nodeid, &ls, sizeof(ls), NULL, NULL) == -EINVAL,
	       "LSEEK: others");
	cp.nodeid_out = f.nodeid;
	cp.fh_out = fh2;
	tap_ok(client_call(&c, FUSE_COPY_FILE_RANGE, e.nodeid, &cp, sizeof(cp), NULL, NULL) == 8 &&
	       REPLY(&c, struct fuse_write_out).size == 4096 && read_is(f.nodeid, 0, 0, 5, "start"),
	       "COPY_FILE_RANGE");
	tap_ok(client_call(&c, FUSE_FSYNC, e.nodeid, &fs, sizeof(fs), NULL, NULL) == 0, "FSYNC");
	fs.fh = fh2;
	tap_ok(client_call(&c, FUSE_FSYNC, f.nodeid, &fs, sizeof(fs), NULL, NULL) == 0,
	       "FSYNC of a write-only handle");
	fs.fh = 0;
	tap_ok(client_call(&c, FUSE_FSYNCDIR, rw, &fs, sizeof(fs), NULL, NULL) == 0, "FSYNCDIR");
	tap_ok(client_call(&c, FUSE_SYNCFS, rw, &sy, sizeof(sy), NULL, NULL) == 0, "SYNCFS");
	tap_ok(client_call(&c, FUSE_FLUSH, e.nodeid, &fl, sizeof(fl), NULL, NULL) == 0, "FLUSH");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	client_release(&c, FUSE_RELEASE, f.nodeid, fh2);
}

static void test_xattr(void)
{
	struct fuse_getxattr_in in = { .size = 100 };
	struct { uint32_t size, flags; } set = { .size = 5 };
	struct fuse_entry_out e;
	long n;

	client_lookup(&c, rw, "data", &e);
	req_start(&c, FUSE_SETXATTR, e.nodeid);
	req_add(&c, &set, sizeof(set));
	req_add_str(&c, "user.color");
	req_add(&c, "green", 5);
	n = req_send(&c);
	tap_ok(n == 0 || n == -EOPNOTSUPP, "SETXATTR: %ld", n);
	if (n == 0) {
		tap_ok(client_call(&c, FUSE_GETXATTR, e.nodeid, &in, sizeof(in), "user.color",
				   NULL) == 5 &&
			   memcmp(c.out + 16, "green", 5) == 0,
		       "GETXATTR");
		tap_ok(client_call(&c, FUSE_LISTXATTR, e.nodeid, &in, sizeof(in), NULL, NULL) ==
			       11 &&
			   strcmp(c.out + 16, "user.color") == 0,
		       "LISTXATTR");
		in.size = 2;
		tap_ok(client_call(&c, FUSE_GETXATTR, e.nodeid, &in, sizeof(in), "user.color",
				   NULL) == -ERANGE,
		       "GETXATTR: ERANGE");
		in.size = 0;
		tap_ok(client_call(&c, FUSE_GETXATTR, e.nodeid, &in, sizeof(in), "user.color",
				   NULL) == 8 &&
			   REPLY(&c, struct fuse_getxattr_out).size == 5,
		       "GETXATTR: size");
		tap_ok(client_call(&c, FUSE_REMOVEXATTR, e.nodeid, NULL, 0, "user.color", NULL) ==
			       0 &&
			   client_call(&c, FUSE_GETXATTR, e.nodeid, &in, sizeof(in), "user.color",
				       NULL) == -ENODATA,
		       "REMOVEXATTR");
	}
	tap_ok(client_call(&c, FUSE_GETXATTR, e.nodeid, &in, sizeof(in), "security.capability",
			   NULL) == -ENODATA,
	       "other names do not exist");
	req_start(&c, FUSE_SETXATTR, e.nodeid);
	req_add(&c, &set, sizeof(set));
	req_add_str(&c, "security.capability");
	req_add(&c, "green", 5);
	tap_ok(req_send(&c) == -EOPNOTSUPP, "and cannot be set");
}

/* All names of a directory, in requests of `size` bytes; each once, checked by LOOKUP. */
static int list_dir(uint64_t node, bool plus, uint32_t size, char names[][256], int max)
{
	struct fuse_read_in in = { .size = size };
	int count = 0;

	for (;;) {
		long n, at = 0;
		char copy[8192];

		req_start(&c, plus ? FUSE_READDIRPLUS : FUSE_READDIR, node);
		req_add(&c, &in, sizeof(in));
		c.out_size = size;
		n = req_send(&c);
		if (n <= 0)
			return n < 0 ? (int)n : count;
		memcpy(copy, c.out + 16, (size_t)n);
		while (at < n && count < max) {
			struct fuse_dirent d;
			struct fuse_entry_out e = { 0 };

			if (plus) {
				memcpy(&e, copy + at, sizeof(e));
				at += sizeof(e);
			}
			memcpy(&d, copy + at, FUSE_NAME_OFFSET);
			memcpy(names[count], copy + at + FUSE_NAME_OFFSET, d.namelen);
			names[count++][d.namelen] = 0;
			at += FUSE_DIRENT_SIZE(&d);
			in.offset = d.off;
			if (e.nodeid)
				client_forget(&c, e.nodeid, 1);
		}
	}
}

static bool has_name(char names[][256], int n, const char *name)
{
	int found = 0;

	for (int i = 0; i < n; i++)
		found += strcmp(names[i], name) == 0;
	return found == 1;
}

static void test_readdir(void)
{
	static char names[600][256];
	struct fuse_entry_out e;
	uint64_t fh;
	int n;

	client_lookup(&c, rw, "many", &e);
	for (int plus = 0; plus < 2; plus++) {
		for (uint32_t size = 500; size < 8192; size = size * 3 + 7) {
			bool all = true;

			n = list_dir(e.nodeid, plus, size, names, 600);
			for (int i = 0; i < 300; i++) {
				char want[32];

				snprintf(want, sizeof(want), "entry-%d", i);
				all &= has_name(names, n, want);
			}
			tap_ok(n == 302 && all, "%s of 300 in %u bytes each",
			       plus ? "READDIRPLUS" : "READDIR", size);
		}
	}
	tap_ok(list_dir(e.nodeid, false, 10, names, 600) == -EINVAL,
	       "READDIR without room: EINVAL");
	tap_ok(client_open(&c, FUSE_OPENDIR, e.nodeid, O_RDONLY, &fh) == 0 &&
	       client_release(&c, FUSE_RELEASEDIR, e.nodeid, fh) == 0, "OPENDIR, RELEASEDIR");
	n = list_dir(FUSE_ROOT_ID, true, 1000, names, 600);
	tap_ok(n == 4 && has_name(names, n, "rw") && has_name(names, n, "ro") &&
		   has_name(names, n, ".."),
	       "READDIRPLUS of a synthetic directory");
	tap_ok(client_open(&c, FUSE_OPENDIR, FUSE_ROOT_ID, O_RDONLY, &fh) == 0 &&
	       client_release(&c, FUSE_RELEASEDIR, FUSE_ROOT_ID, fh) == 0, "OPENDIR of it");
}

/* --- walk */

static struct husk_fuse_walk_out walk_out;
static struct fuse_entry_out walk_entry[HUSK_FUSE_WALK_MAX];

static long walk(uint64_t node, const char *path, uint32_t data_off, uint32_t read_len, size_t room)
{
	struct husk_fuse_walk_in in = {
		.flags = read_len ? HUSK_FUSE_WALK_READ : 0, .path_len = (uint32_t)strlen(path),
		.data_off = data_off, .read_len = read_len,
	};
	long n;

	req_start(&c, HUSK_FUSE_WALK, node);
	req_add(&c, &in, sizeof(in));
	req_add(&c, path, strlen(path));
	c.out_size = room;
	n = req_send(&c);
	if (n < 0)
		return n;
	walk_out = REPLY(&c, struct husk_fuse_walk_out);
	memcpy(walk_entry, c.out + 16 + sizeof(walk_out), walk_out.count * sizeof(walk_entry[0]));
	return n;
}

static void test_walk(void)
{
	size_t entry = sizeof(struct fuse_entry_out), head = sizeof(walk_out);
	struct fuse_entry_out e;

	tap_ok(walk(FUSE_ROOT_ID, "rw/sub/deep/leaf", 0, 0, 4000) == (long)(head + 4 * entry) &&
		   walk_out.count == 4 && walk_out.error == 0 && S_ISREG(walk_entry[3].attr.mode),
	       "WALK to a file");
	tap_ok(client_path(&c, "rw/sub/deep/leaf", &e) == 0 && e.nodeid == walk_entry[3].nodeid,
	       "WALK finds what LOOKUP does");
	tap_ok(walk(rw, "sub/none/leaf", 0, 0, 4000) > 0 && walk_out.count == 2 &&
		   walk_entry[1].nodeid == 0 && walk_entry[1].entry_valid == 1,
	       "WALK: missing component");
	tap_ok(walk(rw, "file/x/y", 0, 0, 4000) > 0 && walk_out.count == 1 &&
		   S_ISREG(walk_entry[0].attr.mode),
	       "WALK: not a directory");
	tap_ok(walk(rw, "sub/up/x", 0, 0, 4000) == (long)(head + 2 * entry + 13) &&
		   walk_out.count == 2 && walk_out.target_len == 13 &&
		   memcmp(c.out + 16 + head + 2 * entry, "../sub/deep/.", 13) == 0,
	       "WALK: symlink and its text");
	tap_ok(walk(rw, "sub/deep/leaf", 0, 0, head + 2 * entry) > 0 && walk_out.count == 2 &&
	       S_ISDIR(walk_entry[1].attr.mode), "WALK: no room for all");
	tap_ok(walk(rw, "sub/deep/leaf", 4096, 100, 8000) == 4096 - 16 + 4 && walk_out.count == 3 &&
	       walk_out.data_len == 4 && memcmp(c.out + 4096, "leaf", 4) == 0, "WALK with READ");
	tap_ok(walk(rw, "sub/deep/leaf", 4096, 2, 8000) > 0 && walk_out.data_len == 2,
	       "WALK with a shorter READ");
	tap_ok(walk(rw, "sub/deep/leaf", 100, 2, 8000) > 0 && walk_out.data_len == 0 &&
		   walk(rw, "sub/deep/leaf", 8016, 2, 8000) > 0 && walk_out.data_len == 0 &&
		   walk(rw, "sub/deep", 4096, 2, 8000) > 0 && walk_out.data_len == 0,
	       "WALK: no place, nothing to read");
	tap_ok(
	    walk(rw, "../x", 0, 0, 4000) == -EINVAL && walk(rw, "sub/./x", 0, 0, 4000) == -EINVAL &&
		walk(rw, "/sub", 0, 0, 4000) == -EINVAL &&
		walk(rw, "sub/", 0, 0, 4000) == -EINVAL &&
		walk(rw, "sub//deep", 0, 0, 4000) == -EINVAL && walk(rw, "", 0, 0, 4000) == -EINVAL,
	    "WALK: bad paths are EINVAL");
	tap_ok(walk(e.nodeid, "x", 0, 0, 4000) == -ENOTDIR &&
		   walk(0x123456, "x", 0, 0, 4000) == -ESTALE,
	       "WALK from a file, from nowhere");
	tap_ok(
	    walk(
		rw,
		"a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a",
		0, 0, 8000) == -EINVAL,
	    "WALK: too many components");
}

static void make_tree(void)
{
	dir_put("dir", 0755);
	file_put("dir/file", "contents", 0644);
	dir_put("dir/sub", 0755);
	dir_put("dir/sub/deep", 0755);
	file_put("dir/sub/deep/leaf", "leaf", 0644);
	dir_put("dir/many", 0755);
	for (int i = 0; i < 300; i++) {
		char name[64];

		snprintf(name, sizeof(name), "dir/many/entry-%d", i);
		file_put(name, "", 0644);
	}
	if (symlink("file", "dir/link") < 0 || symlink("../sub/deep/.", "dir/sub/up") < 0 ||
	    mkfifo("dir/fifo", 0666) < 0)
		exit(1);
}

int main(void)
{
	static const unsigned pieces[] = { 0, 7, 61 };
	struct fuse_entry_out e;

	umask(022);
	for (unsigned i = 0; i < 3; i++) {
		const struct fuse_export ex[] = {
			{ .host = "dir", .guest = "/rw", .rw = true },
			{ .host = "dir", .guest = "/ro" },
		};
		struct fuse_server *srv;

		scratch_make();
		make_tree();
		srv = server_with(ex, 2);
		client_init(&c, srv);
		c.piece = pieces[i];
		client_lookup(&c, FUSE_ROOT_ID, "rw", &e);
		rw = e.nodeid;
		client_lookup(&c, FUSE_ROOT_ID, "ro", &e);
		ro = e.nodeid;
		tap_ok(rw != ro && e.entry_valid == 10,
		       "two exports of one directory are two nodes");
		test_init();
		test_walk();
		test_create_write_read();
		test_big_io();
		test_open();
		test_attr();
		test_names();
		test_unlinked();
		test_data();
		test_xattr();
		test_readdir();
		client_call(&c, FUSE_DESTROY, 0, NULL, 0, NULL, NULL);
		tap_ok(client_getattr(&c, rw, &e.attr) == 0, "exports outlive DESTROY");
		client_free(&c);
		fuse_server_free(srv);
		scratch_remove();
	}
	return tap_done();
}
