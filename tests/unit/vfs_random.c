/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random sequences of file system calls, fixed seeds, on our tmpfs and on our overlay, against
 * the host's tmpfs: every result, errno, output and the whole tree at the end must be equal. The
 * overlay starts with half of the sequence done in its lower layer.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tap.h"
#include "vfs_fake.h"
#include "vfs_oracle.h"

#define RENAME_NOREPLACE_	1
#define RENAME_EXCHANGE_	2

static uint64_t state;
static bool lower_phase;
static unsigned tree_every = 500;	/* steps between comparisons of the whole tree */

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static const char *rnd_name(void)
{
	static const char *const names[] = {
		"a", "b", "c", "d", "e", "a", "b", "c", ".", "..", "longer-name-than-the-others",
	};

	return names[rnd(sizeof(names) / sizeof(*names))];
}

/* A path of one to four components, sometimes absolute, sometimes with odd slashes. */
static long rnd_path(void)
{
	char path[256] = "";
	unsigned n = 1 + rnd(4);

	if (rnd(3) == 0)
		strcat(path, "/");
	for (unsigned i = 0; i < n; i++) {
		strcat(path, rnd_name());
		if (i + 1 < n)
			strcat(path, rnd(10) ? "/" : "//");
	}
	if (rnd(12) == 0)
		strcat(path, "/");
	if (rnd(100) == 0)
		path[0] = 0;
	return U(path);
}

static unsigned rnd_mode(void)
{
	static const unsigned modes[] = { 0644, 0755, 0600, 0777, 0000, 0444, 04755, 02775, 01777 };

	return modes[rnd(sizeof(modes) / sizeof(*modes))];
}

static int rnd_open_flags(void)
{
	static const int acc[] = { O_RDONLY, O_WRONLY, O_RDWR };
	int flags = acc[rnd(3)];

	if (rnd(2))
		flags |= O_CREAT;
	if (rnd(4) == 0)
		flags |= O_EXCL;
	if (rnd(4) == 0)
		flags |= O_TRUNC;
	if (rnd(4) == 0)
		flags |= O_APPEND;
	if (rnd(10) == 0)
		flags |= O_NOFOLLOW;
	if (rnd(16) == 0)
		flags |= O_DIRECTORY;
	if (rnd(20) == 0)
		flags |= O_PATH;
	if (rnd(5) == 0)
		flags |= O_CLOEXEC;
	return flags;
}

static int rnd_fd(void)
{
	return rnd(20) ? 3 + (int)rnd(6) : -1;
}

static long rnd_data(unsigned len)
{
	static unsigned char data[8192];

	for (unsigned i = 0; i < len; i++)
		data[i] = (unsigned char)rnd(256);
	return U_bytes(data, len);
}

static bool step_open(void)
{
	long fd;

	if (rnd(3) == 0)
		return B1(SYS_close, 3 + rnd(6));
	if (!both(&fd, SYS_open, rnd_path(), rnd_open_flags(), rnd_mode(), 0, 0, 0))
		return false;
	return fd < 9 || B1(SYS_close, fd);
}

static bool step_fd(void)
{
	unsigned len = rnd(3) ? rnd(300) : rnd(8192);

	switch (rnd(13)) {
	case 0: case 1:
		return B3(SYS_write, rnd_fd(), rnd_data(len), len);
	case 2: case 3:
		return B3(SYS_read, rnd_fd(), U_out(), rnd(9000));
	case 4:
		return B4(SYS_pwrite64, rnd_fd(), rnd_data(len), len, rnd(20000));
	case 5:
		return B4(SYS_pread64, rnd_fd(), U_out(), rnd(9000), rnd(20000));
	case 6:
		return B3(SYS_lseek, rnd_fd(), (long)rnd(30000) - 5000, rnd(3));
	case 7:
		return B2(SYS_ftruncate, rnd_fd(), rnd(20000));
	case 8:
		return B2(SYS_fstat, rnd_fd(), U_out());
	case 9:
		return B2(SYS_fchmod, rnd_fd(), rnd_mode());
	case 10:
		return B3(SYS_fcntl, rnd_fd(), F_GETFL, 0);
	case 11:
		return B4(SYS_fallocate, rnd_fd(), rnd(4), rnd(20000), rnd(9000));
	default:
		return B3(SYS_fchown, rnd_fd(), rnd(3) * 500, rnd(3) * 500);
	}
}

static bool step_names(void)
{
	static const char *const targets[] = {
		"a", "b/c", "../a", "/a/b", "/", ".", "d/", "nowhere",
	};

	switch (rnd(10)) {
	case 0: case 1: case 2:
		return B2(SYS_mkdir, rnd_path(), rnd_mode() | 0700);
	case 3:
		return B1(SYS_rmdir, rnd_path());
	case 4: case 5:
		return B1(SYS_unlink, rnd_path());
	case 6:
		return B2(SYS_symlink, U(targets[rnd(8)]), rnd_path());
	case 7:
		/* Overlays break hard links of the lower layer on copy-up: none is made there. */
		return lower_phase || B2(SYS_link, rnd_path(), rnd_path());
	case 8:
		return B3(SYS_mknod, rnd_path(), (rnd(2) ? S_IFSOCK : S_IFREG) | rnd_mode(), 0);
	default:
		return B3(SYS_readlink, rnd_path(), U_out(), rnd(2) ? 100 : 2);
	}
}

/* Overlays say EXDEV where directories of the lower layer would move: not random there. */
static bool step_rename(bool overlay)
{
	static const int flags[] = { 0, 0, 0, RENAME_NOREPLACE_, RENAME_EXCHANGE_ };

	if (overlay)
		return true;
	return B5(SYS_renameat2, AT_FDCWD, rnd_path(), AT_FDCWD, rnd_path(), flags[rnd(5)]);
}

static bool step_attr(void)
{
	long times[4] = { 1000 + rnd(1000), rnd(1000), 2000 + rnd(1000), rnd(1000) };

	switch (rnd(8)) {
	case 0:
		return B2(SYS_chmod, rnd_path(), rnd_mode() | (rnd(3) ? 0700 : 0));
	case 1:
		return B3(SYS_lchown, rnd_path(), rnd(3) * 500, rnd(3) * 500);
	case 2:
		return B2(SYS_truncate, rnd_path(), rnd(20000));
	case 3:
		return B4(SYS_utimensat, AT_FDCWD, rnd_path(), U_bytes(times, sizeof(times)),
			  rnd(2) * AT_SYMLINK_NOFOLLOW);
	case 4:
		return B2(SYS_access, rnd_path(), rnd(8));
	case 5:
		return B2(SYS_stat, rnd_path(), U_out());
	case 6:
		return B2(SYS_lstat, rnd_path(), U_out());
	default:
		return B1(SYS_chdir, rnd_path());
	}
}

static bool step(bool overlay)
{
	switch (rnd(10)) {
	case 0: case 1:
		return step_open();
	case 2: case 3:
		return step_fd();
	case 4: case 5: case 6:
		return step_names();
	case 7:
		return step_rename(overlay);
	case 8:
		return rnd(8) ? step_attr() : B2(SYS_getcwd, U_out(), 4096);
	default:
		return step_attr();
	}
}

static bool steps(unsigned n, bool overlay)
{
	for (unsigned i = 0; i < n; i++) {
		if (!step(overlay)) {
			printf("# at step %u\n", i);
			return false;
		}
		if (rnd(400) == 0 && !both_ids(rnd(2) * 500, rnd(2) * 500))
			return false;
		if (i % tree_every == tree_every - 1 && !both_tree("/")) {
			printf("# tree at step %u\n", i);
			return false;
		}
	}
	return true;
}

static void close_all(void)
{
	for (int fd = 3; fd < 16; fd++)
		B1(SYS_close, fd);
}

static void run(uint64_t seed, bool overlay, unsigned n)
{
	bool same;

	if (!oracle_start()) {
		printf("1..0 # SKIP the host's oracle needs root (chroot)\n");
		exit(77);
	}
	state = seed;
	oracle_overlay = false;
	same = fake_root_tmpfs() == 0;
	B1(SYS_umask, 022);
	if (overlay) {
		lower_phase = true;
		same = same && steps(n / 2, false);
		lower_phase = false;
		both_ids(0, 0);
		close_all();
		B1(SYS_chdir, U("/"));
		same = same && both_tree("/");
		same = same && fake_root_overlay() == 0;
		oracle_overlay = true;
		B1(SYS_umask, 022);
	}
	same = same && steps(n, overlay);
	both_ids(0, 0);
	same = same && both_tree("/");
	close_all();
	tap_ok(same, "%s, seed %lu, %lu calls", overlay ? "overlay" : "tmpfs", (unsigned long)seed,
	       oracle_calls);
	oracle_calls = 0;
	oracle_stop();
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 3000;
	unsigned seeds = argc > 2 ? (unsigned)atoi(argv[2]) : 4;
	uint64_t first = argc > 3 ? (uint64_t)atoi(argv[3]) : 1;

	if (argc > 4)
		tree_every = (unsigned)atoi(argv[4]);
	fake_init();
	for (uint64_t seed = first; seed < first + seeds; seed++) {
		run(seed, false, n);
		run(seed + 1000, true, n);
	}
	fake_fini();
	return tap_done();
}
