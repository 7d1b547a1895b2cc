/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's FUSE client, with the dcache and page cache that it works through, against husk's
 * own file server, in one process: what one does on one side is seen on the other. Requests are
 * counted, for each is a VM exit.
 */
#include <asm/statfs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/guest_host.h"
#include "tests/unit/host_files.h"
#include "tests/unit/tap.h"

/* --- guest side helpers --- */

static struct super *ro, *rw;
static struct dentry *ro_root, *rw_root;

static struct dentry *walk_to(struct dentry *at, const char *path)
{
	struct dentry *d;

	dentry_get(at);
	while (*path) {
		size_t len = strcspn(path, "/");

		if (!at->inode || dcache_lookup(at, path, len, path, &d)) {
			dentry_put(at);
			return NULL;
		}
		dentry_put(at);
		at = d;
		path += len + (path[len] == '/');
	}
	return at;
}

static void open_file(struct file *f, struct dentry *d, u32 flags)
{
	memset(f, 0, sizeof(*f));
	f->refs = 1;
	f->dentry = d;
	f->inode = d->inode;
	f->flags = flags;
	f->ops = d->inode->fops;
	if (f->ops->open && f->ops->open(f->inode, f)) {
		printf("Bail out! open of %s failed\n", d->name);
		exit(1);
	}
}

static void close_file(struct file *f)
{
	if (f->ops->release)
		f->ops->release(f);
}

static long write_at(struct file *f, const void *buf, size_t len, u64 pos)
{
	return f->ops->write(f, buf, len, &pos);
}

static long read_at(struct file *f, void *buf, size_t len, u64 pos)
{
	return f->ops->read(f, buf, len, &pos);
}

static struct dentry *make(struct dentry *dir, const char *name, u32 mode)
{
	struct dentry *d = walk_to(dir, name);

	if (!d || d->inode || dir->inode->ops->create(dir->inode, d, mode, 0)) {
		printf("Bail out! cannot make %s\n", name);
		exit(1);
	}
	return d;
}

/* --- read-only --- */

static void test_walk(void)
{
	struct dentry *d, *e;
	struct file f;
	const char *text;
	char buf[100];
	unsigned before;

	before = requests;
	d = walk_to(ro_root, "usr/bin/true");
	tap_ok(d && d->inode && d->inode->size == 800000 && requests == before + 1, "a path of three: one request");
	open_file(&f, d, O_RDONLY);
	tap_ok(read_at(&f, buf, 64, 0) == 64 && !memcmp(buf, big, 64) && requests == before + 1,
	       "its first bytes came along");
	close_file(&f);
	tap_ok(requests == before + 1, "no OPEN, no RELEASE");
	e = walk_to(ro_root, "usr/bin/true");
	tap_ok(e == d && requests == before + 1, "again: from the dcache");
	dentry_put(e);
	dentry_put(d);
	d = walk_to(ro_root, "usr/bin/none/deeper");
	tap_ok(!d, "a missing name ends the path");
	before = requests;
	d = walk_to(ro_root, "usr/bin/none");
	tap_ok(d && !d->inode && requests == before, "and is cached as missing");
	dentry_put(d);
	d = walk_to(ro_root, "bin");
	before = requests;
	tap_ok(d && inode_link_text(d->inode, &text) == 7 && !strcmp(text, "usr/bin") && requests == before,
	       "a symlink's text came along");
	dentry_put(d);
	d = walk_to(ro_root, "long");
	tap_ok(d && inode_link_text(d->inode, &text) == 2999 && text[2998] == 'l', "a long one by READLINK");
	dentry_put(d);
	d = walk_to(ro_root, "usr/bin/true/x");
	tap_ok(!d || !d->inode, "a file is no directory");
	if (d)
		dentry_put(d);
	d = walk_to(ro_root, "usr/bin/small");
	open_file(&f, d, O_RDONLY);
	before = requests;
	tap_ok(read_at(&f, buf, 100, 0) == 10 && !memcmp(buf, "small file", 10) && requests == before,
	       "a small file whole");
	tap_ok(read_at(&f, buf, 100, 10) == 0 && read_at(&f, buf, 100, 5000) == 0, "its end");
	close_file(&f);
	dentry_put(d);
}

static void test_big_read(void)
{
	struct dentry *d = walk_to(ro_root, "big");
	char *buf = malloc(sizeof(big) + 100);
	unsigned before = requests;
	struct file f;

	long n;

	open_file(&f, d, O_RDONLY);
	n = read_at(&f, buf, sizeof(big) + 100, 0);
	tap_ok(n == sizeof(big) && !memcmp(buf, big, sizeof(big)) && requests - before < 10,
	       "3 MiB, in %u requests", requests - before);
	tap_ok(read_at(&f, buf, 100, 12345) == 100 && !memcmp(buf, big + 12345, 100), "from the cache");
	tap_ok(f.ops->llseek(&f, 0, SEEK_END) == sizeof(big) && f.pos == sizeof(big), "SEEK_END");
	tap_ok(f.ops->llseek(&f, 100, SEEK_DATA) == 100, "SEEK_DATA");
	tap_ok(f.ops->llseek(&f, 100, SEEK_HOLE) == sizeof(big), "SEEK_HOLE");
	tap_ok(f.ops->fsync(&f, false) == 0, "fsync of what cannot be written");
	close_file(&f);
	dentry_put(d);
	free(buf);
}

struct listing {
	struct dir_context ctx;
	unsigned count, stop_after;
	char seen[1500];
	u64 pos;
};

static int listing_emit(struct dir_context *ctx, const char *name, size_t len, u64 ino, unsigned type,
			u64 next_pos)
{
	struct listing *l = (struct listing *)ctx;
	int n;

	if (l->stop_after && !--l->stop_after)
		return 1;
	l->count++;
	if (sscanf(name, "file-with-a-longish-name-%4d", &n) == 1)
		l->seen[n]++;
	l->pos = next_pos;
	return 0;
}

static void test_readdir(void)
{
	struct dentry *d = walk_to(ro_root, "many"), *e;
	struct listing l = { .ctx.emit = listing_emit };
	unsigned before = requests;
	struct file f;
	bool all = true, found = true;
	char name[64];

	open_file(&f, d, O_RDONLY | O_DIRECTORY);
	/* As getdents(2) with a small buffer does it. */
	for (unsigned last = 1; last != l.count;) {
		last = l.count;
		l.stop_after = 100;
		if (f.ops->iterate(&f, &l.ctx))
			break;
		f.pos = l.pos;
	}
	for (int i = 0; i < 1500; i++)
		all &= l.seen[i] == 1;
	tap_ok(all && l.count == 1502, "readdir: each name once, in %u requests", requests - before);
	before = requests;
	for (int i = 0; i < 1500; i++) {
		sprintf(name, "file-with-a-longish-name-%04d", i);
		e = walk_to(d, name);
		found &= e && e->inode && e->inode->size == 1;
		if (e)
			dentry_put(e);
	}
	tap_ok(found && requests - before < 300, "then each looked at: %u requests", requests - before);
	tap_ok(f.ops->llseek(&f, 0, SEEK_SET) == 0 && f.pos == 0, "rewind");
	memset(&l, 0, sizeof(l));
	l.ctx.emit = listing_emit;
	f.ops->iterate(&f, &l.ctx);
	tap_ok(l.count == 1502, "and again");
	close_file(&f);
	dentry_put(d);
}

static void test_ro_refuses(void)
{
	struct attr attr = { .valid = ATTR_MODE, .mode = 0600 };
	struct dentry *d = walk_to(ro_root, "big"), *n = walk_to(ro_root, "new");

	tap_ok(ro->root->ops->setattr(d->inode, &attr) == -EROFS, "read-only: setattr");
	tap_ok(ro->root->ops->create(ro->root, n, S_IFREG | 0644, 0) == -EROFS, "read-only: create");
	tap_ok(ro->root->ops->unlink(ro->root, d) == -EROFS, "read-only: unlink");
	dentry_put(d);
	dentry_put(n);
}

/* --- writable --- */

static void test_create_write(void)
{
	struct dentry *d = make(rw_root, "new", S_IFREG | 0400);
	char buf[9000];
	struct file f, g;

	open_file(&f, d, O_RDWR);
	tap_ok(write_at(&f, "hello", 5, 0) == 5 && host_has(host_path("rw/new"), "hello", 5),
	       "created 0400, written, seen on the host at once");
	tap_ok(host_mode(host_path("rw/new")) == 0400, "with its mode");
	tap_ok(read_at(&f, buf, 100, 0) == 5 && !memcmp(buf, "hello", 5), "read back");
	tap_ok(write_at(&f, big, 9000, 3) == 9000 && d->inode->size == 9003, "over pages");
	tap_ok(read_at(&f, buf, 9000, 3) == 9000 && !memcmp(buf, big, 9000), "read back");
	tap_ok(write_at(&f, "XY", 2, 4095) == 2 && read_at(&f, buf, 4, 4094) == 4 && !memcmp(buf + 1, "XY", 2),
	       "cached pages follow a write");
	open_file(&g, d, O_WRONLY | O_APPEND);
	tap_ok(write_at(&g, "end", 3, 0) == 3 && d->inode->size == 9006, "O_APPEND");
	tap_ok(read_at(&f, buf, 10, 9003) == 3 && !memcmp(buf, "end", 3), "read by another descriptor");
	tap_ok(write_at(&f, big, 700000, 0) == 700000 && host_has(host_path("rw/new"), big, 700000),
	       "700000 bytes in one write");
	tap_ok(!f.ops->fsync(&f, true), "fdatasync");
	tap_ok(!d->inode->ops->refresh(d->inode) && d->inode->size == 700000 && d->inode->blocks, "stat");
	close_file(&g);
	close_file(&f);
	dentry_put(d);
}

static void test_truncate(void)
{
	struct dentry *d = walk_to(rw_root, "new");
	struct attr attr = { .valid = ATTR_SIZE, .size = 100 };
	struct file f;
	char buf[5000];
	bool zero = true;

	host_chmod(host_path("rw/new"), 0600);
	open_file(&f, d, O_RDWR);
	read_at(&f, buf, 5000, 0);
	tap_ok(!d->inode->ops->setattr(d->inode, &attr) && d->inode->size == 100 &&
	       host_has(host_path("rw/new"), big, 100), "truncate");
	attr.size = 5000;
	tap_ok(!d->inode->ops->setattr(d->inode, &attr) && read_at(&f, buf, 6000, 0) == 5000, "and longer again");
	for (int i = 100; i < 5000; i++)
		zero &= !buf[i];
	tap_ok(zero && !memcmp(buf, big, 100), "reads as zeros behind the old end");
	tap_ok(!f.ops->fallocate(&f, 0, 0, 20000) && d->inode->size == 20000, "fallocate");
	close_file(&f);
	dentry_put(d);
}

static void test_names(void)
{
	struct dentry *dir = make(rw_root, "dir", S_IFDIR | 0750), *d, *e, *l;
	const struct inode_ops *ops = rw->root->ops;
	struct file f;
	const char *text;
	char buf[10];

	tap_ok(host_exists(host_path("rw/dir")), "mkdir");
	d = make(dir, "a", S_IFREG | 0644);
	e = walk_to(rw_root, "b");
	tap_ok(!ops->rename(dir->inode, d, rw->root, e, 0) && host_exists(host_path("rw/b")) &&
	       !host_exists(host_path("rw/dir/a")), "rename");
	dentry_put(e);
	e = walk_to(rw_root, "b2");
	l = walk_to(dir, "l");
	tap_ok(!ops->link(rw->root, e, d->inode) && e->inode == d->inode && d->inode->nlink == 2, "link: one inode");
	tap_ok(!ops->symlink(dir->inode, l, "../b") && inode_link_text(l->inode, &text) == 4 &&
	       !strcmp(text, "../b") && host_exists(host_path("rw/dir/l")), "symlink");
	tap_ok(ops->rmdir(rw->root, dir) == -ENOTEMPTY, "rmdir of a full directory");
	tap_ok(!ops->unlink(dir->inode, l) && !ops->rmdir(rw->root, dir) && !host_exists(host_path("rw/dir")),
	       "unlink, rmdir");
	tap_ok(!ops->unlink(rw->root, e) && !host_exists(host_path("rw/b2")), "unlink of one of two names");
	dentry_put(l);
	dentry_put(e);
	dentry_put(d);
	d = make(rw_root, "gone", S_IFREG | 0644);
	open_file(&f, d, O_RDWR);
	tap_ok(write_at(&f, "still", 5, 0) == 5 && !ops->unlink(rw->root, d) && !host_exists(host_path("rw/gone")),
	       "unlinked while open");
	tap_ok(write_at(&f, " here", 5, 5) == 5 && read_at(&f, buf, 10, 0) == 10 && !memcmp(buf, "still here", 10),
	       "and still written and read");
	tap_ok(!d->inode->ops->refresh(d->inode) && d->inode->nlink == 0 && d->inode->size == 10, "fstat of it");
	close_file(&f);
	dentry_put(d);
	dentry_put(dir);
}

static void test_host_changes(void)
{
	struct dentry *d, *e;
	struct file f;
	char buf[20];

	host_write(host_path("rw/shared"), "before", 6);
	d = walk_to(rw_root, "shared");
	open_file(&f, d, O_RDONLY);
	tap_ok(read_at(&f, buf, 20, 0) == 6 && !memcmp(buf, "before", 6), "the host's file");
	host_write(host_path("rw/shared"), "after it", 8);
	later_ns += 3 * NSEC_PER_SEC;
	tap_ok(read_at(&f, buf, 20, 0) == 8 && !memcmp(buf, "after it", 8), "changed on the host: seen after a while");
	close_file(&f);
	rename(host_path("rw/shared"), host_path("rw/moved"));
	later_ns += 3 * NSEC_PER_SEC;
	e = walk_to(rw_root, "shared");
	tap_ok(e && !e->inode, "a name that the host took away");
	dentry_put(e);
	dentry_put(d);
}

static void test_xattr(void)
{
	struct dentry *d = walk_to(rw_root, "moved");
	const struct inode_ops *ops = d->inode->ops;
	unsigned before = requests;
	char buf[100];
	int err;

	tap_ok(ops->getxattr(d->inode, "security.selinux", buf, 100) == -ENODATA &&
	       ops->setxattr(d->inode, "trusted.x", "y", 1, 0) == -EOPNOTSUPP && requests == before,
	       "xattrs of other namespaces cost nothing");
	err = ops->setxattr(d->inode, "user.husk", "value", 5, 0);
	if (err == -EOPNOTSUPP) {
		tap_ok(true, "# SKIP user xattrs: the host's /tmp has none");
		dentry_put(d);
		return;
	}
	tap_ok(!err && ops->getxattr(d->inode, "user.husk", buf, 100) == 5 && !memcmp(buf, "value", 5), "user xattr");
	tap_ok(ops->getxattr(d->inode, "user.husk", NULL, 0) == 5 && ops->getxattr(d->inode, "user.husk", buf, 2) == -ERANGE,
	       "its length; a small buffer");
	tap_ok(ops->listxattr(d->inode, buf, 100) == 10 && !strcmp(buf, "user.husk"), "list");
	tap_ok(!ops->removexattr(d->inode, "user.husk") && ops->getxattr(d->inode, "user.husk", buf, 100) == -ENODATA,
	       "remove");
	dentry_put(d);
}

static void test_writeback(void)
{
	struct dentry *d = make(rw_root, "mapped", S_IFREG | 0644);
	struct page *page;
	struct file f;
	bool right;

	open_file(&f, d, O_RDWR);
	write_at(&f, big, 10000, 0);
	right = true;
	for (u64 i = 0; i < 3; i++) {
		right &= !pagecache_get(d->inode, i, &page);
		memset(page_addr(page), 'm', 4096);
		pagecache_dirty(d->inode, i);
		page_put(page);
	}
	memset(big, 'm', 10000);
	tap_ok(right && !f.ops->fsync(&f, false) && host_has(host_path("rw/mapped"), big, 10000),
	       "pages of a mapping are written back, up to the end of the file");
	close_file(&f);
	dentry_put(d);
}

static void test_forget(void)
{
	unsigned before = forgets_seen;

	dcache_prune(ro_root);
	dcache_prune(rw_root);
	before = forgets_seen - before;
	tap_ok(before > 20 && before < 30, "pruning the dcache forgets nodes, in %u batches", before);
}

static void test_mounts(void)
{
	struct super *sb;
	struct statfs st = { 0 };

	tap_ok(fusefs_mount("/ro/none", true, &sb) == -ENOENT, "mount of a source that is not there");
	tap_ok(fusefs_mount("/ro/big/x", true, &sb) == -ENOTDIR, "mount through a file");
	tap_ok(fusefs_mount("/", true, &sb) == 0 && S_ISDIR(sb->root->mode), "mount of the whole tree");
	tap_ok(sb->root->ops->statfs(sb->root, &st) == 0 && st.f_type == 0x65735546 && st.f_bsize, "statfs");
}

int main(void)
{
	host_tree();
	host_server_start(host_path("ro"), host_path("rw"));
	if (fusefs_mount("/ro", true, &ro) || fusefs_mount("/rw", false, &rw)) {
		printf("Bail out! cannot mount\n");
		return 1;
	}
	ro_root = dentry_new_root(ro->root, NULL);
	rw_root = dentry_new_root(rw->root, NULL);
	test_walk();
	test_big_read();
	test_readdir();
	test_ro_refuses();
	test_create_write();
	test_truncate();
	test_names();
	test_host_changes();
	test_xattr();
	test_writeback();
	test_forget();
	test_mounts();
	host_tree_remove();
	return tap_done();
}
