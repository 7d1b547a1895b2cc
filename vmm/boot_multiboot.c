/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multiboot 1 (Multiboot Specification 0.6.96): an ELF file, or a flat one whose header says where
 * it goes. The initial ramdisk is the one module.
 */
#include <errno.h>
#include <string.h>
#include "vmm/boot_kernel.h"

#define MB_SEARCH_BYTES	8192		/* section 3.1 */
#define MB_HEADER_MAGIC	0x1badb002u
#define MB_LOADER_MAGIC	0x2badb002u
#define MB_PAGE_ALIGN	(1u << 0)	/* header flags, section 3.1.2 */
#define MB_MEMORY_INFO	(1u << 1)
#define MB_REQUIRED	0xffffu		/* what a loader must know */
#define MB_ADDRESSES	(1u << 16)

#define MBI_MEMORY	(1u << 0)	/* information flags, section 3.3 */
#define MBI_CMDLINE	(1u << 2)
#define MBI_MODULES	(1u << 3)
#define MBI_MAP		(1u << 6)
#define MBI_LOADER	(1u << 9)

#define LISTS_MAP	(BOOT_LISTS + 0x100)
#define LOADER_NAME	(BOOT_INFO + 0x800)

struct mb_header {
	uint32_t magic, flags, checksum;
	uint32_t header_addr, load_addr, load_end_addr, bss_end_addr, entry_addr;
};

struct mb_info {
	uint32_t flags, mem_lower, mem_upper, boot_device, cmdline, mods_count, mods_addr;
	uint32_t syms[4];
	uint32_t mmap_length, mmap_addr, drives_length, drives_addr, config_table;
	uint32_t boot_loader_name, apm_table;
};

struct mb_module {
	uint32_t start, end, string, reserved;
};

struct mb_range {
	uint32_t size;			/* of the rest */
	uint64_t base, len;
	uint32_t type;
} __attribute__((packed));

/* Offset of the header, or -1. */
static long header_find(const struct boot_file *f, struct mb_header *h)
{
	for (size_t off = 0; off < MB_SEARCH_BYTES && boot_inside(f, off, 12); off += 4) {
		memcpy(h, f->data + off, 12);
		if (h->magic != MB_HEADER_MAGIC || h->magic + h->flags + h->checksum)
			continue;
		if (boot_inside(f, off, sizeof(*h)))
			memcpy(h, f->data + off, sizeof(*h));
		else if (h->flags & MB_ADDRESSES)
			continue;
		return (long)off;
	}
	return -1;
}

bool multiboot_detect(const struct boot_file *f)
{
	struct mb_header h;

	return header_find(f, &h) >= 0;
}

/* The header's own addresses (section 3.1.3). */
static int load_flat(const struct boot_request *rq, const struct mb_header *h, size_t at,
		     struct boot_entry *entry, uint64_t *end, const char **why)
{
	uint64_t back = (uint64_t)h->header_addr - h->load_addr, off, size, memsz;

	if (h->header_addr < h->load_addr || back > at)
		return boot_refuse(why, "its Multiboot header lies before its load address");
	off = at - back;
	size = rq->kernel.size - off;
	if (h->load_end_addr) {
		if (h->load_end_addr < h->load_addr || h->load_end_addr - h->load_addr > size)
			return boot_refuse(why, "its Multiboot load addresses are outside of the file");
		size = h->load_end_addr - h->load_addr;
	}
	memsz = size;
	if (h->bss_end_addr) {
		if (h->bss_end_addr < h->load_addr + size)
			return boot_refuse(why, "its Multiboot bss ends before its data");
		memsz = h->bss_end_addr - h->load_addr;
	}
	if (!size || !boot_room(rq->mem, h->load_addr, memsz) ||
	    guest_write(rq->mem, GPA(h->load_addr), rq->kernel.data + off, size))
		return boot_refuse(why, "it lies outside of memory or on the boot information; "
				   "try a larger --memory");
	entry->rip = h->entry_addr;
	entry->kernel_addr = h->load_addr;
	*end = h->load_addr + memsz;
	return 0;
}

static int load_elf(const struct boot_request *rq, struct boot_entry *entry, uint64_t *end,
		    const char **why)
{
	struct boot_elf elf;
	int ret = boot_elf_parse(&rq->kernel, &elf, why);

	if (!ret)
		ret = boot_elf_load(&rq->kernel, &elf, rq->mem, why);
	if (ret)
		return ret;
	entry->rip = boot_elf_phys(&elf, elf.entry);
	entry->kernel_addr = elf.base;
	*end = elf.end;
	return 0;
}

static int map_put(const struct boot_request *rq, struct mb_info *info)
{
	struct mb_range r[BOOT_MAX_RANGES];

	for (unsigned i = 0; i < rq->nranges; i++)
		r[i] = (struct mb_range){ sizeof(r[i]) - 4, rq->map[i].base, rq->map[i].size,
					  rq->map[i].type };
	info->flags |= MBI_MAP;
	info->mmap_addr = LISTS_MAP;
	info->mmap_length = rq->nranges * sizeof(r[0]);
	return guest_write(rq->mem, GPA(LISTS_MAP), r, info->mmap_length);
}

static int info_put(const struct boot_request *rq, uint64_t initrd)
{
	static const char name[] = "husk";
	struct mb_info info = {
		.flags = MBI_MEMORY | MBI_CMDLINE | MBI_LOADER,
		.mem_lower = BOOT_EBDA >> 10,
		.mem_upper = (uint32_t)((rq->mem->region[0].size - BOOT_HIGH) >> 10),
		.cmdline = BOOT_CMDLINE,
		.boot_loader_name = LOADER_NAME,
	};
	struct mb_module mod = { (uint32_t)initrd, (uint32_t)(initrd + rq->initrd.size), LOADER_NAME + 16, 0 };
	int ret = map_put(rq, &info);

	if (rq->initrd.size) {
		info.flags |= MBI_MODULES;
		info.mods_count = 1;
		info.mods_addr = BOOT_LISTS;
		if (!ret)
			ret = guest_write(rq->mem, GPA(BOOT_LISTS), &mod, sizeof(mod));
		if (!ret)	/* the module's string: the file's name, cut to fit */
			ret = guest_write(rq->mem, GPA(LOADER_NAME + 16), rq->initrd_name,
					  strnlen(rq->initrd_name, 255));
	}
	if (!ret)
		ret = guest_write(rq->mem, GPA(LOADER_NAME), name, sizeof(name));
	return ret ? ret : guest_write(rq->mem, GPA(BOOT_INFO), &info, sizeof(info));
}

/* The command line begins with the kernel's name, as boot loaders have it. */
static int cmdline_put(const struct boot_request *rq, const char **why)
{
	char line[BOOT_CMDLINE_MAX];
	struct boot_request named = *rq;
	size_t name = strlen(rq->kernel_name), rest = strlen(rq->cmdline);

	if (name + 1 + rest >= sizeof(line))
		return boot_refuse(why, "the command line (--append) is too long for it");
	memcpy(line, rq->kernel_name, name);
	line[name] = ' ';
	memcpy(line + name + 1, rq->cmdline, rest + 1);
	named.cmdline = line;
	return boot_place_cmdline(&named, sizeof(line) - 1, why);
}

int multiboot_load(const struct boot_request *rq, struct boot_entry *entry, const char **why)
{
	struct mb_header h = { 0 };
	long at = header_find(&rq->kernel, &h);
	uint64_t end = 0;
	int ret;

	if (at < 0)
		return boot_refuse(why, "it has no Multiboot header");
	if (h.flags & MB_REQUIRED & ~(MB_PAGE_ALIGN | MB_MEMORY_INFO))
		return boot_refuse(why, "it asks for a Multiboot feature that is not there, such as "
				   "a video mode");
	ret = h.flags & MB_ADDRESSES ? load_flat(rq, &h, at, entry, &end, why) :
	      load_elf(rq, entry, &end, why);
	if (!ret)
		ret = cmdline_put(rq, why);
	if (!ret)
		ret = boot_place_initrd(rq, end, 1ull << 32, &entry->initrd_addr, why);
	if (ret)
		return ret;
	if (info_put(rq, entry->initrd_addr))
		return boot_refuse(why, "there is no memory for the Multiboot information");
	if (entry->rip >> 32 || !guest_mem_ptr(rq->mem, GPA(entry->rip), 1))
		return boot_refuse(why, "its entry is outside of memory");
	entry->rax = MB_LOADER_MAGIC;
	entry->rbx = BOOT_INFO;
	return 0;
}
