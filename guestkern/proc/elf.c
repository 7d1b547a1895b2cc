/* SPDX-License-Identifier: Apache-2.0 */
/* ELF program headers (System V ABI, AMD64 supplement; generic ABI chapter 5), every field checked. */
#include "proc/elf.h"
#include "core/string.h"
#include <linux/errno.h>

int elf_check_header(const Elf64_Ehdr *e)
{
	if (memcmp(e->e_ident, ELFMAG, SELFMAG) || e->e_ident[EI_CLASS] != ELFCLASS64 ||
	    e->e_ident[EI_DATA] != ELFDATA2LSB || e->e_machine != EM_X86_64)
		return -ENOEXEC;
	if (e->e_type != ET_EXEC && e->e_type != ET_DYN)
		return -ENOEXEC;
	if (e->e_phentsize != sizeof(Elf64_Phdr) || !e->e_phnum || e->e_phnum > ELF_MAX_PHDRS)
		return -ENOEXEC;
	return 0;
}

static int load_check(const Elf64_Phdr *p, u64 file_size, u64 user_top, u64 floor)
{
	if (p->p_filesz > p->p_memsz || p->p_offset > file_size || p->p_filesz > file_size - p->p_offset)
		return -ENOEXEC;
	if (p->p_vaddr >= user_top || p->p_memsz > user_top - p->p_vaddr)
		return -ENOEXEC;
	if ((p->p_vaddr ^ p->p_offset) & ~PAGE_MASK)
		return -ENOEXEC;
	return p->p_vaddr < floor ? -ENOEXEC : 0;	/* ascending, as the ABI says */
}

static int load_add(struct elf_image *im, const Elf64_Ehdr *e, const Elf64_Phdr *p, u64 file_size,
		    u64 user_top)
{
	const Elf64_Phdr *prev = im->nload ? &im->load[im->nload - 1] : NULL;
	u64 table = e->e_phnum * sizeof(*p);
	int ret;

	if (!p->p_memsz)
		return 0;
	ret = load_check(p, file_size, user_top, prev ? prev->p_vaddr + prev->p_memsz : 0);
	if (ret)
		return ret;
	if (e->e_phoff >= p->p_offset && e->e_phoff - p->p_offset + table <= p->p_filesz)
		im->phdr_vaddr = p->p_vaddr + (e->e_phoff - p->p_offset);
	if (!im->nload)
		im->low = p->p_vaddr & PAGE_MASK;
	im->high = ALIGN_UP(p->p_vaddr + p->p_memsz, PAGE_SIZE);
	im->load[im->nload++] = *p;
	return 0;
}

int elf_parse(const Elf64_Ehdr *e, const Elf64_Phdr *phdrs, u64 file_size, u64 user_top,
	      struct elf_image *im)
{
	int ret = elf_check_header(e);

	memset(im, 0, sizeof(*im));
	for (unsigned i = 0; !ret && i < e->e_phnum; i++) {
		const Elf64_Phdr *p = &phdrs[i];

		if (p->p_type == PT_LOAD)
			ret = load_add(im, e, p, file_size, user_top);
		if (p->p_type == PT_GNU_STACK)
			im->exec_stack = p->p_flags & PF_X;
		if (p->p_type != PT_INTERP || im->interp_len)
			continue;
		if (p->p_filesz < 2 || p->p_filesz > 4096 || p->p_offset > file_size ||
		    p->p_filesz > file_size - p->p_offset)
			return -ENOEXEC;
		im->interp_off = p->p_offset;
		im->interp_len = p->p_filesz;
	}
	if (ret || !im->nload)
		return -ENOEXEC;
	im->pie = e->e_type == ET_DYN;
	im->entry = e->e_entry;
	im->phoff = e->e_phoff;
	im->phnum = e->e_phnum;
	return 0;
}
