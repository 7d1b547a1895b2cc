/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls without a trap. A site
 *
 *	b8 NR NR NR NR	mov $NR, %eax
 *	0f 05		syscall
 *
 * becomes `jmp stub; syscall`, in a private copy of the page. The stub, within 2 GiB of it, is
 *
 *	b8 NR NR NR NR			mov $NR, %eax
 *	48 b9 <address behind syscall>	movabs $ret, %rcx
 *	65 ff 24 25 <PC_FAST_ENTRY>	jmp *%gs:fast_entry
 *
 * Neither stack nor other registers are touched, and the syscall bytes stay for whoever jumps to
 * them. The store is one aligned word, or the program has one thread.
 */
#include "proc/patch.h"
#include "proc/task.h"
#include "core/print.h"
#include "core/string.h"
#include "husk/fdt.h"
#include "mm/kmalloc.h"
#include "mm/pgtable.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "nucleus/offsets.h"

#define SITE_LEN 7		/* mov and syscall */
#define STUB_SIZE 32
#define STUBS_PER_PAGE (PAGE_SIZE / STUB_SIZE)
#define REACH 0x7ff00000ul	/* of a rel32 jump, with some room */
#define WORTH 3			/* traps before a site is rewritten: a rewriting costs a few traps */

struct stub_page {
	struct list link;	/* mm->stub_pages */
	u64 addr;
	unsigned used;
};

void patch_copy(struct mm *to, const struct mm *from)
{
	struct stub_page *p, *copy;

	list_for_each(p, &from->stub_pages, link) {
		copy = kmalloc(sizeof(*copy));
		if (!copy)
			return;		/* the pages are there all the same; new stubs get new ones */
		*copy = *p;
		list_add_tail(&to->stub_pages, &copy->link);
	}
}

void patch_free(struct mm *mm)
{
	struct stub_page *p, *tmp;

	list_for_each_safe(p, tmp, &mm->stub_pages, link)
		kfree(p);
	list_init(&mm->stub_pages);
}

static bool reachable(u64 a, u64 b)
{
	return a < b ? b - a < REACH : a - b < REACH;
}

static bool stub_page_alive(struct mm *mm, const struct stub_page *p)
{
	struct vma *vma = vma_find(mm, p->addr);

	return vma && (vma->flags & VM_PATCH);
}

static struct stub_page *stub_page_new(struct mm *mm, u64 site)
{
	u64 at = mm_find_gap(mm, PAGE_SIZE, PAGE_SIZE, MIN(site + REACH, mm->mmap_top));
	struct stub_page *p;
	struct vma *vma;

	if (!at || !reachable(at, site))
		return NULL;
	p = kmalloc(sizeof(*p));
	vma = p ? vma_map(mm, at, PAGE_SIZE, VM_READ | VM_EXEC | VM_PATCH, NULL, 0) : NULL;
	if (!vma) {
		kfree(p);
		return NULL;
	}
	vma->name = "[syscalls]";
	p->addr = at;
	p->used = 0;
	list_add(&mm->stub_pages, &p->link);
	return p;
}

static struct stub_page *stub_page_near(struct mm *mm, u64 site)
{
	struct stub_page *p;

	list_for_each(p, &mm->stub_pages, link)
		if (p->used < STUBS_PER_PAGE && reachable(p->addr, site) && stub_page_alive(mm, p))
			return p;
	return stub_page_new(mm, site);
}

/* A kernel pointer to the page of addr, made private to this address space; NULL: cannot. */
static u8 *page_private(struct mm *mm, u64 addr)
{
	u64 *pte = pte_make(mm, addr);
	struct page *page, *own;
	struct flush f;

	if (!pte)
		return NULL;
	if (!(*pte & PTE_P)) {
		page = page_alloc(0, PAGE_ZEROED);
		if (!page)
			return NULL;
		*pte = page_phys(page) | PTE_P | PTE_U | PTE_AD;
		mm->rss_pages++;
	}
	page = page_of_phys(*pte & PTE_ADDR);
	if (page->refs > 1) {
		own = page_alloc(0, 0);
		if (!own)
			return NULL;
		memcpy(page_addr(own), page_addr(page), PAGE_SIZE);
		*pte = page_phys(own) | (*pte & ~PTE_ADDR);
		page_put(page);
		page = own;
		flush_begin(&f, mm);
		flush_add(&f, addr & PAGE_MASK);
		flush_end(&f);
	}
	return (u8 *)page_addr(page) + (addr & ~PAGE_MASK);
}

static u64 stub_make(struct mm *mm, u64 site, u32 nr)
{
	struct stub_page *p = stub_page_near(mm, site);
	u64 at = p ? p->addr + p->used * STUB_SIZE : 0, ret = site + SITE_LEN;
	u8 *to = p ? page_private(mm, at) : NULL;
	const u32 entry = PC_FAST_ENTRY;

	if (!to)
		return 0;
	p->used++;
	to[0] = 0xb8;
	memcpy(to + 1, &nr, 4);
	to[5] = 0x48, to[6] = 0xb9;
	memcpy(to + 7, &ret, 8);
	to[15] = 0x65, to[16] = 0xff, to[17] = 0x24, to[18] = 0x25;
	memcpy(to + 19, &entry, 4);
	return at;
}

/* Is the site the one shape that we rewrite? Its bytes in code[-1 .. 7]. */
static bool site_proven(const u8 *code, u32 eax)
{
	u32 nr;

	memcpy(&nr, code + 1, 4);
	/* A REX.B prefix in front makes it a mov to r8d; the number must be what was just used. */
	return code[0] == 0xb8 && code[5] == 0x0f && code[6] == 0x05 && nr == eax &&
	       (code[-1] & 0xf1) != 0x41;
}

/* Count traps by site in a small table; sites that share an entry push each other out. */
static bool site_worth(struct mm *mm, u64 rip)
{
	struct site_count *c = &mm->sites[(rip ^ rip >> 6 ^ rip >> 12) % MM_SITES];

	if (c->rip != rip)
		*c = (struct site_count){ .rip = rip };
	return ++c->traps >= WORTH;
}

void patch_site(struct regs *regs)
{
	struct process *proc = current->proc;
	u64 site = regs->rip - SITE_LEN, stub;
	struct vma *vma;
	u8 code[SITE_LEN + 1], *to;
	s64 rel;

	/* One page, so that one copy holds it all. */
	if (!proc->patch || !site_worth(proc->mm, regs->rip))
		return;
	if ((site - 1) >> PAGE_SHIFT != (regs->rip - 1) >> PAGE_SHIFT)
		return;
	if ((site & 7) > 3 && (proc->nthreads > 1 || proc->mm->users > 1))
		return;
	vma = vma_find(proc->mm, site);
	if (!vma || (vma->flags & (VM_SHARED | VM_PATCH | VM_SPECIAL)) || !(vma->flags & VM_EXEC))
		return;
	if (copy_from_user(code, site - 1, sizeof(code)) || !site_proven(code + 1, (u32)regs->orig_rax))
		return;
	to = page_private(proc->mm, site);
	stub = to ? stub_make(proc->mm, site, (u32)regs->orig_rax) : 0;
	if (!stub)
		return;
	rel = (s64)(stub - (site + 5));
	if ((site & 7) <= 3) {
		u64 *word = (u64 *)(to - (site & 7)), new = *word;

		((u8 *)&new)[site & 7] = 0xe9;
		memcpy((u8 *)&new + (site & 7) + 1, &rel, 4);
		__atomic_store_n(word, new, __ATOMIC_RELEASE);
	} else {
		to[0] = 0xe9;
		memcpy(to + 1, &rel, 4);
	}
	trace(HUSK_TRACE_MM, "system-call site 0x%lx (%lu) patched", site, regs->orig_rax);
}
