/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces: the ordered set of VMAs, splitting and merging, fork, the loaded one. */
#include "mm/vm.h"
#include "mm/kmalloc.h"
#include "mm/pgtable.h"
#include "proc/patch.h"
#include "proc/task.h"
#include "mm/uaccess.h"
#include "core/print.h"
#include "core/string.h"
#include "fs/vfs.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"
#include "husk/layout.h"
#include <linux/errno.h>



#define MMAP_MIN_ADDR 0x10000

/* Index of the first VMA that ends behind addr. */
static unsigned index_from(struct mm *mm, u64 addr)
{
	unsigned lo = 0, hi = mm->nvmas;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (mm->index[mid]->end > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

struct vma *vma_find_from(struct mm *mm, u64 addr)
{
	unsigned i = index_from(mm, addr);

	return i < mm->nvmas ? mm->index[i] : NULL;
}

struct vma *vma_find(struct mm *mm, u64 addr)
{
	struct vma *vma = vma_find_from(mm, addr);

	return vma && vma->start <= addr ? vma : NULL;
}

static int index_room(struct mm *mm)
{
	unsigned cap = mm->index_cap ? mm->index_cap * 2 : 64;
	struct vma **index;

	if (mm->nvmas < mm->index_cap)
		return 0;
	index = kmalloc(cap * sizeof(*index));
	if (!index)
		return -ENOMEM;
	memcpy(index, mm->index, mm->nvmas * sizeof(*index));
	kfree(mm->index);
	mm->index = index;
	mm->index_cap = cap;
	return 0;
}

/* index_room() has been called. */
static void vma_insert(struct mm *mm, struct vma *vma)
{
	unsigned i = index_from(mm, vma->start);
	struct list *next = i < mm->nvmas ? &mm->index[i]->link : &mm->vmas;

	memmove(&mm->index[i + 1], &mm->index[i], (mm->nvmas - i) * sizeof(*mm->index));
	mm->index[i] = vma;
	mm->nvmas++;
	list_add_between(&vma->link, next->prev, next);
	mm->total_pages += (vma->end - vma->start) >> PAGE_SHIFT;
}

static void vma_remove(struct mm *mm, struct vma *vma)
{
	unsigned i = index_from(mm, vma->start);

	kassert(mm->index[i] == vma);
	memmove(&mm->index[i], &mm->index[i + 1], (mm->nvmas - i - 1) * sizeof(*mm->index));
	mm->nvmas--;
	list_del(&vma->link);
	mm->total_pages -= (vma->end - vma->start) >> PAGE_SHIFT;
	if (vma->file)
		file_put(vma->file);
	kfree(vma);
}

static bool vma_mergeable(const struct vma *a, const struct vma *b)
{
	return a->end == b->start && a->flags == b->flags && a->file == b->file &&
	       a->inode == b->inode && a->name == b->name &&
	       (!a->file || a->pgoff + ((a->end - a->start) >> PAGE_SHIFT) == b->pgoff);
}

/* Grow `vma` over its successor if they are alike. */
static void vma_merge_next(struct mm *mm, struct vma *vma)
{
	struct vma *next;

	if (vma->link.next == &mm->vmas)
		return;
	next = list_entry(vma->link.next, struct vma, link);
	if (!vma_mergeable(vma, next))
		return;
	u64 end = next->end;

	vma_remove(mm, next);
	mm->total_pages += (end - vma->end) >> PAGE_SHIFT;
	vma->end = end;
}

static struct vma *vma_merge_around(struct mm *mm, struct vma *vma)
{
	vma_merge_next(mm, vma);
	if (vma->link.prev != &mm->vmas) {
		struct vma *prev = list_entry(vma->link.prev, struct vma, link);
		u64 start = vma->start;

		vma_merge_next(mm, prev);
		if (prev->end > start)
			return prev;
	}
	return vma;
}

static struct vma *vma_new(const struct vma *from)
{
	struct vma *vma = kmalloc(sizeof(*vma));

	if (!vma)
		return NULL;
	*vma = *from;
	list_init(&vma->link);
	if (vma->file)
		file_get(vma->file);
	return vma;
}

struct vma *vma_map(struct mm *mm, u64 addr, u64 len, u32 flags, struct file *file, u64 pgoff)
{
	struct vma from = {
		.start = addr, .end = addr + len, .flags = flags, .file = file, .pgoff = pgoff,
	};
	struct vma *vma;

	if (index_room(mm))
		return NULL;
	vma = vma_new(&from);
	if (vma)
		vma_insert(mm, vma);
	return vma;
}

/* Split so that a VMA border is at addr. 0 or -ENOMEM. */
static int vma_split_at(struct mm *mm, u64 addr)
{
	struct vma *vma = vma_find(mm, addr), *high;

	if (!vma || vma->start == addr)
		return 0;
	if (index_room(mm))
		return -ENOMEM;
	high = vma_new(vma);
	if (!high)
		return -ENOMEM;
	high->start = addr;
	high->pgoff += (addr - vma->start) >> PAGE_SHIFT;
	mm->total_pages -= (vma->end - addr) >> PAGE_SHIFT;
	vma->end = addr;
	vma_insert(mm, high);
	return 0;
}

static int range_isolate(struct mm *mm, u64 addr, u64 end)
{
	int ret = vma_split_at(mm, addr);

	return ret ? ret : vma_split_at(mm, end);
}

int mm_unmap(struct mm *mm, u64 addr, u64 len)
{
	u64 end = addr + len;
	struct vma *vma;
	int ret = range_isolate(mm, addr, end);

	if (ret)
		return ret;
	while ((vma = vma_find_from(mm, addr)) && vma->start < end) {
		u64 start = vma->start, stop = vma->end;

		vma_remove(mm, vma);
		pgtable_unmap(mm, start, stop);
	}
	return 0;
}

int mm_protect(struct mm *mm, u64 addr, u64 len, u32 prot)
{
	u64 end = addr + len, at = addr;
	struct vma *vma;
	int ret;

	for (vma = vma_find_from(mm, at); at < end; vma = vma_find_from(mm, at)) {
		if (!vma || vma->start > at)
			return -ENOMEM;
		at = vma->end;
	}
	ret = range_isolate(mm, addr, end);
	if (ret)
		return ret;
	for (at = addr; at < end;) {
		vma = vma_find(mm, at);
		vma->flags = (vma->flags & ~(VM_READ | VM_WRITE | VM_EXEC)) | prot;
		pgtable_protect(mm, vma->start, vma->end, vma->flags);
		vma = vma_merge_around(mm, vma);
		at = vma->end;
	}
	return 0;
}

static u64 gap_fit(u64 floor, u64 top, u64 len, u64 align)
{
	u64 at;

	floor = MAX(floor, MMAP_MIN_ADDR);
	if (top < floor || top - floor < len)
		return 0;
	at = ALIGN_DOWN(top - len, align);
	return at >= floor ? at : 0;
}

u64 mm_find_gap(struct mm *mm, u64 len, u64 align, u64 below)
{
	u64 top = below, at;

	for (unsigned i = mm->nvmas; i-- > 0;) {
		struct vma *vma = mm->index[i];

		if (vma->start >= below)
			continue;
		at = gap_fit(vma->end, top, len, align);
		if (at)
			return at;
		top = MIN(top, vma->start);
	}
	return gap_fit(0, top, len, align);
}

struct mm *mm_new(void)
{
	struct mm *mm = kzalloc(sizeof(*mm));
	struct page *page = page_alloc(0, PAGE_ZEROED);

	if (!mm || !page) {
		kfree(mm);
		if (page)
			page_put(page);
		return NULL;
	}
	mm->users = 1;
	mm->pml4 = page_addr(page);
	mm->cr3 = page_phys(page);
	mm->pml4[WINDOW_SLOT] = ((u64 *)(HUSK_DIRECT_MAP + HUSK_BOOT_TABLES))[WINDOW_SLOT];
	list_init(&mm->vmas);
	list_init(&mm->stub_pages);
	mm->mmap_top = USER_TOP;
	return mm;
}

void mm_get(struct mm *mm)
{
	mm->users++;
}

void mm_put(struct mm *mm)
{
	struct vma *vma;

	if (--mm->users)
		return;
	kassert(cpu_this()->loaded_cr3 != mm->cr3);
	while (mm->nvmas) {
		vma = mm->index[mm->nvmas - 1];
		pgtable_unmap(mm, vma->start, vma->end);
		vma_remove(mm, vma);
	}
	pgtable_free(mm);
	patch_free(mm);
	kfree(mm->index);
	kfree(mm);
}

void mm_activate(struct mm *mm)
{
	struct percpu *cpu = cpu_this();

	if (cpu->loaded_cr3 == mm->cr3)
		return;
	cpu->loaded_cr3 = mm->cr3;
	nucleus_call(nc_cr3, mm->cr3, 0);
}

struct mm *mm_fork(struct mm *old)
{
	struct mm *mm = mm_new();
	struct vma *vma, *copy;

	if (!mm)
		return NULL;
	mm->brk_start = old->brk_start;
	mm->brk = old->brk;
	mm->mmap_top = old->mmap_top;
	mm->code_start = old->code_start;
	mm->stack_top = old->stack_top;
	mm->arg_start = old->arg_start;
	mm->arg_end = old->arg_end;
	mm->env_start = old->env_start;
	mm->env_end = old->env_end;
	memcpy(mm->auxv, old->auxv, sizeof(mm->auxv));
	patch_copy(mm, old);
	list_for_each(vma, &old->vmas, link) {
		copy = index_room(mm) ? NULL : vma_new(vma);
		if (!copy)
			goto fail;
		vma_insert(mm, copy);
		if (pgtable_copy(mm, old, vma->start, vma->end, vma->flags & VM_SHARED))
			goto fail;
	}
	return mm;
fail:
	mm_put(mm);
	return NULL;
}

/* Pages [index, index + n) of a file vanish (truncate, punched hole): from every address space. */
void mm_unmap_inode(struct inode *inode, u64 index, u64 n)
{
	struct process *p;
	struct vma *vma;

	list_for_each(p, &process_list, all_link) {
		if (!p->mm)
			continue;
		list_for_each(vma, &p->mm->vmas, link) {
			u64 pages = (vma->end - vma->start) >> PAGE_SHIFT;
			u64 from = MAX(index, vma->pgoff), to = MIN(index + n, vma->pgoff + pages);

			if (vma->inode != inode || index + n < index || from >= to)
				continue;
			pgtable_unmap(p->mm, vma->start + ((from - vma->pgoff) << PAGE_SHIFT),
				      vma->start + ((to - vma->pgoff) << PAGE_SHIFT));
		}
	}
}
