/* SPDX-License-Identifier: Apache-2.0 */
/* What the numbers depend on: read from the host, and made quiet on request. */
#pragma once

struct bench_conditions;
struct tune;

/* Kernel, CPU, KVM's modules and their parameters; root is "/sys". */
void bench_host_read(struct bench_conditions *c, const char *root);

/*
 * Remember in t what would have to change, with a warning for what cannot be changed; after
 * tune_guard(), bench_host_quiet_set() does it.
 */
void bench_host_quiet_add(struct tune *t, const char *root);
void bench_host_quiet_set(const struct tune *t);
