/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `husk bench`. */
#pragma once

#include <stdio.h>
#include "vmm/bench_rows.h"
#include "vmm/bench_tune.h"

#define BENCH_ROWS_MAX	96

struct bench_options {
	const struct bench_row_info *row[BENCH_ROWS_MAX];
	size_t nrows;
	unsigned cpus;			/* 0: what each row needs */
	unsigned time_ms, rounds;
	const char *json, *csv, *baseline;	/* NULL: none */
	bool pin, quiet_host, list, has_toggle, verbose;
	struct tune_toggle toggle;
	char error[256];
};

/* 0, 1 for --help, -EINVAL with error. argv[0] is "bench". */
int bench_cli_parse(struct bench_options *o, int argc, char **argv);
void bench_cli_help(FILE *out);
void bench_cli_list(FILE *out);

/* bench.c: the command. husk's exit code. */
int bench_command(int argc, char **argv);
