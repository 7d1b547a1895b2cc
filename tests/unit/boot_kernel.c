/* SPDX-License-Identifier: Apache-2.0 */
/* Loaders of `husk boot`: good files of each protocol, then every way to lie in them. */
#include "vmm/boot_kernel.h"

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"
#include "vmm/acpi.h"
#include "vmm/guest_ram.h"

#define LOAD_AT	0x200000

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[2];
	uint32_t mb[8];
	Elf64_Nhdr note;
	char name[4];
	uint64_t entry;
	uint8_t text[64];
};

static struct guest_mem mem;

static struct image good_elf(void)
{
	struct image im = { .name = "Xen", .entry = LOAD_AT + 0x20 };

	memcpy(im.eh.e_ident, ELFMAG, SELFMAG);
	im.eh.e_ident[EI_CLASS] = ELFCLASS64;
	im.eh.e_ident[EI_DATA] = ELFDATA2LSB;
	im.eh.e_machine = EM_X86_64;
	im.eh.e_entry = LOAD_AT;
	im.eh.e_phoff = offsetof(struct image, ph);
	im.eh.e_phnum = 2;
	im.eh.e_phentsize = sizeof(Elf64_Phdr);
	im.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_offset = offsetof(struct image, text),
		.p_vaddr = LOAD_AT, .p_paddr = LOAD_AT, .p_filesz = 64, .p_memsz = 4096 };
	im.ph[1] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_offset = offsetof(struct image, note),
		.p_filesz = sizeof(Elf64_Nhdr) + 12 };
	im.mb[0] = 0x1badb002;
	im.mb[2] = -0x1badb002u;
	im.note = (Elf64_Nhdr){ 4, 8, 18 };
	memset(im.text, 0x90, sizeof(im.text));
	return im;
}

static int load(const void *data, size_t size, struct boot_entry *e, const char **why)
{
	struct boot_request rq = {
		.mem = &mem, .kernel = { data, size }, .kernel_name = "kernel", .cmdline = "a b",
		.initrd = { (const uint8_t *)"module", 6 }, .initrd_name = "initrd",
	};

	*why = NULL;
	boot_map_fill(&rq);
	return boot_load_kernel(&rq, e, why);
}

/* An accepted entry is in RAM; a refusal has a reason. */
static bool sane(int ret, const struct boot_entry *e, const char *why)
{
	return ret ? ret == -ENOEXEC && why : guest_mem_ptr(&mem, GPA(e->rip), 1) != NULL;
}

static bool load_sane(const void *data, size_t size)
{
	struct boot_entry e;
	const char *why;
	int ret = load(data, size, &e, &why);

	return sane(ret, &e, why);
}

static void test_good(void)
{
	struct image im = good_elf();
	struct boot_entry e;
	const char *why;
	uint32_t info[16];

	tap_ok(!load(&im, sizeof(im), &e, &why) && e.rip == LOAD_AT && e.rax == 0x2badb002,
	       "Multiboot ELF");
	guest_read(&mem, info, GPA(e.rbx), sizeof(info));
	tap_ok(info[5] == 1 && info[12] && !memcmp(guest_mem_ptr(&mem, GPA(e.initrd_addr), 6), "module", 6),
	       "module and memory map");
	tap_ok(!strcmp(guest_mem_ptr(&mem, GPA(info[4]), 11), "kernel a b"), "command line");
	im.mb[0] = 0;
	tap_ok(!load(&im, sizeof(im), &e, &why) && e.rip == LOAD_AT + 0x20, "PVH ELF");
	guest_read(&mem, info, GPA(e.rbx), sizeof(info));
	tap_ok(info[0] == 0x336ec578 && info[3] == 1, "hvm_start_info");
}

static void test_linux(void)
{
	static uint8_t bz[8192];
	struct boot_entry e;
	const char *why;
	unsigned wrong = 0, seed = 7;

	bz[0x1f1] = 1;
	bz[0x201] = 0x6a;
	memcpy(bz + 0x202, "HdrS", 4);
	bz[0x207] = 2, bz[0x206] = 0x0f;
	bz[0x211] = 1;			/* loaded high */
	bz[0x232] = 0x20;		/* kernel_alignment 2 MiB */
	bz[0x234] = 1;
	bz[0x236] = 1;			/* 64-bit entry */
	bz[0x239] = 8;			/* cmdline_size 2048 */
	bz[0x25b] = 1;			/* pref_address 16 MiB */
	tap_ok(!load(bz, sizeof(bz), &e, &why) && e.long_mode && e.rip == 0x1000200, "bzImage");
	for (unsigned i = 0; i < 50000; i++) {
		uint8_t bad[sizeof(bz)];
		int ret;

		memcpy(bad, bz, sizeof(bz));
		for (unsigned n = 0; n < 3; n++) {
			seed = seed * 1103515245 + 12345;
			bad[0x1f1 + seed / 65536 % 0x80] = seed >> 8;
		}
		ret = load(bad, seed & 1 ? sizeof(bad) : 0x200 + seed / 8 % 4096, &e, &why);
		wrong += !sane(ret, &e, why);
	}
	tap_ok(!wrong, "bzImage: random headers");
}

static void test_hostile(void)
{
	static const uint8_t value[] = { 0, 1, 4, 0x20, 0x7f, 0x80, 0xff };
	unsigned wrong = 0;

	for (unsigned mb = 0; mb < 2; mb++)
		for (size_t at = 0; at < offsetof(struct image, text); at++)
			for (unsigned v = 0; v < sizeof(value); v++) {
				struct image im = good_elf();

				im.mb[0] *= mb;
				((uint8_t *)&im)[at] = value[v];
				wrong += !load_sane(&im, sizeof(im));
			}
	tap_ok(!wrong, "ELF: every header byte changed");
	wrong = 0;
	for (size_t len = 0; len < sizeof(struct image); len++) {
		struct image *im = malloc(len + 1), full = good_elf();

		memcpy(im, &full, len);
		wrong += !load_sane(im, len);
		free(im);
	}
	tap_ok(!wrong, "ELF: every shorter file");
	wrong = 0;
	for (unsigned i = 0; i < 20000; i++) {
		struct image im = good_elf();
		unsigned r = i * 2654435761u;

		im.mb[1] = 1u << 16;
		im.mb[2] = -(im.mb[0] + im.mb[1]);
		for (unsigned n = 3; n < 8; n++, r = r * 1103515245 + 12345)
			im.mb[n] = r >> 16 & 3 ? LOAD_AT + (r >> 20 & 0xff) : r;
		wrong += !load_sane(&im, sizeof(im));
	}
	tap_ok(!wrong, "Multiboot: random load addresses");
}

static uint8_t sum(const uint8_t *p, size_t len)
{
	uint8_t s = 0;

	while (len--)
		s += *p++;
	return s;
}

static void test_tables(void)
{
	const uint8_t *r, *t;
	uint32_t rsdt, n, at, len, bad = 0;

	tap_ok(!acpi_write(&mem, BOOT_ROM, BOOT_MP_TABLE, 32), "ACPI for 32 vCPUs");
	r = guest_mem_ptr(&mem, GPA(BOOT_ROM), 36);
	memcpy(&rsdt, r + 16, 4);
	tap_ok(!memcmp(r, "RSD PTR ", 8) && !sum(r, 20) && !sum(r, 36), "RSDP");
	t = guest_mem_ptr(&mem, GPA(rsdt), 36);
	memcpy(&n, t + 4, 4);
	for (uint32_t i = 36; i < n; i += 4) {
		memcpy(&at, t + i, 4);
		memcpy(&len, guest_mem_ptr(&mem, GPA(at + 4), 4), 4);
		bad += sum(guest_mem_ptr(&mem, GPA(at), len), len) != 0;
	}
	tap_ok(n == 36 + 12 && !bad && !sum(t, n), "tables and checksums");
	tap_ok(acpi_write(&mem, BOOT_ROM, BOOT_ROM + 200, 1) < 0, "no room is an error");
	tap_ok(!mptable_write(&mem, BOOT_MP_TABLE, 32), "MP table");
	t = guest_mem_ptr(&mem, GPA(BOOT_MP_TABLE), 4096);
	memcpy(&len, t + 20, 4);
	tap_ok(!sum(t, 16) && !sum(t + 16, len & 0xffff), "MP table: checksums");
}

int main(void)
{
	if (guest_mem_init(&mem, 64 << 20))
		return 99;
	test_good();
	test_linux();
	test_hostile();
	test_tables();
	return tap_done();
}
