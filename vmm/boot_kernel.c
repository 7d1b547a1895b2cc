/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which protocol a kernel file speaks, and what all of them need: memory map, command line,
 * initial ramdisk, GDT and identity map. Everything is written to guest memory before the first
 * instruction, by checked copies.
 */
#include "vmm/boot_kernel.h"

#include <errno.h>
#include <string.h>
#include "husk/layout.h"

#define PAGE		4096ull
#define HUGE		0x200000ull
#define LOW_DIRS	4		/* of 1 GiB each */

/* Intel SDM volume 3, section 4.5 */
#define PTE_TABLE	0x3ull		/* present, writable */
#define PTE_HUGE	0x83ull		/* and a 2 MiB page */

/* Section 3.4.5: flat descriptors, accessed */
#define GDT_CODE32	0x00cf9b000000ffffull
#define GDT_CODE64	0x00af9b000000ffffull
#define GDT_DATA	0x00cf93000000ffffull
#define GDT_TSS32	0x00008b0000000067ull

int boot_refuse(const char **why, const char *reason)
{
	*why = reason;
	return -ENOEXEC;
}

bool boot_inside(const struct boot_file *f, uint64_t off, uint64_t len)
{
	return off <= f->size && len <= f->size - off;
}

static bool overlaps(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_end)
{
	return a < b_end && a + a_len > b;
}

bool boot_room(const struct guest_mem *mem, uint64_t gpa, uint64_t len)
{
	if (!len)
		return true;
	if (gpa + len < gpa || !guest_mem_ptr(mem, GPA(gpa), len))
		return false;
	return !overlaps(gpa, len, BOOT_AREA, BOOT_AREA_END) &&
	       !overlaps(gpa, len, BOOT_EBDA, BOOT_HIGH);
}

static void range_add(struct boot_request *rq, uint64_t base, uint64_t size, uint32_t type)
{
	rq->map[rq->nranges++] = (struct boot_range){ base, size, type };
}

void boot_map_fill(struct boot_request *rq)
{
	rq->nranges = 0;
	range_add(rq, 0, BOOT_EBDA, BOOT_RAM);
	range_add(rq, BOOT_EBDA, 0xa0000 - BOOT_EBDA, BOOT_RESERVED);
	range_add(rq, BOOT_ROM, BOOT_HIGH - BOOT_ROM, BOOT_RESERVED);
	range_add(rq, BOOT_HIGH, rq->mem->region[0].size - BOOT_HIGH, BOOT_RAM);
	range_add(rq, HUSK_ECAM_BASE, HUSK_ECAM_SIZE, BOOT_RESERVED);
	if (rq->mem->nregions > 1)
		range_add(rq, rq->mem->region[1].base, rq->mem->region[1].size, BOOT_RAM);
}

int boot_place_initrd(const struct boot_request *rq, uint64_t floor, uint64_t limit, uint64_t *gpa,
		      const char **why)
{
	uint64_t top = rq->mem->region[0].size, size = rq->initrd.size, at;

	*gpa = 0;
	if (!size)
		return 0;
	if (limit < top)
		top = limit;
	if (floor < BOOT_HIGH)
		floor = BOOT_HIGH;
	if (size > top)
		return boot_refuse(why, "the initrd does not fit into memory; try a larger --memory");
	at = (top - size) & ~(PAGE - 1);
	if (at < floor || guest_write(rq->mem, GPA(at), rq->initrd.data, size))
		return boot_refuse(why, "kernel and initrd do not fit into memory; try a larger --memory");
	*gpa = at;
	return 0;
}

int boot_place_cmdline(const struct boot_request *rq, size_t max, const char **why)
{
	size_t len = strlen(rq->cmdline);

	if (len > max || len >= BOOT_CMDLINE_MAX)
		return boot_refuse(why, "the command line (--append) is too long for it");
	if (guest_write(rq->mem, GPA(BOOT_CMDLINE), rq->cmdline, len + 1))
		return boot_refuse(why, "there is no memory for the command line");
	return 0;
}

int boot_place_tables(struct guest_mem *mem)
{
	static const uint64_t gdt[] = {
		0, GDT_CODE32, GDT_CODE64, GDT_DATA, GDT_TSS32, 0,
	};
	uint64_t table[512] = { BOOT_TABLES + PAGE + PTE_TABLE };
	int ret = guest_write(mem, GPA(BOOT_GDT), gdt, sizeof(gdt));

	_Static_assert(sizeof(gdt) == BOOT_GDT_LIMIT + 1, "GDT limit");
	if (!ret)
		ret = guest_write(mem, GPA(BOOT_TABLES), table, sizeof(table));
	for (unsigned i = 0; i < LOW_DIRS; i++)
		table[i] = BOOT_TABLES + (2 + i) * PAGE + PTE_TABLE;
	if (!ret)
		ret = guest_write(mem, GPA(BOOT_TABLES + PAGE), table, sizeof(table));
	for (unsigned i = 0; i < LOW_DIRS && !ret; i++) {
		for (unsigned j = 0; j < 512; j++)
			table[j] = (i * 512 + j) * HUGE + PTE_HUGE;
		ret = guest_write(mem, GPA(BOOT_TABLES + (2 + i) * PAGE), table, sizeof(table));
	}
	return ret;
}

int boot_load_kernel(struct boot_request *rq, struct boot_entry *entry, const char **why)
{
	static const struct {
		const char *name;
		bool (*detect)(const struct boot_file *f);
		int (*load)(const struct boot_request *rq, struct boot_entry *entry,
			    const char **why);
	} protocol[] = {
		{ "Linux 64-bit", linux_detect, linux_load },
		{ "Multiboot", multiboot_detect, multiboot_load },
		{ "PVH", pvh_detect, pvh_load },
	};

	memset(entry, 0, sizeof(*entry));
	if (boot_place_tables(rq->mem))
		return boot_refuse(why, "there is too little memory");
	for (unsigned i = 0; i < sizeof(protocol) / sizeof(protocol[0]); i++) {
		if (!protocol[i].detect(&rq->kernel))
			continue;
		entry->protocol = protocol[i].name;
		return protocol[i].load(rq, entry, why);
	}
	return boot_refuse(why, "it is no bzImage, has no Multiboot header and no PVH entry");
}
