/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page allocator: buddy free lists over a frontier of pages that were never used. The host
 * gives memory zeroed and lazily, so a page from the frontier needs neither clearing nor, until
 * the program touches it, any host memory. Small blocks grow the frontier from below, 2 MiB
 * blocks from above.
 */
#include "mm/page.h"
#include "mm/page_init.h"
#include "core/print.h"
#include "core/string.h"
#include "husk/layout.h"

#define MAX_ORDER 10
#define HUGE_ORDER 9
#define ARRAY_LEAD (64ul << 10)	/* describes the first 10 MiB of RAM */

#define PG_FREE		0x01	/* head of a free block */
#define PG_CLEAN	0x02	/* and all of it is zero */

struct frontier {
	u64 low, high;		/* pfns never used: [low, high) */
};

static struct page *pages;	/* by pfn; the part that describes unused RAM is never touched */
static u64 npfns;
static struct list free_list[MAX_ORDER + 1];
static struct frontier frontier[3];
static unsigned nfrontiers;
static u64 free_pages, total_pages;

void *page_addr(const struct page *page)
{
	return (void *)(HUSK_DIRECT_MAP + page_phys(page));
}

u64 page_phys(const struct page *page)
{
	return (u64)(page - pages) << PAGE_SHIFT;
}

struct page *page_of_phys(u64 phys)
{
	kassert(phys >> PAGE_SHIFT < npfns);
	return &pages[phys >> PAGE_SHIFT];
}

struct page *page_of(const void *addr)
{
	return page_of_phys((u64)addr - HUSK_DIRECT_MAP);
}

u64 page_free_count(void)
{
	return free_pages;
}

u64 page_total_count(void)
{
	return total_pages;
}

static void frontier_add(u64 start, u64 end)
{
	struct frontier *f = &frontier[nfrontiers++];

	if (end < start)
		panic("no memory left for pages: 0x%lx to 0x%lx", start, end);
	f->low = start >> PAGE_SHIFT;
	f->high = end >> PAGE_SHIFT;
	free_pages += f->high - f->low;
}

/*
 * The first 2 MiB page behind the kernel's text holds its data, then the first pages to hand out,
 * then the beginning of the page array, whose rest is behind it. So a small program's whole VM
 * touches two 2 MiB pages of the host: clearing one costs more than all the rest of boot.
 */
void page_init(const struct ram *ram, unsigned nram, u64 first_free)
{
	u64 array = ALIGN_UP(first_free + ARRAY_LEAD, HUGE_SIZE) - ARRAY_LEAD, array_end;

	for (unsigned i = 0; i <= MAX_ORDER; i++)
		list_init(&free_list[i]);
	npfns = (ram[nram - 1].base + ram[nram - 1].size) >> PAGE_SHIFT;
	pages = (struct page *)(HUSK_DIRECT_MAP + array);
	array_end = ALIGN_UP(array + npfns * sizeof(struct page), PAGE_SIZE);
	frontier_add(first_free, array);
	frontier_add(array_end, ram[0].base + ram[0].size);
	if (nram > 1)
		frontier_add(ram[1].base, ram[1].base + ram[1].size);
	for (unsigned i = 0; i < nram; i++)
		total_pages += ram[i].size >> PAGE_SHIFT;
}

static void block_free(struct page *page, unsigned order, bool clean)
{
	u64 pfn = (u64)(page - pages);

	while (order < MAX_ORDER) {
		struct page *buddy = &pages[pfn ^ (1ul << order)];

		if ((u64)(buddy - pages) >= npfns || !(buddy->flags & PG_FREE) || buddy->order != order)
			break;
		list_del(&buddy->link);
		clean = clean && (buddy->flags & PG_CLEAN);
		buddy->flags = 0;
		pfn &= ~(1ul << order);
		order++;
	}
	page = &pages[pfn];
	page->order = (u8)order;
	page->flags = PG_FREE | (clean ? PG_CLEAN : 0);
	list_add(&free_list[order], &page->link);
}

/* From the frontier; small blocks may skip a few pages for alignment, which become free blocks. */
static struct page *frontier_take(unsigned order)
{
	u64 n = 1ul << order;

	for (unsigned i = 0; i < nfrontiers; i++) {
		struct frontier *f = &frontier[order >= HUGE_ORDER ? nfrontiers - 1 - i : i];

		if (order >= HUGE_ORDER) {
			u64 at = ALIGN_DOWN(f->high, n) - n;

			if (f->high < n || at < f->low || at > f->high)
				continue;
			for (u64 pfn = at + n; pfn < f->high; pfn++)
				block_free(&pages[pfn], 0, true);
			f->high = at;
			return &pages[at];
		}
		u64 at = ALIGN_UP(f->low, n);

		if (at + n > f->high)
			continue;
		for (; f->low < at; f->low++)
			block_free(&pages[f->low], 0, true);
		f->low = at + n;
		return &pages[at];
	}
	return NULL;
}

/* From the free lists, splitting a larger block if need be. */
static struct page *freelist_take(unsigned order, bool *clean)
{
	for (unsigned o = order; o <= MAX_ORDER; o++) {
		if (list_empty(&free_list[o]))
			continue;
		struct page *page = list_first(&free_list[o], struct page, link);

		list_del(&page->link);
		*clean = page->flags & PG_CLEAN;
		while (o > order) {
			o--;
			struct page *half = page + (1ul << o);

			half->order = (u8)o;
			half->flags = PG_FREE | (*clean ? PG_CLEAN : 0);
			list_add(&free_list[o], &half->link);
		}
		return page;
	}
	return NULL;
}

struct page *page_alloc(unsigned order, unsigned flags)
{
	bool clean = true;
	struct page *page;

	kassert(order <= MAX_ORDER);
	page = freelist_take(order, &clean);
	if (!page) {
		clean = true;
		page = frontier_take(order);
	}
	if (!page)
		return NULL;
	free_pages -= 1ul << order;
	page->refs = 1;
	page->order = (u8)order;
	page->flags = 0;
	page->pad = 0;
	list_init(&page->link);
	if ((flags & PAGE_ZEROED) && !clean)
		memset(page_addr(page), 0, PAGE_SIZE << order);
	return page;
}

void page_get(struct page *page)
{
	kassert(page->refs);
	page->refs++;
}

void page_put(struct page *page)
{
	kassert(page->refs);
	if (--page->refs)
		return;
	free_pages += 1ul << page->order;
	block_free(page, page->order, false);
}

void page_split(struct page *page)
{
	unsigned n = 1u << page->order;
	u32 refs = page->refs;

	for (unsigned i = 0; i < n; i++) {
		page[i].refs = refs;
		page[i].order = 0;
		page[i].flags = 0;
		list_init(&page[i].link);
	}
}
