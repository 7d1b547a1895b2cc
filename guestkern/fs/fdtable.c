/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptor tables: an array of files, a bitmap of what is open and one of close-on-exec. The
 * lowest free descriptor is found from a hint below which all are taken, a word at a time.
 */
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/close_range.h>
#include <asm/resource.h>

#define FIRST_FDS	64u
#define MAX_FDS		(1u << 20)
#define WORD_BITS	64u

struct files {
	unsigned refs;
	u32 size;		/* a multiple of WORD_BITS */
	u32 lowest;		/* all descriptors below are open */
	struct file **file;
	u64 *open, *cloexec;
};

static bool bit_test(const u64 *map, u32 bit)
{
	return map[bit / WORD_BITS] >> (bit % WORD_BITS) & 1;
}

static void bit_set(u64 *map, u32 bit, bool on)
{
	u64 mask = 1ull << (bit % WORD_BITS);

	map[bit / WORD_BITS] = on ? map[bit / WORD_BITS] | mask : map[bit / WORD_BITS] & ~mask;
}

/* One allocation: the array, then both bitmaps. */
static int files_resize(struct files *f, u32 size)
{
	size_t words = size / WORD_BITS, old_words = f->size / WORD_BITS;
	struct file **file = kzalloc(size * sizeof(*file) + 2 * words * sizeof(u64));

	if (!file)
		return -ENOMEM;
	if (f->file) {
		memcpy(file, f->file, f->size * sizeof(*file));
		memcpy(file + size, f->open, old_words * sizeof(u64));
		memcpy((u64 *)(file + size) + words, f->cloexec, old_words * sizeof(u64));
		kfree(f->file);
	}
	f->file = file;
	f->open = (u64 *)(file + size);
	f->cloexec = f->open + words;
	f->size = size;
	return 0;
}

struct files *files_new(void)
{
	struct files *f = kzalloc(sizeof(*f));

	if (!f)
		return NULL;
	f->refs = 1;
	if (files_resize(f, FIRST_FDS)) {
		kfree(f);
		return NULL;
	}
	return f;
}

unsigned fd_count(struct files *f)
{
	for (u32 w = f->size / WORD_BITS; w--;) {
		if (f->open[w])
			return w * WORD_BITS + WORD_BITS - (u32)__builtin_clzll(f->open[w]);
	}
	return 0;
}

struct files *files_fork(struct files *old)
{
	struct files *f = kzalloc(sizeof(*f));
	u32 n = fd_count(old), size = ALIGN_UP(MAX(n, FIRST_FDS), WORD_BITS);

	if (!f)
		return NULL;
	f->refs = 1;
	if (files_resize(f, size)) {
		kfree(f);
		return NULL;
	}
	memcpy(f->file, old->file, n * sizeof(*f->file));
	memcpy(f->open, old->open, size / WORD_BITS * sizeof(u64));
	memcpy(f->cloexec, old->cloexec, size / WORD_BITS * sizeof(u64));
	f->lowest = old->lowest;
	for (u32 i = 0; i < n; i++) {
		if (f->file[i])
			file_get(f->file[i]);
	}
	return f;
}

void files_get(struct files *f)
{
	f->refs++;
}

/* Take a file out of its slot; the caller closes it. NULL: not open. */
static struct file *files_take(struct files *f, u32 fd)
{
	struct file *file = fd < f->size ? f->file[fd] : NULL;

	if (!file)
		return NULL;
	f->file[fd] = NULL;
	bit_set(f->open, fd, false);
	bit_set(f->cloexec, fd, false);
	f->lowest = MIN(f->lowest, fd);
	return file;
}

/* What each close(2) does, beside giving up the reference. */
static void files_finish(struct files *f, struct file *file)
{
	if (!(file->flags & O_PATH)) {
		if (file->ops && file->ops->flush)
			file->ops->flush(file);
		locks_release_posix(file_attr_inode(file), f);
	}
	file_put(file);
}

void files_put(struct files *f)
{
	if (--f->refs)
		return;
	for (u32 i = 0, n = fd_count(f); i < n; i++) {
		struct file *file = files_take(f, i);

		if (file)
			files_finish(f, file);
	}
	kfree(f->file);
	kfree(f);
}

void files_close_on_exec(struct files *f)
{
	for (u32 w = 0; w < f->size / WORD_BITS; w++) {
		while (f->cloexec[w]) {
			u32 fd = w * WORD_BITS + (u32)__builtin_ctzll(f->cloexec[w]);
			struct file *file = files_take(f, fd);

			bit_set(f->cloexec, fd, false);
			if (file)
				files_finish(f, file);
		}
	}
}

struct file *fd_file_in(struct files *f, int fd)
{
	struct file *file = (u32)fd < f->size ? f->file[fd] : NULL;

	if (file)
		file->refs++;
	return file;
}

struct file *fd_file(int fd)
{
	return fd_file_in(current->proc->files, fd);
}

bool fd_cloexec(struct files *f, int fd)
{
	return (u32)fd < f->size && bit_test(f->cloexec, (u32)fd);
}

void fd_set_cloexec(int fd, bool on)
{
	bit_set(current->proc->files->cloexec, (u32)fd, on);
}

static u32 fd_limit(void)
{
	return (u32)MIN(current->proc->rlim[RLIMIT_NOFILE].cur, (u64)MAX_FDS);
}

static u32 files_lowest_free(const struct files *f, u32 from)
{
	u32 words = f->size / WORD_BITS;
	u64 taken;

	from = MAX(from, f->lowest);
	for (u32 w = from / WORD_BITS; w < words; w++) {
		taken = f->open[w];
		if (w == from / WORD_BITS)
			taken |= (1ull << (from % WORD_BITS)) - 1;
		if (~taken)
			return w * WORD_BITS + (u32)__builtin_ctzll(~taken);
	}
	return MAX(from, f->size);
}

static int files_make_room(struct files *f, u32 fd)
{
	u32 size = f->size;

	while (size <= fd)
		size *= 2;
	return size == f->size ? 0 : files_resize(f, size);
}

static void files_put_at(struct files *f, u32 fd, struct file *file, bool cloexec)
{
	f->file[fd] = file;
	bit_set(f->open, fd, true);
	bit_set(f->cloexec, fd, cloexec);
}

/* Lowest free descriptor at or above `from`. */
int fd_install_from(struct file *file, u32 from, bool cloexec)
{
	struct files *f = current->proc->files;
	u32 fd = files_lowest_free(f, from);
	int err;

	if (fd >= fd_limit())
		return -EMFILE;
	err = files_make_room(f, fd);
	if (err)
		return err;
	files_put_at(f, fd, file, cloexec);
	if (from <= f->lowest)
		f->lowest = fd + 1;
	return (int)fd;
}

int fd_install(struct file *file, unsigned cloexec)
{
	return fd_install_from(file, 0, cloexec != 0);
}

int fd_install_at(struct files *f, int fd, struct file *file)
{
	struct file *old;
	int err;

	if (fd < 0 || (u32)fd >= MAX_FDS)
		return -EBADF;
	err = files_make_room(f, (u32)fd);
	if (err)
		return err;
	old = files_take(f, (u32)fd);
	files_put_at(f, (u32)fd, file, false);
	if (old)
		files_finish(f, old);
	return fd;
}

int fd_close(int fd)
{
	struct files *f = current->proc->files;
	struct file *file = files_take(f, (u32)fd);

	if (!file)
		return -EBADF;
	files_finish(f, file);
	return 0;
}

long sys_close(int fd)
{
	return fd_close(fd);
}

long sys_close_range(u32 first, u32 last, u32 flags)
{
	struct files *f = current->proc->files;

	if ((flags & ~(CLOSE_RANGE_UNSHARE | CLOSE_RANGE_CLOEXEC)) || first > last)
		return -EINVAL;
	if ((flags & CLOSE_RANGE_UNSHARE) && f->refs > 1) {
		struct files *copy = files_fork(f);

		if (!copy)
			return -ENOMEM;
		current->proc->files = copy;
		f->refs--;
		f = copy;
	}
	for (u32 fd = first, n = fd_count(f); fd < n && fd <= last; fd++) {
		if (!f->file[fd])
			continue;
		if (flags & CLOSE_RANGE_CLOEXEC)
			bit_set(f->cloexec, fd, true);
		else
			fd_close((int)fd);
	}
	return 0;
}

long sys_dup(int fd)
{
	struct file *file = fd_file(fd);
	int r;

	if (!file)
		return -EBADF;
	r = fd_install(file, 0);
	if (r < 0)
		file_put(file);
	return r;
}

static long dup_to(int oldfd, int newfd, bool cloexec)
{
	struct file *file;
	int r;

	if (newfd < 0 || (u32)newfd >= fd_limit())
		return -EBADF;
	file = fd_file(oldfd);
	if (!file)
		return -EBADF;
	r = fd_install_at(current->proc->files, newfd, file);
	if (r < 0)
		file_put(file);
	else
		fd_set_cloexec(newfd, cloexec);
	return r;
}

long sys_dup2(int oldfd, int newfd)
{
	struct file *file;

	if (oldfd != newfd)
		return dup_to(oldfd, newfd, false);
	file = fd_file(oldfd);
	if (!file)
		return -EBADF;
	file_put(file);
	return newfd;
}

long sys_dup3(int oldfd, int newfd, int flags)
{
	if ((flags & ~O_CLOEXEC) || oldfd == newfd)
		return -EINVAL;
	return dup_to(oldfd, newfd, flags & O_CLOEXEC);
}
