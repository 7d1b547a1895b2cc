/* SPDX-License-Identifier: Apache-2.0 */
/* Guest memory accessors for device tests that do not link the real ones (vmm/guest_mem.c). */
#include "devices/guest_mem.h"

#include <errno.h>
#include <string.h>

void *guest_mem_ptr(const struct guest_mem *mem, gpa_t gpa, size_t len)
{
	for (unsigned i = 0; i < mem->nregions && len; i++) {
		const struct guest_mem_region *r = &mem->region[i];

		if (gpa.a >= r->base && gpa.a - r->base < r->size &&
		    len <= r->size - (gpa.a - r->base))
			return r->host + (gpa.a - r->base);
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
