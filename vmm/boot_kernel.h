/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are not ours (`husk boot`): what is common to the three protocols. A loader checks
 * the file like any hostile input, puts it and what it is to be told into guest memory, and says
 * how vCPU 0 starts. No KVM here.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "devices/guest_mem.h"

/* Low memory that the loaders fill; a kernel that wants to be there is refused. */
#define BOOT_AREA	0x90000		/* to BOOT_AREA_END */
#define BOOT_INFO	0x90000		/* zero page, Multiboot information or hvm_start_info */
#define BOOT_LISTS	0x91000		/* memory map, modules */
#define BOOT_GDT	0x92000
#define BOOT_TABLES	0x93000		/* identity map: PML4, PDPT, four directories */
#define BOOT_CMDLINE	0x99000
#define BOOT_CMDLINE_MAX 0x3000
#define BOOT_AREA_END	0x9c000
#define BOOT_EBDA	0x9fc00		/* end of conventional memory */
#define BOOT_ROM	0xe0000		/* ACPI and MP tables, up to 1 MiB */
#define BOOT_MP_TABLE	0xf8000
#define BOOT_HIGH	0x100000

/* Selectors of the GDT at BOOT_GDT. */
#define BOOT_CS32	0x08
#define BOOT_CS64	0x10
#define BOOT_DS		0x18
#define BOOT_TSS	0x20
#define BOOT_GDT_LIMIT	0x2f

#define BOOT_MAX_RANGES	8
#define BOOT_RAM	1		/* address range types of ACPI 6.4, section 15 */
#define BOOT_RESERVED	2

struct boot_range {
	uint64_t base, size;
	uint32_t type;
};

struct boot_file {
	const uint8_t *data;
	size_t size;			/* 0: no file */
};

struct boot_request {
	struct guest_mem *mem;
	struct boot_file kernel, initrd;
	const char *kernel_name, *initrd_name, *cmdline;
	uint64_t rsdp;			/* gpa of the ACPI root pointer */
	struct boot_range map[BOOT_MAX_RANGES];
	unsigned nranges;
};

/* How vCPU 0 starts: 64-bit with the identity map at BOOT_TABLES, or 32-bit with paging off. */
struct boot_entry {
	bool long_mode;
	uint64_t rip, rax, rbx, rsi;
	const char *protocol;
	uint64_t kernel_addr, initrd_addr;	/* for fw_cfg; 0: none */
};

/* Loader, by what the file is. 0, or -ENOEXEC with *why. */
int boot_load_kernel(struct boot_request *rq, struct boot_entry *entry, const char **why);

bool linux_detect(const struct boot_file *f);
int linux_load(const struct boot_request *rq, struct boot_entry *entry, const char **why);
bool multiboot_detect(const struct boot_file *f);
int multiboot_load(const struct boot_request *rq, struct boot_entry *entry, const char **why);
bool pvh_detect(const struct boot_file *f);
int pvh_load(const struct boot_request *rq, struct boot_entry *entry, const char **why);

/* Always -ENOEXEC. */
int boot_refuse(const char **why, const char *reason);
/* len bytes at off are inside the file. */
bool boot_inside(const struct boot_file *f, uint64_t off, uint64_t len);
/* A kernel may be put there: RAM, and nothing of ours. */
bool boot_room(const struct guest_mem *mem, uint64_t gpa, uint64_t len);
/* The memory map that every protocol tells. */
void boot_map_fill(struct boot_request *rq);
/* Copy the initial ramdisk to the top of low memory, not below `floor`, its end not above `limit`. */
int boot_place_initrd(const struct boot_request *rq, uint64_t floor, uint64_t limit, uint64_t *gpa,
		      const char **why);
/* The command line, zero-terminated, at BOOT_CMDLINE. max: what the kernel takes, without the zero. */
int boot_place_cmdline(const struct boot_request *rq, size_t max, const char **why);
/* GDT and, for long mode, an identity map of the low 4 GiB. */
int boot_place_tables(struct guest_mem *mem);

/* ELF, 32 or 64 bits, little-endian, x86. */
#define BOOT_ELF_SEGMENTS	16
struct boot_elf {
	uint64_t entry;			/* as in the file: a virtual address */
	uint64_t end;			/* of the highest segment in memory */
	uint64_t base;			/* of the lowest */
	unsigned nsegs;
	struct boot_elf_segment {
		uint64_t off, vaddr, paddr, filesz, memsz;
	} seg[BOOT_ELF_SEGMENTS];
	bool has_pvh;
	uint64_t pvh_entry;
};
int boot_elf_parse(const struct boot_file *f, struct boot_elf *elf, const char **why);
int boot_elf_load(const struct boot_file *f, const struct boot_elf *elf, struct guest_mem *mem,
		  const char **why);
/* Physical address of a virtual one inside a segment; else the address itself. */
uint64_t boot_elf_phys(const struct boot_elf *elf, uint64_t vaddr);
