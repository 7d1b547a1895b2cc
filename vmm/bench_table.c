/* SPDX-License-Identifier: Apache-2.0 */
/* What a person reads: conditions, rows, and before beside after. */
#include "vmm/bench_result.h"

#include <string.h>

#define KINDS_SHOWN	3
#define KIND_WORTH	0.005	/* of an operation: less is the clock tick */

void bench_conditions_print(FILE *out, const struct bench_conditions *c)
{
	fprintf(out, "host     %s, %s\n", c->kernel, *c->cpu ? c->cpu : "unknown CPU");
	fprintf(out, "KVM      %s\n", *c->kvm ? c->kvm : "built into the kernel");
	if (c->ring0_known)
		fprintf(out, "ring 0   %s: %.1f TSC cycles for an empty loop of two instructions\n",
			c->ring0_emulated ? "EMULATED, so ring-0 rows measure the emulator as well" :
			"runs directly", c->ring0_cycles);
	fputs("params   ", out);
	for (unsigned i = 0; i < c->nparams; i++)
		fprintf(out, "%s%s=%s", i ? i % 4 ? " " : "\n         " : "", c->param[i].name,
			c->param[i].value);
	fprintf(out, "\nrun      %u VMs a row, %u ms each; TSC %u kHz%s%s\n\n", c->rounds, c->time_ms,
		c->tsc_khz, c->pinned ? "; vCPUs pinned" : "",
		c->quiet_host ? "; quiet host" : "");
}

void bench_table_head(FILE *out, bool compare)
{
	if (compare)
		fprintf(out, "%-31s %12s %12s %9s\n", "Test", "Before", "After", "Change");
	else
		fprintf(out, "%-31s %12s %12s %7s %11s %9s\n", "Test", "min", "median", "spread",
			"ns", "exits/op");
}

/* The kinds of exit that make up the total, the most frequent ones. */
static void kinds_print(FILE *out, const struct bench_result *r)
{
	bool shown[BENCH_COUNTERS] = { false };

	for (int n = 0; n < KINDS_SHOWN; n++) {
		int best = -1;

		for (unsigned i = 0; i < r->ncounters; i++)
			if (!shown[i] && strcmp(r->counter[i], "exits") &&
			    strstr(r->counter[i], "exits") && r->count[i] >= KIND_WORTH &&
			    (best < 0 || r->count[i] > r->count[best]))
				best = (int)i;
		if (best < 0)
			return;
		shown[best] = true;
		fprintf(out, "%s %s %.2f", n ? "," : " ", r->counter[best], r->count[best]);
	}
}

void bench_table_row(FILE *out, const struct bench_set *set, const struct bench_result *r)
{
	double exits = bench_counter(r, "exits");

	if (r->status) {
		fprintf(out, "%-31s %12s  (%s)\n", r->name, bench_status_name[r->status], r->reason);
		return;
	}
	fprintf(out, "%-31s %12.1f %12.1f %6.1f%% %11.1f ", r->name, r->min, r->median,
		100 * r->spread, bench_ns(set, r->median));
	if (exits >= 0)
		fprintf(out, "%9.2f", exits);
	else
		fprintf(out, "%9s", "-");
	kinds_print(out, r);
	fputc('\n', out);
}

static void value_print(FILE *out, const struct bench_result *r)
{
	if (!r)
		fprintf(out, " %12s", "-");
	else if (r->status)
		fprintf(out, " %12s", bench_status_name[r->status]);
	else
		fprintf(out, " %12.1f", r->median);
}

void bench_table_compare(FILE *out, const struct bench_result *before, const struct bench_result *after)
{
	fprintf(out, "%-31s", after ? after->name : before->name);
	value_print(out, before);
	value_print(out, after);
	if (before && after && !before->status && !after->status && before->median > 0)
		fprintf(out, " %+8.1f%%%s", 100 * (after->median / before->median - 1),
			bench_significant(before, after) ? " *" : "");
	fputc('\n', out);
}
