/* SPDX-License-Identifier: Apache-2.0 */
/* File locks as fcntl.c asks for them: ranges are inclusive byte positions. */
#pragma once

#include "fs/vfs_internal.h"

#define LOCK_TYPE_READ	0	/* F_RDLCK, F_WRLCK, F_UNLCK */
#define LOCK_TYPE_WRITE	1
#define LOCK_TYPE_NONE	2

struct lock_range {
	u64 start, end;
	int type;
	s32 pid;		/* -1: of an open file description */
};

/* Record locks of an owner (a descriptor table, or a file for OFD locks). */
int locks_set(struct inode *inode, const void *owner, const struct lock_range *range, bool wait);
/* The first lock that would stop *range, which it becomes; type LOCK_TYPE_NONE if none does. */
void locks_test(struct inode *inode, const void *owner, struct lock_range *range);
