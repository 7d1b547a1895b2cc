/* SPDX-License-Identifier: Apache-2.0 */
/* Files and directories in /tmp: names, contents, offsets, attributes, descriptors, errors. */
#define _GNU_SOURCE
#include "check.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

static char buf[8192];

static void check_contents(void)
{
	struct stat st;
	int fd = open("a", O_RDWR | O_CREAT | O_EXCL, 0640);

	check(fd >= 0, "create");
	check_errno(open("a", O_RDWR | O_CREAT | O_EXCL, 0640), EEXIST, "O_EXCL");
	check(write(fd, "0123456789", 10) == 10 && lseek(fd, 0, SEEK_CUR) == 10, "write");
	check(lseek(fd, -3, SEEK_END) == 7 && read(fd, buf, 9) == 3 && !memcmp(buf, "789", 3),
	      "lseek, read");
	check(read(fd, buf, 9) == 0, "end of file");
	check(pwrite(fd, "xy", 2, 2) == 2 && pread(fd, buf, 4, 1) == 4 &&
	      !memcmp(buf, "1xy4", 4) && lseek(fd, 0, SEEK_CUR) == 10, "pwrite, pread");
	check_errno(lseek(fd, -1, SEEK_SET), EINVAL, "lseek before the start");
	check(lseek(fd, 100000, SEEK_SET) == 100000 && write(fd, "end", 3) == 3 &&
	      fstat(fd, &st) == 0 && st.st_size == 100003 && st.st_blocks * 512 < 100003,
	      "a hole");
	check(pread(fd, buf, 100, 5000) == 100 && buf[0] == 0 && buf[99] == 0, "... is zero");
	check(ftruncate(fd, 5) == 0 && pread(fd, buf, 100, 0) == 5, "ftruncate");
	check(ftruncate(fd, 50) == 0 && pread(fd, buf, 100, 0) == 50 && buf[5] == 0, "... longer");
	check_errno(ftruncate(fd, -1), EINVAL, "... negative");
	close(fd);
	fd = open("a", O_WRONLY | O_APPEND);
	check(write(fd, "A", 1) == 1 && lseek(fd, 0, SEEK_SET) == 0 && write(fd, "B", 1) == 1 &&
	      fstat(fd, &st) == 0 && st.st_size == 52, "O_APPEND");
	check_errno(read(fd, buf, 1), EBADF, "read of a file open for writing");
	close(fd);
	fd = open("a", O_RDWR | O_TRUNC);
	check(fstat(fd, &st) == 0 && st.st_size == 0, "O_TRUNC");
	check(fsync(fd) == 0 && fdatasync(fd) == 0, "fsync");
	close(fd);
	check_errno(close(fd), EBADF, "close twice");
}

static void check_attributes(void)
{
	struct timespec ts[2] = { { 1000000000, 123456789 }, { 1100000000, 987654321 } };
	struct stat st, st2;
	int fd = open("a", O_RDONLY);

	check(stat("a", &st) == 0 && S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0640 &&
	      st.st_nlink == 1 && st.st_uid == getuid(), "stat");
	check(fstat(fd, &st2) == 0 && st.st_ino == st2.st_ino && st.st_dev == st2.st_dev, "fstat");
	check(chmod("a", 0600) == 0 && fchmod(fd, 0604) == 0 && stat("a", &st) == 0 &&
	      (st.st_mode & 07777) == 0604, "chmod, fchmod");
	check(utimensat(AT_FDCWD, "a", ts, 0) == 0 && stat("a", &st) == 0 &&
	      st.st_mtim.tv_sec == 1100000000 && st.st_atim.tv_nsec == 123456789, "utimensat");
	check(access("a", R_OK | W_OK) == 0 && access("a", F_OK) == 0, "access");
	check_errno(access("none", F_OK), ENOENT, "... of nothing");
	check(chown("a", getuid(), getgid()) == 0, "chown to oneself");
	close(fd);
}

static void check_names(void)
{
	struct stat a, b;

	check(link("a", "b") == 0 && stat("a", &a) == 0 && stat("b", &b) == 0 &&
	      a.st_ino == b.st_ino && a.st_nlink == 2, "link");
	check_errno(link("a", "b"), EEXIST, "... twice");
	check(rename("b", "c") == 0 && access("b", F_OK) && access("c", F_OK) == 0, "rename");
	check(unlink("c") == 0 && stat("a", &a) == 0 && a.st_nlink == 1, "unlink");
	check_errno(unlink("c"), ENOENT, "... twice");
	check(symlink("a", "s") == 0 && readlink("s", buf, 10) == 1 && buf[0] == 'a', "symlink");
	check(lstat("s", &a) == 0 && S_ISLNK(a.st_mode) && a.st_size == 1 && stat("s", &b) == 0 &&
	      S_ISREG(b.st_mode), "lstat, stat");
	check_errno(open("s", O_RDONLY | O_NOFOLLOW), ELOOP, "O_NOFOLLOW");
	symlink("loop", "loop");
	check_errno(open("loop", O_RDONLY), ELOOP, "a loop");
	check_errno(readlink("a", buf, 10), EINVAL, "readlink of a file");
	check_errno(open("a/b", O_RDONLY), ENOTDIR, "a file as a directory");
	check_errno(open("", O_RDONLY), ENOENT, "the empty name");
	memset(buf, 'n', 300);
	buf[300] = 0;
	check_errno(open(buf, O_RDONLY | O_CREAT, 0600), ENAMETOOLONG, "a name of 300 bytes");
	memset(buf, '/', 5000);
	buf[5000] = 0;
	check_errno(open(buf, O_RDONLY), ENAMETOOLONG, "a path of 5000 bytes");
	unlink("loop");
	unlink("s");
}

static void check_open_unlinked(void)
{
	int fd = open("gone", O_RDWR | O_CREAT, 0600);
	struct stat st;

	check(write(fd, "still", 5) == 5 && unlink("gone") == 0 && pread(fd, buf, 9, 0) == 5 &&
	      fstat(fd, &st) == 0 && st.st_nlink == 0, "an unlinked file lives while it is open");
	close(fd);
}

static int count_names(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int n = 0;

	while (dir && (entry = readdir(dir)))
		n += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	if (dir)
		closedir(dir);
	return n;
}

static void check_directories(void)
{
	char name[32], cwd[256];
	struct stat st;
	int fd;

	check(mkdir("d", 0750) == 0 && stat("d", &st) == 0 && S_ISDIR(st.st_mode) &&
	      (st.st_mode & 0777) == 0750, "mkdir");
	check_errno(mkdir("d", 0750), EEXIST, "... twice");
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "d/file-%d", i);
		close(open(name, O_WRONLY | O_CREAT, 0600));
	}
	check(count_names("d") == 500, "500 names");
	check_errno(rmdir("d"), ENOTEMPTY, "rmdir of a full one");
	check_errno(unlink("d"), EISDIR, "unlink of a directory");
	check_errno(rmdir("a"), ENOTDIR, "rmdir of a file");
	check_errno(open("d", O_WRONLY), EISDIR, "open for writing");
	fd = open("d", O_RDONLY | O_DIRECTORY);
	check_errno(read(fd, buf, 1), EISDIR, "read of a directory");
	check(openat(fd, "file-7", O_RDONLY) >= 0 && unlinkat(fd, "file-7", 0) == 0, "openat");
	check(fchdir(fd) == 0 && getcwd(cwd, sizeof(cwd)) && !strcmp(strrchr(cwd, '/'), "/d"),
	      "fchdir, getcwd");
	check(chdir("..") == 0 && rename("d", "e") == 0 && count_names("e") == 499, "rename");
	check_errno(rename("e", "e/inside"), EINVAL, "... into itself");
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "e/file-%d", i);
		unlink(name);
	}
	check(rmdir("e") == 0, "rmdir");
	close(fd);
}

static void check_descriptors(void)
{
	int fd = open("a", O_RDWR), other, high;
	struct flock fl = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 10 };
	struct iovec iov[3] = { { "one", 3 }, { "", 0 }, { "two", 3 } };
	struct statfs fs;

	other = dup(fd);
	check(other > fd && lseek(fd, 3, SEEK_SET) == 3 && lseek(other, 0, SEEK_CUR) == 3, "dup");
	high = fcntl(fd, F_DUPFD_CLOEXEC, 100);
	check(high >= 100 && fcntl(high, F_GETFD) == FD_CLOEXEC && fcntl(other, F_GETFD) == 0,
	      "F_DUPFD_CLOEXEC");
	check(dup2(fd, 50) == 50 && dup2(fd, fd) == fd, "dup2");
	check_errno(dup3(fd, fd, 0), EINVAL, "dup3 to itself");
	check_errno(dup2(fd, -1), EBADF, "dup2 to -1");
	check((fcntl(fd, F_GETFL) & (O_ACCMODE | O_APPEND)) == O_RDWR, "F_GETFL");
	check(fcntl(fd, F_SETFL, O_APPEND) == 0 && fcntl(other, F_GETFL) & O_APPEND,
	      "F_SETFL is shared with the duplicate");
	fcntl(fd, F_SETFL, 0);
	lseek(fd, 0, SEEK_SET);
	check(writev(fd, iov, 3) == 6 && pread(fd, buf, 9, 0) == 6 && !memcmp(buf, "onetwo", 6),
	      "writev");
	check(flock(fd, LOCK_EX) == 0 && flock(fd, LOCK_UN) == 0, "flock");
	check(fcntl(fd, F_SETLK, &fl) == 0, "F_SETLK");
	check(fstatfs(fd, &fs) == 0 && fs.f_bsize > 0 && fs.f_namelen >= 255, "fstatfs");
	close(fd);
	close(other);
	close(high);
	close(50);
}

int main(void)
{
	char dir[] = "/tmp/file.XXXXXX";

	umask(0);
	if (!mkdtemp(dir) || chdir(dir) < 0)
		return 1;
	check_contents();
	check_attributes();
	check_names();
	check_open_unlinked();
	check_directories();
	check_descriptors();
	unlink("a");
	check(chdir("/") == 0 && rmdir(dir) == 0, "nothing is left");
	return checks_done();
}
