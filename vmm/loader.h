/* SPDX-License-Identifier: Apache-2.0 */
/* The guest kernel ELF: checked like any other input, then copied into guest RAM. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include "devices/guest_mem.h"
#include "husk/boot.h"

#define KERNEL_MAX_SEGMENTS	8
#define KERNEL_WINDOW_BYTES	0x40000000ull	/* one page directory at HUSK_KERNEL_VIRT */

struct kernel_segment {
	uint64_t vaddr, paddr, memsz, filesz, offset;
	uint32_t flags;				/* PF_* */
};

struct kernel_image {
	struct kernel_segment seg[KERNEL_MAX_SEGMENTS];
	unsigned nsegs;
	uint64_t entry;
	struct husk_boot_note note;
};

/* The kernel linked into the binary (guest_blob.S). */
extern const unsigned char guest_kernel[], guest_kernel_end[];

/*
 * Check an ELF image of size bytes and describe it. 0, or -ENOEXEC with *why saying what is
 * wrong. Nothing in img is to be used after an error.
 */
int kernel_parse(const void *elf, size_t size, unsigned ncpus, struct kernel_image *img,
		 const char **why);
/* Copy its segments into guest RAM. 0 or -EFAULT: it does not fit. */
int kernel_load(const void *elf, const struct kernel_image *img, struct guest_mem *mem);
