/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linux bzImage by the 64-bit boot protocol (Linux, Documentation/arch/x86/boot.rst): the
 * protected-mode part at an aligned address with init_size bytes free, the zero page in rsi, long
 * mode with an identity map, entry 0x200 behind the start.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "vmm/boot_kernel.h"

#define HEADER_AT	0x1f1
#define HEADER_MAX_END	0x280
#define HEADER_MAGIC	0x53726448u	/* "HdrS" */
#define HEADER_END_AT	0x201		/* length of the jump that skips the header */
#define VERSION_MIN	0x020c		/* has xloadflags */
#define SECTOR		512ull
#define SETUP_SECTS_0	4		/* what 0 means, for history's sake */
#define ENTRY_64	0x200
#define LOADER_UNKNOWN	0xff
#define INITRD_OLD_MAX	0x37ffffffull
#define LOADED_HIGH	(1u << 0)	/* loadflags */
#define CAN_USE_HEAP	(1u << 7)
#define XLF_KERNEL_64	(1u << 0)	/* xloadflags */

/* The header's fields, at HEADER_AT of the file and of the zero page. */
struct setup_header {
	uint8_t setup_sects;
	uint16_t root_flags;
	uint32_t syssize;
	uint16_t ram_size, vid_mode, root_dev, boot_flag, jump;
	uint32_t header;
	uint16_t version;
	uint32_t realmode_swtch;
	uint16_t start_sys_seg, kernel_version;
	uint8_t type_of_loader, loadflags;
	uint16_t setup_move_size;
	uint32_t code32_start, ramdisk_image, ramdisk_size, bootsect_kludge;
	uint16_t heap_end_ptr;
	uint8_t ext_loader_ver, ext_loader_type;
	uint32_t cmd_line_ptr, initrd_addr_max, kernel_alignment;
	uint8_t relocatable_kernel, min_alignment;
	uint16_t xloadflags;
	uint32_t cmdline_size, hardware_subarch;
	uint64_t hardware_subarch_data;
	uint32_t payload_offset, payload_length;
	uint64_t setup_data, pref_address;
	uint32_t init_size;
	uint8_t later[HEADER_MAX_END - 0x264];
} __attribute__((packed));

struct e820_entry {
	uint64_t base, size;
	uint32_t type;
} __attribute__((packed));

/* The zero page, as far as a boot loader fills it. */
struct boot_params {
	uint8_t unused1[0x70];
	uint64_t acpi_rsdp_addr;
	uint8_t unused2[0x1e8 - 0x78];
	uint8_t e820_entries;
	uint8_t unused3[HEADER_AT - 0x1e9];
	struct setup_header hdr;
	uint8_t unused4[0x2d0 - HEADER_MAX_END];
	struct e820_entry e820_table[BOOT_MAX_RANGES];
	uint8_t unused5[4096 - 0x2d0 - BOOT_MAX_RANGES * 20];
} __attribute__((packed));

_Static_assert(offsetof(struct boot_params, hdr.header) == 0x202 &&
	       offsetof(struct boot_params, hdr.pref_address) == 0x258 &&
	       offsetof(struct boot_params, e820_table) == 0x2d0 &&
	       sizeof(struct boot_params) == 4096, "the zero page");

bool linux_detect(const struct boot_file *f)
{
	uint32_t magic;

	if (!boot_inside(f, 0, HEADER_MAX_END))
		return false;
	memcpy(&magic, f->data + offsetof(struct boot_params, hdr.header), sizeof(magic));
	return magic == HEADER_MAGIC;
}

/* The setup header, as far as the file has one; the rest stays zero. */
static int header_read(const struct boot_file *f, struct boot_params *bp, const char **why)
{
	size_t end, max = offsetof(struct boot_params, hdr) + sizeof(bp->hdr);

	memset(bp, 0, sizeof(*bp));
	if (!linux_detect(f))
		return boot_refuse(why, "it is no bzImage");
	end = HEADER_END_AT + 1 + f->data[HEADER_END_AT];
	if (end > max)
		end = max;
	if (!boot_inside(f, 0, end))
		return boot_refuse(why, "its setup header is cut off");
	memcpy((uint8_t *)bp + HEADER_AT, f->data + HEADER_AT, end - HEADER_AT);
	if (bp->hdr.version < VERSION_MIN || !(bp->hdr.xloadflags & XLF_KERNEL_64))
		return boot_refuse(why, "it is too old or has no 64-bit entry");
	if (!(bp->hdr.loadflags & LOADED_HIGH))
		return boot_refuse(why, "it is a zImage, to be loaded low");
	return 0;
}

/* Where the protected-mode part goes: the preferred address, else the next that is aligned. */
static int kernel_put(const struct boot_request *rq, struct boot_params *bp,
		      struct boot_entry *entry, uint64_t *end, const char **why)
{
	const struct setup_header *h = &bp->hdr;
	uint64_t off = ((h->setup_sects ? h->setup_sects : SETUP_SECTS_0) + 1) * SECTOR;
	uint64_t at = h->pref_address, align = h->kernel_alignment, size, room;

	if (off >= rq->kernel.size || rq->kernel.size - off <= ENTRY_64)
		return boot_refuse(why, "it ends before its 64-bit part");
	size = rq->kernel.size - off;
	room = h->init_size > size ? h->init_size : size;
	if (h->relocatable_kernel && (at < BOOT_HIGH || !boot_room(rq->mem, at, room))) {
		if (!align || align & (align - 1))
			return boot_refuse(why, "its alignment is no power of two");
		at = (BOOT_HIGH + align - 1) & ~(align - 1);
	}
	if (at >> 32 || !boot_room(rq->mem, at, room))
		return boot_refuse(why, "it does not fit into memory; try a larger --memory");
	if (guest_write(rq->mem, GPA(at), rq->kernel.data + off, size))
		return boot_refuse(why, "it does not fit into memory");
	bp->hdr.code32_start = at;
	entry->kernel_addr = at;
	entry->rip = at + ENTRY_64;
	*end = at + room;
	return 0;
}

static int params_put(const struct boot_request *rq, struct boot_params *bp, uint64_t initrd)
{
	bp->hdr.type_of_loader = LOADER_UNKNOWN;
	bp->hdr.cmd_line_ptr = BOOT_CMDLINE;
	bp->hdr.ramdisk_image = (uint32_t)initrd;
	bp->hdr.ramdisk_size = (uint32_t)rq->initrd.size;
	bp->hdr.loadflags &= ~CAN_USE_HEAP;
	bp->acpi_rsdp_addr = rq->rsdp;
	bp->e820_entries = rq->nranges;
	for (unsigned i = 0; i < rq->nranges; i++)
		bp->e820_table[i] = (struct e820_entry){ rq->map[i].base, rq->map[i].size,
							      rq->map[i].type };
	return guest_write(rq->mem, GPA(BOOT_INFO), bp, sizeof(*bp));
}

int linux_load(const struct boot_request *rq, struct boot_entry *entry, const char **why)
{
	struct boot_params bp;
	uint64_t end = 0, limit;
	int ret = header_read(&rq->kernel, &bp, why);

	if (!ret)
		ret = kernel_put(rq, &bp, entry, &end, why);
	if (!ret)
		ret = boot_place_cmdline(rq, bp.hdr.cmdline_size, why);
	if (ret)
		return ret;
	limit = bp.hdr.initrd_addr_max ? bp.hdr.initrd_addr_max + 1ull : INITRD_OLD_MAX + 1;
	ret = boot_place_initrd(rq, end, limit, &entry->initrd_addr, why);
	if (ret)
		return ret;
	if (params_put(rq, &bp, entry->initrd_addr))
		return boot_refuse(why, "there is no memory for the zero page");
	entry->long_mode = true;
	entry->rsi = BOOT_INFO;
	return 0;
}
