/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of tests of the guest's file system: a tree of files with ro/ and rw/ in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define BIG_SIZE (3 << 20)
extern char big[BIG_SIZE];		/* the contents of ro/big */

void host_tree(void);			/* in a temporary directory */
void host_tree_remove(void);
/* A path in it; good for the next three calls. */
const char *host_path(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void host_write(const char *path, const void *data, size_t len);
bool host_has(const char *path, const void *data, size_t len);	/* exactly these contents */
bool host_exists(const char *path);
int host_mode(const char *path);
void host_chmod(const char *path, unsigned mode);
