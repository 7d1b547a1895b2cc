/* SPDX-License-Identifier: Apache-2.0 */
/* memfd_create(2) and its seals: files of a tmpfs that is mounted nowhere. */
#include "fs/shmem.h"
#include "fs/syscalls.h"
#include "fs/vfs_internal.h"

#include <linux/memfd.h>

#ifndef MFD_NOEXEC_SEAL		/* since Linux 6.3 */
#define MFD_NOEXEC_SEAL	0x0008u
#define MFD_EXEC	0x0010u
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC	0x0020
#endif

#define MEMFD_FLAGS	(MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL | MFD_EXEC)
#define MEMFD_NAME_MAX	249		/* NAME_MAX less "memfd:" */
#define SEALS_ALL (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | \
		   F_SEAL_FUTURE_WRITE | F_SEAL_EXEC)

static struct super *memfd_super(void)
{
	static struct super *sb;

	if (!sb && tmpfs_mount(0, 0700, &sb))
		sb = NULL;
	return sb;
}

static int memfd_new(const char *name, unsigned flags, struct file **out)
{
	struct super *sb = memfd_super();
	struct inode *inode = sb ? tmpfs_inode_new(sb, S_IFREG | 0777, 0) : NULL;
	struct dentry *dentry;
	char label[MEMFD_NAME_MAX + 8];
	int err;

	if (!inode)
		return -ENOMEM;
	inode->uid = current->proc->cred.fsuid;
	inode->gid = current->proc->cred.fsgid;
	inode->seals = flags & (MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL) ? 0 : F_SEAL_SEAL;
	if (flags & MFD_NOEXEC_SEAL) {
		inode->mode &= ~0111u;
		inode->seals |= F_SEAL_EXEC;
	}
	snprintf(label, sizeof(label), "/memfd:%s", name);
	dentry = dentry_new_anon(inode, label);
	inode_put(inode);
	if (!dentry)
		return -ENOMEM;
	dentry->flags |= DENTRY_DELETED;
	err = file_open_dentry(dentry, O_RDWR | O_LARGEFILE, out);
	dentry_put(dentry);
	return err;
}

struct file *shmem_file(u64 size)
{
	struct file *file;

	if (memfd_new("shared", 0, &file))
		return NULL;
	file->inode->size = size;
	return file;
}

long sys_memfd_create(u64 name, u32 flags)
{
	char text[MEMFD_NAME_MAX + 1];
	struct file *file;
	long n;
	int fd;

	if ((flags & ~MEMFD_FLAGS) || (flags & (MFD_EXEC | MFD_NOEXEC_SEAL)) ==
				      (MFD_EXEC | MFD_NOEXEC_SEAL))
		return -EINVAL;
	n = strncpy_from_user(text, name, sizeof(text));
	if (n < 0)
		return n == -ENAMETOOLONG ? -EINVAL : n;
	n = memfd_new(text, flags, &file);
	if (n)
		return n;
	fd = fd_install(file, flags & MFD_CLOEXEC);
	if (fd < 0)
		file_put(file);
	return fd;
}

/*
 * F_ADD_SEALS and F_GET_SEALS, for fcntl.c. Writable mappings are not counted: F_SEAL_WRITE
 * trusts.
 */
long memfd_seals(struct file *file, int cmd, u64 arg)
{
	struct inode *inode = file->inode;

	if (!inode || !inode_is_tmpfs(inode) || inode->sb != memfd_super())
		return -EINVAL;
	if (cmd == F_GET_SEALS)
		return inode->seals;
	if (!FILE_WRITABLE(file))
		return -EPERM;
	if (arg & ~(u64)SEALS_ALL)
		return -EINVAL;
	if (inode->seals & F_SEAL_SEAL)
		return -EPERM;
	inode->seals |= (u32)arg;
	return 0;
}
