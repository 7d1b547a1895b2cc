/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's ELF checks: a good program, then every way to lie about one. */
#include "proc/elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"

#define USER_TOP_TEST 0x00007f7ffffff000ul
#define FILE_SIZE 0x5000

struct program {
	Elf64_Ehdr ehdr;
	Elf64_Phdr ph[4];
};

/* Text, data with bss, interpreter, stack: as a linker makes them. */
static struct program good(void)
{
	struct program p = { 0 };

	memcpy(p.ehdr.e_ident, ELFMAG, SELFMAG);
	p.ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	p.ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	p.ehdr.e_type = ET_DYN;
	p.ehdr.e_machine = EM_X86_64;
	p.ehdr.e_entry = 0x1040;
	p.ehdr.e_phoff = sizeof(Elf64_Ehdr);
	p.ehdr.e_phentsize = sizeof(Elf64_Phdr);
	p.ehdr.e_phnum = 4;
	p.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 0x2000,
				.p_memsz = 0x2000 };
	p.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_offset = 0x2010,
				.p_vaddr = 0x3010, .p_filesz = 0x100, .p_memsz = 0x2100 };
	p.ph[2] = (Elf64_Phdr){ .p_type = PT_INTERP, .p_offset = 0x400, .p_filesz = 28 };
	p.ph[3] = (Elf64_Phdr){ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W };
	return p;
}

static int parse(const struct program *p, struct elf_image *im)
{
	return elf_parse(&p->ehdr, p->ph, FILE_SIZE, USER_TOP_TEST, im);
}

static void test_good(void)
{
	struct program p = good();
	struct elf_image im;

	tap_ok(!parse(&p, &im), "a position-independent program is accepted");
	tap_ok(im.pie && im.nload == 2 && im.low == 0 && im.high == 0x6000, "its span and segments");
	tap_ok(im.phdr_vaddr == sizeof(Elf64_Ehdr) && im.phnum == 4, "where its headers are in memory");
	tap_ok(im.interp_off == 0x400 && im.interp_len == 28 && !im.exec_stack, "interpreter and stack");
	p.ehdr.e_type = ET_EXEC;
	tap_ok(!parse(&p, &im) && !im.pie, "a program with fixed addresses is accepted");
}

static void refuse(const struct program *p, const char *what)
{
	struct elf_image im;

	tap_ok(parse(p, &im) == -ENOEXEC, "refused: %s", what);
}

#define REFUSE(what, ...) do { struct program p = good(); __VA_ARGS__; refuse(&p, what); } while (0)

static void test_header(void)
{
	REFUSE("no magic", p.ehdr.e_ident[0] = 0);
	REFUSE("32-bit", p.ehdr.e_ident[EI_CLASS] = ELFCLASS32);
	REFUSE("big-endian", p.ehdr.e_ident[EI_DATA] = ELFDATA2MSB);
	REFUSE("another machine", p.ehdr.e_machine = 183);
	REFUSE("a relocatable object", p.ehdr.e_type = ET_REL);
	REFUSE("a core file", p.ehdr.e_type = ET_CORE);
	REFUSE("no program headers", p.ehdr.e_phnum = 0);
	REFUSE("too many program headers", p.ehdr.e_phnum = ELF_MAX_PHDRS + 1);
	REFUSE("odd header size", p.ehdr.e_phentsize = 32);
}

static void test_segments(void)
{
	REFUSE("no segment", p.ph[0].p_type = p.ph[1].p_type = PT_NULL);
	REFUSE("more in the file than in memory", p.ph[0].p_filesz = 0x2001);
	REFUSE("data beyond the file", p.ph[1].p_filesz = p.ph[1].p_memsz = 0x4000);
	REFUSE("offset beyond the file", p.ph[1].p_offset = FILE_SIZE + 0x1010);
	REFUSE("offset that wraps", p.ph[1].p_offset = ~0xfefull);
	REFUSE("address in the kernel's window", p.ph[1].p_vaddr = 0x7fc000000010);
	REFUSE("address that wraps", p.ph[1].p_vaddr = ~0xfefull);
	REFUSE("memory size that wraps", p.ph[1].p_memsz = ~0ull - 0x10);
	REFUSE("file and memory disagree within a page", p.ph[1].p_vaddr = 0x3020);
	REFUSE("descending segments", p.ph[0].p_vaddr = 0x8000);
	REFUSE("overlapping segments", p.ph[1].p_vaddr = 0x1010);
	REFUSE("interpreter beyond the file", p.ph[2].p_offset = FILE_SIZE - 8);
	REFUSE("interpreter of one byte", p.ph[2].p_filesz = 1);
	REFUSE("interpreter without end", p.ph[2].p_filesz = 1ull << 40);
}

/* Whatever the bytes are: an answer, and what was accepted is inside the bounds. */
static void test_random(void)
{
	bool sane = true;
	struct elf_image im;

	srand(1);
	for (int i = 0; i < 200000; i++) {
		struct program p = good();

		for (int n = rand() % 6 + 1; n; n--)
			((uint8_t *)&p)[(unsigned)rand() % sizeof(p)] = (uint8_t)rand();
		if (p.ehdr.e_phnum > 4 || parse(&p, &im))
			continue;
		for (unsigned s = 0; s < im.nload; s++)
			sane = sane && im.load[s].p_offset + im.load[s].p_filesz <= FILE_SIZE &&
			       im.load[s].p_vaddr + im.load[s].p_memsz <= USER_TOP_TEST;
	}
	tap_ok(sane, "200,000 corrupted programs: nothing out of bounds is accepted");
}

int main(void)
{
	test_good();
	test_header();
	test_segments();
	test_random();
	return tap_done();
}
