/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest sees of the host: the default view, the current directory, shares, --root. */
#include "tests/unit/fuse_client.h"
#include "vmm/view.h"
#include "vmm/view_cwd.h"

static struct client c;
static char cwd[128], passwd_path[160];

static long view_open(struct view *view, const struct config *cfg, const char *dir)
{
	struct view_env env = {
		.cwd = (char *)(uintptr_t)dir, .home = NULL, .passwd = passwd_path, .uid = 1000
	};
	int err = view_build(view, cfg, &env);

	if (err == 0)
		client_init(&c, view->server);
	return err;
}

static void view_close(struct view *view)
{
	client_free(&c);
	view_free(view);
}

static bool exists(const char *path)
{
	struct fuse_entry_out e;

	return client_path(&c, path, &e) == 0;
}

static bool reads(const char *path, const char *want)
{
	struct fuse_entry_out e;

	return client_path(&c, path, &e) == 0 &&
	       client_read(&c, e.nodeid, 0, 0, 100) == (long)strlen(want) &&
	       memcmp(c.out + 16, want, strlen(want)) == 0;
}

static bool mount_is(const struct view *v, size_t i, const char *path, bool rw)
{
	return i < v->nmounts && strcmp(v->mounts[i].source, path) == 0 &&
	       strcmp(v->mounts[i].target, path) == 0 && v->mounts[i].rw == rw &&
	       v->mounts[i].overlay == !rw;
}

/* Calls fn for each entry of a directory; entries below 64 KiB of listing only. */
static void each_entry(const char *path, void (*fn)(const char *name, const struct fuse_attr *a))
{
	struct fuse_read_in in = { .size = 65536 };
	struct fuse_entry_out dir, e;
	char *copy = malloc(65536);
	long n, at;

	client_path(&c, path, &dir);
	for (;;) {
		req_start(&c, FUSE_READDIRPLUS, dir.nodeid);
		req_add(&c, &in, sizeof(in));
		c.out_size = in.size;
		n = req_send(&c);
		if (n <= 0)
			break;
		memcpy(copy, c.out + 16, (size_t)n);
		for (at = 0; at < n;) {
			struct fuse_dirent d;
			char name[256];

			memcpy(&e, copy + at, sizeof(e));
			memcpy(&d, copy + at + sizeof(e), FUSE_NAME_OFFSET);
			memcpy(name, copy + at + sizeof(e) + FUSE_NAME_OFFSET, d.namelen);
			name[d.namelen] = 0;
			at += (long)(sizeof(e) + FUSE_DIRENT_SIZE(&d));
			in.offset = d.off;
			if (e.nodeid)
				fn(name, &e.attr);
		}
	}
	free(copy);
}

static unsigned entries, private_entries, special_entries, wanted_entries;
static const char *wanted;

static void count_entry(const char *name, const struct fuse_attr *a)
{
	entries++;
	if (!S_ISLNK(a->mode) && !(a->mode & S_IROTH))
		private_entries++;
	if (!S_ISREG(a->mode) && !S_ISDIR(a->mode) && !S_ISLNK(a->mode))
		special_entries++;
	wanted_entries += wanted && strcmp(name, wanted) == 0;
}

static void count(const char *path, const char *name)
{
	entries = private_entries = special_entries = wanted_entries = 0;
	wanted = name;
	each_entry(path, count_entry);
}

static void test_default(void)
{
	struct config cfg = { .quiet = true };
	struct fuse_entry_out e;
	struct stat st;
	struct view v;

	tap_ok(view_open(&v, &cfg, cwd) == 0, "the default view");
	tap_ok(mount_is(&v, 0, "/", false), "the root is the first mount, an overlay");
	tap_ok(v.nmounts == 2 && mount_is(&v, 1, cwd, false),
	       "a current directory beneath /tmp has its own, read-only");
	tap_ok(strcmp(v.workdir, cwd) == 0, "the program starts in it");
	tap_ok(exists("etc/passwd") && exists("usr/bin"), "system files are there");
	tap_ok(!exists("etc/shadow") && !exists("etc/gshadow") && !exists("etc/sudoers"),
	       "/etc/shadow is not");
	tap_ok(!exists("root") && !exists("home") && !exists("var") && !exists("proc") &&
		   !exists("dev") && !exists("run"),
	       "/root, /home, /var, /proc, /dev, /run are not");
	count("etc", "shadow");
	tap_ok(entries > 10 && private_entries == 0 && special_entries == 0 && wanted_entries == 0,
	       "/etc lists %u entries, none of them private", entries);
	tap_ok(lstat("/bin", &st) == 0 && client_path(&c, "bin", &e) == 0 &&
	       (e.attr.mode & S_IFMT) == (st.st_mode & S_IFMT), "/bin is what it is on the host");
	tap_ok(reads(cwd, "") == false && exists(cwd), "the current directory is a directory");
	count(cwd, "mine");
	tap_ok(wanted_entries == 1, "its files are seen, also private ones");
	tap_ok(client_path(&c, "tmp", &e) == 0 && (e.attr.mode & 07777) == 0755, "/tmp is made up");
	count("tmp", NULL);
	tap_ok(entries == 1, "and has nothing else of the host's");
	tap_ok(client_path(&c, cwd, &e) == 0 &&
		   client_create(&c, e.nodeid, "x", O_RDWR, 0600, &e, &(uint64_t) { 0 }) == -EROFS,
	       "nothing is written to it");
	view_close(&v);
	cfg.workdir = "/usr";
	tap_ok(view_open(&v, &cfg, cwd) == 0 && strcmp(v.workdir, "/usr") == 0,
	       "a given workdir is kept");
	view_close(&v);
}

static void test_cwd_rules(void)
{
	static const char *const never[] = {
		"/",
		"/home",
		"/root",
		"/etc",
		"/etc/ssl/private",
		"/usr",
		"/usr/local",
		"/var",
		"/tmp",
		"/proc",
		"/proc/1",
		"/sys/kernel",
		"/dev/shm",
		"/run",
		"/bin",
		"/lib64",
		"/home/ann",
		"/srv/people",
		"/srv/people/bob",
		"/data/users",
		"/home/ann/.ssh",
		"/opt",
		"/home/ann/p/.gnupg/x",
		"/home/env",
	};
	static const char *const shown[] = {
		"/home/ann/proj", "/root/proj",	     "/srv/people/bob/x/y", "/tmp/build",
		"/var/www/site",  "/data/other",     "/home/annex",	    "/run/user/1000/w",
		"/work",	  "/var/lib/daemon",
	};
	struct view_env env = { .home = "/home/env", .passwd = passwd_path, .uid = 1000 };

	for (unsigned i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		env.cwd = (char *)(uintptr_t)never[i];
		tap_ok(!cwd_may_be_shown(&env), "%s is not shown", never[i]);
	}
	for (unsigned i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		env.cwd = (char *)(uintptr_t)shown[i];
		tap_ok(cwd_may_be_shown(&env), "%s is shown", shown[i]);
	}
	env.cwd = cwd;
	env.home = cwd;
	tap_ok(!cwd_may_be_shown(&env), "$HOME is not shown");
	env.home = "/tmp/husk-test-link";
	unlink(env.home);
	tap_ok(symlink(cwd, env.home) == 0 && !cwd_may_be_shown(&env),
	       "not by another name either");
	unlink(env.home);
}

static void test_cwd_hidden(void)
{
	struct config cfg = { .quiet = true };
	struct view v;

	view_open(&v, &cfg, "/home/ann");
	tap_ok(strcmp(v.workdir, "/") == 0 && v.nmounts == 1 && !exists("home"),
	       "a home directory is not shown; start in /");
	view_close(&v);
	view_open(&v, &cfg, "/usr/bin");
	tap_ok(strcmp(v.workdir, "/usr/bin") == 0 && v.nmounts == 1,
	       "a public system directory is there anyway");
	view_close(&v);
	tap_ok(view_open(&v, &cfg, NULL) == 0 && strcmp(v.workdir, "/") == 0,
	       "no current directory");
	view_close(&v);
}

static long build_share(struct view *v, const char *host, const char *guest, bool rw)
{
	struct share s = { (char *)(uintptr_t)host, (char *)(uintptr_t)guest, rw };
	struct config cfg = { .quiet = true, .shares = &s, .nshares = 1 };

	return view_open(v, &cfg, "/");
}

static void test_share_errors(void)
{
	struct view v;

	tap_ok(build_share(&v, "none", "/x", false) == -ENOENT, "a share that does not exist");
	tap_ok(build_share(&v, "fifo", "/x", false) == -EINVAL, "a share that is a FIFO");
	tap_ok(build_share(&v, "/proc", "/x", false) == -EXDEV, "a share of /proc");
	tap_ok(build_share(&v, "share", "x", false) == -EINVAL &&
		   build_share(&v, "share", "/a/../b", false) == -EINVAL &&
		   build_share(&v, "share", "", false) == -EINVAL,
	       "a bad path in the guest");
	tap_ok(build_share(&v, "share", "/", false) == -EINVAL, "a share at /");
	tap_ok(build_share(&v, "share", "/etc/passwd/x", false) == -ENOTDIR,
	       "a share beneath a file");
}

static void test_shares(void)
{
	struct share shares[] = {
		{ "share", "/data//in/", false },     { "share", "/w", true },
		{ "share/f", "/w/sub/inner", false }, { "share/f", "/etc/hostname", false },
		{ "share/f", "/one/file", true },     { "share", "/tmp/s", false },
		{ "share", "/usr/newdir", false },    { cwd, cwd, true },
	};
	struct config cfg = { .quiet = true, .shares = shares, .nshares = 8 };
	struct fuse_entry_out e, d;
	struct view v;
	uint64_t fh;

	tap_ok(view_open(&v, &cfg, cwd) == 0, "eight shares");
	tap_ok(v.nmounts == 5 && mount_is(&v, 1, "/one/file", true) && mount_is(&v, 2, cwd, true) &&
	       mount_is(&v, 3, "/tmp/s", false) && mount_is(&v, 4, "/w", true),
	       "rw shares and those beneath the guest's own directories are mounts");
	tap_ok(strcmp(v.workdir, cwd) == 0,
	       "a share of the current directory is where the program starts");
	tap_ok(reads("data/in/f", "shared") && reads("w/f", "shared") &&
		   reads("tmp/s/f", "shared") && reads("usr/newdir/f", "shared"),
	       "their files");
	tap_ok(reads("etc/hostname", "shared") && exists("etc/passwd"),
	       "a single file in a directory of the system's");
	count("etc", "hostname");
	tap_ok(wanted_entries == 1, "is listed once");
	count("usr", "newdir");
	tap_ok(wanted_entries == 1 && entries > 2, "a made-up directory is listed with the host's");
	tap_ok(reads("w/sub/inner", "shared"), "a share inside a share");
	client_path(&c, "w/sub", &d);
	tap_ok(client_call(&c, FUSE_UNLINK, d.nodeid, NULL, 0, "inner", NULL) == -EBUSY &&
	       client_create(&c, d.nodeid, "inner", O_RDWR | O_EXCL, 0600, &e, &fh) == -EEXIST &&
	       client_create(&c, d.nodeid, "inner", O_RDWR, 0600, &e, &fh) == -EROFS,
	       "and is not taken away or written");
	client_path(&c, "w", &d);
	tap_ok(client_create(&c, d.nodeid, "made", O_RDWR, 0640, &e, &fh) == 0 &&
		   access("share/made", F_OK) == 0,
	       "a rw share is written");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	client_path(&c, "data/in", &d);
	tap_ok(client_create(&c, d.nodeid, "made2", O_RDWR, 0640, &e, &fh) == -EROFS,
	       "a read-only one is not");
	client_path(&c, "one/file", &e);
	tap_ok(client_open(&c, FUSE_OPEN, e.nodeid, O_RDWR | O_TRUNC, &fh) == 0 &&
		   client_write(&c, e.nodeid, fh, 0, "SHARED", 6) == 6 && reads("w/f", "SHARED"),
	       "a single file rw");
	client_release(&c, FUSE_RELEASE, e.nodeid, fh);
	view_close(&v);
	shares[1].guest = "/data/in";
	tap_ok(view_open(&v, &cfg, cwd) == -EINVAL, "two shares at one path");
}

static void test_root(void)
{
	struct config cfg = { .quiet = true, .root = "tree" };
	struct view v;

	tap_ok(view_open(&v, &cfg, cwd) == 0 && v.nmounts == 1 && mount_is(&v, 0, "/", false) &&
	       strcmp(v.workdir, "/") == 0, "--root");
	tap_ok(reads("etc/shadow", "of the tree") && !exists("usr"),
	       "is the whole tree and nothing else");
	view_close(&v);
	cfg.root = "none";
	tap_ok(view_open(&v, &cfg, cwd) == -ENOENT, "--root that does not exist");
	cfg.root = "share/f";
	tap_ok(view_open(&v, &cfg, cwd) < 0, "--root that is a file");
	cfg.root = "/";
	tap_ok(view_open(&v, &cfg, cwd) == 0 && strcmp(v.workdir, cwd) == 0 &&
		   exists("etc/passwd") && exists(cwd),
	       "--root /");
	tap_ok(!exists("proc") && !exists("sys") && !exists("dev/null"),
	       "without /proc, /sys and devices");
	count("", "proc");
	tap_ok(wanted_entries == 0 && special_entries == 0, "which are not listed");
	view_close(&v);
}

int main(void)
{
	scratch_make();
	snprintf(cwd, sizeof(cwd), "%s/proj", scratch);
	snprintf(passwd_path, sizeof(passwd_path), "%s/passwd", scratch);
	file_put("passwd", "root:x:0:0::/root:/bin/sh\nwww:x:33:33::/var/www/site:/bin/sh\n"
		 "ann:x:1000:1000:Ann:/home/ann:/bin/sh\nbob:x:1001:1001::/srv/people/bob:/bin/sh\n"
		 "broken\n::::\nnobody:x:65534:65534::/nonexistent:/bin/sh\n"
		 "eve:x:1002:1002::/data/users/eve\n", 0644);
	dir_put("proj", 0700);
	file_put("proj/mine", "mine", 0600);
	dir_put("share", 0755);
	file_put("share/f", "shared", 0644);
	dir_put("share/sub", 0755);
	dir_put("tree", 0755);
	dir_put("tree/etc", 0755);
	file_put("tree/etc/shadow", "of the tree", 0600);
	mkfifo("fifo", 0600);
	test_default();
	test_cwd_rules();
	test_cwd_hidden();
	test_share_errors();
	test_shares();
	test_root();
	return tap_done();
}
