/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of names in order of entry: a tmpfs directory, or the merged list of an overlay
 * directory while it is read. Each name has a cookie that grows, for readdir positions.
 */
#pragma once

#include "core/list.h"

struct inode;

struct nament {
	struct list order;
	struct nament *next;	/* in its bucket */
	u64 cookie;
	struct inode *inode;	/* tmpfs: referenced; NULL: a whiteout */
	u64 ino;		/* merged lists */
	u32 hash;
	u16 len;
	u8 type;		/* DT_* */
	bool merged;		/* merged lists: a directory whose lower part counts for ino */
	char name[];
};

struct nametab {
	struct list order;
	struct nament **buckets;
	u32 nbuckets, count;
	u64 next_cookie;
};

#define NAMETAB_FIRST_COOKIE 2	/* 0 and 1 are "." and ".." */

void nametab_init(struct nametab *t);
struct nament *nametab_find(struct nametab *t, const char *name, size_t len);
/* NULL: no memory */
struct nament *nametab_add(struct nametab *t, const char *name, size_t len);
void nametab_del(struct nametab *t, struct nament *e);
void nametab_free(struct nametab *t);		/* names only: inodes are the caller's */
struct nament *nametab_from(struct nametab *t, u64 cookie);	/* first at or after, or NULL */
struct nament *nametab_next(struct nametab *t, struct nament *e);
