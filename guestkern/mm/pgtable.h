/* SPDX-License-Identifier: Apache-2.0 */
/*
 * x86-64 page tables of one address space, and the flushes they need. Accessed and Dirty are
 * always set: KVM's shadow paging then prefetches neighbours (docs/guest-kernel.md).
 */
#pragma once

#include "core/types.h"

struct mm;
struct page;

#define PTE_P		0x001ull
#define PTE_W		0x002ull
#define PTE_U		0x004ull
#define PTE_AD		0x060ull
#define PTE_PS		0x080ull
#define PTE_NX		(1ull << 63)
#define PTE_ADDR	0x000ffffffffff000ull

#define FAULT_PRESENT	0x01	/* page-fault error code, Intel SDM volume 3, 4.7 */
#define FAULT_WRITE	0x02
#define FAULT_FETCH	0x10

/* The PTE of addr, tables made as needed (NULL: no memory). A 2 MiB entry there is split. */
u64 *pte_make(struct mm *mm, u64 addr);
/* The PTE, or NULL without tables; *huge: it is the 2 MiB entry of addr. */
u64 *pte_find(struct mm *mm, u64 addr, bool *huge);
/* The PD entry of addr, tables above made (NULL: no memory). */
u64 *pde_make(struct mm *mm, u64 addr);

/*
 * Flushes gathered over one operation; done by flush_end(). Only for addresses of the loaded
 * address space: others are flushed when CR3 is loaded.
 */
struct flush {
	struct mm *mm;
	unsigned n;
	u64 addr[8];
};

#define FLUSH_MAX 6		/* pages; beyond it a CR3 reload is cheaper on every host */

static inline void flush_begin(struct flush *f, struct mm *mm)
{
	f->mm = mm;
	f->n = 0;
}

static inline void flush_add(struct flush *f, u64 addr)
{
	if (f->n < FLUSH_MAX)
		f->addr[f->n] = addr;
	f->n++;
}

void flush_end(struct flush *f);

/* Drop all mappings of [start, end), free tables only in pgtable_free(). */
void pgtable_unmap(struct mm *mm, u64 start, u64 end);
/* Take the write right away (W = false) or fit the NX and W bits to vm_flags. */
void pgtable_protect(struct mm *mm, u64 start, u64 end, u32 vm_flags);
/* Share [start, end) copy-on-write with child (private mappings), or as it is (shared). 0 or -ENOMEM. */
int pgtable_copy(struct mm *child, struct mm *parent, u64 start, u64 end, bool shared);
/* Move mappings for mremap(2): the tables are made first, so that it cannot fail half-way. */
int pgtable_move(struct mm *mm, u64 from, u64 to, u64 len);
void pgtable_free(struct mm *mm);
