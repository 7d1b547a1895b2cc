/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems whose objects are descriptions, not storage: /proc, /sys, /dev. A node table says
 * what exists; inodes are made when looked up and hold only which node (and which process) they
 * show. File contents are generated into a buffer when read from position 0.
 */
#pragma once

#include "fs/vfs.h"

struct seq {				/* growing text */
	char *buf;
	size_t len, cap;
	bool failed;			/* out of memory: the read says -ENOMEM */
};

void seq_printf(struct seq *seq, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void seq_puts(struct seq *seq, const char *s);
void seq_write(struct seq *seq, const void *data, size_t len);
void seq_escape(struct seq *seq, const char *s, const char *special);	/* \ooo for those in special */
void seq_pad(struct seq *seq, size_t line_start, size_t column);	/* spaces up to column */
void seq_free(struct seq *seq);

struct pseudo_node;

struct pseudo {				/* what an inode shows; in inode->priv */
	const struct pseudo_node *node;
	s32 pid, tid;			/* 0: not about a process, the whole process */
	s32 fd;
};

#define PSEUDO_NAME_MAX 24		/* of a made-up name: a number */

struct pseudo_node {
	const char *name;		/* NULL: only reached through find() */
	u32 mode;			/* type and permission */
	/* Regular files. show appends the whole text. */
	int (*show)(struct seq *seq, const struct pseudo *self);
	long (*store)(const struct pseudo *self, const char *text, size_t len);
	/* Links: the text; follow where the target is not what the text names. */
	int (*readlink)(const struct pseudo *self, char *buf, size_t size);
	int (*follow)(const struct pseudo *self, struct dentry **target);
	const char *link;		/* a constant link's text */
	/* Directories: a constant table, then made-up entries in the order of their keys. */
	const struct pseudo_node *children;
	unsigned nchildren;
	int (*find)(const struct pseudo *dir, const char *name, struct pseudo *child);
	bool (*next)(const struct pseudo *dir, u64 *key, char *name, struct pseudo *child);
	/* Other kinds of file. */
	const struct file_ops *fops;
	u64 rdev;
};

#define PSEUDO_CHILDREN(table) .children = (table), .nchildren = ARRAY_SIZE(table)

struct inode *pseudo_inode(struct super *sb, const struct pseudo *what);
u64 pseudo_ino(const struct pseudo *what);
int pseudo_mount(struct super *sb, const struct pseudo_node *root);	/* makes sb->root once */
/* Does the process (and thread) that `what` shows still exist? Owner of new inodes. */
const struct cred *pseudo_owner(const struct pseudo *what);
