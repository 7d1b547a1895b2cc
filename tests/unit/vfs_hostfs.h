/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file system as the FUSE client is one, from a table: each walk, lookup, read and write is
 * counted as the request to the host that it would be.
 */
#pragma once

#include "fs/vfs_internal.h"

struct hostfs_node {
	const char *path;	/* "usr/lib/libc.so"; parents come before */
	u32 mode;
	u64 size;
	const char *link;
	u64 ino;		/* same number: same object */
};

struct hostfs_counts { unsigned walks, lookups, reads, pages, writes, links; u64 written; };
extern struct hostfs_counts hostfs_counts;
extern u64 hostfs_ttl_ns;		/* ~0: entries never expire */
extern int hostfs_read_error;		/* what readpages() returns, if not 0 */
extern bool hostfs_has_walk, hostfs_writable;

/* Contents: byte i of object ino. */
static inline u8 hostfs_byte(u64 ino, u64 i)
{
	return (u8)(ino * 31 + i + (i >> 12) * 7);
}

int hostfs_mount(struct hostfs_node *nodes, unsigned n, struct super **out);
