/* SPDX-License-Identifier: Apache-2.0 */
/* Making and freeing guest memory; what devices may do with it is in devices/guest_mem.h. */
#pragma once

#include "devices/guest_mem.h"

#define GUEST_MEM_ALIGN		(2ull << 20)
#define GUEST_MEM_MIN		(16ull << 20)

/*
 * size bytes of RAM (a multiple of GUEST_MEM_ALIGN): from 0 up to the hole, the rest from 4 GiB.
 * Nothing is populated. 0 or -errno.
 */
int guest_mem_init(struct guest_mem *mem, uint64_t size);
void guest_mem_free(struct guest_mem *mem);
/* Ask for huge pages where they pay. */
void guest_mem_advise(struct guest_mem *mem);
