/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest memory: one anonymous mapping for each stretch of RAM, and the checked accessors that
 * every other part of husk goes through. The guest runs at the same time and may change any
 * byte, so callers copy, check, and use the copy.
 */
#include "devices/guest_mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "husk/layout.h"
#include "vmm/guest_ram.h"

static int guest_mem_map(struct guest_mem *mem, uint64_t base, uint64_t size)
{
	struct guest_mem_region *r = &mem->region[mem->nregions];
	uint8_t *p;
	uint64_t lead;

	/* Over-reserve so that the host address is 2 MiB-aligned: huge pages need it. */
	p = mmap(NULL, size + GUEST_MEM_ALIGN, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return -errno;
	lead = -(uintptr_t)p & (GUEST_MEM_ALIGN - 1);
	if (lead)
		munmap(p, lead);
	munmap(p + lead + size, GUEST_MEM_ALIGN - lead);
	r->base = base;
	r->size = size;
	r->host = p + lead;
	mem->nregions++;
	return 0;
}

int guest_mem_init(struct guest_mem *mem, uint64_t size)
{
	uint64_t low = size < HUSK_HOLE_BASE ? size : HUSK_HOLE_BASE;
	int ret;

	memset(mem, 0, sizeof(*mem));
	if (size < GUEST_MEM_MIN || size % GUEST_MEM_ALIGN ||
	    size > HUSK_DIRECT_MAX - HUSK_HOLE_END)
		return -EINVAL;
	ret = guest_mem_map(mem, 0, low);
	if (!ret && size > low)
		ret = guest_mem_map(mem, HUSK_HOLE_END, size - low);
	if (ret)
		guest_mem_free(mem);
	return ret;
}

void guest_mem_free(struct guest_mem *mem)
{
	for (unsigned i = 0; i < mem->nregions; i++)
		munmap(mem->region[i].host, mem->region[i].size);
	mem->nregions = 0;
}

/*
 * From the kernel image up. Measured where each first touch of a page costs an exit (kvm_pvm, us
 * from start to end of a guest that touches 400 KiB of text, 128 KiB of data and n pages behind):
 * with n = 150, none 2574, from 8 MiB 2574, from 4 MiB (data) 1498, from here 1338, everything
 * 1646; with n = 600, 5694, 5811, 1564, 1376, 2057. A guest that touches next to nothing pays 200
 * for the two pages that hold its kernel. The boot tables below are a few pages that we write.
 */
void guest_mem_advise(struct guest_mem *mem)
{
	for (unsigned i = 0; i < mem->nregions; i++) {
		struct guest_mem_region *r = &mem->region[i];
		uint64_t skip = r->base < HUSK_KERNEL_PHYS ? HUSK_KERNEL_PHYS - r->base : 0;

		madvise(r->host + skip, r->size - skip, MADV_HUGEPAGE);
	}
}

void *guest_mem_ptr(const struct guest_mem *mem, gpa_t gpa, size_t len)
{
	if (!len)
		return NULL;
	for (unsigned i = 0; i < mem->nregions; i++) {
		const struct guest_mem_region *r = &mem->region[i];
		uint64_t off = gpa.a - r->base;

		if (gpa.a >= r->base && off < r->size && len <= r->size - off)
			return r->host + off;
	}
	return NULL;
}

int guest_read(const struct guest_mem *mem, void *dst, gpa_t src, size_t len)
{
	const void *p = guest_mem_ptr(mem, src, len);

	if (!p)
		return -EFAULT;
	memcpy(dst, p, len);
	return 0;
}

int guest_write(const struct guest_mem *mem, gpa_t dst, const void *src, size_t len)
{
	void *p = guest_mem_ptr(mem, dst, len);

	if (!p)
		return -EFAULT;
	memcpy(p, src, len);
	return 0;
}
