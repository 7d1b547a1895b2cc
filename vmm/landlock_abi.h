/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Landlock's rights by the ABI version that brought them (Documentation/userspace-api/landlock.rst
 * of Linux), under names of our own: build hosts have headers of any age.
 */
#pragma once

#include <linux/landlock.h>
#include <stdint.h>

/* struct landlock_ruleset_attr as of ABI 6. */
struct landlock_ruleset {
	uint64_t fs;
	uint64_t net;		/* ABI 4 */
	uint64_t scoped;	/* ABI 6 */
};

#define LANDLOCK_FS_1		((1ull << 13) - 1)	/* EXECUTE ... MAKE_SYM */
#define LANDLOCK_FS_REFER	(1ull << 13)
#define LANDLOCK_FS_TRUNCATE	(1ull << 14)
#define LANDLOCK_FS_IOCTL_DEV	(1ull << 15)
#define LANDLOCK_NET_ALL	3ull			/* bind and connect TCP */
#define LANDLOCK_SCOPE_ALL	3ull			/* abstract sockets, signals */

#define LANDLOCK_FS_READ	(LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* No device nodes, nothing to execute. */
#define LANDLOCK_FS_WRITE	(LANDLOCK_FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | \
				 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
				 LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | \
				 LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO | \
				 LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_FS_REFER | LANDLOCK_FS_TRUNCATE)

/* Those that mean something for a single file. */
#define LANDLOCK_FS_FILE	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
				 LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_FS_TRUNCATE | \
				 LANDLOCK_FS_IOCTL_DEV)
