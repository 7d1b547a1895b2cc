/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of `husk bench` as the host knows them; their loops are in guestkern/bench/. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct bench_row_info {
	const char *name;
	unsigned cpus;		/* at least so many vCPUs */
	bool parallel;		/* runs on all vCPUs at once */
	bool pic;		/* needs the interrupt controllers of a PC in KVM */
	bool extra;		/* only measured when named */
	const char *what;
};

extern const struct bench_row_info bench_rows[];
extern const size_t bench_row_count;

/* By name, or NULL. */
const struct bench_row_info *bench_row_info(const char *name);
