/* SPDX-License-Identifier: Apache-2.0 */
/* Inodes, directories and generated files of the description-only file systems (pseudo.h). */
#include "fs/pseudo.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/stat.h>
#include "core/string.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include "proc/task.h"

#define PSEUDO_DYNAMIC	0x10000ull	/* directory positions of made-up entries start here */
#define PSEUDO_STORE_MAX 4096u
#define DT_SHIFT	12		/* d_type is the mode's type, shifted */

/* The same object always has the same number, without a table of numbers. */
u64 pseudo_ino(const struct pseudo *what)
{
	u64 h = (u64)(uintptr_t)what->node;

	h = (h ^ (u32)what->pid) * 0x9e3779b97f4a7c15ull;
	h = (h ^ (u32)what->tid) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ (u32)what->fd) * 0x94d049bb133111ebull;
	h = (h ^ h >> 29) & 0xffffffffffffull;
	return h ? h : 1;
}

const struct cred *pseudo_owner(const struct pseudo *what)
{
	struct process *proc = what->pid ? process_find(what->pid) : NULL;

	return proc ? &proc->cred : NULL;
}

static const struct pseudo *pseudo_of(const struct inode *inode)
{
	return inode->priv;
}

static bool pseudo_alive(const struct pseudo *what)
{
	struct task *task;

	if (!what->pid)
		return true;
	if (!what->tid)
		return process_find(what->pid) != NULL;
	task = task_find(what->tid);
	return task && task->proc->pid == what->pid;
}

static void pseudo_evict(struct inode *inode)
{
	kfree(inode->priv);
	inode->priv = NULL;
}

static int pseudo_readlink(struct inode *inode, char *buf, size_t size)
{
	const struct pseudo *self = pseudo_of(inode);
	size_t len;

	if (!pseudo_alive(self))
		return -ESRCH;
	if (self->node->readlink)
		return self->node->readlink(self, buf, size);
	len = MIN(strlen(self->node->link), size);
	memcpy(buf, self->node->link, len);
	return (int)len;
}

static int pseudo_follow(struct inode *inode, struct dentry **target)
{
	const struct pseudo *self = pseudo_of(inode);

	return pseudo_alive(self) ? self->node->follow(self, target) : -ENOENT;
}

static int pseudo_find(const struct pseudo *dir, const char *name, struct pseudo *child)
{
	const struct pseudo_node *node = dir->node;

	*child = *dir;
	for (unsigned i = 0; i < node->nchildren; i++) {
		if (strcmp(node->children[i].name, name))
			continue;
		child->node = &node->children[i];
		return 0;
	}
	return node->find ? node->find(dir, name, child) : -ENOENT;
}

static int pseudo_lookup(struct inode *dir, struct dentry *dentry)
{
	const struct pseudo *self = pseudo_of(dir);
	struct pseudo child;
	int err = pseudo_alive(self) ? pseudo_find(self, dentry->name, &child) : -ENOENT;

	/* What is made up may be gone, or be another one, the next time it is looked up. */
	dentry->expires_ns = self->pid || self->node->find ? 0 : ~0ull;
	dentry->inode = NULL;
	if (err == -ENOENT)
		return 0;
	if (err)
		return err;
	/* The VFS keeps a link's text in the inode: one that depends on who asks needs a new one. */
	dentry->expires_ns = child.pid || child.node->readlink ? 0 : ~0ull;
	dentry->inode = pseudo_inode(dir->sb, &child);
	return dentry->inode ? 0 : -ENOMEM;
}

static int pseudo_emit(struct dir_context *ctx, const char *name, const struct pseudo *what,
		       u64 next_pos)
{
	return ctx->emit(ctx, name, strlen(name), pseudo_ino(what), what->node->mode >> DT_SHIFT,
			 next_pos);
}

static int pseudo_iterate(struct file *file, struct dir_context *ctx)
{
	const struct pseudo *self = pseudo_of(file->inode);
	const struct pseudo_node *node = self->node;
	char name[PSEUDO_NAME_MAX];
	struct pseudo child;
	u64 key;

	if (!pseudo_alive(self))
		return -ENOENT;
	if (!dir_emit_dots(file, ctx))
		return 0;
	if (file->pos < 2)
		file->pos = 2;
	for (; file->pos - 2 < node->nchildren; file->pos++) {
		child = *self;
		child.node = &node->children[file->pos - 2];
		if (pseudo_emit(ctx, child.node->name, &child, file->pos + 1))
			return 0;
	}
	if (!node->next)
		return 0;
	if (file->pos < PSEUDO_DYNAMIC)
		file->pos = PSEUDO_DYNAMIC;
	for (key = file->pos - PSEUDO_DYNAMIC;; key++) {
		child = *self;
		if (!node->next(self, &key, name, &child))
			return 0;
		if (pseudo_emit(ctx, name, &child, PSEUDO_DYNAMIC + key + 1))
			return 0;
		file->pos = PSEUDO_DYNAMIC + key + 1;
	}
}

static int text_generate(struct file *file)
{
	const struct pseudo *self = pseudo_of(file->inode);
	struct seq *seq = file->priv;
	int err;

	if (!seq) {
		seq = file->priv = kzalloc(sizeof(*seq));
		if (!seq)
			return -ENOMEM;
	}
	seq->len = 0;
	seq->failed = false;
	if (!pseudo_alive(self))
		return -ESRCH;
	err = self->node->show(seq, self);
	return err ? err : seq->failed ? -ENOMEM : 0;
}

static long text_read(struct file *file, void *buf, size_t len, u64 *pos)
{
	const struct pseudo *self = pseudo_of(file->inode);
	struct seq *seq = file->priv;
	int err;

	if (!self->node->show)
		return -EINVAL;
	if (!seq || *pos == 0) {
		err = text_generate(file);
		if (err)
			return err;
		seq = file->priv;
	}
	if (*pos >= seq->len)
		return 0;
	len = MIN(len, seq->len - *pos);
	if (copy_out(buf, seq->buf + *pos, len))
		return -EFAULT;
	*pos += len;
	return (long)len;
}

static long text_write(struct file *file, const void *buf, size_t len, u64 *pos)
{
	const struct pseudo *self = pseudo_of(file->inode);
	long ret = -EFAULT;
	char *text;

	if (!self->node->store)
		return -EIO;
	if (!pseudo_alive(self))
		return -ESRCH;
	if (len > PSEUDO_STORE_MAX)
		return -EINVAL;
	text = kmalloc(len + 1);
	if (!text)
		return -ENOMEM;
	if (!copy_in(text, buf, len)) {
		text[len] = 0;
		ret = self->node->store(self, text, len);
	}
	kfree(text);
	if (ret > 0)
		*pos += (u64)ret;
	return ret;
}

static s64 text_llseek(struct file *file, s64 off, int whence)
{
	s64 at = whence == 0 ? off : whence == 1 ? (s64)file->pos + off : -1;

	if (at < 0)
		return -EINVAL;
	file->pos = (u64)at;
	return at;
}

static void text_release(struct file *file)
{
	struct seq *seq = file->priv;

	if (seq)
		seq_free(seq);
	kfree(seq);
}

/* Sizes are not ours to change, but O_TRUNC must not fail; only device nodes change owner or mode. */
static int pseudo_setattr(struct inode *inode, const struct attr *attr)
{
	if (attr->valid & (ATTR_MODE | ATTR_UID | ATTR_GID) && !pseudo_of(inode)->node->fops)
		return -EPERM;
	if (attr->valid & ATTR_MODE)
		inode->mode = (inode->mode & S_IFMT) | (attr->mode & ~(u32)S_IFMT);
	if (attr->valid & ATTR_UID)
		inode->uid = attr->uid;
	if (attr->valid & ATTR_GID)
		inode->gid = attr->gid;
	if (attr->valid & ATTR_ATIME)
		inode->atime = attr->atime;
	if (attr->valid & ATTR_MTIME)
		inode->mtime = attr->mtime;
	return 0;
}

static const struct file_ops text_fops = {
	.release = text_release,
	.read = text_read,
	.write = text_write,
	.llseek = text_llseek,
};
static const struct file_ops dir_fops = { .iterate = pseudo_iterate, .llseek = dir_llseek };
static const struct file_ops link_fops;
static const struct inode_ops file_iops = { .setattr = pseudo_setattr, .evict = pseudo_evict };
static const struct inode_ops dir_iops = { .lookup = pseudo_lookup, .evict = pseudo_evict };
static const struct inode_ops link_iops = { .readlink = pseudo_readlink, .evict = pseudo_evict };
static const struct inode_ops magic_iops = {
	.readlink = pseudo_readlink,
	.follow = pseudo_follow,
	.evict = pseudo_evict,
};

static void pseudo_set_ops(struct inode *inode, const struct pseudo_node *node)
{
	switch (node->mode & S_IFMT) {
	case S_IFDIR:
		inode->ops = &dir_iops;
		inode->fops = &dir_fops;
		inode->nlink = 2;
		break;
	case S_IFLNK:
		inode->ops = node->follow ? &magic_iops : &link_iops;
		inode->fops = &link_fops;
		break;
	default:
		inode->ops = &file_iops;
		inode->fops = node->fops ? node->fops : &text_fops;
	}
}

struct inode *pseudo_inode(struct super *sb, const struct pseudo *what)
{
	struct pseudo *priv = kmalloc(sizeof(*priv));
	struct inode *inode = priv ? inode_new(sb, what->node->mode) : NULL;
	const struct cred *owner = pseudo_owner(what);

	if (!inode) {
		kfree(priv);
		return NULL;
	}
	*priv = *what;
	inode->priv = priv;
	inode->ino = pseudo_ino(what);
	inode->rdev = what->node->rdev;
	inode->uid = owner ? owner->euid : 0;
	inode->gid = owner ? owner->egid : 0;
	inode->blksize = 1024;
	pseudo_set_ops(inode, what->node);
	return inode;
}

int pseudo_mount(struct super *sb, const struct pseudo_node *root)
{
	struct pseudo what = { .node = root };

	if (!sb->root)
		sb->root = pseudo_inode(sb, &what);
	return sb->root ? 0 : -ENOMEM;
}
