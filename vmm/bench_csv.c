/* SPDX-License-Identifier: Apache-2.0 */
/* Results as comma-separated values (RFC 4180), one line a row (docs/bench-format.md). */
#include "vmm/bench_result.h"

#include <errno.h>
#include <string.h>

/* The only field that comes from elsewhere and may hold anything. */
static void quoted_put(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

static void row_put(FILE *f, const struct bench_set *set, const struct bench_result *r)
{
	double exits = bench_counter(r, "exits");

	fprintf(f, "%s,", r->name);
	quoted_put(f, r->setting);
	fprintf(f, ",%s,", bench_status_name[r->status]);
	quoted_put(f, r->reason);
	if (r->status) {
		fputs(",,,,,,,\r\n", f);
		return;
	}
	fprintf(f, ",%.3f,%.3f,%.5f,%.2f,%.2f,%llu,", r->min, r->median, r->spread,
		bench_ns(set, r->min), bench_ns(set, r->median), (unsigned long long)r->operations);
	if (exits >= 0)
		fprintf(f, "%.4f", exits);
	fputs("\r\n", f);
}

int bench_csv_write(const struct bench_set *set, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "we") : stdout;
	int ret = 0;

	if (!f)
		return -errno;
	fputs("name,setting,status,reason,min_cycles,median_cycles,spread,min_ns,median_ns,"
	      "operations,exits_per_op\r\n", f);
	for (size_t i = 0; i < set->n; i++)
		row_put(f, set, &set->row[i]);
	if (fflush(f) || ferror(f))
		ret = -EIO;
	if (f != stdout && fclose(f) && !ret)
		ret = -errno;
	return ret;
}
