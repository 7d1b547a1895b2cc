/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command line (`husk run`, `husk boot`) into a struct config, with the file of --config applied before
 * it, so that the command line wins.
 */
#include "vmm/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define OPTIONS_MAX	32
#define LONG_BASE	256	/* getopt's value of p->options[i] is LONG_BASE + i */
#define LONG_HELP	(LONG_BASE + OPTIONS_MAX)

struct getopt_tables {
	char letters[3 * OPTIONS_MAX + 4];
	struct option longs[OPTIONS_MAX + 2];
};

static void tables_fill(const struct config_parse *p, struct getopt_tables *t)
{
	char *l = t->letters;

	memset(t, 0, sizeof(*t));
	*l++ = '+';		/* the first word that is no option is the program */
	*l++ = ':';		/* tell a missing value from an unknown option */
	*l++ = 'h';
	for (size_t i = 0; i < p->noptions; i++) {
		const struct option_spec *o = &p->options[i];
		int has = o->kind == OPTION_FLAG ? no_argument :
			  o->kind == OPTION_OPTIONAL ? optional_argument : required_argument;

		t->longs[i] = (struct option){ o->name, has, NULL, LONG_BASE + i };
		if (o->letter) {
			*l++ = o->letter;
			if (has == required_argument)
				*l++ = ':';
		}
	}
	t->longs[p->noptions] = (struct option){ "help", no_argument, NULL, LONG_HELP };
}

static const struct option_spec *option_of(const struct config_parse *p, int c)
{
	if (c >= LONG_BASE && c < LONG_BASE + (int)p->noptions)
		return &p->options[c - LONG_BASE];
	for (size_t i = 0; i < p->noptions; i++)
		if (p->options[i].letter == c)
			return &p->options[i];
	return NULL;
}

/*
 * getopt refused an option (c is '?' or ':'); arg is the word before optind. optopt is the option
 * if it is a known one, the letter if it is not, 0 for an unknown word.
 */
static int option_refuse(struct config_parse *p, int c, const char *arg)
{
	const struct option_spec *known = optopt ? option_of(p, optopt) : NULL;
	char name[40];
	const char *meant;

	if (known && c == ':')
		return config_error(p, "option --%s wants a value; see husk help %s", known->name,
				    p->command);
	if (known || optopt == LONG_HELP)
		return config_error(p, "option %s takes no value; see husk help %s", arg,
				    p->command);
	if (optopt)
		return config_error(p, "no option -%c; see husk help %s",
				    optopt > ' ' && optopt < 127 ? optopt : '?', p->command);
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(arg + 2, "="), arg + 2);
	meant = option_suggest(p, name);
	if (meant)
		return config_error(p, "no option --%s; is it --%s?", name, meant);
	return config_error(p, "no option --%s; see husk help %s", name, p->command);
}

/* Puts "--name value: " before the reason. */
static void error_option(struct config_parse *p, const struct option_spec *opt, const char *value)
{
	char reason[sizeof(p->error)];

	strcpy(reason, p->error);
	snprintf(p->error, sizeof(p->error), "--%s%s%.100s: %.250s", opt->name, value ? " " : "",
		 value ? value : "", reason);
}

static int value_apply(struct config_parse *p, const struct option_spec *opt, const char *value)
{
	int ret = opt->set(p, value);

	if (ret)
		error_option(p, opt, value);
	return ret;
}

/*
 * One pass over the options: the first only looks for --config and mistakes, the second applies
 * the rest. 0, 1 for --help, -EINVAL. The program's place is left in optind.
 */
static int options_pass(struct config_parse *p, const struct getopt_tables *t, int argc, char **argv,
			bool apply)
{
	int c, ret;

	optind = 0;		/* start over; both musl and glibc take it so */
	opterr = 0;
	while ((c = getopt_long(argc, argv, t->letters, t->longs, NULL)) != -1) {
		const struct option_spec *opt = option_of(p, c);

		if (c == LONG_HELP || c == 'h')
			return 1;
		if (c == '?' || c == ':' || !opt)
			return option_refuse(p, c, argv[optind - 1]);
		if (apply == !strcmp(opt->name, "config"))
			continue;
		ret = value_apply(p, opt, optarg);
		if (ret)
			return ret;
	}
	return 0;
}

int cli_parse(struct config_parse *p, int argc, char **argv)
{
	struct getopt_tables t;
	int ret;

	tables_fill(p, &t);
	ret = options_pass(p, &t, argc, argv, false);
	if (ret)
		return ret;
	if (p->config_path) {
		ret = config_load(p, p->config_path);
		if (ret)
			return ret;
	}
	ret = options_pass(p, &t, argc, argv, true);
	if (ret)
		return ret;
	if (optind < argc) {
		ret = config_set_args(p, argc - optind, argv + optind);
		if (ret)
			return ret;
	}
	return p->check(p);
}
