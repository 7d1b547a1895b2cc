/* SPDX-License-Identifier: Apache-2.0 */
/* The devicetree node that most platform devices need: compatible and one register range. */
#pragma once

#include <stdint.h>

/*
 * Add NAME@base with compatible and reg below parent. The node, -ENOSPC when the devicetree is
 * full, or -EINVAL.
 */
int fdt_add_device(void *fdt, int parent, const char *name, const char *compatible, uint64_t base,
		   uint64_t size);
