/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option table and one setter an option. A setter sees a single value and checks it as far
 * as that is possible; config_check() in config.c does the rest.
 */
#include "vmm/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "husk/fdt.h"
#include "husk/layout.h"

#define MEMORY_MIN	(64ull << 20)
#define MEMORY_MAX	((uint64_t)HUSK_DIRECT_MAX - (HUSK_HOLE_END - HUSK_HOLE_BASE))
#define HOSTNAME_MAX	64	/* __NEW_UTS_LEN */

int option_set_string(struct config_parse *p, char **dst, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return config_error(p, "out of memory");
	free(*dst);
	*dst = copy;
	return 0;
}

/* A whole decimal number in [min, max]. */
static int number_parse(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;
	unsigned long long n;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno || *end || n < min || n > max)
		return -EINVAL;
	*out = n;
	return 0;
}

int size_parse(const char *s, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	uint64_t n;
	unsigned shift = 0;
	char *end;
	const char *unit;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	if (errno)
		return -EINVAL;
	if (*end) {
		unit = strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end);
		if (!unit)
			return -EINVAL;
		shift = 10 * (unit - units + 1);
		end++;
		if (*end && strcmp(end, "B") && strcmp(end, "iB"))
			return -EINVAL;
	}
	if (n > UINT64_MAX >> shift)
		return -EINVAL;
	*bytes = n << shift;
	return 0;
}

static int root_set(struct config_parse *p, const char *value)
{
	if (!*value)
		return config_error(p, "empty; name a directory");
	return option_set_string(p, &p->cfg.root, value);
}

/* The share for a guest path, new or to be replaced. */
static struct share *share_slot(struct config *cfg, const char *guest)
{
	struct share *grown;

	for (size_t i = 0; i < cfg->nshares; i++)
		if (!strcmp(cfg->shares[i].guest, guest))
			return &cfg->shares[i];
	grown = realloc(cfg->shares, (cfg->nshares + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	cfg->shares = grown;
	grown += cfg->nshares++;
	memset(grown, 0, sizeof(*grown));
	return grown;
}

static int volume_set(struct config_parse *p, const char *value)
{
	const char *colon = strchr(value, ':'), *mode;
	struct share *share;
	char *host, *guest;
	size_t len;
	bool rw = false;

	if (!colon || colon == value || colon[1] != '/')
		return config_error(p, "write HOST:GUEST or HOST:GUEST:rw, GUEST an absolute path");
	mode = strchr(colon + 1, ':');
	len = mode ? (size_t)(mode - colon - 1) : strlen(colon + 1);
	if (mode && !strcmp(mode, ":rw"))
		rw = true;
	else if (mode && strcmp(mode, ":ro"))
		return config_error(p, "after the second colon only rw or ro can stand");

	host = strndup(value, colon - value);
	guest = strndup(colon + 1, len);
	share = host && guest ? share_slot(&p->cfg, guest) : NULL;
	if (!share) {
		free(host);
		free(guest);
		return config_error(p, "out of memory");
	}
	free(share->host);
	free(share->guest);
	*share = (struct share){ .host = host, .guest = guest, .rw = rw };
	return 0;
}

int option_set_memory(struct config_parse *p, const char *value)
{
	uint64_t bytes;

	if (size_parse(value, &bytes))
		return config_error(p, "not a size; write a number with K, M or G, such as 512M");
	if (bytes < MEMORY_MIN)
		return config_error(p, "too little; a guest needs at least 64M");
	if (bytes > MEMORY_MAX)
		return config_error(p, "too much; a guest can have at most %uG",
				    (unsigned)(MEMORY_MAX >> 30));
	p->cfg.memory_bytes = (bytes + 4095) & ~4095ull;
	return 0;
}

int option_set_cpus(struct config_parse *p, const char *value)
{
	uint64_t n;

	if (number_parse(value, 1, HUSK_MAX_CPUS, &n))
		return config_error(p, "not a number of virtual CPUs; write 1 to %d", HUSK_MAX_CPUS);
	p->cfg.cpus = n;
	return 0;
}

static int env_set(struct config_parse *p, const char *value)
{
	const char *have;
	char *text;
	int ret;

	if (!*value || *value == '=')
		return config_error(p, "no name; write NAME=value, or NAME to copy the caller's");
	if (strchr(value, '='))
		return config_set_env(p, value);
	have = getenv(value);
	if (!have)
		return 0;	/* not set here, so not set there */
	text = malloc(strlen(value) + strlen(have) + 2);
	if (!text)
		return config_error(p, "out of memory");
	strcat(strcat(strcpy(text, value), "="), have);
	ret = config_set_env(p, text);
	free(text);
	return ret;
}

static int workdir_set(struct config_parse *p, const char *value)
{
	if (*value != '/')
		return config_error(p, "not an absolute path; a directory of the guest begins with /");
	return option_set_string(p, &p->cfg.workdir, value);
}

static int user_set(struct config_parse *p, const char *value)
{
	const char *colon = strchr(value, ':');
	char uid_text[16];
	uint64_t uid, gid;
	size_t len = colon ? (size_t)(colon - value) : strlen(value);

	if (len >= sizeof(uid_text))
		goto bad;
	memcpy(uid_text, value, len);
	uid_text[len] = 0;
	/* (uid_t)-1 means "leave alone" to the system calls. */
	if (number_parse(uid_text, 0, UINT32_MAX - 1, &uid))
		goto bad;
	gid = uid;
	if (colon && number_parse(colon + 1, 0, UINT32_MAX - 1, &gid))
		goto bad;
	p->cfg.uid = uid;
	p->cfg.gid = gid;
	p->user_set = true;
	return 0;
bad:
	return config_error(p, "not numeric; write UID or UID:GID, such as 1000:1000");
}

static int hostname_set(struct config_parse *p, const char *value)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.";
	size_t len = strlen(value);

	if (!len || len > HOSTNAME_MAX || strspn(value, allowed) != len)
		return config_error(p, "not a host name; write up to %d letters, digits, - or .",
				    HOSTNAME_MAX);
	return option_set_string(p, &p->cfg.hostname, value);
}

int option_set_timeout(struct config_parse *p, const char *value)
{
	char *end;
	double s;

	/* Decimal only: strtod also takes "inf", "nan", hexadecimal and spaces. */
	if (!*value || strspn(value, "0123456789.") != strlen(value))
		goto bad;
	s = strtod(value, &end);
	if (*end || !isfinite(s) || s > 1e9)
		goto bad;
	p->cfg.timeout_s = s;
	return 0;
bad:
	return config_error(p, "not a time; write seconds, such as 10 or 0.5 (0: no limit)");
}

static int config_set(struct config_parse *p, const char *value)
{
	return option_set_string(p, &p->config_path, value);
}

int option_set_log(struct config_parse *p, const char *value)
{
	if (!*value)
		return config_error(p, "empty; name a file");
	return option_set_string(p, &p->cfg.log_path, value);
}

int option_set_kernel(struct config_parse *p, const char *value)
{
	return option_set_string(p, &p->cfg.kernel_path, value);
}

int option_set_quiet(struct config_parse *p, const char *value)
{
	p->cfg.quiet = true;
	return 0;
}

static int no_patch_set(struct config_parse *p, const char *value)
{
	p->cfg.no_patch = true;
	return 0;
}

int option_set_no_jail(struct config_parse *p, const char *value)
{
	p->cfg.no_jail = true;
	return 0;
}

int option_set_trace(struct config_parse *p, const char *value)
{
	static const struct { const char *name; uint32_t bit; } kinds[] = {
		{ "syscall", HUSK_TRACE_SYSCALL }, { "sched", HUSK_TRACE_SCHED },
		{ "fs", HUSK_TRACE_FS }, { "mm", HUSK_TRACE_MM },
		{ "boot", HUSK_TRACE_BOOT }, { "exit", HUSK_TRACE_EXIT },
	};
	const size_t nkinds = sizeof(kinds) / sizeof(kinds[0]);
	uint32_t mask = 0;

	if (!value)
		value = "syscall";
	for (;;) {
		size_t len = strcspn(value, ","), i;

		for (i = 0; i < nkinds; i++)
			if (strlen(kinds[i].name) == len && !memcmp(kinds[i].name, value, len))
				break;
		if (i == nkinds)
			return config_error(p, "no trace called \"%.*s\"; there are "
					    "syscall, sched, fs, mm, boot and exit",
					    (int)(len > 40 ? 40 : len), value);
		mask |= kinds[i].bit;
		if (!value[len])
			break;
		value += len + 1;
	}
	p->cfg.trace |= mask;
	return 0;
}

const struct option_spec option_table[] = {
	{ "root", 0, OPTION_VALUE, false, "DIR", "use DIR as the guest's /", root_set },
	{ "volume", 'v', OPTION_LIST, false, "HOST:GUEST[:rw]",
	  "show HOST as GUEST, read-only unless :rw", volume_set },
	{ "memory", 'm', OPTION_VALUE, true, "SIZE", "memory, such as 256M or 1G (512M)", option_set_memory },
	{ "cpus", 'c', OPTION_VALUE, true, "N", "virtual CPUs, 1 to 64 (1)", option_set_cpus },
	{ "env", 'e', OPTION_LIST, false, "NAME[=VALUE]",
	  "set a variable, or copy the caller's", env_set },
	{ "workdir", 'w', OPTION_VALUE, false, "DIR", "directory of the guest to start in", workdir_set },
	{ "user", 'u', OPTION_VALUE, true, "UID[:GID]", "run as this user (the caller's)", user_set },
	{ "hostname", 0, OPTION_VALUE, false, "NAME", "name of the guest (husk)", hostname_set },
	{ "timeout", 0, OPTION_VALUE, true, "SECONDS", "stop after this time, exit 124", option_set_timeout },
	{ "config", 0, OPTION_VALUE, false, "FILE", "read options from a JSON file first", config_set },
	{ "log", 0, OPTION_VALUE, false, "FILE", "write husk's messages to FILE", option_set_log },
	{ "quiet", 'q', OPTION_FLAG, false, NULL, "say nothing but errors", option_set_quiet },
	{ "no-patch", 0, OPTION_FLAG, false, NULL, "leave system-call instructions alone", no_patch_set },
	{ "no-jail", 0, OPTION_FLAG, false, NULL, "do not confine husk itself", option_set_no_jail },
	{ "trace", 0, OPTION_OPTIONAL, false, "KIND,...",
	  "print syscall (default), sched, fs, mm, boot, exit", option_set_trace },
	{ "kernel", 0, OPTION_VALUE, false, "FILE", "another guest kernel (for developers)", option_set_kernel },
};
const size_t option_count = sizeof(option_table) / sizeof(option_table[0]);

const struct option_spec *option_find(const char *name)
{
	for (size_t i = 0; i < option_count; i++)
		if (!strcmp(option_table[i].name, name))
			return &option_table[i];
	return NULL;
}

/* Levenshtein distance; names longer than this are not typing errors. */
#define NAME_MAX_LEN	24

static unsigned name_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned row[NAME_MAX_LEN + 1];

	if (la > NAME_MAX_LEN || lb > NAME_MAX_LEN)
		return NAME_MAX_LEN;
	for (size_t j = 0; j <= lb; j++)
		row[j] = j;
	for (size_t i = 1; i <= la; i++) {
		unsigned diag = row[0];

		row[0] = i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = diag + (a[i - 1] != b[j - 1]);

			diag = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[lb];
}

const char *option_suggest(const struct config_parse *p, const char *name)
{
	const char *best = NULL;
	unsigned best_distance = 3;	/* further away is another word */

	for (size_t i = 0; i < p->noptions; i++) {
		unsigned d = name_distance(name, p->options[i].name);

		if (d < best_distance && d < strlen(name)) {
			best = p->options[i].name;
			best_distance = d;
		}
	}
	return best;
}
