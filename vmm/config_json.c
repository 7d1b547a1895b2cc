/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM described by a JSON object: keys are the long options, "args" is the program. Parsing is
 * jansson's; the file is the user's, so that a mistake in it gets a place (line and column).
 */
#include "vmm/options.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONFIG_MAX_BYTES	(1 << 20)

struct place { int line, column; };

/* One character of JSON text, counted as the parser counts: a UTF-8 sequence is one column. */
static void place_step(struct place *at, char c)
{
	if (c == '\n') {
		at->line++;
		at->column = 1;
	} else if ((c & 0xc0) != 0x80) {
		at->column++;
	}
}

/*
 * Where the n-th key (from 0) of the outer object is. The text has been parsed before, so it is
 * well-formed: outside strings, braces and brackets balance and a string at depth 1 that a colon
 * follows is a key.
 */
static struct place place_of_key(const char *text, size_t len, size_t n)
{
	struct place at = { 1, 1 }, start = { 1, 1 };
	bool in_string = false, key_next = true;
	int depth = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			if (c == '\\' && i + 1 < len)
				place_step(&at, text[i++]);
			else if (c == '"')
				in_string = false;
			place_step(&at, text[i]);
			continue;
		}
		if (c == '"') {
			in_string = true;
			if (depth == 1 && key_next && n-- == 0)
				start = at;
			key_next = false;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			depth--;
		} else if (c == ',' && depth == 1) {
			key_next = true;
		}
		place_step(&at, c);
	}
	return start;
}

static const char *type_name(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:	return "an object";
	case JSON_ARRAY:	return "an array";
	case JSON_STRING:	return "a string";
	case JSON_INTEGER:
	case JSON_REAL:		return "a number";
	case JSON_NULL:		return "null";
	default:		return "true or false";
	}
}

/* A scalar as the command line would have it. */
static int scalar_apply(struct config_parse *p, const struct option_spec *opt, const json_t *v)
{
	char text[40];

	if (json_is_string(v))
		return opt->set(p, json_string_value(v));
	if (opt->number && json_is_integer(v)) {
		snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		return opt->set(p, text);
	}
	if (opt->number && json_is_real(v)) {
		snprintf(text, sizeof(text), "%.9f", json_real_value(v));
		return opt->set(p, text);
	}
	return config_error(p, "%s; it wants a string%s", type_name(v),
			    opt->number ? " or a number" : "");
}

static int array_apply(struct config_parse *p, const struct option_spec *opt, const json_t *v)
{
	size_t i;
	json_t *item;

	json_array_foreach(v, i, item) {
		if (!json_is_string(item))
			return config_error(p, "item %zu is %s; it wants strings", i + 1, type_name(item));
		if (opt->set(p, json_string_value(item)))
			return -EINVAL;
	}
	return 0;
}

static int args_apply(struct config_parse *p, const json_t *v)
{
	size_t i, n = json_array_size(v);
	json_t *item;
	char **args;
	int ret = 0;

	if (!json_is_array(v))
		return config_error(p, "%s; it wants an array of strings", type_name(v));
	args = calloc(n + 1, sizeof(*args));
	if (!args)
		return config_error(p, "out of memory");
	json_array_foreach(v, i, item) {
		if (!json_is_string(item)) {
			ret = config_error(p, "item %zu is %s; it wants strings", i + 1, type_name(item));
			goto out;
		}
		args[i] = (char *)json_string_value(item);
	}
	ret = config_set_args(p, n, args);
out:
	free(args);
	return ret;
}

static int key_apply(struct config_parse *p, const char *key, const json_t *v)
{
	const struct option_spec *opt;

	if (!strcmp(key, "args"))
		return args_apply(p, v);
	opt = option_find(key);
	if (!opt) {
		const char *meant = option_suggest(p, key);

		return config_error(p, "no such option%s%s%s", meant ? "; is it \"" : "",
				    meant ? meant : "", meant ? "\"?" : "");
	}
	if (!strcmp(key, "config"))
		return config_error(p, "a file cannot name another one");
	switch (opt->kind) {
	case OPTION_FLAG:
		if (!json_is_boolean(v))
			return config_error(p, "%s; it wants true or false", type_name(v));
		return json_is_true(v) ? opt->set(p, NULL) : 0;
	case OPTION_OPTIONAL:
		if (json_is_boolean(v))
			return json_is_true(v) ? opt->set(p, NULL) : 0;
		/* fall through */
	case OPTION_LIST:
		if (json_is_array(v))
			return array_apply(p, opt, v);
		/* fall through */
	default:
		return scalar_apply(p, opt, v);
	}
}

/* Puts "name:line:column: key: " before the reason. */
static void error_place(struct config_parse *p, const char *name, struct place at, const char *key)
{
	char reason[sizeof(p->error)];

	strcpy(reason, p->error);
	snprintf(p->error, sizeof(p->error), "%.120s:%d:%d: %.60s%s%.200s", name, at.line, at.column,
		 key, *key ? ": " : "", reason);
}

int config_load_text(struct config_parse *p, const char *name, const char *text, size_t len)
{
	json_error_t err;
	json_t *top, *v;
	const char *key;
	size_t n = 0;
	int ret = 0;

	top = json_loadb(text, len, JSON_REJECT_DUPLICATES, &err);
	if (!top) {
		config_error(p, "%s", err.text);
		error_place(p, name, (struct place){ err.line, err.column > 0 ? err.column : 1 }, "");
		return -EINVAL;
	}
	if (!json_is_object(top)) {
		ret = config_error(p, "%s; a VM is described by an object", type_name(top));
		error_place(p, name, (struct place){ 1, 1 }, "");
	}
	json_object_foreach(top, key, v) {
		ret = key_apply(p, key, v);
		if (ret) {
			error_place(p, name, place_of_key(text, len, n), key);
			break;
		}
		n++;
	}
	json_decref(top);
	return ret;
}

int config_load(struct config_parse *p, const char *path)
{
	FILE *f = fopen(path, "re");
	struct stat st;
	char *text = NULL;
	size_t len;
	int ret;

	if (!f)
		return config_error(p, "cannot read %s: %s", path, strerror(errno));
	if (fstat(fileno(f), &st) == 0 && S_ISDIR(st.st_mode)) {
		ret = config_error(p, "cannot read %s: it is a directory", path);
		goto out;
	}
	text = malloc(CONFIG_MAX_BYTES + 1);
	if (!text) {
		ret = config_error(p, "out of memory");
		goto out;
	}
	len = fread(text, 1, CONFIG_MAX_BYTES + 1, f);
	if (ferror(f))
		ret = config_error(p, "cannot read %s: %s", path, strerror(errno));
	else if (len > CONFIG_MAX_BYTES)
		ret = config_error(p, "%s: larger than %d bytes; not a description of a VM",
				   path, CONFIG_MAX_BYTES);
	else
		ret = config_load_text(p, path, text, len);
out:
	free(text);
	fclose(f);
	return ret;
}
