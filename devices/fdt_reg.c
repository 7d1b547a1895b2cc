/* SPDX-License-Identifier: Apache-2.0 */
/* Devicetree nodes of platform devices, by libfdt. */
#include "devices/fdt_reg.h"

#include <errno.h>
#include <libfdt.h>
#include <stdio.h>

static int fdt_errno(int ret)
{
	return ret >= 0 ? 0 : ret == -FDT_ERR_NOSPACE ? -ENOSPC : -EINVAL;
}

int fdt_add_device(void *fdt, int parent, const char *name, const char *compatible, uint64_t base,
		   uint64_t size)
{
	fdt64_t reg[2] = { cpu_to_fdt64(base), cpu_to_fdt64(size) };
	char full[48];
	int node, ret;

	snprintf(full, sizeof(full), "%s@%llx", name, (unsigned long long)base);
	node = fdt_add_subnode(fdt, parent, full);
	if (node < 0)
		return fdt_errno(node);
	ret = fdt_setprop(fdt, node, "reg", reg, sizeof(reg));
	if (ret >= 0)
		ret = fdt_setprop_string(fdt, node, "compatible", compatible);
	return ret < 0 ? fdt_errno(ret) : node;
}
