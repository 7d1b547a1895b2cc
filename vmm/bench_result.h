/* SPDX-License-Identifier: Apache-2.0 */
/* Results of `husk bench`: statistics, comparison, and their file formats (docs/bench-format.md). */
#pragma once

#include <stdio.h>
#include "vmm/bench_vm.h"

#define BENCH_ROUNDS	50
#define BENCH_SAMPLES	2048
#define BENCH_FORMAT	"husk-bench-1"

/* One row, of one or more VMs. Cycles are TSC cycles of one operation. */
struct bench_result {
	char name[48];
	char setting[80];		/* module.parameter=value, or empty */
	enum bench_status status;
	char reason[BENCH_REASON];
	bool x2apic;
	unsigned nsamples, nrounds;
	double sample[BENCH_SAMPLES];	/* one a batch, the rounds one after the other */
	unsigned round_end[BENCH_ROUNDS];
	double min, median, spread;	/* spread: interquartile range / median */
	uint64_t operations;
	unsigned ncounters;
	char counter[BENCH_COUNTERS][BENCH_NAME];
	double count[BENCH_COUNTERS];	/* an operation */
};

#define BENCH_PARAMS	48
struct bench_conditions {
	char kernel[80], cpu[80], kvm[80];	/* kvm: module names */
	bool ring0_known, ring0_emulated;
	double ring0_cycles;			/* of a loop of two instructions */
	uint32_t tsc_khz;
	unsigned time_ms, rounds, cpus;		/* cpus 0: what each row needs */
	bool pinned, quiet_host;
	unsigned nparams;
	struct { char name[64], value[48]; } param[BENCH_PARAMS];
};

struct bench_set {
	struct bench_conditions cond;
	size_t n, cap;
	struct bench_result *row;
};

/* --- bench_stats.c ---------------------------------------------------------------------------- */

struct bench_summary { double min, q1, median, q3, spread; };
struct bench_summary bench_summarize(const double *v, size_t n);	/* n > 0 */
/* Mann-Whitney U, two-sided, normal approximation with ties: is p < 0.01? */
bool bench_differ(const double *a, size_t na, const double *b, size_t nb);
/*
 * The significance mark: bench_differ() over all batches, and no median of a round of one lies
 * within the range of the other's. (Batches of one VM resemble each other more than two VMs do.)
 */
bool bench_significant(const struct bench_result *a, const struct bench_result *b);

void bench_result_add(struct bench_result *r, const struct bench_run *run);
void bench_result_finish(struct bench_result *r);
/* A cleared row at the end of the set, or NULL. */
struct bench_result *bench_set_row(struct bench_set *set, const char *name);
/* The first of that name (and setting, unless NULL), or NULL. */
const struct bench_result *bench_set_find(const struct bench_set *set, const char *name,
					  const char *setting);
void bench_set_free(struct bench_set *set);
double bench_ns(const struct bench_set *set, double cycles);	/* 0: rate not known */
double bench_counter(const struct bench_result *r, const char *name);	/* -1: not counted */

/* --- bench_json.c, bench_csv.c ---------------------------------------------------------------- */

/* 0 or -errno; path "-" is stdout. */
int bench_json_write(const struct bench_set *set, const char *path);
int bench_csv_write(const struct bench_set *set, const char *path);
/* 0, or -errno with a message in error. */
int bench_json_read(struct bench_set *set, const char *path, char *error, size_t size);
int bench_json_parse(struct bench_set *set, const char *text, size_t len, char *error, size_t size);

/* --- bench_table.c ---------------------------------------------------------------------------- */

void bench_conditions_print(FILE *out, const struct bench_conditions *c);
void bench_table_head(FILE *out, bool compare);
void bench_table_row(FILE *out, const struct bench_set *set, const struct bench_result *r);
void bench_table_compare(FILE *out, const struct bench_result *before, const struct bench_result *after);
