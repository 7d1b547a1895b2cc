/* SPDX-License-Identifier: Apache-2.0 */
/* The devicetree node that most platform devices need: compatible and one register range. */
#pragma once

#include <stdint.h>

/* Open NAME@base with compatible and reg; the caller may add properties, then closes it. */
int fdt_begin_device(void *fdt, const char *name, const char *compatible, uint64_t base,
		     uint64_t size);
/* The same, closed. Both: 0, -E2BIG when the devicetree is full, or -EINVAL. */
int fdt_simple_node(void *fdt, const char *name, const char *compatible, uint64_t base,
		    uint64_t size);
