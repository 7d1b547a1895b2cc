/* SPDX-License-Identifier: Apache-2.0 */
/* read(2), write(2), their positional forms, and lseek(2). Vectors are in iov.c. */
#include "fs/readwrite.h"
#include "fs/syscalls.h"

#include <linux/fs.h>

int rw_begin(int fd, unsigned how, struct file **out)
{
	struct file *file;
	int err = file_get_fd(fd, &file);

	if (err)
		return err;
	if (how & RW_WRITE)
		err = FILE_WRITABLE(file) ? 0 : -EBADF;
	else
		err = FILE_READABLE(file) ? 0 : -EBADF;
	if (!err && (how & RW_POS) && !file_seekable(file))
		err = -ESPIPE;
	if (!err && !(how & RW_WRITE) && inode_is_dir(file->inode))
		err = -EISDIR;
	if (!err && !(how & RW_WRITE ? (void *)file->ops->write : (void *)file->ops->read))
		err = -EINVAL;
	if (err) {
		file_put(file);
		return err;
	}
	*out = file;
	return 0;
}

bool file_seekable(const struct file *file)
{
	return file->ops->llseek != NULL;
}

/*
 * A position shared by several descriptors or threads must not be used twice while a read of a
 * cached file sleeps. Two references are the table's and the caller's: nobody shares it then.
 */
bool pos_lock(struct file *file)
{
	if (!file->inode->cops || file->refs <= 2)
		return false;
	mutex_lock(&file->pos_lock);
	return true;
}

void pos_unlock(struct file *file, bool locked)
{
	if (locked)
		mutex_unlock(&file->pos_lock);
}

long rw_one(struct file *file, unsigned how, void *buf, size_t len, u64 *pos)
{
	len = MIN(len, MAX_RW);
	if ((s64)*pos < 0 || *pos > MAX_OFFSET - len)
		return file_seekable(file) ? -EINVAL : how & RW_WRITE ?
		       file->ops->write(file, buf, len, pos) : file->ops->read(file, buf, len, pos);
	if (how & RW_WRITE)
		return file->ops->write(file, buf, len, pos);
	return file->ops->read(file, buf, len, pos);
}

static long rw_fd(int fd, u64 buf, u64 len, unsigned how, u64 at)
{
	struct file *file;
	bool locked;
	u64 pos;
	long n = rw_begin(fd, how, &file);

	if (n)
		return n;
	if (!user_ok(buf, len)) {
		n = -EFAULT;
	} else if (how & RW_POS) {
		pos = at;
		n = rw_one(file, how, (void *)(uintptr_t)buf, len, &pos);
	} else {
		locked = pos_lock(file);
		n = rw_one(file, how, (void *)(uintptr_t)buf, len, &file->pos);
		pos_unlock(file, locked);
	}
	file_put(file);
	return n;
}

long sys_read(int fd, u64 buf, u64 count)
{
	return rw_fd(fd, buf, count, 0, 0);
}

long sys_write(int fd, u64 buf, u64 count)
{
	return rw_fd(fd, buf, count, RW_WRITE, 0);
}

long sys_pread64(int fd, u64 buf, u64 count, s64 pos)
{
	return pos < 0 ? -EINVAL : rw_fd(fd, buf, count, RW_POS, (u64)pos);
}

long sys_pwrite64(int fd, u64 buf, u64 count, s64 pos)
{
	return pos < 0 ? -EINVAL : rw_fd(fd, buf, count, RW_POS | RW_WRITE, (u64)pos);
}

long sys_lseek(int fd, s64 off, u32 whence)
{
	struct file *file;
	bool locked;
	long r = file_get_fd(fd, &file);

	if (r)
		return r;
	if (whence > SEEK_HOLE) {
		r = -EINVAL;
	} else if (!file->ops->llseek) {
		r = -ESPIPE;
	} else {
		locked = pos_lock(file);
		r = file->ops->llseek(file, off, (int)whence);
		pos_unlock(file, locked);
	}
	file_put(file);
	return r;
}
