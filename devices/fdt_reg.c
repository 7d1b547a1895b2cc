/* SPDX-License-Identifier: Apache-2.0 */
/* Devicetree nodes of platform devices, by libfdt's sequential writer. */
#include "devices/fdt_reg.h"

#include <errno.h>
#include <libfdt.h>
#include <stdio.h>

static int fdt_errno(int ret)
{
	return ret >= 0 ? 0 : ret == -FDT_ERR_NOSPACE ? -E2BIG : -EINVAL;
}

int fdt_begin_device(void *fdt, const char *name, const char *compatible, uint64_t base,
		     uint64_t size)
{
	fdt64_t reg[2] = { cpu_to_fdt64(base), cpu_to_fdt64(size) };
	char full[48];
	int ret;

	snprintf(full, sizeof(full), "%s@%llx", name, (unsigned long long)base);
	ret = fdt_begin_node(fdt, full);
	if (!ret)
		ret = fdt_property_string(fdt, "compatible", compatible);
	if (!ret)
		ret = fdt_property(fdt, "reg", reg, sizeof(reg));
	return fdt_errno(ret);
}

int fdt_simple_node(void *fdt, const char *name, const char *compatible, uint64_t base,
		    uint64_t size)
{
	int ret = fdt_begin_device(fdt, name, compatible, base, size);

	return ret ? ret : fdt_errno(fdt_end_node(fdt));
}
