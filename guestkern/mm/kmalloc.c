/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel heap: slabs of one size class each, cut from page blocks; larger requests are page
 * blocks of their own. An object finds its slab through its struct page.
 */
#include "mm/kmalloc.h"
#include "mm/page.h"
#include "core/print.h"
#include "core/string.h"

#define PG_SLAB 0x10

struct slab {
	struct list link;	/* partial list of its class */
	void *free;
	u16 used, class;
	u16 total, pad;
};

#define SLAB_HEADER 64		/* keeps objects 64-byte aligned where the class is a multiple of 64 */

static const u16 class_size[] = { 16, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048 };
#define NCLASSES ARRAY_SIZE(class_size)

static struct list partial[NCLASSES];

static unsigned slab_order(unsigned class)
{
	return class_size[class] > 256 ? 2 : 0;
}

static struct slab *slab_new(unsigned class)
{
	unsigned order = slab_order(class), size = class_size[class];
	struct page *page = page_alloc(order, 0);
	struct slab *slab;
	u8 *obj;

	if (!page)
		return NULL;
	for (unsigned i = 0; i < 1u << order; i++) {
		page[i].flags = PG_SLAB;
		page[i].pad = (u16)i;
	}
	slab = page_addr(page);
	slab->class = (u16)class;
	slab->used = 0;
	slab->total = (u16)(((PAGE_SIZE << order) - SLAB_HEADER) / size);
	slab->free = NULL;
	obj = (u8 *)slab + SLAB_HEADER;
	for (unsigned i = slab->total; i-- > 0;) {
		*(void **)(obj + i * size) = slab->free;
		slab->free = obj + i * size;
	}
	list_add(&partial[class], &slab->link);
	return slab;
}

static int class_of(size_t size)
{
	for (unsigned i = 0; i < NCLASSES; i++)
		if (size <= class_size[i])
			return (int)i;
	return -1;
}

static void *large_alloc(size_t size)
{
	unsigned order = 0;
	struct page *page;

	while (order < 10 && PAGE_SIZE << order < size)
		order++;
	if (PAGE_SIZE << order < size)
		return NULL;
	page = page_alloc(order, 0);
	return page ? page_addr(page) : NULL;
}

void *kmalloc(size_t size)
{
	int class = class_of(size);
	struct slab *slab;
	void *obj;

	if (class < 0)
		return large_alloc(size);
	if (!partial[class].next)
		list_init(&partial[class]);
	slab = list_empty(&partial[class]) ? slab_new((unsigned)class)
					   : list_first(&partial[class], struct slab, link);
	if (!slab)
		return NULL;
	obj = slab->free;
	slab->free = *(void **)obj;
	if (++slab->used == slab->total)
		list_del(&slab->link);
	return obj;
}

void *kzalloc(size_t size)
{
	void *p = kmalloc(size);

	if (p)
		memset(p, 0, size);
	return p;
}

void kfree(const void *p)
{
	struct page *page;
	struct slab *slab;

	if (!p)
		return;
	page = page_of(p);
	if (!(page->flags & PG_SLAB)) {
		page_put(page);
		return;
	}
	page -= page->pad;
	slab = page_addr(page);
	kassert(slab->used);
	if (slab->used-- == slab->total)
		list_add(&partial[slab->class], &slab->link);
	*(void **)p = slab->free;
	slab->free = (void *)p;
	if (!slab->used && partial[slab->class].next != partial[slab->class].prev) {
		list_del(&slab->link);
		for (unsigned i = 0; i < 1u << page->order; i++)
			page[i].flags = 0;
		page_put(page);
	}
}

char *kstrdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *p = kmalloc(n);

	if (p)
		memcpy(p, s, n);
	return p;
}
