/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics over the batches of a row, and when two rows differ. */
#include "vmm/bench_result.h"

#include <stdlib.h>
#include <string.h>

#define Z2_LIMIT 6.6349		/* chi-squared, one degree of freedom, p = 0.01: z squared */

static int double_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Linear between neighbours; v is sorted. */
static double quantile(const double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

struct bench_summary bench_summarize(const double *v, size_t n)
{
	struct bench_summary s = { 0 };
	double *sorted = malloc(n * sizeof(*sorted));

	if (!sorted || !n) {
		free(sorted);
		return s;
	}
	memcpy(sorted, v, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), double_compare);
	s.min = sorted[0];
	s.q1 = quantile(sorted, n, 0.25);
	s.median = quantile(sorted, n, 0.5);
	s.q3 = quantile(sorted, n, 0.75);
	s.spread = s.median > 0 ? (s.q3 - s.q1) / s.median : 0;
	free(sorted);
	return s;
}

struct ranked { double v; bool first; };

static int ranked_compare(const void *a, const void *b)
{
	return double_compare(&((const struct ranked *)a)->v, &((const struct ranked *)b)->v);
}

/* Sum of the ranks of the first sample (ties get the middle), and the sum of t^3 - t over ties. */
static double rank_sum(struct ranked *all, size_t n, double *ties)
{
	double sum = 0;

	*ties = 0;
	qsort(all, n, sizeof(*all), ranked_compare);
	for (size_t i = 0, j; i < n; i = j) {
		double t, rank;

		for (j = i; j < n && all[j].v <= all[i].v; j++)
			;
		t = (double)(j - i);
		rank = (double)i + (t + 1) / 2;
		*ties += t * t * t - t;
		for (size_t k = i; k < j; k++)
			if (all[k].first)
				sum += rank;
	}
	return sum;
}

bool bench_differ(const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb;
	struct ranked *all = na && nb ? calloc(n, sizeof(*all)) : NULL;
	double da = (double)na, db = (double)nb, dn = (double)n, ties, u, var, diff;

	if (!all)
		return false;
	for (size_t i = 0; i < n; i++)
		all[i] = (struct ranked){ i < na ? a[i] : b[i - na], i < na };
	u = rank_sum(all, n, &ties) - da * (da + 1) / 2;
	free(all);
	var = da * db / 12 * (dn + 1 - ties / (dn * (dn - 1)));
	diff = u - da * db / 2;
	diff = diff < 0 ? -diff : diff;
	diff = diff > 0.5 ? diff - 0.5 : 0;		/* continuity */
	return var > 0 && diff * diff > Z2_LIMIT * var;
}

static void round_range(const struct bench_result *r, double *lo, double *hi)
{
	unsigned from = 0;

	for (unsigned i = 0; i < r->nrounds; from = r->round_end[i++]) {
		double m = bench_summarize(r->sample + from, r->round_end[i] - from).median;

		if (!i || m < *lo)
			*lo = m;
		if (!i || m > *hi)
			*hi = m;
	}
}

bool bench_significant(const struct bench_result *a, const struct bench_result *b)
{
	double alo = 0, ahi = 0, blo = 0, bhi = 0;

	if (a->status || b->status || !a->nrounds || !b->nrounds)
		return false;
	round_range(a, &alo, &ahi);
	round_range(b, &blo, &bhi);
	return (ahi < blo || bhi < alo) && bench_differ(a->sample, a->nsamples, b->sample, b->nsamples);
}

void bench_result_add(struct bench_result *r, const struct bench_run *run)
{
	double old = (double)r->operations, all = old + (double)run->operations;

	if (run->status) {
		r->status = run->status;
		memcpy(r->reason, run->reason, sizeof(r->reason));
		return;
	}
	if (r->nrounds == BENCH_ROUNDS || r->nsamples + run->nbatches > BENCH_SAMPLES)
		return;
	memcpy(r->sample + r->nsamples, run->cycles, run->nbatches * sizeof(double));
	r->nsamples += run->nbatches;
	r->round_end[r->nrounds++] = r->nsamples;
	r->x2apic = run->x2apic;
	r->ncounters = run->ncounters;
	memcpy(r->counter, run->counter, sizeof(r->counter));
	for (unsigned i = 0; i < run->ncounters; i++)
		r->count[i] = (r->count[i] * old + run->count[i] * (double)run->operations) / all;
	r->operations += run->operations;
}

void bench_result_finish(struct bench_result *r)
{
	struct bench_summary s;

	if (r->status || !r->nsamples)
		return;
	s = bench_summarize(r->sample, r->nsamples);
	r->min = s.min;
	r->median = s.median;
	r->spread = s.spread;
}

struct bench_result *bench_set_row(struct bench_set *set, const char *name)
{
	if (set->n == set->cap) {
		size_t cap = set->cap ? 2 * set->cap : 16;
		struct bench_result *row = realloc(set->row, cap * sizeof(*row));

		if (!row)
			return NULL;
		set->row = row;
		set->cap = cap;
	}
	memset(&set->row[set->n], 0, sizeof(set->row[0]));
	snprintf(set->row[set->n].name, sizeof(set->row[0].name), "%s", name);
	return &set->row[set->n++];
}

const struct bench_result *bench_set_find(const struct bench_set *set, const char *name,
					  const char *setting)
{
	for (size_t i = 0; i < set->n; i++)
		if (!strcmp(set->row[i].name, name) &&
		    (!setting || !strcmp(set->row[i].setting, setting)))
			return &set->row[i];
	return NULL;
}

void bench_set_free(struct bench_set *set)
{
	free(set->row);
	memset(set, 0, sizeof(*set));
}

double bench_ns(const struct bench_set *set, double cycles)
{
	return set->cond.tsc_khz ? cycles * 1e6 / set->cond.tsc_khz : 0;
}

double bench_counter(const struct bench_result *r, const char *name)
{
	for (unsigned i = 0; i < r->ncounters; i++)
		if (!strcmp(r->counter[i], name))
			return r->count[i];
	return -1;
}
