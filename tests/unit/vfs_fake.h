/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel around the VFS, faked for the host: one process, memory from malloc, user memory in
 * one window at a low address (USER_BASE), where both our calls and the host's find it. Only
 * this header and fs/syscalls.h are for tests that include the C library's headers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USER_BASE 0x20000000ul
#define USER_SIZE 0x00800000ul

void fake_init(void);				/* once: window, process, VFS */
void fake_fini(void);
void fake_ids(unsigned uid, unsigned gid);	/* of the process */
void fake_nofile(unsigned long limit);
void fake_pid(int pid);
/* Another process: its own descriptor table (forked from the first). Back with 0. */
void fake_process(unsigned n);
unsigned long fake_pages(void);			/* allocated now */
void fake_fail_pages(long after);		/* page_alloc() fails after so many; -1: never */
void fake_clock_add(uint64_t ns);		/* monotonic time goes on */

/* Roots: a tmpfs, or an overlay over a tmpfs that is mounted. */
int fake_root_tmpfs(void);
void fake_reroot(void);		/* processes take the tree's present root */
/* The root becomes the lower layer of an overlay, which is the root from now on. */
int fake_root_overlay(void);
/* The old root (lower layer) as the root again, to look at it; and the overlay again. */
void fake_root_swap(void);

/* The devicetree: line 0 is the root node; value NULL: a node, else a property of node `parent`. */
struct fake_fdt_line {
	int parent;
	const char *name;
	const void *value;
	size_t len;
};
extern const struct fake_fdt_line *fake_fdt;
