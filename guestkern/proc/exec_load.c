/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address space of a new program: segments of the file and its interpreter, the stack with
 * arguments, environment and auxiliary vector (System V ABI, AMD64, 3.4.1), the vDSO. Nothing of
 * the running program is touched; memory is written through the direct map.
 */
#include "proc/exec_load.h"
#include "proc/elf.h"
#include "proc/fpu.h"
#include "proc/task.h"
#include "core/print.h"
#include "core/string.h"
#include "drivers/drivers.h"
#include "fs/vfs.h"
#include "mm/kmalloc.h"
#include "mm/pgtable.h"
#include "mm/page_init.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include <linux/auxvec.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <linux/mman.h>
#include <linux/resource.h>
#include <linux/stat.h>

#define PIE_BASE	0x555555554000ul
#define STACK_MIN	(128ul << 10)
#define STACK_MAX	(64ul << 20)
#define STACK_GAP	(1ul << 20)	/* unmapped, below the stack */
#define CLOCK_TICKS	100
#define MINSIGSTKSZ_FX	2048

extern const u8 vdso_start[], vdso_end[];

/* Write to the new program's memory; its pages are made as a write fault would. */
static int image_write(struct mm *mm, u64 addr, const void *src, size_t len)
{
	while (len) {
		size_t n = MIN(len, PAGE_SIZE - (addr & ~PAGE_MASK));
		bool huge;
		u64 *pte = pte_find(mm, addr, &huge), off;
		int code;

		if (!pte || (*pte & (PTE_P | PTE_W)) != (PTE_P | PTE_W)) {
			if (mm_fault(mm, addr, FAULT_WRITE, &code))
				return -EFAULT;
			pte = pte_find(mm, addr, &huge);
		}
		off = addr & (huge ? HUGE_SIZE - 1 : PAGE_SIZE - 1);
		u8 *to = (u8 *)page_addr(page_of_phys(*pte & PTE_ADDR)) + off;

		if (src)
			memcpy(to, src, n);
		else
			memset(to, 0, n);
		addr += n;
		len -= n;
		src = src ? (const u8 *)src + n : NULL;
	}
	return 0;
}

static int elf_prot(u32 flags)
{
	return (flags & PF_R ? PROT_READ : 0) | (flags & PF_W ? PROT_WRITE : 0) |
	       (flags & PF_X ? PROT_EXEC : 0);
}

static int segment_map(struct mm *mm, struct file *file, const Elf64_Phdr *p, u64 base)
{
	u64 start = (base + p->p_vaddr) & PAGE_MASK, data_end = base + p->p_vaddr + p->p_filesz;
	u64 file_end = ALIGN_UP(data_end, PAGE_SIZE);
	u64 end = ALIGN_UP(base + p->p_vaddr + p->p_memsz, PAGE_SIZE);
	int prot = elf_prot(p->p_flags);
	s64 at = 0;

	if (p->p_filesz)
		at = mm_mmap(mm, start, file_end - start, prot, MAP_PRIVATE | MAP_FIXED, file,
			     p->p_offset & PAGE_MASK);
	else
		file_end = start;
	if (at >= 0 && end > file_end)
		at = mm_mmap(mm, file_end, end - file_end, prot,
			     MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, NULL, 0);
	if (at < 0)
		return (int)at;
	/* The rest of the last file page is bss. */
	if (p->p_memsz > p->p_filesz && (p->p_flags & PF_W) && data_end & ~PAGE_MASK)
		return image_write(mm, data_end, NULL, ALIGN_UP(data_end, PAGE_SIZE) - data_end);
	return 0;
}

static int image_read(struct file *file, struct elf_image *elf)
{
	Elf64_Phdr phdrs[ELF_MAX_PHDRS];
	Elf64_Ehdr ehdr;
	long n = file_read_kernel(file, &ehdr, sizeof(ehdr), 0);

	if (n != sizeof(ehdr))
		return n < 0 ? (int)n : -ENOEXEC;
	if (elf_check_header(&ehdr))
		return -ENOEXEC;
	n = file_read_kernel(file, phdrs, ehdr.e_phnum * sizeof(*phdrs), ehdr.e_phoff);
	if (n != (long)(ehdr.e_phnum * sizeof(*phdrs)))
		return n < 0 ? (int)n : -ENOEXEC;
	return elf_parse(&ehdr, phdrs, file->inode->size, USER_TOP, elf);
}

/* Map an ELF file; *base is what was added to its addresses. */
static int image_map(struct mm *mm, struct file *file, const struct elf_image *elf, u64 want, u64 *base)
{
	int ret = 0;

	*base = 0;
	if (elf->pie) {
		u64 span = elf->high - elf->low;
		u64 at = want ? want : mm_find_gap(mm, span, PAGE_SIZE, mm->mmap_top);

		if (!at)
			return -ENOMEM;
		*base = at - elf->low;
	}
	if (elf->high + *base > mm->mmap_top)
		return -ENOMEM;
	for (unsigned i = 0; !ret && i < elf->nload; i++)
		ret = segment_map(mm, file, &elf->load[i], *base);
	return ret;
}

static int interp_map(struct mm *mm, struct file *program, const struct elf_image *elf, u64 *entry,
		      u64 *base)
{
	struct elf_image *interp = kmalloc(sizeof(*interp));
	char *path = kmalloc(PATH_MAX);
	struct file *file;
	int ret = interp && path ? 0 : -ENOMEM;

	if (!ret && file_read_kernel(program, path, elf->interp_len, elf->interp_off) != (long)elf->interp_len)
		ret = -ENOEXEC;
	if (!ret && path[elf->interp_len - 1])
		ret = -ENOEXEC;
	if (!ret)
		ret = file_open_exec(path, &file);
	if (!ret) {
		ret = image_read(file, interp);
		if (ret == -ENOEXEC)
			ret = -ELIBBAD;
		if (!ret)
			ret = image_map(mm, file, interp, 0, base);
		if (!ret)
			*entry = *base + interp->entry;
		file_put(file);
	}
	kfree(path);
	kfree(interp);
	return ret;
}

static int stack_map(struct mm *mm, bool exec)
{
	u64 size = current->proc->rlim[RLIMIT_STACK].cur;
	struct vma *vma;

	size = ALIGN_UP(MIN(MAX(size, STACK_MIN), STACK_MAX), PAGE_SIZE);
	mm->stack_top = USER_TOP;
	mm->mmap_top = USER_TOP - size - STACK_GAP;
	vma = vma_map(mm, USER_TOP - size, size,
		      VM_READ | VM_WRITE | VM_GROWSDOWN | VM_NOHUGE | (exec ? VM_EXEC : 0), NULL, 0);
	if (!vma)
		return -ENOMEM;
	vma->name = "[stack]";
	return 0;
}

/* The same pages in every program; filled in at once, so that it never faults. */
static u64 vdso_map(struct mm *mm)
{
	static struct page *pages;
	u64 size = ALIGN_UP((u64)(vdso_end - vdso_start), PAGE_SIZE), at;
	struct vma *vma;

	if (!pages) {
		unsigned order = 0;

		while (PAGE_SIZE << order < size)
			order++;
		pages = page_alloc(order, PAGE_ZEROED);
		if (!pages)
			return 0;
		page_split(pages);
		memcpy(page_addr(pages), vdso_start, (size_t)(vdso_end - vdso_start));
	}
	at = mm_find_gap(mm, size, PAGE_SIZE, mm->mmap_top);
	vma = at ? vma_map(mm, at, size, VM_READ | VM_EXEC | VM_SPECIAL, NULL, 0) : NULL;
	if (!vma)
		return 0;
	vma->name = "[vdso]";
	for (u64 off = 0; off < size; off += PAGE_SIZE) {
		u64 *pte = pte_make(mm, at + off);

		if (!pte)
			return 0;
		page_get(pages + (off >> PAGE_SHIFT));
		*pte = page_phys(pages + (off >> PAGE_SHIFT)) | PTE_P | PTE_U | PTE_AD;
		mm->rss_pages++;
	}
	return at;
}

struct stack_build {
	struct mm *mm;
	u64 sp;
	int err;
};

static u64 stack_push(struct stack_build *b, const void *data, size_t len)
{
	b->sp -= len;
	if (!b->err && b->sp < b->mm->mmap_top + STACK_GAP + PAGE_SIZE)
		b->err = -E2BIG;
	if (!b->err)
		b->err = image_write(b->mm, b->sp, data, len);
	return b->sp;
}

/* Pointers to each of n strings that start at addr, then NULL. Returns the next free word. */
static u64 *pointers_fill(u64 *word, u64 addr, const struct exec_strings *s)
{
	const char *str = s->buf;

	for (unsigned i = 0; i < s->n; i++) {
		size_t len = strlen(str) + 1;

		*word++ = addr;
		addr += len;
		str += len;
	}
	*word++ = 0;
	return word;
}

static unsigned auxv_fill(struct mm *mm, const struct elf_image *elf, u64 base, u64 interp_base,
			  u64 random, u64 execfn, u64 platform, u64 vdso)
{
	const struct cred *cred = &current->proc->cred;
	const u64 aux[][2] = {
		{ AT_SYSINFO_EHDR, vdso },
		{ AT_HWCAP, cpu_hwcap }, { AT_PAGESZ, PAGE_SIZE }, { AT_CLKTCK, CLOCK_TICKS },
		{ AT_PHDR, elf->phdr_vaddr ? base + elf->phdr_vaddr : 0 },
		{ AT_PHENT, sizeof(Elf64_Phdr) }, { AT_PHNUM, elf->phnum },
		{ AT_BASE, interp_base }, { AT_FLAGS, 0 }, { AT_ENTRY, base + elf->entry },
		{ AT_UID, cred->uid }, { AT_EUID, cred->euid }, { AT_GID, cred->gid },
		{ AT_EGID, cred->egid }, { AT_SECURE, cred->uid != cred->euid || cred->gid != cred->egid },
		{ AT_RANDOM, random }, { AT_HWCAP2, 0 }, { AT_EXECFN, execfn },
		{ AT_PLATFORM, platform },
		{ AT_MINSIGSTKSZ, MINSIGSTKSZ_FX - 512 + fpu_size }, { AT_NULL, 0 },
	};
	unsigned n = 0;

	_Static_assert(sizeof(aux) <= sizeof(mm->auxv), "room for the auxiliary vector");
	for (unsigned i = 0; i < ARRAY_SIZE(aux); i++) {
		if (aux[i][0] == AT_SYSINFO_EHDR && !vdso)
			continue;
		mm->auxv[n++] = aux[i][0];
		mm->auxv[n++] = aux[i][1];
	}
	return n;
}

static int stack_fill(struct exec_image *im, const struct elf_image *elf, u64 base, u64 interp_base,
		      const char *execfn, const struct exec_strings *argv,
		      const struct exec_strings *envp)
{
	struct stack_build b = { .mm = im->mm, .sp = im->mm->stack_top };
	u64 vdso = vdso_map(im->mm), zero = 0, fn, env, arg, platform, random, *words, *w;
	unsigned naux, nwords;
	u8 seed[16];

	random_bytes(seed, sizeof(seed));
	stack_push(&b, &zero, 8);
	fn = stack_push(&b, execfn, strlen(execfn) + 1);
	env = stack_push(&b, envp->buf, envp->len);
	arg = stack_push(&b, argv->buf, argv->len);
	im->mm->arg_start = arg, im->mm->arg_end = env;
	im->mm->env_start = env, im->mm->env_end = env + envp->len;
	platform = stack_push(&b, "x86_64", 7);
	random = stack_push(&b, seed, sizeof(seed));
	naux = auxv_fill(im->mm, elf, base, interp_base, random, fn, platform, vdso);
	nwords = 1 + argv->n + 1 + envp->n + 1 + naux;
	words = kmalloc(nwords * 8);
	if (!words)
		return -ENOMEM;
	words[0] = argv->n;
	w = pointers_fill(words + 1, arg, argv);
	w = pointers_fill(w, env, envp);
	memcpy(w, im->mm->auxv, naux * 8);
	b.sp = ALIGN_DOWN(b.sp - nwords * 8, 16) + nwords * 8;
	im->stack = stack_push(&b, words, nwords * 8);
	kfree(words);
	return b.err;
}

static int image_build(struct exec_image *im, struct file *file, struct elf_image *elf,
		       const char *execfn, const struct exec_strings *argv,
		       const struct exec_strings *envp)
{
	u64 base = 0, interp_base = 0;
	int ret = stack_map(im->mm, elf->exec_stack);

	if (!ret)
		ret = image_map(im->mm, file, elf, PIE_BASE, &base);
	if (ret)
		return ret;
	im->entry = base + elf->entry;
	im->mm->code_start = base + elf->low;
	im->mm->brk_start = im->mm->brk = base + elf->high;
	if (elf->interp_len)
		ret = interp_map(im->mm, file, elf, &im->entry, &interp_base);
	return ret ? ret : stack_fill(im, elf, base, interp_base, execfn, argv, envp);
}

int exec_load(struct exec_image *im, struct file *file, const char *execfn,
	      const struct exec_strings *argv, const struct exec_strings *envp)
{
	struct elf_image *elf = kmalloc(sizeof(*elf));
	int ret = elf ? image_read(file, elf) : -ENOMEM;

	if (!ret) {
		im->mm = mm_new();
		ret = im->mm ? image_build(im, file, elf, execfn, argv, envp) : -ENOMEM;
		if (ret && im->mm)
			mm_put(im->mm);
	}
	kfree(elf);
	return ret;
}

void cred_exec(struct file *file)
{
	struct cred *cred = &current->proc->cred;

	if (file->inode->mode & S_ISUID)
		cred->euid = file->inode->uid;
	if ((file->inode->mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		cred->egid = file->inode->gid;
	cred->suid = cred->fsuid = cred->euid;
	cred->sgid = cred->fsgid = cred->egid;
}
