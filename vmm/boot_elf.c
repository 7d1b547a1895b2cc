/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ELF files of foreign kernels, for Multiboot and PVH: ELF32 and ELF64 in one form, segments by
 * physical address, and the Xen note that names a PVH entry. Nothing of the file is believed.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include "vmm/boot_kernel.h"

#define XEN_ELFNOTE_PHYS32_ENTRY	18
#define NOTE_MAX_BYTES			65536

/* One program header, whatever its class. */
struct elf_phdr {
	uint32_t type;
	struct boot_elf_segment s;
};

struct elf_head {
	bool is64;
	uint64_t entry, phoff;
	unsigned phnum, phentsize;
};

static int head_read(const struct boot_file *f, struct elf_head *h, const char **why)
{
	Elf64_Ehdr e64;
	Elf32_Ehdr e32;

	if (!boot_inside(f, 0, sizeof(e32)) || memcmp(f->data, ELFMAG, SELFMAG))
		return boot_refuse(why, "it is no ELF file");
	if (f->data[EI_DATA] != ELFDATA2LSB)
		return boot_refuse(why, "it is not little-endian");
	h->is64 = f->data[EI_CLASS] == ELFCLASS64;
	if (h->is64 && boot_inside(f, 0, sizeof(e64))) {
		memcpy(&e64, f->data, sizeof(e64));
		if (e64.e_machine != EM_X86_64)
			return boot_refuse(why, "it is not for x86");
		*h = (struct elf_head){ true, e64.e_entry, e64.e_phoff, e64.e_phnum, e64.e_phentsize };
	} else if (f->data[EI_CLASS] == ELFCLASS32) {
		memcpy(&e32, f->data, sizeof(e32));
		if (e32.e_machine != EM_386 && e32.e_machine != EM_X86_64)
			return boot_refuse(why, "it is not for x86");
		*h = (struct elf_head){ false, e32.e_entry, e32.e_phoff, e32.e_phnum, e32.e_phentsize };
	} else {
		return boot_refuse(why, "its ELF header is broken");
	}
	if (h->phentsize != (h->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)) ||
	    !boot_inside(f, h->phoff, (uint64_t)h->phnum * h->phentsize))
		return boot_refuse(why, "its program headers are outside of the file");
	return 0;
}

static void phdr_read(const struct boot_file *f, const struct elf_head *h, unsigned i,
		      struct elf_phdr *p)
{
	const uint8_t *at = f->data + h->phoff + (uint64_t)i * h->phentsize;
	Elf64_Phdr p64;
	Elf32_Phdr p32;

	if (h->is64) {
		memcpy(&p64, at, sizeof(p64));
		p->type = p64.p_type;
		p->s = (struct boot_elf_segment){ p64.p_offset, p64.p_vaddr, p64.p_paddr,
						  p64.p_filesz, p64.p_memsz };
	} else {
		memcpy(&p32, at, sizeof(p32));
		p->type = p32.p_type;
		p->s = (struct boot_elf_segment){ p32.p_offset, p32.p_vaddr, p32.p_paddr,
						  p32.p_filesz, p32.p_memsz };
	}
}

static uint64_t note_align(uint64_t n)
{
	return (n + 3) & ~3ull;
}

/* Walk the notes of one segment, which lies inside the file. */
static void notes_scan(const struct boot_file *f, const struct boot_elf_segment *s,
		       struct boot_elf *elf)
{
	uint64_t off = 0, desc;
	Elf64_Nhdr n;		/* the same in both classes */
	uint32_t v32;

	while (s->filesz - off >= sizeof(n)) {
		memcpy(&n, f->data + s->off + off, sizeof(n));
		desc = off + sizeof(n) + note_align(n.n_namesz);
		if (desc > s->filesz || n.n_descsz > s->filesz - desc)
			return;
		if (n.n_type == XEN_ELFNOTE_PHYS32_ENTRY && n.n_namesz == 4 &&
		    !memcmp(f->data + s->off + off + sizeof(n), "Xen", 4)) {
			if (n.n_descsz == 8) {
				memcpy(&elf->pvh_entry, f->data + s->off + desc, 8);
				elf->has_pvh = true;
			} else if (n.n_descsz == 4) {
				memcpy(&v32, f->data + s->off + desc, 4);
				elf->pvh_entry = v32;
				elf->has_pvh = true;
			}
			return;
		}
		off = desc + note_align(n.n_descsz);
		if (off > s->filesz)
			return;
	}
}

static int segment_add(const struct boot_file *f, struct boot_elf *elf,
		       const struct boot_elf_segment *s, const char **why)
{
	if (!s->memsz)
		return 0;
	if (elf->nsegs == BOOT_ELF_SEGMENTS)
		return boot_refuse(why, "it has too many segments");
	if (s->filesz > s->memsz || !boot_inside(f, s->off, s->filesz))
		return boot_refuse(why, "a segment is outside of the file");
	if (s->paddr + s->memsz < s->paddr || s->paddr + s->memsz > 1ull << 52)
		return boot_refuse(why, "a segment is outside of memory");
	if (!elf->nsegs || s->paddr < elf->base)
		elf->base = s->paddr;
	if (s->paddr + s->memsz > elf->end)
		elf->end = s->paddr + s->memsz;
	elf->seg[elf->nsegs++] = *s;
	return 0;
}

int boot_elf_parse(const struct boot_file *f, struct boot_elf *elf, const char **why)
{
	struct elf_head h = { 0 };
	int ret = head_read(f, &h, why);

	memset(elf, 0, sizeof(*elf));
	if (ret)
		return ret;
	elf->entry = h.entry;
	for (unsigned i = 0; i < h.phnum && !ret; i++) {
		struct elf_phdr p;

		phdr_read(f, &h, i, &p);
		if (p.type == PT_LOAD)
			ret = segment_add(f, elf, &p.s, why);
		else if (p.type == PT_NOTE && p.s.filesz <= NOTE_MAX_BYTES &&
			 boot_inside(f, p.s.off, p.s.filesz) && !elf->has_pvh)
			notes_scan(f, &p.s, elf);
	}
	if (!ret && !elf->nsegs)
		return boot_refuse(why, "it has nothing to load");
	return ret;
}

int boot_elf_load(const struct boot_file *f, const struct boot_elf *elf, struct guest_mem *mem,
		  const char **why)
{
	/* RAM is zero before the first run, so the bss is there; overlaps would spoil it. */
	for (unsigned i = 0; i < elf->nsegs; i++) {
		const struct boot_elf_segment *s = &elf->seg[i];

		if (!boot_room(mem, s->paddr, s->memsz))
			return boot_refuse(why, "a segment lies outside of memory or on the "
					   "boot information; try a larger --memory");
		for (unsigned j = 0; j < i; j++)
			if (s->paddr < elf->seg[j].paddr + elf->seg[j].memsz &&
			    elf->seg[j].paddr < s->paddr + s->memsz)
				return boot_refuse(why, "its segments overlap");
		if (s->filesz && guest_write(mem, GPA(s->paddr), f->data + s->off, s->filesz))
			return boot_refuse(why, "a segment does not fit into memory");
	}
	return 0;
}

uint64_t boot_elf_phys(const struct boot_elf *elf, uint64_t vaddr)
{
	for (unsigned i = 0; i < elf->nsegs; i++)
		if (vaddr >= elf->seg[i].vaddr && vaddr - elf->seg[i].vaddr < elf->seg[i].memsz)
			return elf->seg[i].paddr + (vaddr - elf->seg[i].vaddr);
	return vaddr;
}
