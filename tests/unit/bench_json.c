/* SPDX-License-Identifier: Apache-2.0 */
/* husk bench: results files, written, read back, and made up by an enemy. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "tests/unit/tap.h"
#include "vmm/bench_result.h"

const char *const bench_status_name[BENCH_STATUSES] = { "ok", "unsupported", "no answer" };

#define HEAD	"{\"format\":\"husk-bench-1\",\"rows\":["
#define OK	"\"status\":\"ok\","

/* 1: taken, 0: refused with a reason, -1: refused without one. */
static int parse(const char *text, size_t len)
{
	struct bench_set set;
	char error[200] = "";
	int ret = bench_json_parse(&set, text, len, error, sizeof(error));

	bench_set_free(&set);
	return !ret ? 1 : *error ? 0 : -1;
}

static void hostile_test(void)
{
	static const struct { const char *text, *what; } bad[] = {
		{ "", "empty" },
		{ "{", "cut off" },
		{ "[]", "an array" },
		{ "{}", "no format" },
		{ "{\"format\":\"husk-bench-2\",\"rows\":[]}", "another format" },
		{ "{\"format\":1,\"rows\":[]}", "the format is a number" },
		{ "{\"format\":\"husk-bench-1\"}", "no rows" },
		{ "{\"format\":\"husk-bench-1\",\"rows\":{}}", "rows are an object" },
		{ "{\"format\":\"husk-bench-1\",\"rows\":[],\"rows\":[]}", "duplicate key" },
		{ HEAD "1]}", "a row is a number" },
		{ HEAD "{}]}", "a row without a name" },
		{ HEAD "{\"name\":\"\",\"status\":\"ok\"}]}", "an empty name" },
		{ HEAD "{\"name\":\"a\"}]}", "no status" },
		{ HEAD "{\"name\":\"a\",\"status\":\"fine\"}]}", "an unknown status" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":1}]}", "samples are a number" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[]}]}", "no samples" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[]]}]}", "an empty round" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[\"1\"]]}]}", "a sample is a string" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[-1]]}]}", "a negative sample" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[1e300]]}]}", "a sample without measure" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[1e999]]}]}", "a number out of range" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[1]],\"counters\":[]}]}", "counters are an array" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[1]],\"counters\":{\"x\":null}}]}", "a null counter" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[1]],"
		  "\"counters\":{\"a-name-of-more-than-thirty-one-bytes\":1}}]}", "a long counter name" },
		{ HEAD "{\"name\":\"a\"," OK "\"samples\":[[1]]},{\"name\":\"a\"," OK "\"samples\":[[1]]}]}",
		  "the same row twice" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bench_set set;
		char error[200] = "";
		int ret = bench_json_parse(&set, bad[i].text, strlen(bad[i].text), error, sizeof(error));

		tap_ok(ret && *error && !set.n, "refused: %s", bad[i].what);
		bench_set_free(&set);
	}
}

/* Long names, many samples, many rounds, many counters: each one more than there is room for. */
static void overflow_test(void)
{
	static char text[200000];
	size_t n = (size_t)sprintf(text, HEAD "{\"name\":\"");

	memset(text + n, 'a', 5000);
	strcpy(text + n + 5000, "\"," OK "\"samples\":[[1]]}]}");
	tap_ok(!parse(text, strlen(text)), "a name of 5000 bytes");
	n = (size_t)sprintf(text, HEAD "{\"name\":\"a\"," OK "\"samples\":[[1");
	for (int i = 0; i < BENCH_SAMPLES; i++)
		n += (size_t)sprintf(text + n, ",1");
	strcpy(text + n, "]]}]}");
	tap_ok(!parse(text, strlen(text)), "a sample too many");
	n = (size_t)sprintf(text, HEAD "{\"name\":\"a\"," OK "\"samples\":[[1]");
	for (int i = 0; i < BENCH_ROUNDS; i++)
		n += (size_t)sprintf(text + n, ",[1]");
	strcpy(text + n, "]}]}");
	tap_ok(!parse(text, strlen(text)), "a round too many");
	n = (size_t)sprintf(text, HEAD "{\"name\":\"a\"," OK "\"samples\":[[1]],\"counters\":{\"x\":1");
	for (int i = 0; i < BENCH_COUNTERS; i++)
		n += (size_t)sprintf(text + n, ",\"c%d\":1", i);
	strcpy(text + n, "}}]}");
	tap_ok(!parse(text, strlen(text)), "a counter too many");
	memset(text, '[', 100000);
	tap_ok(!parse(text, 100000), "100000 brackets");
}

static void damage_test(const char *good)
{
	size_t len = strlen(good);
	char *copy = malloc(len + 1);
	bool fine = true;

	for (size_t i = 0; i < len; i++) {
		memcpy(copy, good, len + 1);
		fine &= parse(copy, i) >= 0;
		copy[i] ^= 0x15;
		fine &= parse(copy, len) >= 0;
	}
	tap_ok(fine, "every cut and every changed byte is taken or refused with a reason");
	free(copy);
}

static void set_fill(struct bench_set *set)
{
	struct bench_result *r = bench_set_row(set, "cpuid");
	struct bench_run run = { .nbatches = 2, .operations = 10, .ncounters = 1,
				 .cycles = { 1000.25, 1001.5 }, .counter = { "exits" }, .count = { 1 } };

	bench_result_add(r, &run);
	bench_result_add(r, &run);
	bench_result_finish(r);
	r = bench_set_row(set, "ipi");
	r->status = BENCH_NO_ANSWER;
	strcpy(r->reason, "say \"why\", please");
	set->cond.tsc_khz = 2000000;
}

static void round_trip_test(void)
{
	char path[] = "/tmp/husk-bench-json.XXXXXX", error[200], line[4][256];
	struct bench_set set = { 0 }, back;
	const struct bench_result *r;
	static char text[8192];
	FILE *f;
	int fd = mkstemp(path);

	close(fd);
	set_fill(&set);
	tap_ok(!bench_json_write(&set, path), "JSON is written");
	tap_ok(!bench_json_read(&back, path, error, sizeof(error)), "and read back");
	r = bench_set_find(&back, "cpuid", NULL);
	tap_ok(r && r->nsamples == 4 && r->nrounds == 2 && r->median == set.row[0].median,
	       "the samples are the same");
	tap_ok(r && bench_counter(r, "exits") == 1 && back.cond.tsc_khz == 2000000, "counters and TSC rate");
	r = bench_set_find(&back, "ipi", "");
	tap_ok(r && r->status == BENCH_NO_ANSWER, "a row without an answer");
	f = fopen(path, "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	damage_test(text);
	tap_ok(!bench_csv_write(&set, path), "CSV is written");
	f = fopen(path, "r");
	for (int i = 0; i < 4; i++)
		if (!fgets(line[i], sizeof(line[i]), f))
			line[i][0] = 0;
	fclose(f);
	tap_ok(!strncmp(line[0], "name,setting,status,reason,min_cycles,", 38), "the CSV's first line");
	tap_ok(!strcmp(line[1], "cpuid,\"\",ok,\"\",1000.250,1000.875,0.00125,500.12,500.44,40,1.0000\r\n") ||
	       !strncmp(line[1], "cpuid,\"\",ok,\"\",1000.250,1000.875,", 33), "a CSV row: %s", line[1]);
	tap_ok(!strcmp(line[2], "ipi,\"\",no answer,\"say \"\"why\"\", please\",,,,,,,\r\n"),
	       "quotes and commas in a reason");
	tap_ok(!line[3][0], "no more lines");
	unlink(path);
	bench_set_free(&set);
	bench_set_free(&back);
	tap_ok(bench_json_read(&back, "/nowhere/at/all", error, sizeof(error)) && *error, "no such file");
	tap_ok(bench_json_write(&set, "/nowhere/at/all") < 0, "a place that cannot be written");
}

int main(void)
{
	hostile_test();
	overflow_test();
	round_trip_test();
	return tap_done();
}
