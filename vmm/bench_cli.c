/* SPDX-License-Identifier: Apache-2.0 */
/* Options and row names of `husk bench`. */
#include "vmm/bench_cli.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define TIME_DEFAULT_MS	100
#define TIME_MAX_MS	60000
#define ROUNDS_DEFAULT	3
#define ROUNDS_MAX	50
#define CPUS_MAX	32

enum { OPT_CPUS = 256, OPT_TIME, OPT_ROUNDS, OPT_JSON, OPT_CSV, OPT_PIN, OPT_BASELINE, OPT_TOGGLE,
       OPT_QUIET_HOST, OPT_LIST,
       OPT_VERBOSE };

static const struct option longs[] = {
	{ "verbose", no_argument, NULL, OPT_VERBOSE },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "time", required_argument, NULL, OPT_TIME },
	{ "rounds", required_argument, NULL, OPT_ROUNDS },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "pin", no_argument, NULL, OPT_PIN },
	{ "baseline", required_argument, NULL, OPT_BASELINE },
	{ "toggle", required_argument, NULL, OPT_TOGGLE },
	{ "quiet-host", no_argument, NULL, OPT_QUIET_HOST },
	{ "list", no_argument, NULL, OPT_LIST },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

void bench_cli_help(FILE *out)
{
	fputs("usage: husk bench [OPTIONS] [ROW...]\n\n"
	      "Measures what each kind of VM exit, interrupt and context switch costs on this host.\n"
	      "Each row runs in small VMs of its own. ROW may be a pattern, such as 'self_ipi_*';\n"
	      "without one all rows are measured.\n\n"
	      "      --cpus N                  vCPUs of rows that run on all at once (1; 2 if need be)\n"
	      "      --time MS                 measuring time of a VM (100)\n"
	      "      --rounds N                VMs a row (3)\n"
	      "      --json FILE               write results as JSON; - is standard output\n"
	      "      --csv FILE                write results as CSV; - is standard output\n"
	      "      --pin                     pin each vCPU to a CPU of its own\n"
	      "      --baseline FILE           compare with the results in a JSON file\n"
	      "      --toggle MODULE.PARAM=A,B measure with both values of a kernel parameter, in turns\n"
	      "      --quiet-host              halt polling, timer advance and turbo off meanwhile\n"
	      "      --verbose                 also print what the VMs and their kernel say\n"
	      "      --list                    print the rows\n"
	      "  -h, --help                    this text\n\n"
	      "Exit status: 0 all rows were measured, 1 some were not (unsupported, no answer),\n"
	      "125 husk failed.\n", out);
}

void bench_cli_list(FILE *out)
{
	for (size_t i = 0; i < bench_row_count; i++)
		fprintf(out, "%-31s %s%s\n", bench_rows[i].name, bench_rows[i].what,
			bench_rows[i].extra ? " (only when named)" : "");
}

__attribute__((format(printf, 2, 3)))
static int cli_error(struct bench_options *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(o->error, sizeof(o->error), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int number_get(struct bench_options *o, const char *name, unsigned max, unsigned *out)
{
	char *end;
	unsigned long n = strtoul(optarg, &end, 10);

	if (*optarg < '0' || *optarg > '9' || *end || n < 1 || n > max)
		return cli_error(o, "--%s %.40s: write a number from 1 to %u", name, optarg, max);
	*out = (unsigned)n;
	return 0;
}

static int option_take(struct bench_options *o, int c, char **argv)
{
	char why[160];

	switch (c) {
	case OPT_CPUS:
		return number_get(o, "cpus", CPUS_MAX, &o->cpus);
	case OPT_TIME:
		return number_get(o, "time", TIME_MAX_MS, &o->time_ms);
	case OPT_ROUNDS:
		return number_get(o, "rounds", ROUNDS_MAX, &o->rounds);
	case OPT_JSON:
		o->json = optarg;
		return 0;
	case OPT_CSV:
		o->csv = optarg;
		return 0;
	case OPT_PIN:
		o->pin = true;
		return 0;
	case OPT_BASELINE:
		o->baseline = optarg;
		return 0;
	case OPT_TOGGLE:
		o->has_toggle = true;
		if (!tune_toggle_parse(&o->toggle, "/sys", optarg, why, sizeof(why)))
			return 0;
		return cli_error(o, "--toggle %.60s: %s", optarg, why);
	case OPT_QUIET_HOST:
		o->quiet_host = true;
		return 0;
	case OPT_LIST:
		o->list = true;
		return 0;
	case OPT_VERBOSE:
		o->verbose = true;
		return 0;
	case ':':
		return cli_error(o, "option %.40s wants a value; see husk help bench", argv[optind - 1]);
	default:
		return cli_error(o, "no option %.40s; see husk help bench", argv[optind - 1]);
	}
}

static bool row_chosen(const struct bench_options *o, const struct bench_row_info *row)
{
	for (size_t i = 0; i < o->nrows; i++)
		if (o->row[i] == row)
			return true;
	return false;
}

/* Rows that a word names; "extra" ones only by their full name. */
static int rows_add(struct bench_options *o, const char *word)
{
	bool found = false;

	for (size_t i = 0; i < bench_row_count; i++) {
		const struct bench_row_info *row = &bench_rows[i];

		if (strcmp(word, row->name) && (row->extra || fnmatch(word, row->name, 0)))
			continue;
		found = true;
		if (!row_chosen(o, row) && o->nrows < BENCH_ROWS_MAX)
			o->row[o->nrows++] = row;
	}
	return found ? 0 : cli_error(o, "no row %.60s; see husk bench --list", word);
}

int bench_cli_parse(struct bench_options *o, int argc, char **argv)
{
	int c, ret = 0;

	memset(o, 0, sizeof(*o));
	o->time_ms = TIME_DEFAULT_MS;
	o->rounds = ROUNDS_DEFAULT;
	optind = 0;
	opterr = 0;
	while (!ret && (c = getopt_long(argc, argv, ":h", longs, NULL)) != -1) {
		if (c == 'h')
			return 1;
		ret = option_take(o, c, argv);
	}
	for (int i = optind; i < argc && !ret; i++)
		ret = rows_add(o, argv[i]);
	if (!ret && optind == argc)
		ret = rows_add(o, "*");
	if (!ret && o->has_toggle && o->baseline)
		ret = cli_error(o, "--toggle compares its two settings; it cannot be used with --baseline");
	if (!ret && o->json && o->csv && !strcmp(o->json, "-") && !strcmp(o->csv, "-"))
		ret = cli_error(o, "--json and --csv cannot both be standard output");
	return ret;
}
