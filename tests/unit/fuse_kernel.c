/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The FUSE server under a client that is not ours: the host kernel's, by /dev/fuse, in a mount
 * namespace of the test's own. Two threads serve; the test is an ordinary program on the mount.
 */
#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include "tests/unit/fuse_client.h"

#define THREADS 2

static struct fuse_server *srv;
static int fuse_fd;

static void *serve(void *arg)
{
	char *in = malloc(CLIENT_BUF), *out = malloc(CLIENT_BUF);

	for (;;) {
		ssize_t n = read(fuse_fd, in, CLIENT_BUF);
		struct iovec iov = { in, n > 0 ? (size_t)n : 0 }, oov = { out, CLIENT_BUF };
		size_t len;

		if (n < 0 && (errno == EINTR || errno == ENOENT || errno == EAGAIN))
			continue;
		if (n < 0)
			break;
		len = fuse_handle(srv, &iov, 1, &oov, 1);
		/* ENOENT: the request was interrupted */
		if (len && write(fuse_fd, out, len) < 0 && errno != ENOENT)
			perror("write to /dev/fuse");
	}
	free(in);
	free(out);
	return arg;
}

static void skip(const char *what)
{
	printf("1..0 # SKIP %s: %s\n", what, strerror(errno));
	exit(77);
}

static bool setgroups_deny(void)
{
	int fd = open("/proc/self/setgroups", O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, "deny", 4) == 4;

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool id_map(const char *path, unsigned id)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && dprintf(fd, "0 %u 1", id) > 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

static void mount_fuse(void)
{
	unsigned uid = getuid(), gid = getgid();
	char options[128];

	if (uid != 0) {
		if (unshare(CLONE_NEWUSER) < 0)
			skip("user namespace");
		if (!setgroups_deny() || !id_map("/proc/self/uid_map", uid) ||
		    !id_map("/proc/self/gid_map", gid))
			skip("id map");
	}
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		skip("mount namespace");
	fuse_fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fuse_fd < 0)
		skip("/dev/fuse");
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,default_permissions", fuse_fd);
	if (mount("husk", "mnt", "fuse.husk", MS_NOSUID | MS_NODEV, options) < 0)
		skip("mount of fuse");
}

static bool file_is(const char *path, const char *want)
{
	char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(want) && memcmp(text, want, (size_t)n) == 0;
}

static void test_files(void)
{
	struct stat st, host;
	int fd, fd2;

	file_put("mnt/rw/a", "first", 0640);
	tap_ok(file_is("dir/a", "first") && file_is("mnt/rw/a", "first"), "write, read");
	tap_ok(stat("mnt/rw/a", &st) == 0 && stat("dir/a", &host) == 0 && st.st_ino == host.st_ino &&
		       st.st_size == 5 && st.st_mode == host.st_mode &&
		       st.st_mtim.tv_nsec == host.st_mtim.tv_nsec, "stat is the host's");
	fd = open("mnt/rw/a", O_WRONLY | O_APPEND);
	fd2 = open("mnt/rw/a", O_WRONLY | O_APPEND);
	tap_ok(write(fd, "1", 1) == 1 && write(fd2, "2", 1) == 1 && write(fd, "3", 1) == 1 &&
		       file_is("dir/a", "first123"), "two descriptors append");
	close(fd);
	close(fd2);
	tap_ok(truncate("mnt/rw/a", 2) == 0 && file_is("mnt/rw/a", "fi"), "truncate");
	fd = open("mnt/rw/a", O_RDWR | O_TRUNC);
	tap_ok(fstat(fd, &st) == 0 && st.st_size == 0, "O_TRUNC");
	close(fd);
	fd = open("mnt/rw/gone", O_RDWR | O_CREAT | O_EXCL, 0600);
	unlink("mnt/rw/gone");
	tap_ok(write(fd, "xyz", 3) == 3 && fchmod(fd, 0400) == 0 && ftruncate(fd, 2) == 0 &&
		       fsync(fd) == 0 && fstat(fd, &st) == 0 && st.st_nlink == 0 &&
		       st.st_size == 2 && (st.st_mode & 0777) == 0400, "an unlinked file goes on");
	close(fd);
	tap_ok(chmod("mnt/rw/a", 04755) == 0 && stat("dir/a", &host) == 0 &&
		       (host.st_mode & 07777) == 0755, "chmod; setuid does not arrive");
	tap_ok(open("mnt/ro/a", O_RDWR) < 0 && errno == EROFS && mkdir("mnt/ro/d", 0755) < 0 &&
		       errno == EROFS && mkdir("mnt/d", 0755) < 0, "read-only exports: EROFS");
}

static void test_mmap(void)
{
	int fd = open("mnt/rw/map", O_RDWR | O_CREAT, 0600);
	char *p, *big = malloc(3 << 20);
	ssize_t n;

	if (!big)
		exit(1);
	tap_ok(ftruncate(fd, 1 << 20) == 0, "a file to map");
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memcpy(p + 70000, "mapped", 6);
	tap_ok(msync(p, 1 << 20, MS_SYNC) == 0, "msync");
	munmap(p, 1 << 20);
	close(fd);
	fd = open("dir/map", O_RDONLY);
	tap_ok(pread(fd, big, 6, 70000) == 6 && memcmp(big, "mapped", 6) == 0, "arrives on the host");
	close(fd);
	fd = open("mnt/rw/big", O_RDWR | O_CREAT, 0600);
	memset(big, 'b', 3 << 20);
	n = write(fd, big, 3 << 20);
	memset(big, 0, 3 << 20);
	tap_ok(n == 3 << 20 && pread(fd, big, 3 << 20, 0) == n && big[0] == 'b' &&
		       big[(3 << 20) - 1] == 'b', "3 MiB in large requests");
	close(fd);
	free(big);
}

static void test_names(void)
{
	struct stat st, st2;
	char text[64];

	mkdir("mnt/rw/d1", 0777);
	mkdir("mnt/rw/d1/d2", 0755);
	file_put("mnt/rw/d1/d2/f", "deep", 0644);
	tap_ok(rename("mnt/rw/d1/d2", "mnt/rw/d3") == 0 && file_is("mnt/rw/d3/f", "deep"), "rename");
	tap_ok(rmdir("mnt/rw/d1") == 0 && rmdir("mnt/rw/d3") < 0 && errno == ENOTEMPTY, "rmdir");
	tap_ok(link("mnt/rw/d3/f", "mnt/rw/hard") == 0 && stat("mnt/rw/hard", &st) == 0 &&
		       stat("mnt/rw/d3/f", &st2) == 0 && st.st_ino == st2.st_ino &&
		       st.st_nlink == 2, "link");
	tap_ok(unlink("mnt/rw/hard") == 0 && file_is("mnt/rw/d3/f", "deep"),
	       "the other name stays");
	tap_ok(symlink("d3/f", "mnt/rw/sl") == 0 && readlink("mnt/rw/sl", text, 64) == 4 &&
		       file_is("mnt/rw/sl", "deep"), "symlink");
	tap_ok(syscall(SYS_renameat2, AT_FDCWD, "mnt/rw/sl", AT_FDCWD, "mnt/rw/d3", 2) == 0 &&
		       lstat("mnt/rw/d3", &st) == 0 && S_ISLNK(st.st_mode), "exchange");
	tap_ok(mkfifo("mnt/rw/ff", 0600) == 0 && stat("dir/ff", &st) == 0 && S_ISFIFO(st.st_mode),
	       "mkfifo");
	tap_ok(setxattr("mnt/rw/a", "user.k", "v", 1, 0) < 0 ? errno == EOPNOTSUPP :
	       getxattr("mnt/rw/a", "user.k", text, 64) == 1 && text[0] == 'v', "xattr");
}

/* While it is listed, a large directory loses and gains entries. */
static void test_readdir(void)
{
	unsigned seen = 0;
	struct dirent *e;
	char path[64];
	DIR *d;

	mkdir("mnt/rw/many", 0755);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(path, sizeof(path), "mnt/rw/many/%u", i);
		close(open(path, O_CREAT | O_WRONLY, 0600));
	}
	d = opendir("mnt/rw/many");
	while ((e = readdir(d)))
		seen += e->d_name[0] != '.';
	tap_ok(seen == 2000, "2000 entries are listed");
	rewinddir(d);
	seen = 0;
	while ((e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "mnt/rw/many/%.32s", e->d_name);
		seen += unlink(path) == 0;
	}
	closedir(d);
	tap_ok(seen == 2000 && rmdir("mnt/rw/many") == 0, "and removed one by one meanwhile");
}

int main(void)
{
	const struct fuse_export ex[] = {
		{ .host = "dir", .guest = "/rw", .rw = true },
		{ .host = "dir", .guest = "/ro" },
	};
	pthread_t thread[THREADS];

	alarm(120);	/* a server that does not answer would hang it */
	umask(0);
	scratch_make();
	dir_put("dir", 0755);
	dir_put("mnt", 0755);
	mount_fuse();
	srv = server_with(ex, 2);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, serve, NULL);
	test_files();
	test_mmap();
	test_names();
	test_readdir();
	tap_ok(umount("mnt") == 0, "umount");
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	close(fuse_fd);
	fuse_server_free(srv);
	return tap_done();
}
