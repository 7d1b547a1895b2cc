/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inodes: life, owner and permission rules, times, and the way every change of attributes takes.
 * Whoever looks at an inode over a sleep holds a reference.
 */
#include "fs/vfs_internal.h"

struct super *super_new(const char *type, u64 magic)
{
	static u64 next_dev = 0x15;	/* anonymous device numbers, major 0 */
	struct super *sb = kzalloc(sizeof(*sb));

	if (!sb)
		return NULL;
	sb->type = type;
	sb->magic = magic;
	sb->dev = next_dev++;
	sb->next_ino = 1;
	return sb;
}

struct timespec64 inode_now(void)
{
	return time_from_ns(time_realtime_ns());
}

struct inode *inode_new(struct super *sb, u32 mode)
{
	struct inode *inode = kzalloc(sizeof(*inode));

	if (!inode)
		return NULL;
	inode->refs = 1;
	inode->nlink = 1;
	inode->sb = sb;
	inode->mode = mode;
	inode->blksize = PAGE_SIZE;
	inode->atime = inode->mtime = inode->ctime = inode_now();
	mutex_init(&inode->lock);
	return inode;
}

struct inode *inode_new_ino(struct super *sb, u32 mode)
{
	struct inode *inode = inode_new(sb, mode);

	if (inode)
		inode->ino = sb->next_ino++;
	return inode;
}

void inode_get(struct inode *inode)
{
	inode->refs++;
}

void inode_put(struct inode *inode)
{
	kassert(inode->refs);
	if (--inode->refs)
		return;
	if (inode->cache)
		pagecache_drop(inode);
	if (inode->ops && inode->ops->evict)
		inode->ops->evict(inode);
	if (inode->flocks)
		locks_free(inode);
	kfree(inode->link);
	kfree(inode);
}

/* Who acts: the program, or the kernel itself while it boots. */
static const struct cred *inode_cred(void)
{
	static const struct cred kernel;

	return current && current->proc ? &current->proc->cred : &kernel;
}

void inode_init_owner(struct inode *inode, const struct inode *dir, u32 mode)
{
	const struct cred *cred = inode_cred();

	inode->uid = cred->fsuid;
	inode->gid = cred->fsgid;
	if (dir && (dir->mode & S_ISGID)) {
		inode->gid = dir->gid;
		if (S_ISDIR(mode))
			mode |= S_ISGID;
		else if ((mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP) &&
			 !group_member(inode->gid) && cred->fsuid)
			mode &= ~S_ISGID;
	}
	inode->mode = mode;
}

bool group_member(u32 gid)
{
	const struct cred *cred = inode_cred();

	if (gid == cred->fsgid)
		return true;
	for (u32 i = 0; i < cred->ngroups; i++) {
		if (cred->groups[i] == gid)
			return true;
	}
	return false;
}

bool inode_owner_or_root(const struct inode *inode)
{
	u32 fsuid = inode_cred()->fsuid;

	return fsuid == 0 || fsuid == inode->uid;
}

/* Mode bits against one identity; the super-user passes, but needs some x bit to execute a file. */
static int inode_permission_bits(const struct inode *inode, unsigned mask, u32 uid, bool in_group)
{
	u32 mode = inode->mode;

	if (uid == inode->uid)
		mode >>= 6;
	else if (in_group)
		mode >>= 3;
	if ((mode & mask) == mask)
		return 0;
	if (uid != 0)
		return -EACCES;
	if ((mask & MAY_EXEC) && !S_ISDIR(inode->mode) && !(inode->mode & 0111))
		return -EACCES;
	return 0;
}

static int inode_permission_ro(const struct inode *inode, unsigned mask)
{
	u32 type = inode->mode & S_IFMT;

	if ((mask & MAY_WRITE) && inode->sb && inode->sb->readonly &&
	    (type == S_IFREG || type == S_IFDIR || type == S_IFLNK))
		return -EROFS;
	return 0;
}

int inode_permission(struct inode *inode, unsigned mask)
{
	int err = inode_permission_ro(inode, mask);

	if (err)
		return err;
	return inode_permission_bits(inode, mask, inode_cred()->fsuid,
				     group_member(inode->gid));
}

/* access(2): by the real IDs. */
int inode_permission_as(struct inode *inode, unsigned mask, u32 uid, u32 gid)
{
	const struct cred *cred = inode_cred();
	int err = inode_permission_ro(inode, mask);
	bool in_group = inode->gid == gid;

	if (err)
		return err;
	for (u32 i = 0; i < cred->ngroups && !in_group; i++)
		in_group = cred->groups[i] == inode->gid;
	return inode_permission_bits(inode, mask, uid, in_group);
}

int inode_refresh(struct inode *inode)
{
	return inode->ops && inode->ops->refresh ? inode->ops->refresh(inode) : 0;
}

long inode_link_text(struct inode *inode, const char **text)
{
	char *buf;
	int n;

	if (!inode->link) {
		if (!inode->ops || !inode->ops->readlink)
			return -EINVAL;
		buf = kmalloc(PATH_MAX);
		if (!buf)
			return -ENOMEM;
		n = inode->ops->readlink(inode, buf, PATH_MAX - 1);
		if (n < 0) {
			kfree(buf);
			return n;
		}
		buf[n] = 0;
		inode->link = kstrdup(buf);
		kfree(buf);
		if (!inode->link)
			return -ENOMEM;
	}
	*text = inode->link;
	return (long)strlen(inode->link);
}

void inode_touch(struct inode *inode)
{
	inode->mtime = inode->ctime = inode_now();
}

static bool time_after(struct timespec64 a, struct timespec64 b)
{
	return a.sec > b.sec || (a.sec == b.sec && a.nsec > b.nsec);
}

/*
 * As Linux's relatime: when it is not later than a change, or a day old. Memory file systems only.
 */
void inode_touch_atime(struct inode *inode)
{
	struct timespec64 now;

	if (!inode->sb || inode->sb->readonly)
		return;
	now = inode_now();
	if (time_after(inode->atime, inode->mtime) && time_after(inode->atime, inode->ctime) &&
	    now.sec - inode->atime.sec < 24 * 3600)
		return;
	inode->atime = now;
}

void inode_setattr_simple(struct inode *inode, const struct attr *attr)
{
	if (attr->valid & ATTR_MODE)
		inode->mode = (inode->mode & S_IFMT) | (attr->mode & 07777);
	if (attr->valid & ATTR_UID)
		inode->uid = attr->uid;
	if (attr->valid & ATTR_GID)
		inode->gid = attr->gid;
	if (attr->valid & ATTR_ATIME)
		inode->atime = attr->atime;
	if (attr->valid & ATTR_MTIME)
		inode->mtime = attr->mtime;
	if (attr->valid & ATTR_CTIME)
		inode->ctime = attr->ctime;
}

int inode_setattr(struct inode *inode, const struct attr *attr)
{
	struct attr with_ctime = *attr;

	if (inode->sb && inode->sb->readonly)
		return -EROFS;
	if (!(attr->valid & ATTR_CTIME)) {
		with_ctime.valid |= ATTR_CTIME;
		with_ctime.ctime = inode_now();
	}
	if (inode->ops && inode->ops->setattr)
		return inode->ops->setattr(inode, &with_ctime);
	if (attr->valid & ATTR_SIZE)
		return -EINVAL;
	inode_setattr_simple(inode, &with_ctime);
	return 0;
}

u32 inode_mode_dropped(const struct inode *inode)
{
	u32 mode = inode->mode & ~(u32)S_ISUID;

	/* Without execute bit it is a mark for mandatory locking, kept for members of the group. */
	if ((mode & S_IXGRP) || (inode_cred()->fsuid && !group_member(inode->gid)))
		mode &= ~(u32)S_ISGID;
	return mode;
}

u32 inode_mode_without_suid(const struct inode *inode)
{
	u32 mode = inode->mode;

	if (!S_ISREG(mode) || inode_cred()->fsuid == 0)
		return mode;
	return inode_mode_dropped(inode);
}

void inode_remove_suid(struct inode *inode)
{
	u32 mode = inode_mode_without_suid(inode);
	struct attr attr = { .valid = ATTR_MODE, .mode = mode };

	if (mode != inode->mode)
		inode_setattr(inode, &attr);
}

int inode_truncate(struct inode *inode, u64 size)
{
	struct attr attr = { .valid = ATTR_SIZE | ATTR_MTIME, .size = size };
	u32 mode = inode_mode_without_suid(inode);

	if (mode != inode->mode) {
		attr.valid |= ATTR_MODE;
		attr.mode = mode;
	}
	attr.mtime = inode_now();
	return inode_setattr(inode, &attr);
}
