/* SPDX-License-Identifier: Apache-2.0 */
/* husk bench: quantiles, the test of significance, gathering rounds. */
#include <math.h>
#include <string.h>
#include "tests/unit/tap.h"
#include "vmm/bench_result.h"

static bool near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void summary_test(void)
{
	static const double odd[] = { 5, 1, 4, 2, 3 }, one[] = { 7 };
	static const double even[] = { 4, 1, 3, 2 }, zero[] = { 0, 0, 0 };
	struct bench_summary s = bench_summarize(odd, 5);

	tap_ok(near(s.min, 1) && near(s.median, 3) && near(s.q1, 2) && near(s.q3, 4),
	       "quartiles of five");
	tap_ok(near(s.spread, 2.0 / 3), "spread is the interquartile range over the median");
	s = bench_summarize(even, 4);
	tap_ok(near(s.median, 2.5) && near(s.q1, 1.75) && near(s.q3, 3.25), "quartiles of four");
	s = bench_summarize(one, 1);
	tap_ok(near(s.min, 7) && near(s.median, 7) && near(s.spread, 0), "a single value");
	s = bench_summarize(zero, 3);
	tap_ok(near(s.spread, 0), "no division by a median of zero");
}

static void differ_test(void)
{
	double a[20], b[20], same[20];

	for (int i = 0; i < 20; i++) {
		a[i] = 100 + i % 5;
		b[i] = 110 + i % 5;
		same[i] = 5;
	}
	tap_ok(bench_differ(a, 20, b, 20) && bench_differ(b, 20, a, 20), "apart: they differ, either way");
	tap_ok(!bench_differ(a, 20, a, 20), "a sample does not differ from itself");
	tap_ok(!bench_differ(same, 20, same, 20), "all equal: no variance, no difference");
	tap_ok(!bench_differ(a, 3, b, 3), "three against three cannot reach p < 0.01");
	tap_ok(!bench_differ(a, 0, b, 20), "an empty sample differs from nothing");
	/* U = 0 of 8 and 8 without ties: z = 3.31 with continuity. Known from tables: p < 0.01. */
	for (int i = 0; i < 8; i++) {
		a[i] = i;
		b[i] = 8 + i;
	}
	tap_ok(bench_differ(a, 8, b, 8), "8 and 8, U = 0");
	/* U = 16 of 8 and 8: two-sided p = 0.1049. */
	for (int i = 0; i < 8; i++) {
		a[i] = 2 * i;
		b[i] = 2 * i + 3.5;
	}
	tap_ok(!bench_differ(a, 8, b, 8), "8 and 8, largely mixed");
}

static void add_round(struct bench_result *r, double base)
{
	struct bench_run run = { .nbatches = 9, .operations = 100, .ncounters = 1 };

	for (int i = 0; i < 9; i++)
		run.cycles[i] = base + i * 0.01;
	strcpy(run.counter[0], "exits");
	run.count[0] = 1;
	bench_result_add(r, &run);
}

static void significance_test(void)
{
	static struct bench_result a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	add_round(&a, 100), add_round(&a, 101), add_round(&a, 102);
	add_round(&b, 110), add_round(&b, 111), add_round(&b, 109);
	bench_result_finish(&a);
	bench_result_finish(&b);
	tap_ok(a.nrounds == 3 && a.nsamples == 27 && a.operations == 300, "rounds are put together");
	tap_ok(near(bench_counter(&a, "exits"), 1) && near(bench_counter(&a, "none"), -1),
	       "counters are weighted means");
	tap_ok(bench_significant(&a, &b), "VMs all apart: significant");
	add_round(&b, 101.5);
	tap_ok(!bench_significant(&a, &b), "one VM among the others: not significant");
	b.status = BENCH_NO_ANSWER;
	tap_ok(!bench_significant(&a, &b), "a row without an answer compares with nothing");
}

static void limits_test(void)
{
	static struct bench_result r;
	struct bench_run run = { .status = BENCH_UNSUPPORTED, .reason = "because" };

	memset(&r, 0, sizeof(r));
	for (int i = 0; i < BENCH_ROUNDS + 10; i++)
		add_round(&r, i);
	tap_ok(r.nrounds == BENCH_ROUNDS, "more rounds than there is room for are dropped");
	bench_result_add(&r, &run);
	tap_ok(r.status == BENCH_UNSUPPORTED && !strcmp(r.reason, "because"), "a refusal is kept");
}

int main(void)
{
	summary_test();
	differ_test();
	significance_test();
	limits_test();
	return tap_done();
}
