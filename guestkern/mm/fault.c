/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page faults of programs. A fault costs 15 us on hosts that emulate ring 0 and a first touch of
 * a page about as much again under shadow paging, so neighbours are mapped along: fresh zero
 * pages for anonymous memory, pages already in the page cache for files, copies for a file's
 * private writable data. Anonymous memory takes 2 MiB pages where the VMA covers them.
 */
#include "mm/vm.h"
#include "mm/pgtable.h"
#include "core/print.h"
#include "core/string.h"
#include "fs/vfs.h"
#include "husk/fdt.h"
#include <linux/errno.h>
#include <asm/signal.h>
#include <asm/siginfo.h>

#define AROUND_ANON	16	/* pages, aligned; a power of two */
#define AROUND_FILE	64
#define AROUND_COPY	16
#define DATA_SEGMENT_MAX (4ul << 20)

static u64 pte_bits(const struct vma *vma, bool writable)
{
	u64 bits = PTE_P | PTE_U | PTE_AD;

	if (writable && (vma->flags & VM_WRITE))
		bits |= PTE_W;
	if (!(vma->flags & VM_EXEC))
		bits |= PTE_NX;
	return bits;
}

static void pte_install(struct mm *mm, u64 *pte, struct page *page, u64 bits)
{
	*pte = page_phys(page) | bits;
	mm->rss_pages++;
}

/* The aligned window of n pages around addr, inside the VMA and inside one page table. */
static void fault_window(const struct vma *vma, u64 addr, unsigned n, u64 *start, u64 *end)
{
	u64 base = ALIGN_DOWN(addr, n * PAGE_SIZE);

	*start = MAX(base, vma->start);
	*end = MIN(base + n * PAGE_SIZE, vma->end);
}

static bool fault_huge(struct mm *mm, struct vma *vma, u64 addr)
{
	u64 base = ALIGN_DOWN(addr, HUGE_SIZE), *pde;
	struct page *page;

	if ((vma->flags & (VM_NOHUGE | VM_SHARED)) || base < vma->start || vma->end - base < HUGE_SIZE)
		return false;
	if (page_free_count() < page_total_count() / 4)
		return false;
	pde = pde_make(mm, base);
	if (!pde || (*pde & PTE_P))
		return false;
	page = page_alloc(9, PAGE_ZEROED);
	if (!page)
		return false;
	*pde = page_phys(page) | pte_bits(vma, true) | PTE_PS;
	mm->rss_pages += 512;
	return true;
}

static int fault_anon(struct mm *mm, struct vma *vma, u64 addr)
{
	u64 start, end, *pte;

	if (fault_huge(mm, vma, addr))
		return 0;
	fault_window(vma, addr, page_free_count() > 4096 ? AROUND_ANON : 1, &start, &end);
	pte = pte_make(mm, start);
	if (!pte)
		return -ENOMEM;
	for (u64 at = start; at < end; at += PAGE_SIZE, pte++) {
		struct page *page;

		if (*pte)
			continue;
		page = page_alloc(0, PAGE_ZEROED);
		if (!page)
			return at > addr ? 0 : -ENOMEM;
		pte_install(mm, pte, page, pte_bits(vma, true));
	}
	return 0;
}

static u64 vma_index(const struct vma *vma, u64 addr)
{
	return vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT);
}

static struct page *page_copy(struct page *from)
{
	struct page *page = page_alloc(0, 0);

	if (page)
		memcpy(page_addr(page), page_addr(from), PAGE_SIZE);
	return page;
}

/* Map what the cache already holds around addr; addr itself is mapped by the caller. */
static void fault_around_file(struct mm *mm, struct vma *vma, u64 addr, bool copy)
{
	u64 start, end, *pte, bits;

	fault_window(vma, addr, copy ? AROUND_COPY : AROUND_FILE, &start, &end);
	pte = pte_make(mm, start);
	if (!pte)
		return;
	bits = pte_bits(vma, copy || (vma->flags & VM_SHARED));
	if (vma->flags & VM_SHARED)
		bits &= ~PTE_W;		/* the write fault marks the page dirty */
	for (u64 at = start; at < end; at += PAGE_SIZE, pte++) {
		struct page *page;

		if (*pte)
			continue;
		page = pagecache_peek(vma->inode, vma_index(vma, at));
		if (page && copy) {
			struct page *own = page_copy(page);

			page_put(page);
			page = own;
		}
		if (page)
			pte_install(mm, pte, page, bits);
	}
}

/*
 * Initialised data: read first, as a rule, and written soon (relocation, reference counts). Copied
 * at once it costs one fault instead of two. Large private mappings are more likely just read.
 */
static bool data_segment(const struct vma *vma)
{
	return (vma->flags & VM_WRITE) && vma->end - vma->start <= DATA_SEGMENT_MAX;
}

/*
 * First touch of a file page. Reading it may sleep, and then anything may have changed: the
 * caller looks everything up again (-EAGAIN) once the page is in the cache.
 */
static int fault_file(struct mm *mm, struct vma *vma, u64 addr, bool write)
{
	struct page *page = pagecache_peek(vma->inode, vma_index(vma, addr));
	bool shared = vma->flags & VM_SHARED, copy;
	u64 *pte;

	if (!page) {
		struct inode *inode = vma->inode;
		u64 index = vma_index(vma, addr);
		int ret;

		inode_get(inode);
		ret = pagecache_get(inode, index, &page);
		if (!ret)
			page_put(page);
		inode_put(inode);
		return ret ? ret : -EAGAIN;
	}
	pte = pte_make(mm, addr);
	if (!pte)
		goto nomem;
	copy = !shared && (write || data_segment(vma));
	if (copy) {
		struct page *own = page_copy(page);

		page_put(page);
		page = own;
		if (!page)
			return -ENOMEM;
	} else if (write) {
		pagecache_dirty(vma->inode, vma_index(vma, addr));
	}
	pte_install(mm, pte, page, pte_bits(vma, write || copy));
	fault_around_file(mm, vma, addr, copy);
	return 0;
nomem:
	page_put(page);
	return -ENOMEM;
}

/* A write to a present, write-protected page: ours alone, copy-on-write, or shared and clean. */
static int fault_write_protected(struct mm *mm, struct vma *vma, u64 addr, u64 *pte, bool huge)
{
	struct page *page = page_of_phys(*pte & PTE_ADDR), *own;
	u64 phys = *pte & PTE_ADDR;

	if (vma->flags & VM_SHARED) {
		if (vma->inode)
			pagecache_dirty(vma->inode, vma_index(vma, addr));
		*pte |= PTE_W;
		return 0;
	}
	if (page->refs == 1 && (!huge || page->order)) {
		*pte |= PTE_W;
		return 0;
	}
	if (huge) {
		pte = pte_make(mm, addr);	/* splits */
		if (!pte)
			return -ENOMEM;
		phys = *pte & PTE_ADDR;
		page = page_of_phys(phys);
		if (page->refs == 1) {
			*pte |= PTE_W;
			return 0;
		}
	}
	own = page_copy(page);
	if (!own)
		return -ENOMEM;
	*pte = page_phys(own) | pte_bits(vma, true);
	page_put(page);
	return 0;
}

static int fault_handle(struct mm *mm, struct vma *vma, u64 addr, u64 err)
{
	bool write = err & FAULT_WRITE, huge;
	u64 *pte = pte_find(mm, addr, &huge);

	if (pte && (*pte & PTE_P)) {
		/* Present: a protection that has been lifted meanwhile, or copy-on-write. */
		if (write && !(*pte & PTE_W))
			return fault_write_protected(mm, vma, addr, pte, huge);
		return 0;
	}
	if (vma->inode)
		return fault_file(mm, vma, addr, write);
	return fault_anon(mm, vma, addr);
}

int mm_read_remote(struct mm *mm, u64 addr, void *buf, size_t len)
{
	while (len) {
		size_t n = MIN(len, PAGE_SIZE - (addr & ~PAGE_MASK));
		bool huge;
		u64 *pte = pte_find(mm, addr, &huge), off;
		int code;

		if (!pte || !(*pte & PTE_P)) {
			if (mm_fault(mm, addr, 0, &code))
				return -EFAULT;
			pte = pte_find(mm, addr, &huge);
		}
		off = addr & (huge ? HUGE_SIZE - 1 : PAGE_SIZE - 1);
		memcpy(buf, (u8 *)page_addr(page_of_phys(*pte & PTE_ADDR)) + off, n);
		buf = (u8 *)buf + n;
		addr += n;
		len -= n;
	}
	return 0;
}

int mm_fault(struct mm *mm, u64 addr, u64 err, int *code)
{
	int ret;

	addr &= PAGE_MASK;
	do {
		struct vma *vma = vma_find(mm, addr);
		u32 need = err & FAULT_WRITE ? VM_WRITE : err & FAULT_FETCH ? VM_EXEC :
			   VM_READ | VM_WRITE | VM_EXEC;

		if (!vma) {
			*code = SEGV_MAPERR;
			return SIGSEGV;
		}
		if (!(vma->flags & need)) {
			*code = SEGV_ACCERR;
			return SIGSEGV;
		}
		ret = fault_handle(mm, vma, addr, err);
	} while (ret == -EAGAIN);
	trace(HUSK_TRACE_MM, "fault %lx err %lx: %d", addr, err, ret);
	if (!ret)
		return 0;
	if (ret == -ENOMEM)
		klog("out of memory: raise --memory (page fault at 0x%lx)", addr);
	*code = BUS_ADRERR;
	return ret == -ENOMEM ? SIGKILL : SIGBUS;
}
