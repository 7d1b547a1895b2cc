/* SPDX-License-Identifier: Apache-2.0 */
/* /proc and /sys texts against proc(5) and the host's own files; directories, links, writes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/fcntl.h>
#include "kfs_fake.h"
#include "tap.h"
#include "fs/kfs.h"
#include "fs/procfs.h"
#include "fs/syscalls_kfs.h"
#include "mm/kmalloc.h"
#include "mm/vm.h"
#include "proc/misc.h"

static char text[65536], host[65536];
static struct super *proc_sb, *sys_sb;

/* Walks from the root of sb by lookup, as the VFS would. Referenced. */
static struct inode *walk(struct super *sb, const char *path)
{
	struct inode *inode = sb->root;
	char *copy = strdup(path), *save = NULL;

	inode_get(inode);
	for (char *name = strtok_r(copy, "/", &save); name && inode; name = strtok_r(NULL, "/", &save)) {
		struct dentry d = { .name = name, .len = (u32)strlen(name) };
		int err = inode->ops->lookup ? inode->ops->lookup(inode, &d) : -ENOTDIR;

		inode_put(inode);
		inode = err ? NULL : d.inode;
	}
	free(copy);
	return inode;
}

static long slurp(struct super *sb, const char *path)
{
	struct inode *inode = walk(sb, path);
	struct file *file;
	u64 pos = 0;
	long n;

	text[0] = 0;
	if (!inode)
		return -ENOENT;
	fake_open(inode, O_RDONLY, &file);
	n = file->ops->read(file, text, 50, &pos);	/* in pieces */
	while (n > 0 && (n = file->ops->read(file, text + pos, 1000, &pos)) > 0)
		;
	text[pos] = 0;
	file_put(file);
	inode_put(inode);
	return n < 0 ? n : (long)pos;
}

static long put(const char *path, const char *value)
{
	struct inode *inode = walk(proc_sb, path);
	struct file *file;
	u64 pos = 0;
	long n;

	fake_open(inode, O_WRONLY, &file);
	n = file->ops->write(file, value, strlen(value), &pos);
	file_put(file);
	inode_put(inode);
	return n;
}

static const char *link_text(const char *path)
{
	struct inode *inode = walk(proc_sb, path);
	int n;

	if (!inode)
		return "(none)";
	n = inode->ops->readlink(inode, text, sizeof(text) - 1);
	text[MAX(n, 0)] = 0;
	inode_put(inode);
	return n < 0 ? "(error)" : text;
}

static void host_file(const char *path)
{
	FILE *f = fopen(path, "r");
	size_t n = f ? fread(host, 1, sizeof(host) - 1, f) : 0;

	host[n] = 0;
	if (f)
		fclose(f);
}

static int fields(const char *s)
{
	int n = 0;

	for (s = strrchr(s, ')') + 1; *s; s++)
		n += *s == ' ';
	return n;
}

/* Every "Name:" of ours must be one of the host's, in the host's order. */
static bool names_ordered(const char *ours, const char *theirs)
{
	char name[64];

	for (const char *line = ours; *line; line = strchr(line, '\n') + 1) {
		size_t n = strcspn(line, ":");
		const char *at;

		snprintf(name, sizeof(name), "\n%.*s:", (int)n, line);
		at = line == ours ? theirs : strstr(theirs, name);
		if (!at) {
			printf("# not the host's: %s\n", name + 1);
			return false;
		}
		theirs = at;
	}
	return true;
}

static struct mm mm;
static char args[] = "prog\0two words\0", env[] = "A=1\0B=2\0";

static void make_process(struct process *proc)
{
	static struct dentry lib = { .inline_name = "" };
	static struct file lib_file;
	static struct super sb = { .dev = 0x801 };
	static struct inode inode = { .ino = 4711, .sb = &sb };
	static struct vma vmas[3] = {
		{ .start = 0x400000, .end = 0x452000, .flags = VM_READ | VM_EXEC, .file = &lib_file,
		  .inode = &inode, .pgoff = 2 },
		{ .start = 0x800000, .end = 0x821000, .flags = VM_READ | VM_WRITE, .name = "[heap]" },
		{ .start = 0x7f7000000000, .end = 0x7f7000001000, .flags = VM_READ | VM_SHARED },
	};

	lib.name = "libx.so";
	lib_file.dentry = &lib;
	lib_file.inode = &inode;
	list_init(&mm.vmas);
	for (int i = 0; i < 3; i++)
		list_add_tail(&mm.vmas, &vmas[i].link);
	mm.arg_start = U(args);
	mm.arg_end = U(args) + sizeof(args) - 1;
	mm.env_start = U(env);
	mm.env_end = U(env) + sizeof(env) - 1;
	mm.auxv[0] = 6;
	mm.auxv[1] = 4096;
	mm.rss_pages = 100;
	mm.total_pages = 116;
	proc->mm = &mm;
	proc->exe = (char *)"/bin/prog";
	rlimits_init(proc, fake_fdt());
}

static void test_pid_files(void)
{
	slurp(proc_sb, "100/stat");
	host_file("/proc/self/stat");
	tap_ok(!strncmp(text, "100 (tester) R 0 100 100 0 -1 ", 30) && fields(text) == fields(host),
	       "stat: as many fields as the host's");
	slurp(proc_sb, "100/status");
	host_file("/proc/self/status");
	tap_ok(names_ordered(text, host) && strstr(text, "\nState:\tR (running)\n") &&
	       strstr(text, "\nVmRSS:\t     400 kB\n"), "status: names and order of the host's");
	tap_ok(slurp(proc_sb, "100/statm") > 0 && !strcmp(text, "116 100 0 82 0 33 0\n"), "statm");
	tap_ok(slurp(proc_sb, "100/cmdline") == 15 && !memcmp(text, args, 15), "cmdline");
	tap_ok(slurp(proc_sb, "100/environ") == 8 && !memcmp(text, env, 8), "environ");
	tap_ok(slurp(proc_sb, "100/auxv") == 32, "auxv ends with AT_NULL");
	tap_ok(!strcmp(link_text("100/exe"), "/bin/prog"), "exe");
	slurp(proc_sb, "100/limits");
	host_file("/proc/self/limits");
	tap_ok(!strncmp(text, host, strcspn(host, "\n") + 1) &&
	       strstr(text, "Max open files            1024                 1048576              files     \n") &&
	       strstr(text, "Max cpu time              unlimited            unlimited            seconds   \n"),
	       "limits: the host's header and columns");
	tap_ok(strlen(strstr(text, "Max nice")) - strlen(strstr(text, "Max realtime p")) ==
	       strlen(strstr(host, "Max nice")) - strlen(strstr(host, "Max realtime p")) &&
	       strstr(host, "Max realtime timeout"), "the width of a line without a unit too");
	tap_ok(slurp(proc_sb, "100/task/100/comm") > 0 && !strcmp(text, "tester\n"), "task/<tid>/comm");
	tap_ok(put("100/comm", "renamed-to-something-long\n") == 26 && slurp(proc_sb, "100/comm") &&
	       !strcmp(text, "renamed-to-some\n"), "comm can be set");
	tap_ok(put("100/oom_score_adj", "-1000\n") == 6, "oom_score_adj takes a value");
	tap_ok(slurp(proc_sb, "999/stat") == -ENOENT && slurp(proc_sb, "0100/stat") == -ENOENT &&
	       slurp(proc_sb, "100/nothing") == -ENOENT, "what is not there");
}

static void test_maps(void)
{
	char *line;
	size_t column;

	slurp(proc_sb, "100/maps");
	tap_ok(!strncmp(text, "00400000-00452000 r-xp 00002000 08:01 4711 ", 43), "maps: a file");
	host_file("/proc/self/maps");
	line = strstr(host, "[heap]") ? strstr(host, "[heap]") : strstr(host, "[stack]");
	for (column = 0; line - column > host && line[-(long)column - 1] != '\n'; column++)
		;
	line = strstr(text, "[heap]");
	tap_ok(line[-(long)column - 1] == '\n', "the name is in the host's column (%zu)", column);
	tap_ok(strstr(text, "\n7f7000000000-7f7000001000 r--s 00000000 00:00 0 \n"), "anonymous");
	tap_ok(slurp(proc_sb, "100/smaps") > 0 && strstr(text, "Size:                328 kB\n"), "smaps");
}

struct names { struct dir_context ctx; char all[4096]; int n, stop_after; u64 last; };

static int take_name(struct dir_context *ctx, const char *name, size_t len, u64 ino, unsigned type,
		     u64 next_pos)
{
	struct names *names = container_of(ctx, struct names, ctx);

	if (names->stop_after && names->n == names->stop_after)
		return 1;
	names->n++;
	names->last = next_pos;
	strncat(names->all, name, len);
	strcat(names->all, " ");
	return 0;
}

/* Reads the directory a few entries at a time, as getdents does. */
static const char *list_dir(const char *path, int batch)
{
	static struct names names;
	struct inode *inode = walk(proc_sb, path);
	struct file *file;

	memset(&names, 0, sizeof(names));
	names.ctx.emit = take_name;
	names.stop_after = batch;
	fake_open(inode, O_RDONLY, &file);
	for (;;) {
		names.n = 0;
		file->ops->iterate(file, &names.ctx);
		if (!names.n)
			break;
		file->pos = names.last;
	}
	file_put(file);
	inode_put(inode);
	return names.all;
}

static void test_fds(void)
{
	int fds[2], ev;
	struct inode *inode;
	struct dentry *dentry = NULL;
	struct file *again = NULL;
	char want[64];
	u64 pos = 0;

	sys_pipe2(U(fds), O_CLOEXEC);
	ev = (int)sys_eventfd2(0, 0);
	tap_ok(!strcmp(list_dir("100/fd", 1), ". .. 0 1 2 "), "fd: one entry at a time");
	snprintf(want, sizeof(want), "pipe:[%llu]", (unsigned long long)fake_file(0)->inode->ino);
	tap_ok(!strcmp(link_text("100/fd/0"), want), "fd/0 is %s", want);
	tap_ok(ev == 2 && !strcmp(link_text("100/fd/2"), "anon_inode:[eventfd]"), "an eventfd");
	inode = walk(proc_sb, "100/fd/1");
	tap_ok((inode->mode & 0777) == 0300, "write-only shows as -wx");
	inode->ops->follow(inode, &dentry);
	tap_ok(dentry && fake_open(dentry->inode, O_WRONLY, &again) == 0 &&
	       again->ops->write(again, "via", 3, &pos) == 3 &&
	       fake_file(0)->ops->read(fake_file(0), text, 9, &pos) == 3,
	       "a pipe can be opened again through its link");
	file_put(again);
	dentry_put(dentry);
	inode_put(inode);
	tap_ok(slurp(proc_sb, "100/fdinfo/0") > 0 && strstr(text, "flags:\t02000000\n"), "fdinfo");
	tap_ok(!strcmp(link_text("100/fd/7"), "(none)"), "a closed one");
}

static void test_root(void)
{
	const char *names;

	fake_process(7, 7, 7, NULL);
	fake_process(30, 7, 7, process_find(7));
	names = strdup(list_dir("", 3));
	tap_ok(strstr(names, "uptime ") && strstr(names, "sys 7 30 100 "), "root: files, then pids");
	free((char *)names);
	tap_ok(!strcmp(link_text("self"), "100") && !strcmp(link_text("thread-self"), "100/task/100"),
	       "self and thread-self");
	tap_ok(slurp(proc_sb, "7/stat") > 0 && strstr(text, ") Z 0"), "no threads: a zombie");
	tap_ok(slurp(proc_sb, "uptime") > 0 && !strncmp(text, "5.00 10.00\n", 11), "uptime of two CPUs");
	slurp(proc_sb, "meminfo");
	tap_ok(strstr(text, "MemTotal:         524288 kB\n") && strstr(text, "MemFree:          400000 kB\n"),
	       "meminfo");
	host_file("/proc/meminfo");
	tap_ok(!strncmp(text, host, 10) && strcspn(text, "\n") == strcspn(host, "\n"),
	       "its lines are as wide as the host's");
	slurp(proc_sb, "stat");
	tap_ok(!strncmp(text, "cpu  ", 5) && strstr(text, "\ncpu1 ") && strstr(text, "\nbtime 1800000000\n"),
	       "stat");
	slurp(proc_sb, "cpuinfo");
	tap_ok(!strncmp(text, "processor\t: 0\n", 14) && strstr(text, "\n\nprocessor\t: 1\n") &&
	       strstr(text, "cpu MHz\t\t: 2100.000\n") && strstr(text, " sse2 "), "cpuinfo");
	tap_ok(slurp(proc_sb, "loadavg") > 0 && slurp(proc_sb, "version") > 0 &&
	       strstr(text, "Linux version 6.1.0-husk"), "loadavg, version");
	slurp(proc_sb, "sys/kernel/random/boot_id");
	strcpy(host, text);
	tap_ok(strlen(text) == 37 && text[14] == '4' && slurp(proc_sb, "sys/kernel/random/boot_id") &&
	       !strcmp(text, host), "boot_id stays");
	slurp(proc_sb, "sys/kernel/random/uuid");
	tap_ok(strcmp(text, host) != 0, "uuid does not");
	tap_ok(put("sys/kernel/hostname", "newname\n") == 8 && !strcmp(uts_names.hostname, "newname"),
	       "hostname can be set");
	tap_ok(put("sys/kernel/osrelease", "x") == -EIO, "osrelease cannot");
	slurp(sys_sb, "devices/system/cpu/online");
	tap_ok(!strcmp(text, "0-1\n"), "/sys/devices/system/cpu/online");
}

static void test_mounts(void)
{
	static struct super root_sb = { .type = "overlay", .dev = 0x20 };
	static struct mount root = { .sb = &root_sb, .source = "root", .target = "/" };
	static struct dentry on = { .mount = &root };
	struct mount proc = {
		.sb = proc_sb, .source = "proc", .target = "/a b", .mountpoint = &on, .flags = 1 | 2,
	};

	list_add_tail(&mount_list, &root.link);
	list_add_tail(&mount_list, &proc.link);
	slurp(proc_sb, "100/mounts");
	tap_ok(!strcmp(text, "root / overlay rw,relatime 0 0\n"
		       "proc /a\\040b proc ro,nosuid,relatime 0 0\n"), "mounts");
	slurp(proc_sb, "100/mountinfo");
	tap_ok(!strcmp(text, "20 1 0:32 / / rw,relatime - overlay root rw\n"
		       "21 20 0:6 / /a\\040b ro,nosuid,relatime - proc proc rw\n"), "mountinfo");
}

static void test_memory(void)
{
	unsigned before = fake_allocs;
	int n;

	for (n = 1; n < 20; n++) {
		fake_kmalloc_fail = n;
		slurp(proc_sb, "100/status");
		if (fake_kmalloc_fail)
			break;
	}
	fake_kmalloc_fail = 0;
	tap_ok(n > 3 && fake_allocs == before, "every failing allocation is survived, nothing leaks");
}

int main(void)
{
	struct super *dev;

	fake_init();
	devfs_mount(&dev);
	tap_ok(procfs_mount(&proc_sb) == 0 && sysfs_mount(&sys_sb) == 0, "mounted");
	make_process(current->proc);
	test_pid_files();
	test_maps();
	test_fds();
	test_root();
	test_mounts();
	test_memory();
	return tap_done();
}
