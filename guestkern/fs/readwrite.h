/* SPDX-License-Identifier: Apache-2.0 */
/* What the read and write calls share. */
#pragma once

#include "fs/vfs_internal.h"

#define RW_WRITE	1u
#define RW_POS		2u	/* at a position of its own: the file must be seekable */

/* The file of fd, referenced, if it can be read or written so. */
int rw_begin(int fd, unsigned how, struct file **out);
long rw_one(struct file *file, unsigned how, void *buf, size_t len, u64 *pos);
bool file_seekable(const struct file *file);
bool pos_lock(struct file *file);		/* true: pos_unlock() is due */
void pos_unlock(struct file *file, bool locked);
