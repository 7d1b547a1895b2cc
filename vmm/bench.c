/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `husk bench`: rows one after the other, each in fresh VMs in processes of their own; with --toggle
 * both settings in turns. This process only reads a pipe, so nothing a row does can stop it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "vmm/bench_cli.h"
#include "vmm/bench_host.h"
#include "vmm/bench_result.h"
#include "vmm/config.h"
#include "vmm/log.h"

#define SYSFS		"/sys"
#define BATCHES		9		/* a VM: enough for quartiles */
#define RING0_PROBE_MS	20
#define RING0_SLOW	200		/* cycles for two instructions: no CPU is that slow */
#define EXIT_NOT_ALL	1

static volatile sig_atomic_t stop;

struct session {
	struct bench_options opt;
	struct bench_set set, before;
	struct tune tune;
	FILE *out;			/* the table; NULL: a file format has standard output */
	bool incomplete;
};

static void stop_handler(int sig)
{
	stop = sig;
}

/* No SA_RESTART: poll() must come back. */
static void signals_take(void)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = stop_handler };

	sigemptyset(&sa.sa_mask);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		sigaction(taken[i], &sa, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static struct bench_job job_of(const struct bench_options *o, const struct bench_row_info *row)
{
	/* More than a row uses would only spin and disturb it. */
	unsigned cpus = row->parallel && o->cpus > row->cpus ? o->cpus : row->cpus;

	return (struct bench_job){
		.row = row, .cpus = cpus, .time_ms = o->time_ms, .batches = BATCHES,
		.pin = o->pin, .no_halt_poll = o->quiet_host,
		.loud = o->verbose,
	};
}

/* A first VM, whose messages are heard: is there KVM at all, and is ring 0 emulated? */
static int host_probe(struct session *s)
{
	struct bench_job job = job_of(&s->opt, bench_row_info("ring0"));
	struct bench_conditions *c = &s->set.cond;
	struct bench_run run;
	int ret;

	job.cpus = 1;
	job.time_ms = RING0_PROBE_MS;
	job.loud = true;
	ret = bench_child_run(&job, &stop, &run);
	if (ret)
		return ret;
	if (run.no_vm)
		return -ENODEV;
	c->tsc_khz = run.tsc_khz;
	if (run.status == BENCH_OK) {
		c->ring0_known = true;
		c->ring0_cycles = bench_summarize(run.cycles, run.nbatches).min;
		c->ring0_emulated = c->ring0_cycles > RING0_SLOW;
	}
	return 0;
}

static int conditions_get(struct session *s)
{
	struct bench_conditions *c = &s->set.cond;

	c->time_ms = s->opt.time_ms;
	c->rounds = s->opt.rounds;
	c->cpus = s->opt.cpus;
	c->pinned = s->opt.pin;
	c->quiet_host = s->opt.quiet_host;
	bench_host_read(c, SYSFS);
	return host_probe(s);
}

/* Everything that will be changed is known to the guard before the first change. */
static int tune_start(struct session *s)
{
	const struct tune_toggle *t = &s->opt.toggle;
	int ret = 0;

	if (s->opt.has_toggle) {
		ret = tune_add(&s->tune, t->path);
		if (ret == -ENOENT || ret == -ENOTDIR)
			husk_err("--toggle: this host has no parameter %s (%s)", t->name, t->path);
		else if (ret == -EACCES)
			husk_err("--toggle: %s cannot be changed: it is read-only, or you are not root",
				 t->name);
		else if (ret)
			husk_err("--toggle: %s: %s", t->name, strerror(-ret));
	}
	if (ret)
		return ret;
	if (s->opt.quiet_host)
		bench_host_quiet_add(&s->tune, SYSFS);
	ret = tune_guard(&s->tune);
	if (ret)
		husk_err("cannot start a process: %s", strerror(-ret));
	else if (s->opt.quiet_host)
		bench_host_quiet_set(&s->tune);
	return ret;
}

static int round_run(struct session *s, const struct bench_row_info *row, int setting,
		     struct bench_result *r)
{
	struct bench_job job = job_of(&s->opt, row);
	struct bench_run run;
	int ret = 0;

	if (s->opt.has_toggle)
		ret = tune_write(s->opt.toggle.path, s->opt.toggle.value[setting]);
	if (ret) {
		husk_err("--toggle: %s does not take the value %s: %s", s->opt.toggle.name,
			 s->opt.toggle.value[setting], strerror(-ret));
		return ret;
	}
	ret = bench_child_run(&job, &stop, &run);
	if (ret && ret != -EINTR)
		husk_err("cannot start a VM: %s", strerror(-ret));
	if (!ret)
		bench_result_add(r, &run);
	return ret;
}

static void row_print(struct session *s, const struct bench_result *r)
{
	if (!s->out)
		return;
	if (s->opt.has_toggle)
		bench_table_compare(s->out, r, r + 1);
	else if (s->opt.baseline)
		bench_table_compare(s->out, bench_set_find(&s->before, r->name, NULL), r);
	else
		bench_table_row(s->out, &s->set, r);
	fflush(s->out);
}

/* A B, B A, A B ...: slow changes of the host then hit both alike. */
static int row_run(struct session *s, const struct bench_row_info *row)
{
	int nsettings = s->opt.has_toggle ? 2 : 1, ret = 0;
	size_t first = s->set.n;

	for (int i = 0; i < nsettings; i++) {
		struct bench_result *r = bench_set_row(&s->set, row->name);

		if (!r)
			return -ENOMEM;
		if (s->opt.has_toggle)
			snprintf(r->setting, sizeof(r->setting), "%.40s=%.36s", s->opt.toggle.name,
				 s->opt.toggle.value[i]);
	}
	for (unsigned round = 0; round < s->opt.rounds && !ret; round++)
		for (int i = 0; i < nsettings && !ret; i++) {
			int setting = round & 1 ? nsettings - 1 - i : i;
			struct bench_result *r = &s->set.row[first + (size_t)setting];

			if (!r->status)
				ret = round_run(s, row, setting, r);
		}
	for (int i = 0; i < nsettings; i++) {
		bench_result_finish(&s->set.row[first + (size_t)i]);
		s->incomplete |= s->set.row[first + (size_t)i].status != BENCH_OK;
	}
	if (ret)
		s->set.n = first;	/* half a row is none */
	else
		row_print(s, &s->set.row[first]);
	return ret;
}

static int rows_run(struct session *s)
{
	int ret = 0;

	if (s->out) {
		bench_conditions_print(s->out, &s->set.cond);
		if (s->opt.has_toggle)
			fprintf(s->out, "Before: %s=%s, After: %s\n", s->opt.toggle.name,
				s->opt.toggle.value[0], s->opt.toggle.value[1]);
		if (s->opt.baseline)
			fprintf(s->out, "Before: %s (%s, %s, %s)\n", s->opt.baseline,
				s->before.cond.kernel, s->before.cond.cpu, s->before.cond.kvm);
		bench_table_head(s->out, s->opt.has_toggle || s->opt.baseline);
	}
	for (size_t i = 0; i < s->opt.nrows && !ret; i++)
		ret = row_run(s, s->opt.row[i]);
	if (s->out && (s->opt.has_toggle || s->opt.baseline))
		fputs("* significant: Mann-Whitney p < 0.01 over all batches, and the ranges of the "
		      "VMs' medians do not overlap\n", s->out);
	return ret;
}

static int results_write(struct session *s)
{
	int ret = 0, r;

	if (s->opt.json) {
		ret = bench_json_write(&s->set, s->opt.json);
		if (ret)
			husk_err("cannot write %s: %s", s->opt.json, strerror(-ret));
	}
	if (s->opt.csv) {
		r = bench_csv_write(&s->set, s->opt.csv);
		if (r)
			husk_err("cannot write %s: %s", s->opt.csv, strerror(-r));
		ret = ret ? ret : r;
	}
	return ret;
}

/* Before hours of measuring, not after. */
static int output_check(const char *path)
{
	FILE *f = path && strcmp(path, "-") ? fopen(path, "ae") : NULL;

	if (!path || !strcmp(path, "-"))
		return 0;
	if (!f) {
		int err = errno;

		husk_err("cannot write %s: %s", path, strerror(err));
		return -err;
	}
	fclose(f);
	return 0;
}

static bool to_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

static int session_run(struct session *s)
{
	char why[200];
	int ret = 0, r;

	s->out = to_stdout(s->opt.json) || to_stdout(s->opt.csv) ? NULL : stdout;
	if (s->opt.baseline) {
		ret = bench_json_read(&s->before, s->opt.baseline, why, sizeof(why));
		if (ret)
			husk_err("cannot use %s: %s", s->opt.baseline, why);
	}
	if (!ret)
		ret = output_check(s->opt.json);
	if (!ret)
		ret = output_check(s->opt.csv);
	signals_take();
	if (!ret)
		ret = tune_start(s);
	if (!ret)
		ret = conditions_get(s);
	if (!ret)
		ret = rows_run(s);
	if (tune_restore(&s->tune) && !ret)
		ret = -EIO;
	/* Also after a signal: the rows that were measured are worth keeping. */
	r = s->set.n ? results_write(s) : 0;
	if (stop)
		return 128 + stop;
	return ret || r ? EXIT_HUSK : s->incomplete ? EXIT_NOT_ALL : 0;
}

int bench_command(int argc, char **argv)
{
	static struct session s;
	int ret = bench_cli_parse(&s.opt, argc, argv);

	if (ret > 0) {
		bench_cli_help(stdout);
		return 0;
	}
	if (ret) {
		fprintf(stderr, "husk: %s\n", s.opt.error);
		return EXIT_HUSK;
	}
	if (s.opt.list) {
		bench_cli_list(stdout);
		return 0;
	}
	ret = session_run(&s);
	bench_set_free(&s.set);
	bench_set_free(&s.before);
	return ret;
}
