/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces: VMAs and page tables of one process. */
#pragma once

#include "core/list.h"
#include "mm/page.h"

struct file;
struct inode;
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

#define MM_SITES 64
struct site_count { u64 rip; u32 traps; };	/* system calls that trapped, proc/patch.c */

struct mm {
	unsigned users;		/* processes that share it */
	u64 cr3;		/* physical address of the PML4 */
	u64 *pml4;
	struct list vmas;	/* by address */
	struct vma **index;	/* the same, for binary search */
	unsigned nvmas, index_cap;
	u64 brk_start, brk;
	u64 mmap_top;
	u64 code_start, stack_top;
	u64 arg_start, arg_end, env_start, env_end;
	u64 auxv[48];
	u64 rss_pages, total_pages;
	struct list stub_pages;
	struct site_count sites[MM_SITES];
};

struct vma *vma_find(struct mm *mm, u64 addr);		/* the one that contains addr, or NULL */
struct vma *vma_find_from(struct mm *mm, u64 addr);	/* the first that ends behind addr, or NULL */

struct mm *mm_new(void);
struct mm *mm_fork(struct mm *old);		/* copy-on-write copy, or NULL */
void mm_get(struct mm *mm);
void mm_put(struct mm *mm);			/* never the one that is loaded, when it is the last */
void mm_activate(struct mm *mm);		/* load its page tables */

/* Map [addr, addr + len) anew (nothing is there); file is referenced. The VMA, or NULL: no memory. */
struct vma *vma_map(struct mm *mm, u64 addr, u64 len, u32 flags, struct file *file, u64 pgoff);
int mm_unmap(struct mm *mm, u64 addr, u64 len);
int mm_protect(struct mm *mm, u64 addr, u64 len, u32 prot);
u64 mm_find_gap(struct mm *mm, u64 len, u64 align, u64 below);	/* top-down; 0: none */

/*
 * mmap(2) for the kernel's own use: prot and flags as there, file borrowed (NULL: anonymous). The
 * address or -errno.
 */
s64 mm_mmap(struct mm *mm, u64 addr, u64 len, int prot, int flags, struct file *file, u64 off);

void mm_unmap_inode(struct inode *inode, u64 index, u64 n);

/* A page fault at addr: 0, or the signal it becomes (SIGSEGV, SIGBUS) with *code set. */
int mm_fault(struct mm *mm, u64 addr, u64 err, int *code);

/*
 * Memory of any process (for /proc): populates as a fault would, and keeps the mm in use while
 * that sleeps. 0 or -EFAULT.
 */
int mm_read_remote(struct mm *mm, u64 addr, void *buf, size_t len);
