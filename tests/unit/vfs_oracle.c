/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle child, and the comparison of what it and our calls do. */
#define _GNU_SOURCE
#include "vfs_oracle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/syscalls.h"
#include "vfs_fake.h"


#define CALL_FD		500	/* pipes of the child */
#define REPLY_FD	501
#define SLOT_SIZE	0x2000ul
#define SLOTS		64ul
#define OUT_AT		(USER_BASE + SLOT_SIZE * SLOTS)
#define OUT_SIZE	0x10000ul
#define CALL_AT		(OUT_AT + OUT_SIZE)
#define NR_SETIDS	100000

struct call {
	long nr, a[6], ret;
};

bool oracle_overlay;
unsigned long oracle_calls;
static pid_t child;
static int to_child, from_child;
static char root[64];
static struct call *const call = (struct call *)CALL_AT;

static void child_ids(unsigned uid, unsigned gid)
{
	syscall(SYS_setresuid, 0, 0, 0);
	syscall(SYS_setresgid, gid, gid, gid);
	syscall(SYS_setgroups, 0, NULL);
	syscall(SYS_setresuid, uid, uid, 0);	/* saved 0: the way back */
}

static void child_run(void)
{
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (chroot(root) || chdir("/"))
		_exit(1);
	umask(022);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 600, 600 });
	while (syscall(SYS_read, CALL_FD, &c, 1) == 1) {
		if (call->nr == NR_SETIDS) {
			child_ids((unsigned)call->a[0], (unsigned)call->a[1]);
			call->ret = 0;
		} else {
			long r = syscall(call->nr, call->a[0], call->a[1], call->a[2], call->a[3],
					 call->a[4], call->a[5]);

			call->ret = r < 0 ? -errno : r;
		}
		syscall(SYS_write, REPLY_FD, &c, 1);
	}
	_exit(0);
}

bool oracle_start(void)
{
	int down[2], up[2];

	strcpy(root, "/dev/shm/husk-oracle.XXXXXX");
	if (geteuid() != 0)
		return false;
	if (!mkdtemp(root)) {
		strcpy(root, "/tmp/husk-oracle.XXXXXX");
		if (!mkdtemp(root))
			return false;
	}
	chmod(root, 0755);
	if (pipe(down) || pipe(up))
		return false;
	child = fork();
	if (!child) {
		dup2(down[0], CALL_FD);
		dup2(up[1], REPLY_FD);
		syscall(SYS_close_range, 3, CALL_FD - 1, 0);
		syscall(SYS_close_range, REPLY_FD + 1, ~0u, 0);
		child_run();
	}
	close(down[0]);
	close(up[1]);
	to_child = down[1];
	from_child = up[0];
	host_call(SYS_getpid, (long[6]){ 0 });
	return waitpid(child, NULL, WNOHANG) == 0;
}

void oracle_stop(void)
{
	char cmd[96];

	close(to_child);
	close(from_child);
	waitpid(child, NULL, 0);
	snprintf(cmd, sizeof(cmd), "rm -rf %s", root);
	if (system(cmd))
		printf("# cannot remove %s\n", root);
}

long host_call(long nr, const long a[6])
{
	char c = 0;

	call->nr = nr;
	memcpy(call->a, a, sizeof(call->a));
	if (write(to_child, &c, 1) != 1 || read(from_child, &c, 1) != 1)
		return -EPIPE;
	return call->ret;
}

#define ARG(n, type) ((type)a[n])
#define I(n) ARG(n, int)
#define P(n) ARG(n, u64)
#define W(n) ARG(n, u32)
#define L(n) ARG(n, s64)

static long guest_call_at(long nr, const long a[6])
{
	switch (nr) {
	case SYS_openat: return sys_openat(I(0), P(1), I(2), W(3));
	case SYS_openat2: return sys_openat2(I(0), P(1), P(2), P(3));
	case SYS_newfstatat: return sys_newfstatat(I(0), P(1), P(2), I(3));
	case SYS_statx: return sys_statx(I(0), P(1), I(2), W(3), P(4));
	case SYS_mkdirat: return sys_mkdirat(I(0), P(1), W(2));
	case SYS_mknodat: return sys_mknodat(I(0), P(1), W(2), W(3));
	case SYS_symlinkat: return sys_symlinkat(P(0), I(1), P(2));
	case SYS_linkat: return sys_linkat(I(0), P(1), I(2), P(3), I(4));
	case SYS_unlinkat: return sys_unlinkat(I(0), P(1), I(2));
	case SYS_renameat2: return sys_renameat2(I(0), P(1), I(2), P(3), W(4));
	case SYS_readlinkat: return sys_readlinkat(I(0), P(1), P(2), I(3));
	case SYS_fchmodat: return sys_fchmodat(I(0), P(1), W(2));
	case SYS_fchmodat2: return sys_fchmodat2(I(0), P(1), W(2), W(3));
	case SYS_fchownat: return sys_fchownat(I(0), P(1), W(2), W(3), I(4));
	case SYS_faccessat: return sys_faccessat(I(0), P(1), W(2));
	case SYS_faccessat2: return sys_faccessat2(I(0), P(1), W(2), I(3));
	case SYS_utimensat: return sys_utimensat(I(0), P(1), P(2), I(3));
	case SYS_futimesat: return sys_futimesat(I(0), P(1), P(2));
	default: return -100000;
	}
}

static long guest_call_path(long nr, const long a[6])
{
	switch (nr) {
	case SYS_open: return sys_open(P(0), I(1), W(2));
	case SYS_creat: return sys_creat(P(0), W(1));
	case SYS_stat: return sys_stat(P(0), P(1));
	case SYS_lstat: return sys_lstat(P(0), P(1));
	case SYS_mkdir: return sys_mkdir(P(0), W(1));
	case SYS_mknod: return sys_mknod(P(0), W(1), W(2));
	case SYS_symlink: return sys_symlink(P(0), P(1));
	case SYS_link: return sys_link(P(0), P(1));
	case SYS_unlink: return sys_unlink(P(0));
	case SYS_rmdir: return sys_rmdir(P(0));
	case SYS_rename: return sys_rename(P(0), P(1));
	case SYS_readlink: return sys_readlink(P(0), P(1), I(2));
	case SYS_chmod: return sys_chmod(P(0), W(1));
	case SYS_chown: return sys_chown(P(0), W(1), W(2));
	case SYS_lchown: return sys_lchown(P(0), W(1), W(2));
	case SYS_access: return sys_access(P(0), W(1));
	case SYS_utime: return sys_utime(P(0), P(1));
	case SYS_utimes: return sys_utimes(P(0), P(1));
	case SYS_truncate: return sys_truncate(P(0), L(1));
	case SYS_statfs: return sys_statfs(P(0), P(1));
	case SYS_chdir: return sys_chdir(P(0));
	case SYS_chroot: return sys_chroot(P(0));
	case SYS_getcwd: return sys_getcwd(P(0), P(1));
	case SYS_umask: return sys_umask(W(0));
	case SYS_memfd_create: return sys_memfd_create(P(0), W(1));
	case SYS_setxattr: return sys_setxattr(P(0), P(1), P(2), P(3), I(4));
	case SYS_lsetxattr: return sys_lsetxattr(P(0), P(1), P(2), P(3), I(4));
	case SYS_getxattr: return sys_getxattr(P(0), P(1), P(2), P(3));
	case SYS_lgetxattr: return sys_lgetxattr(P(0), P(1), P(2), P(3));
	case SYS_listxattr: return sys_listxattr(P(0), P(1), P(2));
	case SYS_removexattr: return sys_removexattr(P(0), P(1));
	case SYS_lremovexattr: return sys_lremovexattr(P(0), P(1));
	default: return -100000;
	}
}

static long guest_call_fd(long nr, const long a[6])
{
	switch (nr) {
	case SYS_close: return sys_close(I(0));
	case SYS_close_range: return sys_close_range(W(0), W(1), W(2));
	case SYS_dup: return sys_dup(I(0));
	case SYS_dup2: return sys_dup2(I(0), I(1));
	case SYS_dup3: return sys_dup3(I(0), I(1), I(2));
	case SYS_fcntl: return sys_fcntl(I(0), W(1), P(2));
	case SYS_flock: return sys_flock(I(0), I(1));
	case SYS_read: return sys_read(I(0), P(1), P(2));
	case SYS_write: return sys_write(I(0), P(1), P(2));
	case SYS_pread64: return sys_pread64(I(0), P(1), P(2), L(3));
	case SYS_pwrite64: return sys_pwrite64(I(0), P(1), P(2), L(3));
	case SYS_readv: return sys_readv(I(0), P(1), P(2));
	case SYS_writev: return sys_writev(I(0), P(1), P(2));
	case SYS_preadv: return sys_preadv(I(0), P(1), P(2), L(3), P(4));
	case SYS_pwritev: return sys_pwritev(I(0), P(1), P(2), L(3), P(4));
	case SYS_preadv2: return sys_preadv2(I(0), P(1), P(2), L(3), P(4), W(5));
	case SYS_pwritev2: return sys_pwritev2(I(0), P(1), P(2), L(3), P(4), W(5));
	case SYS_lseek: return sys_lseek(I(0), L(1), W(2));
	case SYS_sendfile: return sys_sendfile(I(0), I(1), P(2), P(3));
	case SYS_copy_file_range: return sys_copy_file_range(I(0), P(1), I(2), P(3), P(4), W(5));
	case SYS_fstat: return sys_fstat(I(0), P(1));
	case SYS_fchmod: return sys_fchmod(I(0), W(1));
	case SYS_fchown: return sys_fchown(I(0), W(1), W(2));
	case SYS_ftruncate: return sys_ftruncate(I(0), L(1));
	case SYS_fallocate: return sys_fallocate(I(0), I(1), L(2), L(3));
	case SYS_fchdir: return sys_fchdir(I(0));
	case SYS_getdents64: return sys_getdents64(I(0), P(1), W(2));
	case SYS_fsync: return sys_fsync(I(0));
	case SYS_fdatasync: return sys_fdatasync(I(0));
	case SYS_syncfs: return sys_syncfs(I(0));
	case SYS_sync_file_range: return sys_sync_file_range(I(0), L(1), L(2), W(3));
	case SYS_fadvise64: return sys_fadvise64(I(0), L(1), L(2), I(3));
	case SYS_readahead: return sys_readahead(I(0), L(1), P(2));
	case SYS_fstatfs: return sys_fstatfs(I(0), P(1));
	case SYS_fsetxattr: return sys_fsetxattr(I(0), P(1), P(2), P(3), I(4));
	case SYS_fgetxattr: return sys_fgetxattr(I(0), P(1), P(2), P(3));
	case SYS_flistxattr: return sys_flistxattr(I(0), P(1), P(2));
	case SYS_fremovexattr: return sys_fremovexattr(I(0), P(1));
	default: return -100000;
	}
}

long guest_call(long nr, const long a[6])
{
	long r = guest_call_at(nr, a);

	if (r == -100000)
		r = guest_call_path(nr, a);
	if (r == -100000)
		r = guest_call_fd(nr, a);
	if (r == -100000)
		abort();
	return r;
}

static long slot_take(const void *p, unsigned long n)
{
	static unsigned long next;
	char *at = (char *)(USER_BASE + SLOT_SIZE * (next++ % SLOTS));

	if (n > SLOT_SIZE)
		abort();
	memcpy(at, p, n);
	return (long)at;
}

long U(const char *s)
{
	return slot_take(s, strlen(s) + 1);
}

long U_bytes(const void *p, unsigned long n)
{
	return slot_take(p, n);
}

long U_out(void)
{
	return (long)OUT_AT;
}

static bool stat_equal(const struct stat *h, const struct stat *g)
{
	bool dir = S_ISDIR(h->st_mode);

	if (h->st_mode != g->st_mode || h->st_uid != g->st_uid || h->st_gid != g->st_gid ||
	    h->st_rdev != g->st_rdev)
		return false;
	if (!(dir && oracle_overlay) && (h->st_nlink != g->st_nlink || h->st_size != g->st_size))
		return false;
	if (S_ISREG(h->st_mode) && h->st_blocks != g->st_blocks && !oracle_overlay)
		return false;
	/* Times that utimensat set are equal; others are from now. */
	if (h->st_mtime < 1000000000 || g->st_mtime < 1000000000)
		return h->st_mtime == g->st_mtime && h->st_mtim.tv_nsec == g->st_mtim.tv_nsec;
	return true;
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lists of strings, in any order. */
static bool lists_equal(char *a, char *b, long n)
{
	char *pa[256], *pb[256];
	size_t na = 0, nb = 0;

	for (char *p = a; p < a + n && na < 256; p += strlen(p) + 1)
		pa[na++] = p;
	for (char *p = b; p < b + n && nb < 256; p += strlen(p) + 1)
		pb[nb++] = p;
	if (na != nb)
		return false;
	qsort(pa, na, sizeof(*pa), name_order);
	qsort(pb, nb, sizeof(*pb), name_order);
	for (size_t i = 0; i < na; i++) {
		if (strcmp(pa[i], pb[i]))
			return false;
	}
	return true;
}

static bool output_equal(long nr, long ret, char *h, char *g)
{
	switch (nr) {
	case SYS_stat:
	case SYS_lstat:
	case SYS_fstat:
	case SYS_newfstatat:
		return ret < 0 || stat_equal((struct stat *)h, (struct stat *)g);
	case SYS_listxattr:
	case SYS_flistxattr:
		return ret < 0 || lists_equal(h, g, ret);
	case SYS_read:
	case SYS_pread64:
	case SYS_preadv:
	case SYS_readv:
	case SYS_readlink:
	case SYS_readlinkat:
	case SYS_getcwd:
	case SYS_getxattr:
	case SYS_lgetxattr:
	case SYS_fgetxattr:
		return ret < 0 || !memcmp(h, g, (size_t)ret);
	case SYS_fcntl:
		return !memcmp(h, g, 64);
	default:
		return true;
	}
}

/* Linux refuses O_CREAT on another's socket or link in a sticky directory before anything else. */
static bool socket_in_sticky(long nr, const long a[6], long h, long g)
{
	return nr == SYS_open && (a[1] & O_CREAT) && h == -EACCES &&
	       (g == -ENXIO || g == -ELOOP);
}

static void print_call(long nr, const long a[6])
{
	printf("# call %ld(", nr);
	for (int i = 0; i < 6; i++) {
		if ((unsigned long)a[i] >= USER_BASE && (unsigned long)a[i] < OUT_AT)
			printf("\"%.40s\" ", (char *)a[i]);
		else
			printf("%#lx ", (unsigned long)a[i]);
	}
	printf(")\n");
}

static void print_stats(const struct stat *h, const struct stat *g)
{
	printf("# mode %o %o nlink %lu %lu ids %u:%u %u:%u\n", h->st_mode, g->st_mode,
	       h->st_nlink, g->st_nlink, h->st_uid, h->st_gid, g->st_uid, g->st_gid);
	printf("# size %ld %ld blocks %ld %ld mtime %ld %ld\n", h->st_size, g->st_size,
	       h->st_blocks, g->st_blocks, h->st_mtime, g->st_mtime);
}

bool both(long *ret, long nr, long a0, long a1, long a2, long a3, long a4, long a5)
{
	static char saved[OUT_SIZE], host_out[OUT_SIZE];
	long a[6] = { a0, a1, a2, a3, a4, a5 }, h, g;
	char *out = (char *)OUT_AT;
	bool same;

	oracle_calls++;
	memcpy(saved, out, 4096);
	h = host_call(nr, a);
	memcpy(host_out, out, OUT_SIZE);
	memcpy(out, saved, 4096);
	g = guest_call(nr, a);
	if (ret)
		*ret = g;
	same = (h == g || socket_in_sticky(nr, a, h, g)) && output_equal(nr, h, host_out, out);
	if (!same) {
		print_call(nr, a);
		printf("# host %ld, guest %ld%s\n", h, g, h == g ? " (outputs differ)" : "");
		if (h == g && (nr == SYS_stat || nr == SYS_lstat || nr == SYS_fstat))
			print_stats((struct stat *)host_out, (struct stat *)out);
	}
	return same;
}

bool both_ids(unsigned uid, unsigned gid)
{
	host_call(NR_SETIDS, (long[6]){ uid, gid });
	fake_ids(uid, gid);
	return true;
}

struct names {
	char *name[4096];
	size_t n;
};

/* "type name" of every entry, by one side's getdents64, in small pieces. */
static long names_read(long (*fn)(long, const long *), int fd, struct names *names, long size)
{
	long n;

	names->n = 0;
	while ((n = fn(SYS_getdents64, (long[6]){ fd, OUT_AT, size })) > 0) {
		for (long at = 0; at < n;) {
			struct dirent64 *d = (struct dirent64 *)(OUT_AT + (unsigned long)at);
			char text[300];

			snprintf(text, sizeof(text), "%u %s", d->d_type, d->d_name);
			if (names->n < 4096)
				names->name[names->n++] = strdup(text);
			at += d->d_reclen;
		}
	}
	qsort(names->name, names->n, sizeof(*names->name), name_order);
	return n;
}

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
}

static bool names_equal(const struct names *h, const struct names *g, const char *path)
{
	for (size_t i = 0; i < h->n || i < g->n; i++) {
		const char *a = i < h->n ? h->name[i] : "(end)";
		const char *b = i < g->n ? g->name[i] : "(end)";

		if (strcmp(a, b)) {
			printf("# directory %s: host has '%s', guest '%s'\n", path, a, b);
			return false;
		}
	}
	return true;
}

static bool readdir_names(const char *path, struct names *guest)
{
	static struct names h, g;
	long fd, hr, gr;
	bool same;

	if (!both(&fd, SYS_open, U(path), O_RDONLY | O_DIRECTORY, 0, 0, 0, 0))
		return false;
	if (fd < 0)
		return true;
	hr = names_read(host_call, (int)fd, &h, 512);
	gr = names_read(guest_call, (int)fd, &g, 312);
	same = hr == gr && names_equal(&h, &g, path);
	if (hr != gr)
		printf("# getdents %s: host %ld, guest %ld\n", path, hr, gr);
	names_free(&h);
	if (guest)
		*guest = g;
	else
		names_free(&g);
	return both(NULL, SYS_close, fd, 0, 0, 0, 0, 0) && same;
}

bool both_readdir(const char *path)
{
	return readdir_names(path, NULL);
}

static bool tree_file(const char *path)
{
	bool same = true;
	long fd, n = 0;

	if (!both(&fd, SYS_open, U(path), O_RDONLY, 0, 0, 0, 0))
		return false;
	if (fd < 0)
		return true;
	do {
		same &= both(&n, SYS_read, fd, U_out(), 0x8000, 0, 0, 0);
	} while (same && n > 0);
	return both(NULL, SYS_close, fd, 0, 0, 0, 0, 0) && same;
}

bool both_tree(const char *path)
{
	struct names names = { .n = 0 };
	char sub[4096];
	struct stat st;
	bool same;
	long r;

	if (!both(&r, SYS_lstat, U(path), U_out(), 0, 0, 0, 0) || r)
		return r != 0;
	memcpy(&st, (void *)OUT_AT, sizeof(st));
	if (S_ISLNK(st.st_mode))
		return B3(SYS_readlink, U(path), U_out(), 4096);
	if (S_ISREG(st.st_mode))
		return tree_file(path);
	if (!S_ISDIR(st.st_mode))
		return true;
	same = readdir_names(path, &names);
	for (size_t i = 0; i < names.n && same; i++) {
		const char *name = strchr(names.name[i], ' ') + 1;

		if (!strcmp(name, ".") || !strcmp(name, ".."))
			continue;
		snprintf(sub, sizeof(sub), "%s/%s", strcmp(path, "/") ? path : "", name);
		same = both_tree(sub);
	}
	names_free(&names);
	return same;
}
