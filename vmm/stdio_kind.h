/* SPDX-License-Identifier: Apache-2.0 */
/* The standard descriptors that husk was started with. */
#pragma once

/* Put /dev/null where 0, 1 or 2 is closed, so that nothing else ends up there. 0 or -errno. */
int stdio_fill(void);
/* What each is: HUSK_STDIO_* of include/husk/fdt.h. */
void stdio_describe(const char *kind[3]);
