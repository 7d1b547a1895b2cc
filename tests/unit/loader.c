/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ELF loader against corrupt and foreign kernels: each rule by name, then every byte of the
 * headers changed in many ways, and every length of the file. Nothing may be accepted that lies
 * outside its bounds; ASan sees the rest.
 */
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "husk/layout.h"
#include "tests/unit/tap.h"
#include "vmm/guest_ram.h"
#include "vmm/loader.h"

#define PAGE	0x1000ull
#define CPUS	4

struct __attribute__((packed)) note {
	Elf64_Nhdr nh;
	char name[8];
	struct husk_boot_note boot;
};

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	struct note note;
	uint8_t text[256];
	uint8_t data[512];
};

static struct image good_image(void)
{
	struct image im = { 0 };

	memcpy(im.eh.e_ident, ELFMAG "\2\1\1", 7);
	im.eh.e_type = ET_EXEC;
	im.eh.e_machine = EM_X86_64;
	im.eh.e_version = EV_CURRENT;
	im.eh.e_entry = HUSK_KERNEL_VIRT + 0x10;
	im.eh.e_phoff = offsetof(struct image, ph);
	im.eh.e_phentsize = sizeof(Elf64_Phdr);
	im.eh.e_phnum = 3;
	im.ph[0] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, offsetof(struct image, text),
		HUSK_KERNEL_VIRT, HUSK_KERNEL_PHYS, sizeof(im.text), sizeof(im.text), 0x200000 };
	im.ph[1] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_W, offsetof(struct image, data),
		HUSK_KERNEL_DATA, HUSK_KERNEL_DATA_PHYS, sizeof(im.data), 16 * PAGE, 0x200000 };
	im.ph[2] = (Elf64_Phdr){ PT_NOTE, PF_R, offsetof(struct image, note), 0, 0,
		sizeof(im.note), sizeof(im.note), 4 };
	im.note.nh = (Elf64_Nhdr){ 5, sizeof(struct husk_boot_note), HUSK_NOTE_BOOT };
	memcpy(im.note.name, "husk", 5);
	im.note.boot = (struct husk_boot_note){
		.version = HUSK_BOOT_VERSION, .max_cpus = CPUS,
		.gdt = HUSK_KERNEL_DATA, .gdt_limit = HUSK_TSS_SEL + 15,
		.idt = HUSK_KERNEL_DATA + PAGE, .idt_limit = 0xfff,
		.percpu = HUSK_KERNEL_DATA + 2 * PAGE, .percpu_stride = PAGE,
		.tss_offset = 0x100, .tss_limit = 0x67,
		.star = 1, .lstar = HUSK_KERNEL_VIRT + 0x20, .fmask = 0x700,
	};
	memset(im.text, 0x90, sizeof(im.text));
	memset(im.data, 0x5a, sizeof(im.data));
	return im;
}

/* Parse a copy of exactly len bytes, so that a read behind the end is seen. */
static int parse(const struct image *im, size_t len, struct kernel_image *out, const char **why)
{
	uint8_t *copy = malloc(len ? len : 1);
	int ret;

	memcpy(copy, im, len);
	ret = kernel_parse(copy, len, CPUS, out, why);
	free(copy);
	return ret;
}

/* What the rest of the VMM relies on; true for everything that is accepted. */
static bool image_sane(const struct kernel_image *k, size_t len)
{
	for (unsigned i = 0; i < k->nsegs; i++) {
		const struct kernel_segment *s = &k->seg[i];

		if (s->offset > len || s->filesz > len - s->offset || s->filesz > s->memsz)
			return false;
		if (s->vaddr < HUSK_KERNEL_VIRT || s->memsz > KERNEL_WINDOW_BYTES ||
		    s->vaddr - HUSK_KERNEL_VIRT > KERNEL_WINDOW_BYTES - s->memsz)
			return false;
		if (s->paddr < HUSK_KERNEL_PHYS || s->paddr + s->memsz > HUSK_HOLE_BASE)
			return false;
		if ((s->flags & PF_W) && (s->flags & PF_X))
			return false;
	}
	return k->nsegs > 0;
}

static void test_good(void)
{
	struct image im = good_image();
	struct kernel_image k;
	struct guest_mem mem;
	const char *why = "";
	uint8_t byte = 1;
	int ret = parse(&im, sizeof(im), &k, &why);

	tap_ok(ret == 0, "a good kernel: %s", why ? why : "accepted");
	tap_ok(k.nsegs == 2 && k.entry == HUSK_KERNEL_VIRT + 0x10 && k.note.fmask == 0x700,
	       "segments, entry and note");
	guest_mem_init(&mem, GUEST_MEM_MIN);
	tap_ok(kernel_load(&im, &k, &mem) == 0, "loaded");
	guest_read(&mem, &byte, GPA(HUSK_KERNEL_PHYS + 255), 1);
	tap_ok(byte == 0x90, "text is there");
	guest_read(&mem, &byte, GPA(HUSK_KERNEL_DATA_PHYS + 511), 1);
	tap_ok(byte == 0x5a, "data is there");
	guest_read(&mem, &byte, GPA(HUSK_KERNEL_DATA_PHYS + 512), 1);
	tap_ok(byte == 0, "bss is zero");

	im.ph[1].p_paddr = GUEST_MEM_MIN + HUSK_KERNEL_DATA_PHYS % 0x200000;
	tap_ok(parse(&im, sizeof(im), &k, &why) == 0 && kernel_load(&im, &k, &mem) == -EFAULT,
	       "segment behind the end of RAM does not fit");
	guest_mem_free(&mem);
}

#define BAD(text, change) do {							\
	struct image im = good_image();						\
	struct kernel_image k;							\
	const char *why = NULL;							\
	int ret;								\
	change;									\
	ret = parse(&im, sizeof(im), &k, &why);					\
	tap_ok(ret == -ENOEXEC && why, text ": %s", why ? why : "accepted");	\
} while (0)

static void test_headers(void)
{
	BAD("no ELF", im.eh.e_ident[0] = 0);
	BAD("32-bit", im.eh.e_ident[EI_CLASS] = ELFCLASS32);
	BAD("big-endian", im.eh.e_ident[EI_DATA] = ELFDATA2MSB);
	BAD("other machine", im.eh.e_machine = EM_AARCH64);
	BAD("relocatable", im.eh.e_type = ET_REL);
	BAD("odd program headers", im.eh.e_phentsize = 55);
	BAD("no program headers", im.eh.e_phnum = 0);
	BAD("too many program headers", im.eh.e_phnum = 0xffff);
	BAD("program headers outside", im.eh.e_phoff = sizeof(im) - 1);
	BAD("program headers wrap", im.eh.e_phoff = UINT64_MAX - 8);
	BAD("file size outside", im.ph[0].p_filesz = im.ph[0].p_memsz = sizeof(im));
	BAD("file offset wraps", im.ph[0].p_offset = UINT64_MAX - 16);
	BAD("file larger than memory", im.ph[0].p_memsz = 1);
	BAD("virtual address below the window", im.ph[0].p_vaddr = 0x400000);
	BAD("virtual address wraps", im.ph[1].p_memsz = UINT64_MAX - 100);
	BAD("physical address over the boot tables", im.ph[0].p_paddr = 0);
	BAD("physical address in the hole", im.ph[1].p_paddr = HUSK_HOLE_BASE);
	BAD("physical address wraps", im.ph[1].p_paddr = UINT64_MAX & ~0x1fffffull);
	BAD("addresses disagree", im.ph[1].p_paddr += PAGE);
	BAD("writable code", im.ph[0].p_flags |= PF_W);
	BAD("segments overlap", im.ph[1].p_vaddr = HUSK_KERNEL_VIRT);
	BAD("segments share a page", (im.ph[1].p_vaddr = HUSK_KERNEL_VIRT + PAGE,
				      im.ph[1].p_paddr = HUSK_KERNEL_PHYS + PAGE));
	BAD("segments overlap in physical memory", im.ph[1].p_paddr = HUSK_KERNEL_PHYS);
	BAD("entry outside the code", im.eh.e_entry = HUSK_KERNEL_DATA);
}

static void test_note(void)
{
	BAD("no note", im.ph[2].p_type = PT_NULL);
	BAD("note outside", im.ph[2].p_offset = sizeof(im));
	BAD("note size outside", im.ph[2].p_filesz = sizeof(im));
	BAD("note of somebody else", im.note.name[0] = 'H');
	BAD("note of another type", im.note.nh.n_type = 7);
	BAD("note name size", im.note.nh.n_namesz = 0xfffffffe);
	BAD("note description size", im.note.nh.n_descsz = 0xfffffffe);
	BAD("note too short", im.note.nh.n_descsz = 8);
	BAD("other version", im.note.boot.version = 2);
	BAD("no vCPUs", im.note.boot.max_cpus = 0);
	BAD("too many vCPUs", im.note.boot.max_cpus = HUSK_MAX_CPUS + 1);
	BAD("fewer vCPUs than asked for", im.note.boot.max_cpus = CPUS - 1);
	BAD("GDT outside", im.note.boot.gdt = HUSK_KERNEL_DATA + 16 * PAGE);
	BAD("GDT wraps", im.note.boot.gdt = UINT64_MAX - 4);
	BAD("GDT too short", im.note.boot.gdt_limit = 0x3f);
	BAD("IDT outside", im.note.boot.idt = 0);
	BAD("IDT limit", im.note.boot.idt_limit = 0x10000);
	BAD("per-vCPU stride 0", im.note.boot.percpu_stride = 0);
	BAD("per-vCPU stride wraps", im.note.boot.percpu_stride = 1ull << 62);
	BAD("per-vCPU blocks in code", im.note.boot.percpu = HUSK_KERNEL_VIRT);
	BAD("TSS outside its block", im.note.boot.tss_offset = PAGE - 0x10);
	BAD("TSS offset wraps", im.note.boot.tss_offset = 0xffffffff);
	BAD("TSS too short", im.note.boot.tss_limit = 0x10);
	BAD("system-call entry in data", im.note.boot.lstar = HUSK_KERNEL_DATA);
}

/* Every byte of the headers and the note, with values that sit on edges. */
static void test_mutations(void)
{
	static const uint8_t value[] = { 0, 1, 2, 4, 0x20, 0x7f, 0x80, 0xfe, 0xff };
	size_t end = offsetof(struct image, text);
	unsigned accepted = 0, wrong = 0;

	for (size_t at = 0; at < end; at++)
		for (unsigned v = 0; v < sizeof(value); v++) {
			struct image im = good_image();
			struct kernel_image k;
			const char *why = NULL;
			int ret;

			((uint8_t *)&im)[at] = value[v];
			ret = parse(&im, sizeof(im), &k, &why);
			accepted += ret == 0;
			if (ret == 0 ? !image_sane(&k, sizeof(im)) || why : ret != -ENOEXEC || !why)
				wrong++;
		}
	tap_ok(!wrong, "every header byte changed: %u accepted, %u wrongly", accepted, wrong);

	wrong = 0;
	for (size_t len = 0; len < offsetof(struct image, data) + 512; len++) {
		struct image im = good_image();
		struct kernel_image k;
		const char *why = NULL;

		if (parse(&im, len, &k, &why) != -ENOEXEC || !why)
			wrong++;
	}
	tap_ok(!wrong, "every shorter file is refused");
}

/* Random 64-bit values in every field of the program headers and the note. */
static void test_random(void)
{
	unsigned seed = 1, wrong = 0;

	for (unsigned i = 0; i < 200000; i++) {
		struct image im = good_image();
		size_t lo = offsetof(struct image, ph), hi = offsetof(struct image, text) - 8;
		struct kernel_image k;
		const char *why = NULL;
		uint64_t r;
		int ret;

		seed = seed * 1103515245 + 12345;
		r = (uint64_t)seed << (seed >> 26 & 31) ^ (seed >> 3);
		memcpy((uint8_t *)&im + lo + seed % ((hi - lo) / 4) * 4, &r, 4 + (seed >> 20 & 4));
		ret = kernel_parse(&im, sizeof(im), CPUS, &k, &why);
		if (ret == 0 && !image_sane(&k, sizeof(im)))
			wrong++;
	}
	tap_ok(!wrong, "random fields: nothing out of bounds is accepted");
}

int main(void)
{
	test_good();
	test_headers();
	test_note();
	test_mutations();
	test_random();
	return tap_done();
}
