/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/<pid>/fd and fdinfo: a link and a file for each open descriptor. */
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include "core/print.h"
#include "core/string.h"
#include "fs/kfs.h"
#include "fs/procfs.h"

/* Referenced, or NULL: closed meanwhile. */
static struct file *fd_shown(const struct pseudo *self, bool *cloexec)
{
	struct process *proc = proc_process(self);

	if (!proc || !proc->files)
		return NULL;
	if (cloexec)
		*cloexec = fd_cloexec(proc->files, self->fd);
	return fd_file_in(proc->files, self->fd);
}

static int fd_nameless_text(const struct file *file, char *buf, size_t size)
{
	const char *device = chrdev_name(file->inode->rdev), *label = file->label;
	unsigned long long ino = file->inode->ino;

	switch (file->inode->mode & S_IFMT) {
	case S_IFIFO:
		return snprintf(buf, size, "pipe:[%llu]", ino);
	case S_IFSOCK:
		return snprintf(buf, size, "socket:[%llu]", ino);
	case S_IFCHR:
		if (device)
			return snprintf(buf, size, "%s", device);
		/* fallthrough */
	default:
		return snprintf(buf, size, "anon_inode:%s", label ? label : "[unknown]");
	}
}

static int fd_readlink(const struct pseudo *self, char *buf, size_t size)
{
	struct file *file = fd_shown(self, NULL);
	char *path;
	int n;

	if (!file)
		return -ENOENT;
	if (file->dentry) {
		path = dentry_path(file->dentry, buf, size);
		n = path ? (int)strlen(path) : -ENAMETOOLONG;
		if (path)
			memmove(buf, path, (size_t)n);
	} else {
		n = MIN(fd_nameless_text(file, buf, size), (int)size);
	}
	file_put(file);
	return n;
}

static int fd_follow(const struct pseudo *self, struct dentry **target)
{
	struct file *file = fd_shown(self, NULL);
	char label[48];

	if (!file)
		return -ENOENT;
	if (file->dentry) {
		dentry_get(file->dentry);
		*target = file->dentry;
	} else {
		fd_nameless_text(file, label, sizeof(label));
		*target = dentry_new_anon(file->inode, label);
	}
	file_put(file);
	return *target ? 0 : -ENOMEM;
}

static int fdinfo_show(struct seq *seq, const struct pseudo *self)
{
	bool cloexec = false;
	struct file *file = fd_shown(self, &cloexec);

	if (!file)
		return -ENOENT;
	seq_printf(seq, "pos:\t%llu\nflags:\t0%o\nmnt_id:\t%d\nino:\t%llu\n",
		   (unsigned long long)file->pos, file->flags | (cloexec ? O_CLOEXEC : 0),
		   file->dentry ? mount_id(file->dentry->mount) : 0,
		   (unsigned long long)file->inode->ino);
	file_put(file);
	return 0;
}

/* The permission of the link shows how the descriptor was opened. */
static const struct pseudo_node fd_links[3] = {
	[O_RDONLY] = { .mode = S_IFLNK | 0500, .readlink = fd_readlink, .follow = fd_follow },
	[O_WRONLY] = { .mode = S_IFLNK | 0300, .readlink = fd_readlink, .follow = fd_follow },
	[O_RDWR] = { .mode = S_IFLNK | 0700, .readlink = fd_readlink, .follow = fd_follow },
};
static const struct pseudo_node fdinfo_file = { .mode = S_IFREG | 0444, .show = fdinfo_show };

static int fd_find(const struct pseudo *dir, const char *name, struct pseudo *child, bool info)
{
	struct file *file;

	if (!proc_parse_number(name, &child->fd))
		return -ENOENT;
	file = fd_shown(child, NULL);
	if (!file)
		return -ENOENT;
	child->node = info ? &fdinfo_file : &fd_links[(file->flags & O_ACCMODE) % 3];
	file_put(file);
	return 0;
}

static bool fd_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child, bool info)
{
	struct process *proc = proc_process(dir);
	unsigned count = proc->files ? fd_count(proc->files) : 0;

	for (; *key < count; ++*key) {
		snprintf(name, PSEUDO_NAME_MAX, "%u", (unsigned)*key);
		if (!fd_find(dir, name, child, info))
			return true;
	}
	return false;
}

int proc_fd_find(const struct pseudo *dir, const char *name, struct pseudo *child)
{
	return fd_find(dir, name, child, false);
}

bool proc_fd_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child)
{
	return fd_next(dir, key, name, child, false);
}

int proc_fdinfo_find(const struct pseudo *dir, const char *name, struct pseudo *child)
{
	return fd_find(dir, name, child, true);
}

bool proc_fdinfo_next(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child)
{
	return fd_next(dir, key, name, child, true);
}
