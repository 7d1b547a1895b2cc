/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read-only access to the flattened devicetree (devicetree specification 0.4, chapter 5). A node
 * is the offset of its FDT_BEGIN_NODE token in the structure block; negative: not there.
 */
#pragma once

#include "core/types.h"

struct fdt {
	const u8 *base;
	u32 size, off_struct, size_struct, off_strings, size_strings;
};

int fdt_open(struct fdt *fdt, const void *blob, size_t max);	/* 0 or -EINVAL */
int fdt_root(const struct fdt *fdt);
int fdt_child(const struct fdt *fdt, int node);			/* first child */
int fdt_next(const struct fdt *fdt, int node);			/* next sibling */
const char *fdt_name(const struct fdt *fdt, int node);		/* with its @unit */
int fdt_find(const struct fdt *fdt, int node, const char *name);	/* child; name without or with @unit */
/* First node anywhere below `node` whose compatible list has `compat`, after node `after` (-1: from the start). */
int fdt_compatible(const struct fdt *fdt, int after, const char *compat);
const void *fdt_prop(const struct fdt *fdt, int node, const char *name, u32 *len);	/* NULL: none */
u64 fdt_u32(const struct fdt *fdt, int node, const char *name, u64 otherwise);
u64 fdt_u64(const struct fdt *fdt, int node, const char *name, u64 otherwise);
const char *fdt_str(const struct fdt *fdt, int node, const char *name);		/* NULL: none or not terminated */
