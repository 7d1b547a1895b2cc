/* SPDX-License-Identifier: Apache-2.0 */
/* ELF programs: the header's checks, without any side effect, so that the host can test them. */
#pragma once

#include "core/types.h"
#include <linux/elf.h>

#define ELF_MAX_PHDRS 64

struct elf_image {
	bool pie;
	u64 entry, phoff;
	unsigned phnum, nload;
	Elf64_Phdr load[ELF_MAX_PHDRS];
	u64 low, high;			/* page-aligned span of the loads */
	u64 phdr_vaddr;			/* where the program headers are in memory, 0: nowhere */
	u64 interp_off, interp_len;	/* PT_INTERP in the file; len 0: none */
	bool exec_stack;
};

/* `phdrs` holds ehdr's e_phnum headers. 0 or -ENOEXEC. */
int elf_check_header(const Elf64_Ehdr *ehdr);
int elf_parse(const Elf64_Ehdr *ehdr, const Elf64_Phdr *phdrs, u64 file_size, u64 user_top,
	      struct elf_image *image);
