/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON form of results (docs/bench-format.md), written and read back as a baseline. */
#include "vmm/bench_result.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX	(64 << 20)
#define CYCLES_MAX	1e15

static json_t *params_put(const struct bench_conditions *c)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < c->nparams; i++)
		json_object_set_new(o, c->param[i].name, json_string(c->param[i].value));
	return o;
}

static json_t *conditions_put(const struct bench_conditions *c)
{
	json_t *o = json_object();

	json_object_set_new(o, "kernel", json_string(c->kernel));
	json_object_set_new(o, "cpu", json_string(c->cpu));
	json_object_set_new(o, "kvm", json_string(c->kvm));
	if (c->ring0_known) {
		json_object_set_new(o, "ring0_emulated", json_boolean(c->ring0_emulated));
		json_object_set_new(o, "ring0_loop_cycles", json_real(c->ring0_cycles));
	}
	json_object_set_new(o, "tsc_khz", json_integer(c->tsc_khz));
	json_object_set_new(o, "time_ms", json_integer(c->time_ms));
	json_object_set_new(o, "rounds", json_integer(c->rounds));
	json_object_set_new(o, "cpus", json_integer(c->cpus));
	json_object_set_new(o, "pinned", json_boolean(c->pinned));
	json_object_set_new(o, "quiet_host", json_boolean(c->quiet_host));
	json_object_set_new(o, "parameters", params_put(c));
	return o;
}

static json_t *samples_put(const struct bench_result *r)
{
	json_t *rounds = json_array();
	unsigned at = 0;

	for (unsigned i = 0; i < r->nrounds; i++) {
		json_t *round = json_array();

		for (; at < r->round_end[i]; at++)
			json_array_append_new(round, json_real(r->sample[at]));
		json_array_append_new(rounds, round);
	}
	return rounds;
}

static json_t *exits_put(const struct bench_result *r)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < r->ncounters; i++)
		if (r->count[i] > 0 || !strcmp(r->counter[i], "exits"))
			json_object_set_new(o, r->counter[i], json_real(r->count[i]));
	return o;
}

static json_t *row_put(const struct bench_set *set, const struct bench_result *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_string(r->name));
	if (*r->setting)
		json_object_set_new(o, "setting", json_string(r->setting));
	json_object_set_new(o, "status", json_string(bench_status_name[r->status]));
	if (r->status) {
		json_object_set_new(o, "reason", json_string(r->reason));
		return o;
	}
	json_object_set_new(o, "min_cycles", json_real(r->min));
	json_object_set_new(o, "median_cycles", json_real(r->median));
	json_object_set_new(o, "spread", json_real(r->spread));
	json_object_set_new(o, "min_ns", json_real(bench_ns(set, r->min)));
	json_object_set_new(o, "median_ns", json_real(bench_ns(set, r->median)));
	json_object_set_new(o, "operations", json_integer((json_int_t)r->operations));
	if (r->x2apic)
		json_object_set_new(o, "x2apic", json_true());
	json_object_set_new(o, "counters", exits_put(r));
	json_object_set_new(o, "samples", samples_put(r));
	return o;
}

int bench_json_write(const struct bench_set *set, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "we") : stdout;
	json_t *root = json_object(), *rows = json_array();
	int ret = f ? 0 : -errno;

	json_object_set_new(root, "format", json_string(BENCH_FORMAT));
	json_object_set_new(root, "conditions", conditions_put(&set->cond));
	for (size_t i = 0; i < set->n; i++)
		json_array_append_new(rows, row_put(set, &set->row[i]));
	json_object_set_new(root, "rows", rows);
	if (f && (json_dumpf(root, f, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) || fputc('\n', f) == EOF))
		ret = -EIO;
	json_decref(root);
	if (f && f != stdout && fclose(f) && !ret)
		ret = -errno;
	return ret;
}

/* --- reading: everything in the file is checked, nothing is believed ---------------------------- */

static int bad(char *error, size_t size, const char *what, const char *row)
{
	snprintf(error, size, "%s%s%.48s", what, row ? " in row " : "", row ? row : "");
	return -EINVAL;
}

static int number_get(const json_t *v, double max, double *out)
{
	if (!json_is_number(v))
		return -EINVAL;
	*out = json_number_value(v);
	return *out >= 0 && *out <= max ? 0 : -EINVAL;
}

static int samples_get(struct bench_result *r, const json_t *rounds)
{
	size_t i, k;
	const json_t *round, *v;

	if (!json_is_array(rounds) || !json_array_size(rounds) ||
	    json_array_size(rounds) > BENCH_ROUNDS)
		return -EINVAL;
	json_array_foreach(rounds, i, round) {
		if (!json_is_array(round) || !json_array_size(round) ||
		    json_array_size(round) > BENCH_SAMPLES - r->nsamples)
			return -EINVAL;
		json_array_foreach(round, k, v)
			if (number_get(v, CYCLES_MAX, &r->sample[r->nsamples++]))
				return -EINVAL;
		r->round_end[r->nrounds++] = r->nsamples;
	}
	return 0;
}

static int counters_get(struct bench_result *r, json_t *counters)
{
	const char *name;
	json_t *v;

	if (counters && !json_is_object(counters))
		return -EINVAL;
	json_object_foreach(counters, name, v) {
		if (r->ncounters == BENCH_COUNTERS || strlen(name) >= BENCH_NAME ||
		    number_get(v, CYCLES_MAX, &r->count[r->ncounters]))
			return -EINVAL;
		strcpy(r->counter[r->ncounters++], name);
	}
	return 0;
}

static int status_get(const char *text)
{
	for (int i = 0; text && i < BENCH_STATUSES; i++)
		if (!strcmp(text, bench_status_name[i]))
			return i;
	return -1;
}

static int row_get(struct bench_set *set, const json_t *o, char *error, size_t size)
{
	const char *name = json_string_value(json_object_get(o, "name"));
	const char *setting = json_string_value(json_object_get(o, "setting"));
	int status = status_get(json_string_value(json_object_get(o, "status")));
	struct bench_result *r;

	if (!name || !*name || strlen(name) >= sizeof(r->name))
		return bad(error, size, "a row has no name", NULL);
	if (status < 0)
		return bad(error, size, "no known status", name);
	if (setting && strlen(setting) >= sizeof(r->setting))
		return bad(error, size, "the setting is too long", name);
	if (bench_set_find(set, name, setting ? setting : ""))
		return bad(error, size, "twice the same name", name);
	r = bench_set_row(set, name);
	if (!r)
		return bad(error, size, "out of memory", NULL);
	strcpy(r->setting, setting ? setting : "");
	r->status = (enum bench_status)status;
	if (status)
		return 0;
	if (samples_get(r, json_object_get(o, "samples")))
		return bad(error, size, "no usable samples", name);
	if (counters_get(r, json_object_get(o, "counters")))
		return bad(error, size, "no usable counters", name);
	bench_result_finish(r);		/* not what the file says they are */
	return 0;
}

static void text_get(char *to, size_t size, const json_t *v)
{
	const char *s = json_string_value(v);
	size_t n = 0;

	/* It will be printed: no control characters. */
	for (; s && s[n] && n < size - 1; n++)
		to[n] = (unsigned char)s[n] < ' ' || s[n] == 127 ? '?' : s[n];
	to[n] = 0;
}

static void conditions_get(struct bench_conditions *c, const json_t *o)
{
	const json_t *khz = json_object_get(o, "tsc_khz");

	text_get(c->kernel, sizeof(c->kernel), json_object_get(o, "kernel"));
	text_get(c->cpu, sizeof(c->cpu), json_object_get(o, "cpu"));
	text_get(c->kvm, sizeof(c->kvm), json_object_get(o, "kvm"));
	if (json_is_integer(khz) && json_integer_value(khz) > 0 && json_integer_value(khz) < 100000000)
		c->tsc_khz = (uint32_t)json_integer_value(khz);
}

static int root_get(struct bench_set *set, const json_t *root, char *error, size_t size)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const json_t *rows = json_object_get(root, "rows"), *o;
	size_t i;
	int ret;

	if (!format || strcmp(format, BENCH_FORMAT))
		return bad(error, size, "not a results file of husk bench (format " BENCH_FORMAT ")", NULL);
	if (!json_is_array(rows))
		return bad(error, size, "there are no rows", NULL);
	conditions_get(&set->cond, json_object_get(root, "conditions"));
	json_array_foreach(rows, i, o) {
		ret = row_get(set, o, error, size);
		if (ret)
			return ret;
	}
	return 0;
}

int bench_json_parse(struct bench_set *set, const char *text, size_t len, char *error, size_t size)
{
	json_error_t e;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	int ret;

	memset(set, 0, sizeof(*set));
	if (!root) {
		snprintf(error, size, "line %d, column %d: %s", e.line, e.column, e.text);
		return -EINVAL;
	}
	ret = root_get(set, root, error, size);
	json_decref(root);
	if (ret)
		bench_set_free(set);
	return ret;
}

int bench_json_read(struct bench_set *set, const char *path, char *error, size_t size)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(FILE_MAX) : NULL;
	size_t len;
	int ret = -EINVAL;

	memset(set, 0, sizeof(*set));
	if (!f || !text) {
		snprintf(error, size, "%s", strerror(errno));
		if (f)
			fclose(f);
		return -EINVAL;
	}
	len = fread(text, 1, FILE_MAX, f);
	if (ferror(f))
		snprintf(error, size, "cannot be read");
	else if (len == FILE_MAX)
		snprintf(error, size, "is too large");
	else
		ret = bench_json_parse(set, text, len, error, size);
	fclose(f);
	free(text);
	return ret;
}
