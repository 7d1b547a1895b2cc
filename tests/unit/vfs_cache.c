/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the host is asked for: requests per path, per read and per boot; expiry; read-ahead, memory
 * pressure and write-back of the page cache; the overlay's read path; and the data structures
 * below, against simple models.
 */
#include "fs/nametab.h"
#include "fs/pagecache.h"
#include "fs/syscalls.h"
#include "husk/fdt.h"
#include "vfs_fake.h"
#include "vfs_hostfs.h"

#include "tap.h" /* last: the C library's headers hide parts of the UAPI ones */

/* The condition first: the text often prints what it has changed. */
#define CHECK(cond, ...) \
	do { \
		bool ok_ = (cond); \
		tap_ok(ok_, __VA_ARGS__); \
	} while (0)
#define LIBC "/usr/lib/x86_64-linux-gnu/libc.so.6"

static struct hostfs_node nodes[] = {
	{ "", S_IFDIR | 0755, 0, NULL, 1 },
	{ "usr", S_IFDIR | 0755, 0, NULL, 2 },
	{ "usr/lib", S_IFDIR | 0755, 0, NULL, 3 },
	{ "usr/lib/x86_64-linux-gnu", S_IFDIR | 0755, 0, NULL, 4 },
	{ "usr/lib/x86_64-linux-gnu/libc.so.6", S_IFREG | 0755, 1900000, NULL, 5 },
	{ "usr/bin", S_IFDIR | 0755, 0, NULL, 6 },
	{ "usr/bin/true", S_IFREG | 0755, 35000, NULL, 7 },
	{ "lib", S_IFLNK | 0777, 7, "usr/lib", 8 },
	{ "var", S_IFDIR | 0755, 0, NULL, 9 },
	{ "var/log", S_IFREG | 0644, 100, NULL, 10 },
	{ "big", S_IFREG | 0644, 4 << 20, NULL, 11 },
	{ "big2", S_IFREG | 0644, 4 << 20, NULL, 12 },
	{ "tmp", S_IFDIR | 0700, 0, NULL, 13 },
	{ "tmp/hidden", S_IFREG | 0644, 10, NULL, 14 },
	{ "etc", S_IFDIR | 0755, 0, NULL, 15 },
	{ "etc/conf", S_IFREG | 0644, 5000, NULL, 16 },
	{ "etc/other", S_IFREG | 0644, 6000, NULL, 16 },
};
#define NODES ARRAY_SIZE(nodes)

static const char argv0[] = "HOME=/home/user\0PATH=/bin";
static const u32 uid1000 = 1000;
static const struct fake_fdt_line boot_overlay[] = {
	{ -1, "", NULL, 0 },
	{ 0, "chosen", NULL, 0 },
	{ 1, HUSK_FDT_INIT, NULL, 0 },
	{ 2, HUSK_FDT_ENVP, argv0, sizeof(argv0) },
	{ 2, HUSK_FDT_UID, &uid1000, 4 },
	{ 2, "mount@0", NULL, 0 },
	{ 5, HUSK_FDT_MOUNT_SOURCE, "root", 5 },
	{ 5, HUSK_FDT_MOUNT_TARGET, "/", 2 },
	{ 5, HUSK_FDT_MOUNT_OVERLAY, "", 0 },
	{ 0, NULL, NULL, 0 },
};
static const struct fake_fdt_line boot_shared[] = {
	{ -1, "", NULL, 0 },
	{ 0, "chosen", NULL, 0 },
	{ 1, HUSK_FDT_INIT, NULL, 0 },
	{ 2, "mount@0", NULL, 0 },
	{ 3, HUSK_FDT_MOUNT_SOURCE, "root", 5 },
	{ 3, HUSK_FDT_MOUNT_TARGET, "/", 2 },
	{ 2, "mount@1", NULL, 0 },
	{ 6, HUSK_FDT_MOUNT_SOURCE, "share", 6 },
	{ 6, HUSK_FDT_MOUNT_TARGET, "/usr/share/deep", 16 },
	{ 6, HUSK_FDT_MOUNT_RW, "", 0 },
	{ 0, NULL, NULL, 0 },
};

int fusefs_mount(const char *source, bool readonly, struct super **out)
{
	return hostfs_mount(nodes, NODES, out);
}

static long user(const char *s)
{
	static unsigned next;
	char *at = (char *)(USER_BASE + 4096ul * (next++ % 16));

	memcpy(at, s, strlen(s) + 1);
	return (long)at;
}
#define OUT (USER_BASE + 0x100000)

static void counts_reset(void)
{
	hostfs_counts = (struct hostfs_counts){ 0 };
}

static unsigned requests(void)
{
	return hostfs_counts.walks + hostfs_counts.lookups + hostfs_counts.reads +
	       hostfs_counts.links;
}

static long open_path(const char *path, int flags)
{
	return sys_open((u64)user(path), flags, 0644);
}

static bool exists(const char *path, u32 mode)
{
	struct dentry *d;
	bool ok;

	if (path_lookup(AT_FDCWD, path, true, &d))
		return false;
	ok = !mode || d->inode->mode == mode;
	if (!ok)
		printf("# %s has mode %o\n", path, d->inode->mode);
	dentry_put(d);
	return ok;
}

static u64 rnd_state = 7;

static u64 rnd(u64 n)
{
	rnd_state = rnd_state * 6364136223846793005ull + 1442695040888963407ull;
	return (rnd_state >> 33) % n;
}

static void test_pagetree(void)
{
	static u64 model[5000];
	struct pagetree t = { 0 };
	bool ok = true;

	for (int i = 0; i < 60000 && ok; i++) {
		u64 k = rnd(5000), index = k < 4000 ? k : k * 0x100000007ull, found = index, *s;

		if (rnd(2)) {
			*pagetree_make(&t, index) = model[k] = k + 1;
		} else {
			pagetree_clear(&t, index);
			model[k] = 0;
		}
		s = pagetree_find(&t, index);
		ok = (s ? *s : 0) == model[k];
		if (i % 50)
			continue;
		for (; k < 5000 && !model[k]; k++)
			;
		s = pagetree_next(&t, &found);
		ok = ok && (k == 5000 ? !s : s && *s == model[k]);
	}
	for (u64 k = 0; k < 5000; k++)
		pagetree_clear(&t, k < 4000 ? k : k * 0x100000007ull);
	CHECK(ok && !t.root && !t.height, "pagetree against an array; empty at the end");
}

static void test_nametab(void)
{
	struct nametab t;
	struct nament *e;
	char name[16];
	u64 last = 0;
	bool ok = true;

	nametab_init(&t);
	for (int i = 0; i < 3000; i++) {
		int n = snprintf(name, sizeof(name), "n%d", i);

		ok &= !nametab_find(&t, name, (size_t)n) && nametab_add(&t, name, (size_t)n);
		if (i % 3 == 0)
			nametab_del(&t, nametab_find(&t, name, (size_t)n));
	}
	for (e = nametab_from(&t, 0); e; e = nametab_next(&t, e)) {
		ok &= e->cookie > last;
		last = e->cookie;
	}
	CHECK(ok && t.count == 2000, "nametab: names found, cookies grow");
	nametab_free(&t);
}

static void test_boot(void)
{
	struct dentry *d;
	char buf[64];
	long fd;

	counts_reset();
	fake_fdt = boot_overlay;
	CHECK(vfs_mount_root(NULL) == 0, "mounts from the devicetree");
	CHECK(requests() == 0, "mounting asks the host for nothing (%u requests)", requests());
	fake_process(0);
	fake_reroot();
	CHECK(exists("/tmp", S_IFDIR | 01777) && exists("/dev/shm", S_IFDIR | 01777) &&
		      exists("/proc", S_IFDIR | 0555) && exists("/run", 0) &&
		      exists("/root", S_IFDIR | 0700) && !exists("/tmp/hidden", 0),
	      "places to write in; the host's /tmp does not show");
	counts_reset();
	fd = open_path("/tmp/x", O_CREAT | O_RDWR);
	CHECK(fd >= 0 && sys_write((int)fd, (u64)user("data"), 4) == 4 && !sys_close((int)fd) &&
		      requests() == 0,
	      "/tmp costs no request");
	CHECK(exists("/var/tmp", S_IFDIR | 01777) && exists("/var/log", 0), "/var is merged");
	CHECK(!path_lookup(AT_FDCWD, "/home/user", true, &d) && d->inode->uid == 1000,
	      "HOME is made");
	dentry_put(d);
	path_lookup(AT_FDCWD, "/dev/shm", true, &d);
	CHECK(!strcmp(dentry_path(d, buf, sizeof(buf)), "/dev/shm"), "path across mounts: %s",
	      buf + 55);
	dentry_put(d);
	CHECK(vfs_make_path("/a/b/c", 0755, 5, 6) == 0 &&
		      vfs_make_path("/usr/bin", 0700, 5, 6) == 0 &&
		      exists("/a/b/c", S_IFDIR | 0755) && exists("/usr/bin", S_IFDIR | 0755),
	      "vfs_make_path");
}

/* The path that each start of a program takes. */
static void test_requests(void)
{
	long fd;

	counts_reset();
	fd = open_path(LIBC, O_RDONLY | O_CLOEXEC);
	CHECK(fd >= 0 && requests() == 1 && hostfs_counts.walks == 1, "open of libc: %u request",
	      requests());
	counts_reset();
	CHECK(sys_read((int)fd, OUT, 832) == 832 && requests() == 1, "its first read: %u request",
	      requests());
	CHECK(sys_fstat((int)fd, OUT) == 0 && sys_pread64((int)fd, OUT, 784, 64) == 784 &&
		      !sys_close((int)fd) && requests() == 1,
	      "fstat, pread, close: none");
	counts_reset();
	fd = open_path(LIBC, O_RDONLY);
	CHECK(fd >= 0 && exists(LIBC, 0) && !sys_close((int)fd) && requests() == 0, "again: none");
	CHECK(!exists("/usr/lib/x86_64-linux-gnu/glibc-hwcaps/v3/libc.so.6", 0) && requests() == 1,
	      "a missing directory: %u request", requests());
	CHECK(!exists("/usr/lib/x86_64-linux-gnu/glibc-hwcaps/v3/libc.so.6", 0) && requests() == 1,
	      "and again: none");
	counts_reset();
	CHECK(exists("/lib/x86_64-linux-gnu/libc.so.6", 0) && requests() == 1,
	      "through a symbolic link: %u request", requests());
	CHECK(exists("/lib/x86_64-linux-gnu/libc.so.6", 0) && requests() == 1, "and again: none");
	counts_reset();
	fd = open_path("/usr/bin/true", O_RDONLY);
	for (int i = 0; i < 9; i++)
		sys_read((int)fd, OUT, 4096);
	CHECK(requests() == 2, "a 35 kB file, open to end: %u requests", requests());
	sys_close((int)fd);
}

static bool read_check(int fd, u64 ino, u64 at, size_t len)
{
	const u8 *p = (const u8 *)OUT;

	if (sys_pread64(fd, OUT, len, (s64)at) != (long)len)
		return false;
	for (size_t i = 0; i < len; i++) {
		if (p[i] != hostfs_byte(ino, at + i))
			return false;
	}
	return true;
}

static void test_readahead(void)
{
	long fd = open_path("/big", O_RDONLY), fd2 = open_path("/big2", O_RDONLY);
	unsigned long before = fake_pages();
	bool ok = true;
	u64 freed;

	counts_reset();
	for (u64 at = 0; at < 4 << 20; at += 4096)
		ok &= read_check((int)fd, 11, at, 4096);
	CHECK(ok && hostfs_counts.reads <= 12 && hostfs_counts.pages == 1024,
	      "4 MiB in 4 kB reads: %u requests, %u pages", hostfs_counts.reads,
	      hostfs_counts.pages);
	counts_reset();
	for (int i = 0; i < 8; i++)
		ok &= read_check((int)fd2, 12, ((u64)i * 997 % 1024) * 4096 + 5, 100);
	CHECK(ok && hostfs_counts.reads <= 8 && hostfs_counts.pages <= 8 * 2 * RA_MIN,
	      "8 scattered reads: %u requests, %u pages", hostfs_counts.reads, hostfs_counts.pages);
	counts_reset();
	ok &= read_check((int)fd2, 12, 1 << 20, 0x60000);
	CHECK(ok && hostfs_counts.reads <= 6, "one read of 384 kB: %u requests",
	      hostfs_counts.reads);
	freed = pagecache_reclaim(100);
	CHECK(freed == 100, "reclaim gives 100 pages");
	freed = pagecache_reclaim(~0ull);
	CHECK(freed > 1000 && fake_pages() <= before && pagecache_total() * 1 == fake_pages(),
	      "reclaim gives all clean pages (%llu)", (unsigned long long)freed);
	CHECK(read_check((int)fd, 11, 12345, 20000), "and they are read again");
	hostfs_read_error = -EIO;
	CHECK(sys_pread64((int)fd, OUT, 10, 3 << 20) == -EIO, "a failed read is EIO");
	hostfs_read_error = 0;
	CHECK(read_check((int)fd, 11, 3 << 20, 10), "and can be repeated");
	pagecache_reclaim(~0ull);
	fake_fail_pages(5);
	CHECK(read_check((int)fd, 11, 2 << 20, 10), "short of memory: a smaller cluster");
	fake_fail_pages(-1);
	sys_close((int)fd);
	sys_close((int)fd2);
}

static void test_overlay(void)
{
	struct file *f;
	u64 ino;
	long ro, rw, ro2;
	struct dentry *d, *d2;
	u64 pages = pagecache_total();

	path_lookup(AT_FDCWD, "/etc/conf", true, &d);
	ino = d->inode->ino;
	ro = open_path("/etc/conf", O_RDONLY);
	f = fd_file((int)ro);
	CHECK(f->inode->sb != d->inode->sb && read_check((int)ro, 16, 0, 5000) &&
		      pagecache_total() == pages + 2,
	      "an overlay file reads the lower pages, no copies");
	CHECK(file_attr_inode(f) == d->inode, "attributes are the overlay's");
	file_put(f);
	rw = open_path("/etc/conf", O_RDWR);
	CHECK(rw >= 0 && read_check((int)rw, 16, 0, 5000) && pagecache_total() == pages + 4,
	      "copy-up on open for writing");
	sys_pwrite64((int)rw, (u64)user("changed"), 7, 0);
	ro2 = open_path("/etc/conf", O_RDONLY);
	CHECK(sys_pread64((int)ro2, OUT, 7, 0) == 7 && !memcmp((void *)OUT, "changed", 7),
	      "a new open sees the change");
	CHECK(read_check((int)ro, 16, 0, 5000), "the old one goes on reading below");
	CHECK(read_check((int)open_path("/etc/other", O_RDONLY), 16, 0, 5000),
	      "another lower link keeps the old contents");
	inode_refresh(d->inode);
	path_lookup(AT_FDCWD, "/etc/conf", true, &d2);
	CHECK(d2 == d && d->inode->ino == ino, "st_ino stays");
	dentry_put(d2);
	dentry_put(d);
	dcache_prune(root_dentry());
	CHECK(!path_lookup(AT_FDCWD, "/etc/conf", true, &d) && d->inode->ino == ino,
	      "also after the dcache forgot");
	dentry_put(d);
	CHECK(sys_rename((u64)user("/usr/lib"), (u64)user("/usr/lob")) == -EXDEV,
	      "a lower directory does not move: EXDEV");
	CHECK(!sys_rename((u64)user("/etc/other"), (u64)user("/etc/moved")) &&
		      !exists("/etc/other", 0) && exists("/etc/moved", 0),
	      "a lower file does");
	CHECK(!sys_unlink((u64)user("/var/log")) && !exists("/var/log", 0) &&
		      sys_rmdir((u64)user("/var")) == -ENOTEMPTY &&
		      !sys_rmdir((u64)user("/var/tmp")) && !sys_rmdir((u64)user("/var")) &&
		      !exists("/var", 0),
	      "whiteouts, rmdir of a merged directory");
	CHECK(!sys_mkdir((u64)user("/var"), 0755) && !exists("/var/log", 0),
	      "a new one over it is opaque");
	dcache_prune(root_dentry());
	CHECK(!exists("/var/log", 0), "and stays so");
	sys_close_range(3, 100, 0);
}

/* The host changes while names are cached for a second. */
static void test_expiry(void)
{
	struct dentry *a, *b;

	hostfs_ttl_ns = NSEC_PER_SEC;
	nodes[7].mode = 0; /* lib goes ... */
	dcache_reclaim(~0ull);
	CHECK(!exists("/big3", 0) && exists("/big", 0), "known and unknown names");
	path_lookup(AT_FDCWD, "/big", true, &a);
	counts_reset();
	CHECK(exists("/big", 0) && requests() == 0, "within a second no request");
	fake_clock_add(2 * NSEC_PER_SEC);
	path_lookup(AT_FDCWD, "/big", true, &b);
	CHECK(a == b && requests() == 1, "then one, and the same dentry (%u)", requests());
	dentry_put(b);
	nodes[10].ino = 99; /* another file of this name */
	fake_clock_add(2 * NSEC_PER_SEC);
	path_lookup(AT_FDCWD, "/big", true, &b);
	CHECK(a != b && b->inode->ino == 99 && a->inode->ino == 11, "a file that was replaced");
	dentry_put(b);
	nodes[10].mode = 0;
	fake_clock_add(2 * NSEC_PER_SEC);
	CHECK(!exists("/big", 0), "a file that went");
	nodes[10].mode = S_IFREG | 0644;
	nodes[10].ino = 11;
	fake_clock_add(2 * NSEC_PER_SEC);
	CHECK(exists("/big", 0), "and came back");
	dentry_put(a);
	hostfs_has_walk = false;
	hostfs_ttl_ns = ~0ull;
}

static void test_writeback(void)
{
	struct super *sb;
	struct dentry *d;
	struct file *f;
	long fd;

	hostfs_writable = hostfs_has_walk = true;
	fake_fdt = boot_shared;
	counts_reset();
	CHECK(!vfs_mount_root(NULL) && hostfs_counts.walks <= 2,
	      "a share deep in a plain root: %u walks", hostfs_counts.walks);
	fake_reroot();
	sb = root_dentry()->inode->sb;
	CHECK(sb && exists("/dev", 0) && exists("/tmp", 0), "places on a read-only root");
	fd = open_path("/usr/share/deep/etc/conf", O_RDWR);
	counts_reset();
	CHECK(fd >= 0 && sys_pwrite64((int)fd, (u64)user("abc"), 3, 4998) == 3 &&
		      hostfs_counts.writes == 1 && hostfs_counts.written == 905,
	      "a write goes through: %u pages, %llu bytes", hostfs_counts.writes,
	      (unsigned long long)hostfs_counts.written);
	counts_reset();
	CHECK(sys_write((int)fd, (u64)user("x"), 1) == 1 && hostfs_counts.writes == 1 &&
		      hostfs_counts.reads == 0,
	      "a page that is there is not read");
	CHECK(sys_pwrite64((int)fd, OUT, 8192, 8192) == 8192 && hostfs_counts.reads == 0,
	      "nor is one that is overwritten");
	f = fd_file((int)fd);
	pagecache_dirty(f->inode, 0);
	counts_reset();
	CHECK(!sys_fsync((int)fd) && hostfs_counts.writes == 1 && !sys_fsync((int)fd) &&
		      hostfs_counts.writes == 1,
	      "fsync writes what a mapping dirtied, once");
	pagecache_dirty(f->inode, 1);
	CHECK(pagecache_reclaim(~0ull) >= 1 && pagecache_total() >= 1,
	      "reclaim leaves dirty pages");
	file_put(f);
	sys_close((int)fd);
	CHECK(hostfs_counts.writes == 2, "the last close writes the rest");
	CHECK(path_lookup(AT_FDCWD, "/usr/share/deep", true, &d) == 0 && d->mount->root == d,
	      "share is a mount");
	dentry_put(d);
	CHECK(sys_umount2((u64)user("/usr/share/deep"), 0) == 0, "umount");
}

int main(void)
{
	fake_init();
	test_pagetree();
	test_nametab();
	test_boot();
	test_requests();
	test_readahead();
	test_overlay();
	test_expiry();
	test_writeback();
	fake_fini();
	return tap_done();
}
