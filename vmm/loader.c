/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest kernel ELF. It is linked into the binary, but a developer may give another one with
 * --kernel, so every field is checked: segments inside the file, inside the kernel's window and
 * inside guest RAM, never writable and executable, and every address of the boot note inside a
 * writable segment. Decode and check everything first; loading then cannot go wrong half-way.
 */
#include "vmm/loader.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include "husk/layout.h"

#define KERNEL_ALIGN	0x200000ull	/* segments are mapped with 2 MiB pages */

static bool range_ok(uint64_t start, uint64_t len, uint64_t lo, uint64_t size)
{
	return start >= lo && start - lo <= size && len <= size - (start - lo);
}

static uint64_t align_down(uint64_t x)
{
	return x & ~(KERNEL_ALIGN - 1);
}

static uint64_t align_up(uint64_t x)
{
	return align_down(x + KERNEL_ALIGN - 1);
}

static const char *header_check(const Elf64_Ehdr *eh, size_t size)
{
	if (memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return "not an ELF file";
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_ident[EI_DATA] != ELFDATA2LSB ||
	    eh->e_ident[EI_VERSION] != EV_CURRENT || eh->e_version != EV_CURRENT ||
	    eh->e_machine != EM_X86_64)
		return "not an ELF file for x86-64";
	if (eh->e_type != ET_EXEC && eh->e_type != ET_DYN)
		return "not an executable";
	if (eh->e_phentsize != sizeof(Elf64_Phdr) || !eh->e_phnum || eh->e_phnum > 64)
		return "no usable program headers";
	if (!range_ok(eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr), 0, size))
		return "program headers outside the file";
	return NULL;
}

static const char *segment_check(const struct kernel_image *img, const struct kernel_segment *s,
				 size_t size)
{
	if (s->filesz > s->memsz)
		return "segment larger in the file than in memory";
	if (!range_ok(s->offset, s->filesz, 0, size))
		return "segment outside the file";
	if (!range_ok(s->vaddr, s->memsz, HUSK_KERNEL_VIRT, KERNEL_WINDOW_BYTES))
		return "segment outside the kernel's window";
	if (!range_ok(s->paddr, s->memsz, HUSK_KERNEL_PHYS, HUSK_HOLE_BASE - HUSK_KERNEL_PHYS))
		return "segment outside physical memory";
	if ((s->vaddr ^ s->paddr) & (KERNEL_ALIGN - 1))
		return "segment's virtual and physical address disagree below 2 MiB";
	if ((s->flags & PF_W) && (s->flags & PF_X))
		return "segment both writable and executable";
	/* A 2 MiB mapping has one set of permissions; the RAM behind two of them may be one page. */
	for (unsigned i = 0; i < img->nsegs; i++) {
		const struct kernel_segment *o = &img->seg[i];

		if (align_down(s->vaddr) < align_up(o->vaddr + o->memsz) &&
		    align_down(o->vaddr) < align_up(s->vaddr + s->memsz))
			return "two segments share a 2 MiB page";
		if (s->paddr < o->paddr + o->memsz && o->paddr < s->paddr + s->memsz)
			return "two segments overlap in physical memory";
	}
	return NULL;
}

/* The note sections hold name and description, each padded to 4 bytes. */
static const char *note_find(const uint8_t *p, size_t size, struct husk_boot_note *out)
{
	Elf64_Nhdr nh;

	while (size >= sizeof(nh)) {
		uint64_t name, desc;

		memcpy(&nh, p, sizeof(nh));
		name = ((uint64_t)nh.n_namesz + 3) & ~3ull;
		desc = ((uint64_t)nh.n_descsz + 3) & ~3ull;
		if (name > size - sizeof(nh) || nh.n_descsz > size - sizeof(nh) - name)
			return "malformed note";
		if (nh.n_type == HUSK_NOTE_BOOT && nh.n_namesz == sizeof(HUSK_NOTE_NAME) &&
		    !memcmp(p + sizeof(nh), HUSK_NOTE_NAME, sizeof(HUSK_NOTE_NAME))) {
			if (nh.n_descsz < sizeof(*out))
				return "boot note too short";
			memcpy(out, p + sizeof(nh) + name, sizeof(*out));
			if (out->version != HUSK_BOOT_VERSION)
				return "boot protocol of another version";
			return NULL;
		}
		if (desc > size - sizeof(nh) - name)
			break;
		p += sizeof(nh) + name + desc;
		size -= sizeof(nh) + name + desc;
	}
	return NULL;
}

static bool in_segment(const struct kernel_image *img, uint64_t va, uint64_t len, uint32_t flags)
{
	for (unsigned i = 0; i < img->nsegs; i++) {
		const struct kernel_segment *s = &img->seg[i];

		if ((s->flags & flags) == flags && range_ok(va, len, s->vaddr, s->memsz))
			return true;
	}
	return false;
}

static const char *note_check(const struct kernel_image *img, unsigned ncpus)
{
	const struct husk_boot_note *n = &img->note;
	uint64_t tss_end = (uint64_t)n->tss_offset + n->tss_limit + 1;

	if (!n->max_cpus || n->max_cpus > HUSK_MAX_CPUS)
		return "boot note with a bad number of vCPUs";
	if (ncpus > n->max_cpus)
		return "more vCPUs asked for than this kernel can use";
	if (n->gdt_limit > 0xffff || n->idt_limit > 0xffff ||
	    n->gdt_limit < HUSK_TSS_SEL + 15 || n->tss_limit < 0x67 || n->tss_limit > 0xffff)
		return "boot note with bad table limits";
	if (!in_segment(img, n->gdt, (uint64_t)n->gdt_limit + 1, PF_R) ||
	    !in_segment(img, n->idt, (uint64_t)n->idt_limit + 1, PF_R))
		return "GDT or IDT outside the image";
	if (!n->percpu_stride || n->percpu_stride > KERNEL_WINDOW_BYTES / HUSK_MAX_CPUS ||
	    tss_end > n->percpu_stride ||
	    !in_segment(img, n->percpu, n->percpu_stride * n->max_cpus, PF_R | PF_W))
		return "per-vCPU blocks outside the image";
	if (!in_segment(img, n->lstar, 1, PF_X))
		return "system-call entry outside the image's code";
	if (!in_segment(img, img->entry, 1, PF_X))
		return "entry outside the image's code";
	return NULL;
}

static Elf64_Phdr header_get(const uint8_t *elf, const Elf64_Ehdr *eh, unsigned i)
{
	Elf64_Phdr ph;

	memcpy(&ph, elf + eh->e_phoff + i * sizeof(ph), sizeof(ph));
	return ph;
}

/* First of all: it tells a guest kernel from any other program. */
static const char *notes_walk(const uint8_t *elf, size_t size, const Elf64_Ehdr *eh,
			      struct kernel_image *img)
{
	const char *why = NULL;

	for (unsigned i = 0; i < eh->e_phnum && !why && !img->note.version; i++) {
		Elf64_Phdr ph = header_get(elf, eh, i);

		if (ph.p_type != PT_NOTE)
			continue;
		if (!range_ok(ph.p_offset, ph.p_filesz, 0, size))
			return "note outside the file";
		why = note_find(elf + ph.p_offset, ph.p_filesz, &img->note);
	}
	if (!why && !img->note.version)
		why = "no husk boot note: not a guest kernel of husk";
	return why;
}

static const char *segments_walk(const uint8_t *elf, size_t size, const Elf64_Ehdr *eh,
				 struct kernel_image *img)
{
	const char *why = NULL;

	for (unsigned i = 0; i < eh->e_phnum && !why; i++) {
		struct kernel_segment *s = &img->seg[img->nsegs];
		Elf64_Phdr ph = header_get(elf, eh, i);

		if (ph.p_type != PT_LOAD || !ph.p_memsz)
			continue;
		if (img->nsegs == KERNEL_MAX_SEGMENTS)
			return "too many segments";
		*s = (struct kernel_segment){ ph.p_vaddr, ph.p_paddr, ph.p_memsz,
					      ph.p_filesz, ph.p_offset, ph.p_flags };
		why = segment_check(img, s, size);
		img->nsegs++;
	}
	return why;
}

int kernel_parse(const void *elf, size_t size, unsigned ncpus, struct kernel_image *img,
		 const char **why)
{
	Elf64_Ehdr eh;

	memset(img, 0, sizeof(*img));
	*why = "file too short";
	if (size < sizeof(eh))
		return -ENOEXEC;
	memcpy(&eh, elf, sizeof(eh));
	*why = header_check(&eh, size);
	if (!*why)
		*why = notes_walk(elf, size, &eh, img);
	if (!*why)
		*why = segments_walk(elf, size, &eh, img);
	img->entry = eh.e_entry;
	if (!*why)
		*why = note_check(img, ncpus);
	return *why ? -ENOEXEC : 0;
}

int kernel_load(const void *elf, const struct kernel_image *img, struct guest_mem *mem)
{
	for (unsigned i = 0; i < img->nsegs; i++) {
		const struct kernel_segment *s = &img->seg[i];

		/* The 2 MiB pages that map it must be RAM to their ends. */
		if (!guest_mem_ptr(mem, GPA(align_down(s->paddr)),
				   align_up(s->paddr + s->memsz) - align_down(s->paddr)))
			return -EFAULT;
	}
	for (unsigned i = 0; i < img->nsegs; i++) {
		const struct kernel_segment *s = &img->seg[i];

		/* RAM is zero already: what is beyond filesz (.bss) needs no touch. */
		if (s->filesz && guest_write(mem, GPA(s->paddr),
					     (const uint8_t *)elf + s->offset, s->filesz) < 0)
			return -EFAULT;
	}
	return 0;
}
