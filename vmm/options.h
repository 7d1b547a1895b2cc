/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of `husk run`: one table for the command line, for the JSON file and for --help,
 * and the functions that put their values into a struct config.
 */
#pragma once

#include "vmm/config.h"

enum option_kind {
	OPTION_FLAG,		/* no value; true or false in JSON */
	OPTION_VALUE,
	OPTION_OPTIONAL,	/* --name or --name=value */
	OPTION_LIST,		/* may be given several times; an array in JSON */
};

struct option_spec;

/* A configuration on its way; error holds the reason of the last failure, without a prefix. */
struct config_parse {
	struct config cfg;
	char *config_path;	/* --config */
	bool user_set;
	/* The subcommand whose options these are; config_init() says `husk run`. */
	const char *command;
	const struct option_spec *options;
	size_t noptions;
	int (*check)(struct config_parse *p);
	char error[400];
};

struct option_spec {
	const char *name;
	char letter;		/* 0: none */
	enum option_kind kind;
	bool number;		/* JSON may give a number */
	const char *value;	/* what to call it in --help; NULL for flags */
	const char *help;	/* one line for --help */
	/* value is NULL for flags and for an optional value left out. 0 or -EINVAL with p->error. */
	int (*set)(struct config_parse *p, const char *value);
};

extern const struct option_spec option_table[];
extern const size_t option_count;
/* `husk boot`: options_boot.c. */
extern const struct option_spec boot_option_table[];
extern const size_t boot_option_count;

/* By long name, or NULL; then option_suggest() names the one probably meant, or NULL. */
const struct option_spec *option_find(const char *name);
const char *option_suggest(const struct config_parse *p, const char *name);

/* Setters that subcommands share; option_set_string() keeps a copy. */
int option_set_string(struct config_parse *p, char **dst, const char *value);
int option_set_memory(struct config_parse *p, const char *value);
int option_set_cpus(struct config_parse *p, const char *value);
int option_set_timeout(struct config_parse *p, const char *value);
int option_set_log(struct config_parse *p, const char *value);
int option_set_kernel(struct config_parse *p, const char *value);
int option_set_quiet(struct config_parse *p, const char *value);
int option_set_no_jail(struct config_parse *p, const char *value);
int option_set_trace(struct config_parse *p, const char *value);

/* Set p->error; always -EINVAL. */
__attribute__((format(printf, 2, 3)))
int config_error(struct config_parse *p, const char *fmt, ...);

/* "512M" -> bytes. 0 or -EINVAL. */
int size_parse(const char *s, uint64_t *bytes);

/* Empty configuration with husk's defaults. -ENOMEM. */
int config_init(struct config_parse *p);
/* The program and its arguments; replaces what was there. */
int config_set_args(struct config_parse *p, size_t n, char *const *args);
/* NAME=value into the program's environment; replaces a value of the same name. */
int config_set_env(struct config_parse *p, const char *assignment);
/* Check what depends on more than one option or on the host. 0 or -EINVAL with p->error. */
int config_check(struct config_parse *p);
int boot_config_check(struct config_parse *p);
void config_free(struct config *cfg);

/* config_json.c: apply the file at path. 0 or -EINVAL with p->error ("path:line:column: ..."). */
int config_load(struct config_parse *p, const char *path);
/* The same from memory; name stands for the path in messages. */
int config_load_text(struct config_parse *p, const char *name, const char *text, size_t len);

/* cli.c: argv as main() got it from the subcommand on. 0, 1 for --help, -EINVAL with p->error. */
int cli_parse(struct config_parse *p, int argc, char **argv);
