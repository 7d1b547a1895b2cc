/* SPDX-License-Identifier: Apache-2.0 */
/* What only boot and the fault handler need of the page allocator. */
#pragma once

#include "mm/page.h"

struct ram { u64 base, size; };		/* ascending, at most two */

/* first_free: physical address behind the kernel image. */
void page_init(const struct ram *ram, unsigned nram, u64 first_free);

/* Make a block 2^order single pages, each with the block's reference count. */
void page_split(struct page *page);
