/* SPDX-License-Identifier: Apache-2.0 */
/* The first program, as the FDT describes it. */
#pragma once

struct fdt;

int init_node(const struct fdt *fdt);		/* /chosen/husk,init, or negative */
void init_run(const struct fdt *fdt) __attribute__((noreturn));
