/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `husk run` into struct config: sizes, values, mistakes, precedence. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "husk/fdt.h"
#include "tests/unit/tap.h"
#include "vmm/options.h"

#define ARGS_MAX 24

static struct config_parse p;

/* Parses a command line that is split at single spaces ("" stays a word of its own). */
static int parse(const char *line)
{
	static char copy[512];
	static char *argv[ARGS_MAX + 1];
	int argc = 0;

	free(p.config_path);
	config_free(&p.cfg);
	if (config_init(&p))
		abort();
	snprintf(copy, sizeof(copy), "run %s", line);
	for (char *s = copy, *word; (word = strsep(&s, " ")) && argc < ARGS_MAX; argc++)
		argv[argc] = word;
	argv[argc] = NULL;
	return cli_parse(&p, argc, argv);
}

static const char *env_get(const char *name)
{
	size_t len = strlen(name);

	for (char **e = p.cfg.envp; *e; e++)
		if (!strncmp(*e, name, len) && (*e)[len] == '=')
			return *e + len + 1;
	return NULL;
}

static bool args_are(const char *a, const char *b)
{
	char **v = p.cfg.argv;

	return v && v[0] && !strcmp(v[0], a) && (b ? v[1] && !strcmp(v[1], b) : !v[1]);
}

static void sizes_test(void)
{
	static const struct { const char *text; int ret; uint64_t bytes; } cases[] = {
		{ "0", 0, 0 }, { "1", 0, 1 }, { "4096", 0, 4096 }, { "1k", 0, 1024 },
		{ "256M", 0, 256ull << 20 }, { "1G", 0, 1ull << 30 }, { "2GiB", 0, 2ull << 30 },
		{ "2GB", 0, 2ull << 30 }, { "1T", 0, 1ull << 40 }, { "16777215T", 0, 16777215ull << 40 },
		{ "16777216T", -EINVAL, 0 }, { "18446744073709551615", 0, UINT64_MAX },
		{ "18446744073709551616", -EINVAL, 0 }, { "", -EINVAL, 0 }, { "M", -EINVAL, 0 },
		{ "-1M", -EINVAL, 0 }, { "+1M", -EINVAL, 0 }, { " 1M", -EINVAL, 0 },
		{ "1M ", -EINVAL, 0 }, { "1MM", -EINVAL, 0 }, { "1.5G", -EINVAL, 0 },
		{ "0x10M", -EINVAL, 0 }, { "1Gb", -EINVAL, 0 }, { "1P", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = 0;
		int ret = size_parse(cases[i].text, &bytes);

		tap_ok(ret == cases[i].ret && bytes == cases[i].bytes, "size \"%s\"", cases[i].text);
	}
}

static void values_test(void)
{
	tap_ok(parse("ls") == 0 && args_are("ls", NULL), "a program alone");
	tap_ok(p.cfg.memory_bytes == 512ull << 20 && p.cfg.cpus == 1 && !p.cfg.timeout_s &&
	       !strcmp(p.cfg.hostname, "husk") && p.cfg.uid == getuid(), "defaults");
	tap_ok(parse("ls -l") == 0 && args_are("ls", "-l"), "the program's options are its own");
	tap_ok(parse("-q -- -x -m") == 0 && args_are("-x", "-m") && p.cfg.quiet, "-- ends options");
	tap_ok(parse("-m 1G -c 4 -u 1000 x") == 0 && p.cfg.memory_bytes == 1ull << 30 &&
	       p.cfg.cpus == 4 && p.cfg.uid == 1000 && p.cfg.gid == 1000, "short options");
	tap_ok(parse("--memory=100000001 --user 1:2 x") == 0 && p.cfg.memory_bytes == 100003840 &&
	       p.cfg.uid == 1 && p.cfg.gid == 2, "memory is rounded up to a page; UID:GID");
	tap_ok(parse("--timeout .5 x") == 0 && p.cfg.timeout_s == 0.5, "a fraction of a second");
	tap_ok(parse("--trace x") == 0 && p.cfg.trace == HUSK_TRACE_SYSCALL && args_are("x", NULL),
	       "--trace alone takes no word from the program");
	tap_ok(parse("--trace=fs,mm,exit x") == 0 &&
	       p.cfg.trace == (HUSK_TRACE_FS | HUSK_TRACE_MM | HUSK_TRACE_EXIT), "--trace=list");
	tap_ok(parse("--no-patch --no-jail --quiet x") == 0 && p.cfg.no_patch && p.cfg.no_jail &&
	       p.cfg.quiet, "flags");
	tap_ok(parse("-v /tmp:/t -v /usr:/u:rw -v /etc:/t:ro x") == 0 && p.cfg.nshares == 2 &&
	       !strcmp(p.cfg.shares[0].host, "/etc") && !p.cfg.shares[0].rw && p.cfg.shares[1].rw,
	       "volumes; the last one for a guest path counts");
	tap_ok(parse("-h") == 1 && parse("--help x") == 1, "help");
	tap_ok(parse("-m 64M x") == 0 && parse("-c 32 x") == 0, "the limits themselves");
}

static void environment_test(void)
{
	setenv("HUSK_TEST_SECRET", "s", 1);
	tap_ok(parse("x") == 0 && !env_get("HUSK_TEST_SECRET") && env_get("PATH") &&
	       !strcmp(env_get("LANG"), "C.UTF-8"), "the caller's environment stays outside");
	tap_ok(parse("-e HUSK_TEST_SECRET x") == 0 && env_get("HUSK_TEST_SECRET") &&
	       !strcmp(env_get("HUSK_TEST_SECRET"), "s"), "-e NAME copies");
	tap_ok(parse("-e HUSK_TEST_ABSENT x") == 0 && !env_get("HUSK_TEST_ABSENT"),
	       "-e of what is not set is nothing");
	tap_ok(parse("-e A=1 -e A=2=3 -e B= -e PATH=/x x") == 0 && !strcmp(env_get("A"), "2=3") &&
	       !strcmp(env_get("B"), "") && !strcmp(env_get("PATH"), "/x"), "-e NAME=value");
	tap_ok(parse("-u 0 x") == 0 && !strcmp(env_get("HOME"), "/root") &&
	       parse("-u 5 x") == 0 && !strcmp(env_get("HOME"), "/"), "HOME by user");
}

static void mistakes_test(void)
{
	static const struct { const char *line, *says; } cases[] = {
		{ "", "program" }, { "-q", "no program" }, { "-m 63M x", "64M" }, { "-m 512 x", "64M" },
		{ "-m 9999G x", "at most" }, { "-m x x", "512M" }, { "-m", "wants a value" },
		{ "--memory", "--memory wants a value" }, { "-c 0 x", "1 to 32" }, { "-c 33 x", "1 to 32" },
		{ "-c -1 x", "1 to 32" }, { "-c 2x x", "1 to 32" },
		{ "-c 99999999999999999999 x", "1 to 32" }, { "-u root x", "numeric" },
		{ "-u 1: x", "numeric" }, { "-u 1:2:3 x", "numeric" }, { "-u 4294967295 x", "numeric" },
		{ "-u 00000000000000000001 x", "numeric" }, { "--timeout -1 x", "seconds" },
		{ "--timeout inf x", "seconds" }, { "--timeout 1e3 x", "seconds" },
		{ "--timeout . x", "seconds" }, { "--timeout= x", "seconds" }, { "--root /nowhere x", "--root" },
		{ "--root /etc/passwd x", "not a directory" }, { "-v /nowhere:/x x", "/nowhere" },
		{ "-v /tmp x", "HOST:GUEST" }, { "-v /tmp:x x", "absolute" }, { "-v :/x x", "HOST:GUEST" },
		{ "-v /tmp:/x:rx x", "rw or ro" }, { "-v /tmp:/x:rw:ro x", "rw or ro" },
		{ "-w rel x", "absolute" }, { "-e = x", "no name" }, { "-e =a x", "no name" },
		{ "--hostname a_b x", "host name" }, { "--hostname= x", "host name" },
		{ "--trace=sys x", "no trace" }, { "--trace= x", "no trace" }, { "--trace=fs, x", "no trace" },
		{ "--memry 1G x", "is it --memory?" }, { "--xyzzy x", "no option --xyzzy" },
		{ "-Z x", "no option -Z" }, { "--quiet=1 x", "no value" }, { "--help=1 x", "no value" },
		{ "--config /nowhere x", "cannot read" }, { "--config / x", "directory" },
		{ "--kernel /nowhere x", "--kernel" }, { "--log= x", "name a file" },
		{ "--root= x", "name a directory" }, { "-- ", "empty" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = parse(cases[i].line);

		tap_ok(ret == -EINVAL && strstr(p.error, cases[i].says) && !strchr(p.error, '\n'),
		       "\"%s\" is refused: %s", cases[i].line, ret == -EINVAL ? p.error : "(it was not)");
	}
}

static void precedence_test(void)
{
	static const char text[] = "{\"memory\": \"1G\", \"cpus\": 2, \"env\": [\"A=1\", \"B=1\"], "
				   "\"args\": [\"from\", \"file\"]}";
	char path[] = "/tmp/husk-options.XXXXXX", line[128];
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, sizeof(text) - 1) != sizeof(text) - 1)
		abort();
	close(fd);
	snprintf(line, sizeof(line), "-e A=2 -c 3 --config %s", path);
	tap_ok(parse(line) == 0 && p.cfg.memory_bytes == 1ull << 30 && p.cfg.cpus == 3 &&
	       !strcmp(env_get("A"), "2") && !strcmp(env_get("B"), "1") && args_are("from", "file"),
	       "the command line wins over the file, wherever --config stands");
	snprintf(line, sizeof(line), "--config %s -- other", path);
	tap_ok(parse(line) == 0 && args_are("other", NULL), "a program on the command line wins");
	unlink(path);
}

int main(void)
{
	sizes_test();
	values_test();
	environment_test();
	mistakes_test();
	precedence_test();
	free(p.config_path);
	config_free(&p.cfg);
	return tap_done();
}
