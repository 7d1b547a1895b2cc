/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces: VMAs and page tables of one process. */
#pragma once

#include "core/list.h"
#include "mm/page.h"

struct file;
struct regs;

#define VM_READ		0x01
#define VM_WRITE	0x02
#define VM_EXEC		0x04
#define VM_SHARED	0x08	/* MAP_SHARED */
#define VM_GROWSDOWN	0x10
#define VM_PATCH	0x20	/* holds system-call stubs */
#define VM_SPECIAL	0x40	/* kernel-made: vDSO */
#define VM_NOHUGE	0x80

struct vma {
	struct list link;	/* mm->vmas, by address */
	u64 start, end;		/* page-aligned, [start, end) */
	u32 flags;		/* VM_* */
	struct file *file;	/* referenced, or NULL: anonymous */
	u64 pgoff;		/* page index of start in the file (or of a shared anonymous object) */
	struct inode *inode;	/* page source of a file mapping, else NULL */
	const char *name;	/* "[heap]", "[stack]" ... for /proc/<pid>/maps, or NULL */
};

struct mm {
	unsigned users;		/* processes that share it */
	u64 cr3;		/* physical address of the PML4 */
	u64 *pml4;
	struct list vmas;
	struct vma *last;	/* last hit */
	u64 brk_start, brk;
	u64 mmap_top;
	u64 code_start, stack_top;
	u64 arg_start, arg_end, env_start, env_end;
	u64 auxv[48];
	u64 rss_pages, total_pages;
	struct list stub_pages;
};

struct vma *vma_find(struct mm *mm, u64 addr);		/* the one that contains addr, or NULL */

/*
 * Memory of any process (for /proc): populates as a fault would, and keeps the mm in use while
 * that sleeps. 0 or -EFAULT.
 */
int mm_read_remote(struct mm *mm, u64 addr, void *buf, size_t len);
