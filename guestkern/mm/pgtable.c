/* SPDX-License-Identifier: Apache-2.0 */
/* Page tables: walking, splitting, unmapping, protecting, copying. Pages are counted by mapping. */
#include "mm/pgtable.h"
#include "mm/page_init.h"
#include "mm/vm.h"
#include "core/print.h"
#include "core/string.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"
#include <linux/errno.h>

#define TABLE_FLAGS (PTE_P | PTE_W | PTE_U | PTE_AD)
#define ENTRIES 512

static u64 *table_of(u64 entry)
{
	return page_addr(page_of_phys(entry & PTE_ADDR));
}

static u64 *table_step(u64 *table, u64 addr, unsigned shift, bool make)
{
	u64 *entry = &table[addr >> shift & (ENTRIES - 1)];
	struct page *page;

	if (*entry & PTE_P)
		return table_of(*entry);
	if (!make)
		return NULL;
	page = page_alloc(0, PAGE_ZEROED);
	if (!page)
		return NULL;
	*entry = page_phys(page) | TABLE_FLAGS;
	return page_addr(page);
}

static u64 *pde_walk(struct mm *mm, u64 addr, bool make)
{
	u64 *table = mm->pml4;

	for (unsigned shift = 39; shift > 21; shift -= 9) {
		table = table_step(table, addr, shift, make);
		if (!table)
			return NULL;
	}
	return &table[addr >> 21 & (ENTRIES - 1)];
}

u64 *pde_make(struct mm *mm, u64 addr)
{
	return pde_walk(mm, addr, true);
}

/* Replace a 2 MiB entry by a table of 4 KiB entries with the same rights. */
static int pde_split(u64 *pde)
{
	struct page *head = page_of_phys(*pde & PTE_ADDR), *page = page_alloc(0, 0);
	u64 bits = *pde & ~(PTE_ADDR | PTE_PS), phys = *pde & PTE_ADDR;
	u64 *table;

	if (!page)
		return -ENOMEM;
	if (head->order)
		page_split(head);
	table = page_addr(page);
	for (unsigned i = 0; i < ENTRIES; i++)
		table[i] = (phys + i * PAGE_SIZE) | bits;
	*pde = page_phys(page) | TABLE_FLAGS;
	return 0;
}

u64 *pte_make(struct mm *mm, u64 addr)
{
	u64 *pde = pde_walk(mm, addr, true);

	if (!pde)
		return NULL;
	if ((*pde & PTE_PS) && pde_split(pde))
		return NULL;
	if (!(*pde & PTE_P)) {
		struct page *page = page_alloc(0, PAGE_ZEROED);

		if (!page)
			return NULL;
		*pde = page_phys(page) | TABLE_FLAGS;
	}
	return &table_of(*pde)[addr >> 12 & (ENTRIES - 1)];
}

u64 *pte_find(struct mm *mm, u64 addr, bool *huge)
{
	u64 *pde = pde_walk(mm, addr, false);

	*huge = false;
	if (!pde || !(*pde & PTE_P))
		return NULL;
	*huge = *pde & PTE_PS;
	return *huge ? pde : &table_of(*pde)[addr >> 12 & (ENTRIES - 1)];
}

void flush_end(struct flush *f)
{
	if (!f->n || cpu_this()->loaded_cr3 != f->mm->cr3)
		return;
	if (f->n == 1)
		nucleus_call(nc_invlpg, f->addr[0], 0);
	else if (f->n <= FLUSH_MAX)
		nucleus_call(nc_invlpg_list, (u64)f->addr, f->n);
	else
		nucleus_call(nc_flush, 0, 0);
}

/* A 2 MiB block that was split while another address space still maps it whole has order 0. */
static void huge_put(u64 pde)
{
	struct page *head = page_of_phys(pde & PTE_ADDR);

	if (head->order) {
		page_put(head);
		return;
	}
	for (unsigned i = 0; i < ENTRIES; i++)
		page_put(head + i);
}

static void huge_get(u64 pde)
{
	struct page *head = page_of_phys(pde & PTE_ADDR);

	if (head->order) {
		page_get(head);
		return;
	}
	for (unsigned i = 0; i < ENTRIES; i++)
		page_get(head + i);
}

static u64 step_end(u64 addr, u64 end, unsigned shift)
{
	u64 next = (addr | ((1ul << shift) - 1)) + 1;

	return MIN(next, end);
}

/* The entry of addr for a loop over [addr, end): *next is where the next one starts. */
static u64 *range_entry(struct mm *mm, u64 addr, u64 end, u64 *next, bool *huge)
{
	u64 *pde = pde_walk(mm, addr, false);

	*huge = false;
	*next = step_end(addr, end, pde ? 21 : 30);	/* without a PD the whole GiB is empty */
	if (!pde || !(*pde & PTE_P))
		return NULL;
	if (*pde & PTE_PS) {
		bool whole = !(addr & (HUGE_SIZE - 1)) && *next - addr == HUGE_SIZE;

		if (whole || pde_split(pde)) {
			*huge = true;
			return pde;
		}
	}
	*next = addr + PAGE_SIZE;
	return &table_of(*pde)[addr >> 12 & (ENTRIES - 1)];
}

void pgtable_unmap(struct mm *mm, u64 start, u64 end)
{
	struct flush f;
	u64 next;

	flush_begin(&f, mm);
	for (u64 addr = start; addr < end; addr = next) {
		bool huge;
		u64 *entry = range_entry(mm, addr, end, &next, &huge), old;

		if (!entry || !(*entry & PTE_P))
			continue;
		old = *entry;
		*entry = 0;
		flush_add(&f, addr);
		if (huge) {
			huge_put(old);
			mm->rss_pages -= ENTRIES;
		} else {
			page_put(page_of_phys(old & PTE_ADDR));
			mm->rss_pages--;
		}
	}
	flush_end(&f);
}

/*
 * Rights only ever shrink here: a page that becomes writable is made so by its next write fault,
 * which also decides about copying.
 */
void pgtable_protect(struct mm *mm, u64 start, u64 end, u32 vm_flags)
{
	struct flush f;
	u64 next;

	flush_begin(&f, mm);
	for (u64 addr = start; addr < end; addr = next) {
		bool huge;
		u64 *entry = range_entry(mm, addr, end, &next, &huge), old;

		if (!entry || !(*entry & PTE_P))
			continue;
		old = *entry;
		*entry &= ~PTE_NX;
		if (!(vm_flags & VM_EXEC))
			*entry |= PTE_NX;
		if (!(vm_flags & VM_WRITE))
			*entry &= ~PTE_W;
		if (!(vm_flags & (VM_READ | VM_WRITE | VM_EXEC)))
			*entry &= ~PTE_U;	/* PROT_NONE: kept, not reachable from ring 3 */
		else
			*entry |= PTE_U;
		if (*entry != old)
			flush_add(&f, addr);
	}
	flush_end(&f);
}

int pgtable_copy(struct mm *child, struct mm *parent, u64 start, u64 end, bool shared)
{
	struct flush f;
	u64 next;
	int ret = 0;

	flush_begin(&f, parent);
	for (u64 addr = start; addr < end; addr = next) {
		bool huge;
		u64 *from = range_entry(parent, addr, end, &next, &huge), *to;

		if (!from || !(*from & PTE_P))
			continue;
		to = huge ? pde_make(child, addr) : pte_make(child, addr);
		if (!to) {
			ret = -ENOMEM;
			break;
		}
		if (!shared && (*from & PTE_W)) {
			*from &= ~PTE_W;
			flush_add(&f, addr);
		}
		*to = *from;
		if (huge)
			huge_get(*from);
		else
			page_get(page_of_phys(*from & PTE_ADDR));
		child->rss_pages += huge ? ENTRIES : 1;
	}
	flush_end(&f);
	return ret;
}

int pgtable_move(struct mm *mm, u64 from, u64 to, u64 len)
{
	struct flush f;
	bool huge;
	u64 next;

	for (u64 off = 0; off < len; off = ALIGN_DOWN(to + off, HUGE_SIZE) + HUGE_SIZE - to)
		if (!pte_make(mm, to + off))
			return -ENOMEM;
	flush_begin(&f, mm);
	for (u64 addr = from; addr < from + len; addr = next) {
		u64 *entry = range_entry(mm, addr, from + len, &next, &huge);

		if (entry && huge && pde_split(entry))
			return -ENOMEM;
		if (entry && huge)
			entry = range_entry(mm, addr, from + len, &next, &huge);
		if (!entry || !(*entry & PTE_P))
			continue;
		*pte_make(mm, to + (addr - from)) = *entry;
		*entry = 0;
		flush_add(&f, addr);
	}
	flush_end(&f);
	return 0;
}

static void table_free(u64 *table, unsigned level)
{
	for (unsigned i = 0; i < ENTRIES; i++) {
		if (level > 1 && (table[i] & PTE_P) && !(table[i] & PTE_PS))
			table_free(table_of(table[i]), level - 1);
	}
	page_put(page_of(table));
}

/* All mappings are gone already (pgtable_unmap); the kernel's slot is not ours. */
void pgtable_free(struct mm *mm)
{
	mm->pml4[WINDOW_SLOT] = 0;
	table_free(mm->pml4, 4);
	mm->pml4 = NULL;
}
