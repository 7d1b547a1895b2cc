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
 * From the kernel image up: each first touch of a small page costs an exit. Measured from start to
 * end on a kvm_pvm host, us, minima of interleaved runs. `husk run /bin/true`: no advice 5514,
 * everywhere 5316, from the kernel on 4957. A guest that touches 150 pages behind its kernel: none
 * 2574, from 8 MiB 2574, from the kernel on 1497; 600 pages: 5694, 5811, 1564. Clearing 2 MiB costs
 * about 100 us, so the kernel's image and first pages are one of them (husk/layout.h).
 */
void guest_mem_advise(struct guest_mem *mem)
{
	const uint64_t from = HUSK_KERNEL_PHYS;

	for (unsigned i = 0; i < mem->nregions; i++) {
		struct guest_mem_region *r = &mem->region[i];
		uint64_t skip = r->base < from ? from - r->base : 0;

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
