/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest memory as devices see it: checked (gpa, length) accesses, nothing else. Implemented by
 * vmm/guest_mem.c; unit tests make their own small memories with guest_mem_init().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A guest physical address; a struct so that C refuses to dereference it or to mix it up. */
typedef struct { uint64_t a; } gpa_t;
#define GPA(x) ((gpa_t){ (x) })

struct guest_mem_region {
	uint64_t base;		/* guest physical, page-aligned */
	uint64_t size;
	uint8_t *host;
};

struct guest_mem {
	struct guest_mem_region region[2];	/* below the hole, above 4 GiB */
	unsigned nregions;
};

/*
 * Host pointer to len bytes at gpa, or NULL unless all of it is inside one region. len 0 is
 * refused. The guest can change the bytes at any time: copy, check, use the copy.
 */
void *guest_mem_ptr(const struct guest_mem *mem, gpa_t gpa, size_t len);

/* Copy in or out. 0, or -EFAULT when any byte is outside guest memory (nothing is copied then). */
int guest_read(const struct guest_mem *mem, void *dst, gpa_t src, size_t len);
int guest_write(const struct guest_mem *mem, gpa_t dst, const void *src, size_t len);
