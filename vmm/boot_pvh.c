/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PVH: an ELF file with a Xen note that names a 32-bit entry, which gets a pointer to
 * hvm_start_info in ebx (Xen, public/arch-x86/hvm/start_info.h).
 */
#include <errno.h>
#include "vmm/boot_kernel.h"

#define HVM_START_MAGIC		0x336ec578u
#define HVM_START_VERSION	1

#define LISTS_MAP		(BOOT_LISTS + 0x100)

struct hvm_start_info {
	uint32_t magic, version, flags, nr_modules;
	uint64_t modlist_paddr, cmdline_paddr, rsdp_paddr, memmap_paddr;
	uint32_t memmap_entries, reserved;
};

struct hvm_module {
	uint64_t paddr, size, cmdline_paddr, reserved;
};

struct hvm_range {
	uint64_t addr, size;
	uint32_t type, reserved;
};

bool pvh_detect(const struct boot_file *f)
{
	const char *why;
	struct boot_elf elf;

	return !boot_elf_parse(f, &elf, &why) && elf.has_pvh;
}

static int info_put(const struct boot_request *rq, uint64_t initrd)
{
	struct hvm_start_info info = {
		.magic = HVM_START_MAGIC, .version = HVM_START_VERSION,
		.cmdline_paddr = BOOT_CMDLINE, .rsdp_paddr = rq->rsdp,
		.memmap_paddr = LISTS_MAP, .memmap_entries = rq->nranges,
	};
	struct hvm_module mod = { .paddr = initrd, .size = rq->initrd.size };
	struct hvm_range r[BOOT_MAX_RANGES];
	int ret = 0;

	for (unsigned i = 0; i < rq->nranges; i++)
		r[i] = (struct hvm_range){ rq->map[i].base, rq->map[i].size, rq->map[i].type, 0 };
	if (rq->initrd.size) {
		info.nr_modules = 1;
		info.modlist_paddr = BOOT_LISTS;
		ret = guest_write(rq->mem, GPA(BOOT_LISTS), &mod, sizeof(mod));
	}
	if (!ret)
		ret = guest_write(rq->mem, GPA(LISTS_MAP), r, rq->nranges * sizeof(r[0]));
	return ret ? ret : guest_write(rq->mem, GPA(BOOT_INFO), &info, sizeof(info));
}

int pvh_load(const struct boot_request *rq, struct boot_entry *entry, const char **why)
{
	struct boot_elf elf;
	int ret = boot_elf_parse(&rq->kernel, &elf, why);

	if (!ret && !elf.has_pvh)
		ret = boot_refuse(why, "it has no PVH entry");
	if (!ret)
		ret = boot_elf_load(&rq->kernel, &elf, rq->mem, why);
	if (!ret)
		ret = boot_place_cmdline(rq, BOOT_CMDLINE_MAX - 1, why);
	if (!ret)
		ret = boot_place_initrd(rq, elf.end, 1ull << 32, &entry->initrd_addr, why);
	if (ret)
		return ret;
	if (info_put(rq, entry->initrd_addr))
		return boot_refuse(why, "there is no memory for the boot information");
	if (elf.pvh_entry >> 32 || !guest_mem_ptr(rq->mem, GPA(elf.pvh_entry), 1))
		return boot_refuse(why, "its PVH entry is outside of memory");
	entry->rip = elf.pvh_entry;
	entry->rbx = BOOT_INFO;
	entry->kernel_addr = elf.base;
	return 0;
}
