/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile guest, and a hostile user of the host, against the FUSE server: bad names, numbers and
 * lengths, requests cut at every byte, symlinks and swaps, few descriptors, random bytes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "devices/fuse/fuse_impl.h"
#include "tests/unit/fuse_client.h"

#define SECRET "the secret"

static struct client c;
static uint64_t rw, ro;

static void test_names(void)
{
	static const char *const bad[] = {
		"", ".", "..", "a/b", "/", "../outside", "sub/..", "/etc"
	};
	struct fuse_mkdir_in md = { .mode = 0777 };
	struct fuse_mknod_in mn = { .mode = S_IFREG | 0666 };
	struct fuse_rename_in rn = { .newdir = rw };
	struct fuse_entry_out e, f;
	struct fuse_link_in ln;
	char longest[300];
	uint64_t fh;

	client_lookup(&c, rw, "file", &f);
	ln.oldnodeid = f.nodeid;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *b = bad[i];
		bool ok = client_lookup(&c, rw, b, &e) == -EINVAL;

		ok &= client_create(&c, rw, b, O_RDWR, 0600, &e, &fh) == -EINVAL;
		ok &= client_call(&c, FUSE_MKDIR, rw, &md, sizeof(md), b, NULL) == -EINVAL;
		ok &= client_call(&c, FUSE_MKNOD, rw, &mn, sizeof(mn), b, NULL) == -EINVAL;
		ok &= client_call(&c, FUSE_SYMLINK, rw, NULL, 0, b, "t") == -EINVAL;
		ok &= client_call(&c, FUSE_UNLINK, rw, NULL, 0, b, NULL) == -EINVAL;
		ok &= client_call(&c, FUSE_RMDIR, rw, NULL, 0, b, NULL) == -EINVAL;
		ok &= client_call(&c, FUSE_LINK, rw, &ln, sizeof(ln), b, NULL) == -EINVAL;
		ok &= client_call(&c, FUSE_RENAME, rw, &rn, sizeof(rn), b, "x") == -EINVAL;
		ok &= client_call(&c, FUSE_RENAME, rw, &rn, sizeof(rn), "file", b) == -EINVAL;
		tap_ok(ok, "name \"%s\" is refused by every operation", b);
	}
	memset(longest, 'n', sizeof(longest));
	longest[255] = 0;
	tap_ok(client_lookup(&c, rw, longest, &e) == -ENOENT, "a name of 255 bytes");
	longest[255] = 'n';
	longest[256] = 0;
	tap_ok(client_lookup(&c, rw, longest, &e) == -ENAMETOOLONG, "a name of 256 bytes");
	req_start(&c, FUSE_LOOKUP, rw);
	req_add(&c, "file", 4);
	tap_ok(req_send(&c) == -EINVAL, "a name without its NUL");
}

static void test_numbers(void)
{
	static const uint64_t bad[] = { 0, 99999, ~0ull, 1ull << 32 | 1, 0x80000000, 1ull << 63 };
	struct fuse_rename_in rn;
	struct fuse_entry_out e;
	struct fuse_link_in ln;
	struct fuse_attr a;
	uint64_t fh, old;
	bool ok = true;

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok &= client_lookup(&c, bad[i], "file", &e) == -ESTALE;
		ok &= client_getattr(&c, bad[i], &a) == -ESTALE;
		ok &= client_read(&c, bad[i], 0, 0, 10) == -ESTALE;
		ok &= client_open(&c, FUSE_OPEN, bad[i], 0, &fh) == -ESTALE;
		rn.newdir = bad[i];
		ln.oldnodeid = bad[i];
		ok &= client_call(&c, FUSE_RENAME, rw, &rn, sizeof(rn), "file", "x") == -ESTALE;
		ok &= client_call(&c, FUSE_LINK, rw, &ln, sizeof(ln), "x", NULL) == -ESTALE;
		client_forget(&c, bad[i], 1000);
	}
	tap_ok(ok, "made-up node ids are ESTALE");
	client_lookup(&c, rw, "file", &e);
	client_forget(&c, e.nodeid, ~0ull);
	old = e.nodeid;
	tap_ok(client_getattr(&c, old, &a) == -ESTALE, "a forgotten node is ESTALE");
	client_lookup(&c, rw, "file", &e);
	tap_ok(e.nodeid != old && client_getattr(&c, old, &a) == -ESTALE,
	       "also when its number is used again");
	ok = client_lookup(&c, e.nodeid, "x", &e) == -ENOTDIR;
	client_lookup(&c, rw, "file", &e);
	for (unsigned i = 1; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ok &= client_read(&c, e.nodeid, bad[i], 0, 10) == -EBADF;
		ok &= client_write(&c, e.nodeid, bad[i], 0, "x", 1) == -EBADF;
		ok &= client_release(&c, FUSE_RELEASE, e.nodeid, bad[i]) == -EBADF;
	}
	tap_ok(ok, "made-up handles are EBADF");
	client_open(&c, FUSE_OPEN, e.nodeid, O_RDWR, &fh);
	ok = client_read(&c, rw, fh, 0, 10) == -EBADF &&
	     client_release(&c, FUSE_RELEASE, rw, fh) == -EBADF;
	tap_ok(ok, "a handle of another node is EBADF");
	ok = client_read(&c, e.nodeid, fh, ~0ull, 10) == -EINVAL &&
	     client_read(&c, e.nodeid, fh, INT64_MAX, 10) == -EINVAL &&
	     client_write(&c, e.nodeid, fh, ~0ull, "x", 1) == -EINVAL &&
	     client_write(&c, e.nodeid, fh, INT64_MAX, "x", 1) < 0;
	tap_ok(ok, "offsets beyond what files have");
	client_forget(&c, rw, ~0ull);
	client_forget(&c, FUSE_ROOT_ID, ~0ull);
	tap_ok(client_lookup(&c, FUSE_ROOT_ID, "rw", &e) == 0 && e.nodeid == rw,
	       "roots cannot be forgotten");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
}

/* Lengths that lie: about the data of a WRITE, of an xattr, of the request itself. */
static void test_lengths(void)
{
	struct fuse_write_in w = { .size = 4096 };
	struct { uint32_t size, flags; } xa = { .size = 65536 };
	struct fuse_batch_forget_in bf = { .count = ~0u };
	struct iovec in, out;
	struct fuse_entry_out e;
	uint32_t len;
	uint64_t fh;

	client_lookup(&c, rw, "file", &e);
	client_open(&c, FUSE_OPEN, e.nodeid, O_RDWR, &fh);
	w.fh = fh;
	req_start(&c, FUSE_WRITE, e.nodeid);
	req_add(&c, &w, sizeof(w));
	req_add(&c, "short", 5);
	tap_ok(req_send(&c) == -EINVAL, "WRITE of more than there is");
	w.size = ~0u;
	req_start(&c, FUSE_WRITE, e.nodeid);
	req_add(&c, &w, sizeof(w));
	tap_ok(req_send(&c) == -EINVAL, "WRITE of 4 GiB");
	req_start(&c, FUSE_SETXATTR, e.nodeid);
	req_add(&c, &xa, sizeof(xa));
	req_add_str(&c, "user.x");
	tap_ok(req_send(&c) == -EINVAL, "SETXATTR of more than there is");
	tap_ok(client_call(&c, FUSE_BATCH_FORGET, 0, &bf, sizeof(bf), NULL, NULL) == 0,
	       "BATCH_FORGET of 4 G");
	req_start(&c, FUSE_GETATTR, rw);
	req_add(&c, "0123456789abcdef", 16);
	for (unsigned i = 0; i < 4; i++) {
		static const uint32_t lens[] = { 0, 39, 57, ~0u };

		in = (struct iovec){ c.in, c.in_len };
		out = (struct iovec){ c.out, 4096 };
		len = lens[i];
		memcpy(c.in, &len, 4);
		tap_ok(fuse_handle(c.srv, &in, 1, &out, 1) == 16, "a header that claims %u bytes",
		       len);
	}
	tap_ok(fuse_handle(c.srv, NULL, 0, NULL, 0) == 0 &&
		   fuse_handle(c.srv, &in, 1, NULL, 0) == 0,
	       "no pieces at all");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
}

/* Every operation, cut at every length and with every room for the reply. */
static void test_truncated(void)
{
	static const uint32_t op[] = {
		FUSE_LOOKUP,
		FUSE_FORGET,
		FUSE_GETATTR,
		FUSE_SETATTR,
		FUSE_READLINK,
		FUSE_SYMLINK,
		FUSE_MKNOD,
		FUSE_MKDIR,
		FUSE_UNLINK,
		FUSE_RMDIR,
		FUSE_RENAME,
		FUSE_LINK,
		FUSE_OPEN,
		FUSE_READ,
		FUSE_WRITE,
		FUSE_STATFS,
		FUSE_RELEASE,
		FUSE_FSYNC,
		FUSE_SETXATTR,
		FUSE_GETXATTR,
		FUSE_LISTXATTR,
		FUSE_REMOVEXATTR,
		FUSE_FLUSH,
		FUSE_INIT,
		FUSE_OPENDIR,
		FUSE_READDIR,
		FUSE_RELEASEDIR,
		FUSE_FSYNCDIR,
		FUSE_ACCESS,
		FUSE_CREATE,
		FUSE_INTERRUPT,
		FUSE_BATCH_FORGET,
		FUSE_FALLOCATE,
		FUSE_READDIRPLUS,
		FUSE_RENAME2,
		FUSE_LSEEK,
		FUSE_COPY_FILE_RANGE,
		FUSE_SYNCFS,
		HUSK_FUSE_WALK,
		4711,
	};
	bool ok = true;

	for (unsigned i = 0; i < sizeof(op) / sizeof(op[0]); i++) {
		for (size_t len = 0; len < 200; len++) {
			struct fuse_in_header h = { .opcode = op[i], .nodeid = ro, .unique = 77 };
			char *buf = malloc(len),
			     *reply = malloc(len); /* exact, for the sanitizer */
			struct iovec in = { buf, len }, out = { reply, len },
				     wide = { c.out, 8192 };

			h.len = (uint32_t)len;
			memset(buf, 'a', len);
			memcpy(buf, &h, len < sizeof(h) ? len : sizeof(h));
			ok &= fuse_handle(c.srv, &in, 1, &wide, 1) <= 8192;
			ok &= fuse_handle(c.srv, &in, 1, &out, 1) <= len;
			if (len > sizeof(h))
				memset(buf + sizeof(h), 0, len - sizeof(h));
			ok &= fuse_handle(c.srv, &in, 1, &out, 1) <= len;
			free(buf);
			free(reply);
		}
	}
	tap_ok(ok, "requests and replies cut at every length");
	fuse_server_reset(c.srv);
}

/* --- escapes */

static void test_symlinks(void)
{
	struct fuse_entry_out e, f;
	struct fuse_mkdir_in md = { .mode = 0777 };
	struct stat st;
	uint64_t fh;

	tap_ok(client_lookup(&c, rw, "out", &e) == 0 && S_ISLNK(e.attr.mode),
	       "a symlink outwards is a symlink");
	tap_ok(client_lookup(&c, e.nodeid, "secret", &f) == -ENOTDIR,
	       "nothing is looked up through it");
	tap_ok(client_call(&c, FUSE_MKDIR, e.nodeid, &md, sizeof(md), "x", NULL) == -ENOTDIR &&
	       stat("outside/x", &st) < 0, "nothing is made through it");
	tap_ok(client_read(&c, e.nodeid, 0, 0, 100) == -ELOOP, "it is not read");
	client_lookup(&c, rw, "tosecret", &e);
	tap_ok(client_open(&c, FUSE_OPEN, e.nodeid, O_RDWR, &fh) == -ELOOP &&
	       client_create(&c, rw, "tosecret", O_RDWR, 0600, &e, &fh) == -ELOOP &&
	       client_create(&c, rw, "tosecret", O_RDWR | O_TRUNC, 0600, &e, &fh) == -ELOOP,
	       "a symlink to a file is neither opened nor created through");
	tap_ok(client_create(&c, rw, "dangling", O_RDWR, 0600, &e, &fh) == -ELOOP &&
	       stat("outside/new", &st) < 0, "nor is a dangling one");
}

static atomic_bool stop;

/* The host's side of the race: dir/swap is a directory with a harmless file, then a symlink. */
static void *swap_loop(void *arg)
{
	while (!atomic_load(&stop)) {
		if (rename("dir/swap", "dir/swap-real") < 0 ||
		    symlink("../outside", "dir/swap") < 0)
			break;
		if (unlink("dir/swap") < 0 || rename("dir/swap-real", "dir/swap") < 0)
			break;
		if (rename("dir/flip", "dir/flip-real") < 0 ||
		    symlink("../outside/secret", "dir/flip") < 0)
			break;
		if (unlink("dir/flip") < 0 || rename("dir/flip-real", "dir/flip") < 0)
			break;
	}
	return arg;
}

/* Nothing that is read or written may come from outside, whatever the moment. */
static void test_swap(void)
{
	unsigned leaks = 0, hits = 0;
	struct fuse_entry_out e, f;
	pthread_t thread;
	char text[64];
	FILE *file;

	atomic_store(&stop, false);
	pthread_create(&thread, NULL, swap_loop, NULL);
	for (int i = 0; i < 20000; i++) {
		uint64_t fh;
		long n;

		/* With and without descriptors kept from earlier rounds. */
		if (i % 3 == 0)
			fuse_server_reset(c.srv);
		if (client_lookup(&c, rw, "swap", &e) < 0)
			continue;
		if (client_lookup(&c, e.nodeid, "secret", &f) == 0) {
			n = client_read(&c, f.nodeid, 0, 0, 100);
			hits += n > 0;
			leaks += n > 0 && memcmp(c.out + 16, SECRET, 5) == 0;
		}
		if (client_create(&c, e.nodeid, "made", O_RDWR, 0600, &f, &fh) == 0)
			client_release(&c, FUSE_RELEASE, f.nodeid, fh);
		if (client_lookup(&c, rw, "flip", &f) == 0) {
			n = client_read(&c, f.nodeid, 0, 0, 100);
			leaks += n > 0 && memcmp(c.out + 16, SECRET, 5) == 0;
			if (client_open(&c, FUSE_OPEN, f.nodeid, O_WRONLY, &fh) == 0) {
				client_write(&c, f.nodeid, fh, 0, "x", 1);
				client_release(&c, FUSE_RELEASE, f.nodeid, fh);
			}
		}
	}
	atomic_store(&stop, true);
	pthread_join(thread, NULL);
	file = fopen("outside/secret", "r");
	tap_ok(file && fgets(text, sizeof(text), file) && strcmp(text, SECRET) == 0,
	       "the file outside is untouched");
	if (file)
		fclose(file);
	tap_ok(leaks == 0 && access("outside/made", F_OK) < 0,
	       "a directory and a file swapped for symlinks: no escape");
	tap_ok(hits > 0, "and the harmless file was read, %u times", hits);
}

/* A node is its object: what came under the name later is not opened in its stead. */
static void test_replaced(void)
{
	struct fuse_entry_out e, f;
	struct fuse_attr a;

	client_lookup(&c, rw, "victim", &e);
	file_put("dir/other", SECRET, 0600);
	rename("dir/other", "dir/victim");
	tap_ok(client_read(&c, e.nodeid, 0, 0, 10) == -ESTALE &&
		   client_getattr(&c, e.nodeid, &a) == -ESTALE,
	       "a node whose name has another file is ESTALE");
	tap_ok(client_lookup(&c, rw, "victim", &f) == 0 && f.nodeid != e.nodeid &&
	       client_read(&c, f.nodeid, 0, 0, 10) == 10, "looked up again it is another node");
	client_lookup(&c, rw, "swap", &e);
	client_lookup(&c, e.nodeid, "secret", &f);
	rename("dir/swap", "dir/swap-moved");
	tap_ok(client_read(&c, f.nodeid, 0, 0, 7) == 7 ||
		   client_read(&c, f.nodeid, 0, 0, 7) == -ESTALE,
	       "a file whose directory moved away is read or ESTALE");
	rename("dir/swap-moved", "dir/swap");
}

/* Directories moved into each other between lookups must not make a ring of nodes. */
static void test_ring(void)
{
	struct fuse_entry_out a, b, e;

	dir_put("dir/A", 0755);
	dir_put("dir/A/B", 0755);
	client_lookup(&c, rw, "A", &a);
	client_lookup(&c, a.nodeid, "B", &b);
	rename("dir/A/B", "dir/B");
	rename("dir/A", "dir/B/A");
	tap_ok(client_lookup(&c, b.nodeid, "A", &e) <= 0, "a ring in the making");
	client_lookup(&c, rw, "B", &e);
	tap_ok(client_lookup(&c, e.nodeid, "A", &e) == 0, "looked up from above all is well");
	fuse_server_reset(c.srv);
}

static void test_special(void)
{
	struct fuse_entry_out e;

	tap_ok(client_lookup(&c, ro, "sock", &e) == -ENOENT &&
		   client_lookup(&c, ro, "fifo", &e) == -ENOENT,
	       "sockets and FIFOs do not exist in a read-only export");
	tap_ok(client_lookup(&c, rw, "sock", &e) == 0 &&
		   client_read(&c, e.nodeid, 0, 0, 1) == -ENXIO,
	       "in a rw export a socket is seen, not opened");
}

/* A hard link joins two exports in one inode; each keeps its own rights. */
static void test_hard_link(void)
{
	struct fuse_setattr_in in = { .valid = FATTR_SIZE };
	struct fuse_entry_out e, f;
	uint64_t fh;

	client_lookup(&c, rw, "file", &e);
	client_lookup(&c, ro, "file", &f);
	tap_ok(e.nodeid != f.nodeid &&
		   client_open(&c, FUSE_OPEN, f.nodeid, O_RDWR, &fh) == -EROFS &&
		   client_call(&c, FUSE_SETATTR, f.nodeid, &in, sizeof(in), NULL, NULL) == -EROFS,
	       "a file in both exports is written through one only");
}

/* A tree deeper than the server will climb, and few descriptors. */
static void test_few_descriptors(void)
{
	struct fuse_export ex = { .host = "dir", .guest = "/rw", .rw = true };
	struct rlimit old, few;
	struct client d;
	struct fuse_mkdir_in md = { .mode = 0755 };
	struct fuse_entry_out e = { 0 }, f;
	uint64_t fh[200];
	bool ok = true;
	long err = 0;
	int n = 0;

	getrlimit(RLIMIT_NOFILE, &old);
	few = (struct rlimit){ 200, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	client_init(&d, server_with(&ex, 1));
	setrlimit(RLIMIT_NOFILE, &old);
	client_path(&d, "rw", &e);
	for (int i = 0; i < 800 && err == 0; i++) {
		err = client_call(&d, FUSE_MKDIR, e.nodeid, &md, sizeof(md), "d", NULL);
		if (err > 0) {
			e = REPLY(&d, struct fuse_entry_out);
			err = 0;
		}
	}
	tap_ok(err == 0, "800 directories deep with 100 descriptors");
	for (int i = 0; i < 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		ok &= client_create(&d, e.nodeid, name, O_RDWR, 0600, &f, &fh[0]) == 0;
		client_release(&d, FUSE_RELEASE, f.nodeid, fh[0]);
		ok &= client_read(&d, f.nodeid, 0, 0, 1) == 0;
	}
	tap_ok(ok, "300 files used in turn");
	for (n = 0; n < 200; n++) {
		err = client_open(&d, FUSE_OPEN, f.nodeid, O_RDONLY, &fh[n]);
		if (err < 0)
			break;
	}
	tap_ok(n == 200, "handles of one file share its descriptor");
	while (n-- > 0)
		client_release(&d, FUSE_RELEASE, f.nodeid, fh[n]);
	for (n = 0; n < 200; n++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", n);
		err = client_create(&d, e.nodeid, name, O_RDONLY, 0600, &f, &fh[n]);
		if (err < 0)
			break;
	}
	tap_ok(err == -ENFILE && n > 50, "%d files open at once, then ENFILE", n);
	client_call(&d, FUSE_DESTROY, 0, NULL, 0, NULL, NULL);
	tap_ok(client_path(&d, "rw/file", &e) == 0 && client_read(&d, e.nodeid, 0, 0, 3) == 3,
	       "and after DESTROY all is well");
	fuse_server_free(d.srv);
	client_free(&d);
}

/* --- several threads */

static void *thread_loop(void *arg)
{
	struct client t;
	char name[32];
	uintptr_t bad = 0;

	client_init(&t, c.srv);
	snprintf(name, sizeof(name), "thread-%p", arg);
	for (int i = 0; i < 2000; i++) {
		struct fuse_entry_out e;
		uint64_t fh;

		if (client_create(&t, rw, name, O_RDWR, 0600, &e, &fh) < 0)
			continue;
		bad += client_write(&t, e.nodeid, fh, 0, name, 20) != 20 && i % 100;
		if (i % 500 == 499)
			fuse_server_reset(t.srv);
		client_read(&t, e.nodeid, fh, 0, 20);
		client_release(&t, FUSE_RELEASE, e.nodeid, fh);
		client_call(&t, FUSE_UNLINK, rw, NULL, 0, name, NULL);
		client_forget(&t, e.nodeid, 1);
	}
	client_free(&t);
	return (void *)bad;
}

static void test_threads(void)
{
	pthread_t thread[3];

	for (uintptr_t i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, thread_loop, (void *)(i + 1));
	for (unsigned i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	tap_ok(true, "three threads with resets in between");
}

/* --- random bytes */

static uint64_t seed = 0x5eed5eed;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* Half plausible: real opcodes, node ids and names come up often, to reach the depths. */
static void fuzz_fill(char *buf, size_t len, const uint64_t *ids, unsigned nids)
{
	static const char *const names[] = {
		"file", "sub", "deep", "leaf", "out", "x", "y", "fifo"
	};
	struct fuse_in_header h = { .len = (uint32_t)len, .unique = 77 };
	size_t at = sizeof(h) + rnd() % 24 / 8 * 8;

	for (size_t i = 0; i < len; i++)
		buf[i] = rnd() % 3 ? 0 : (char)rnd();
	h.opcode = rnd() % 20 ? (uint32_t)(rnd() % 53) : HUSK_FUSE_WALK;
	h.nodeid = rnd() % 16 ? ids[rnd() % nids] : rnd();
	if (rnd() % 32 == 0)
		h.len = (uint32_t)rnd();
	if (len < sizeof(h))
		return;
	memcpy(buf, &h, sizeof(h));
	for (unsigned i = 0; i < 2; i++) {
		const char *name = names[rnd() % 8];
		size_t n = strlen(name) + 1;

		if (at + n > len)
			break;
		memcpy(buf + at, name, n);
		at += n;
	}
	/* Where most bodies have a number: a handle, a new directory, an old node. */
	if (len >= sizeof(h) + 8 && rnd() % 2)
		memcpy(buf + sizeof(h), &ids[rnd() % nids], 8);
}

static void test_fuzz(unsigned count)
{
	uint64_t ids[16] = { 0, FUSE_ROOT_ID, rw, ro };
	unsigned nids = 4;
	bool ok = true;

	for (unsigned i = 0; i < count; i++) {
		size_t len = rnd() % 4 ? 40 + rnd() % 100 : rnd() % 300,
		       room = rnd() % 5 ? 400 : rnd() % 200;
		char *in = malloc(len), *out = malloc(room);
		struct iovec iov[8], oov[8];
		size_t cut = len ? rnd() % len : 0, ocut = room ? rnd() % room : 0, n;
		uint64_t id;

		fuzz_fill(in, len, ids, nids);
		iov[0] = (struct iovec){ in, cut };
		iov[1] = (struct iovec){ in + cut, len - cut };
		oov[0] = (struct iovec){ out, ocut };
		oov[1] = (struct iovec){ out + ocut, room - ocut };
		n = fuse_handle(c.srv, iov, 2, oov, 2);
		ok &= n <= room && (n == 0 || n >= 16);
		/* A reply may hold a node id or a handle: try those next. */
		if (n >= 24) {
			memcpy(&id, out + 16, 8);
			ids[4 + rnd() % 12] = id;
			nids = 16;
		}
		free(in);
		free(out);
	}
	tap_ok(ok, "%u requests of random bytes", count);
	fuse_server_reset(c.srv);
}

static void make_tree(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = "dir/sock" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	dir_put("dir", 0755);
	dir_put("outside", 0755);
	file_put("outside/secret", SECRET, 0644);
	file_put("dir/file", "contents", 0644);
	file_put("dir/victim", "harmless", 0644);
	file_put("dir/flip", "harmless", 0644);
	dir_put("dir/sub", 0755);
	dir_put("dir/swap", 0755);
	file_put("dir/swap/secret", "harmless", 0644);
	if (symlink("../outside", "dir/out") < 0 ||
	    symlink("../outside/secret", "dir/tosecret") < 0 ||
	    symlink("../outside/new", "dir/dangling") < 0 || mkfifo("dir/fifo", 0666) < 0 ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		exit(1);
	close(fd);
}

static void check_outside(const char *when)
{
	struct stat st;
	int entries = 0;
	char text[64] = "";
	FILE *f = fopen("outside/secret", "r");

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	entries = stat("outside", &st) == 0 && st.st_nlink == 2 && access("outside/x", F_OK) < 0 &&
		  access("outside/y", F_OK) < 0;
	tap_ok(entries && strcmp(text, SECRET) == 0, "%s: outside nothing has changed", when);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 200000;
	struct fuse_entry_out e;
	const struct fuse_export ex[] = {
		{ .host = "dir", .guest = "/rw", .rw = true },
		{ .host = "dir", .guest = "/ro" },
	};

	umask(022);
	scratch_make();
	make_tree();
	client_init(&c, server_with(ex, 2));
	client_lookup(&c, FUSE_ROOT_ID, "rw", &e);
	rw = e.nodeid;
	client_lookup(&c, FUSE_ROOT_ID, "ro", &e);
	ro = e.nodeid;
	test_names();
	test_numbers();
	test_lengths();
	test_truncated();
	test_symlinks();
	test_special();
	test_hard_link();
	test_swap();
	c.srv->no_openat2 = true;	/* as on a host before 5.6 */
	test_swap();
	c.srv->no_openat2 = false;
	test_replaced();
	test_ring();
	test_few_descriptors();
	test_threads();
	check_outside("before the fuzz");
	test_fuzz(count);
	check_outside("after the fuzz");
	fuse_server_free(c.srv);
	client_free(&c);
	return tap_done();
}
