/* SPDX-License-Identifier: Apache-2.0 */
/* JSON descriptions of a VM: values, types, places of mistakes, hostile text. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"
#include "vmm/options.h"

static struct config_parse p;

static int load_bytes(const char *text, size_t len)
{
	config_free(&p.cfg);
	if (config_init(&p))
		abort();
	return config_load_text(&p, "vm.json", text, len);
}

static int load(const char *text)
{
	return load_bytes(text, strlen(text));
}

static void values_test(void)
{
	tap_ok(load("{}") == 0 && p.cfg.cpus == 1, "an empty object changes nothing");
	tap_ok(load("{\"memory\": \"256M\", \"cpus\": 2, \"timeout\": 1.5, \"user\": \"3:4\","
		    "\"hostname\": \"h\", \"quiet\": true, \"no-jail\": false, \"trace\": true,"
		    "\"volume\": [\"/a:/b\", \"/c:/d:rw\"], \"workdir\": \"/w\", \"root\": \"/r\","
		    "\"args\": [\"a\", \"\", \"b c\"]}") == 0, "all kinds of value");
	tap_ok(p.cfg.memory_bytes == 256ull << 20 && p.cfg.cpus == 2 && p.cfg.timeout_s == 1.5 &&
	       p.cfg.uid == 3 && p.cfg.gid == 4 && p.cfg.quiet && !p.cfg.no_jail && p.cfg.trace == 1,
	       "scalars arrive");
	tap_ok(p.cfg.nshares == 2 && p.cfg.shares[1].rw && !strcmp(p.cfg.argv[2], "b c") &&
	       !p.cfg.argv[3], "lists arrive");
	tap_ok(load("{\"memory\": 134217728, \"user\": 7, \"trace\": [\"fs\", \"mm\"]}") == 0 &&
	       p.cfg.memory_bytes == 128 << 20 && p.cfg.uid == 7 && p.cfg.trace == 12, "numbers, lists");
	tap_ok(load("{\"env\": \"A=b\", \"trace\": \"fs,mm\", \"timeout\": 3}") == 0 &&
	       !strcmp(p.cfg.envp[0], "A=b"), "a single string for a list");
	tap_ok(load("{\"args\": [\"\\u00e4\\\"{}[],:\"]}") == 0 &&
	       !strcmp(p.cfg.argv[0], "\xc3\xa4\"{}[],:"), "escapes");
}

static void mistakes_test(void)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "vm.json:1:" }, { "[]", "vm.json:1:1: an array" }, { "3", "vm.json:1:1" },
		{ "{", "vm.json:1:" }, { "{\"cpus\": 2,}", "vm.json:1:" }, { "{\"cpus\": 2} x", "vm.json:1:" },
		{ "{\n  \"memory\": \"1G\",\n  \"cpu\": 2\n}", "vm.json:3:3: cpu: no such option; is it \"cpus\"?" },
		{ "{\"xyzzy\": 1}", "vm.json:1:2: xyzzy: no such option" },
		{ "{\"env\": [\"a,\\\"}\"], \"cpus\": 0}", "vm.json:1:20: cpus: not a number of virtual" },
		{ "{\"hostname\": \"\xc3\xa4\"}", "vm.json:1:2: hostname" },
		{ "{\"args\": [\"{\", [1]]}", "args: item 2 is an array" },
		{ "{\"args\": \"ls -l\"}", "a string; it wants an array" }, { "{\"args\": {}}", "an object" },
		{ "{\"memory\": null}", "null; it wants a string or a number" },
		{ "{\"memory\": [\"1G\"]}", "an array" }, { "{\"memory\": -1}", "not a size" },
		{ "{\"memory\": 1.5}", "not a size" }, { "{\"cpus\": \"many\"}", "1 to 32" },
		{ "{\"cpus\": true}", "true or false" }, { "{\"quiet\": 1}", "it wants true or false" },
		{ "{\"quiet\": \"yes\"}", "it wants true or false" }, { "{\"hostname\": 3}", "a number; it wants a string" },
		{ "{\"env\": {\"A\": \"b\"}}", "an object" }, { "{\"env\": [1]}", "item 1 is a number" },
		{ "{\"volume\": [\"/a:/b\", \"x\"]}", "HOST:GUEST" }, { "{\"timeout\": -2}", "seconds" },
		{ "{\"timeout\": 1e300}", "seconds" }, { "{\"timeout\": 1e999}", "vm.json:1:" },
		{ "{\"cpus\": 99999999999999999999}", "vm.json:1:" }, { "{\"config\": \"x\"}", "another" },
		{ "{\"cpus\": 1, \"cpus\": 2}", "duplicate" }, { "{\"args\": [\"a\\u0000b\"]}", "vm.json:1:" },
		{ "{\"hostname\": \"\xff\"}", "vm.json:1:" }, { "{\"\": 1}", "no such option" },
		{ "{\"help\": true}", "no such option" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = load(cases[i].text);

		tap_ok(ret == -EINVAL && strstr(p.error, cases[i].says) && !strchr(p.error, '\n'),
		       "case %zu is refused: %s", i, ret == -EINVAL ? p.error : "(it was not)");
	}
}

static void hostile_test(void)
{
	enum { DEPTH = 200000 };
	char *deep = malloc(DEPTH + 1), key[600];

	memset(deep, '[', DEPTH);
	deep[DEPTH] = 0;
	tap_ok(load(deep) == -EINVAL, "200000 open brackets");
	memcpy(deep, "{\"args\": ", 9);
	tap_ok(load(deep) == -EINVAL, "the same as a value");
	for (int i = 0; i < DEPTH / 5; i++)
		memcpy(deep + 5 * i, "{\"a\":", 5);
	tap_ok(load(deep) == -EINVAL, "40000 nested objects");
	free(deep);

	memset(key, 'k', sizeof(key));
	memcpy(key, "{\"", 2);
	strcpy(key + sizeof(key) - 5, "\":1}");
	tap_ok(load(key) == -EINVAL && strlen(p.error) < sizeof(p.error), "a very long key");
	tap_ok(load_bytes("{\"cpus\": 2}\0{", 13) == -EINVAL, "NUL behind the object");
	tap_ok(load_bytes("{\"cpus\0\": 2}", 12) == -EINVAL, "NUL in a key");
	tap_ok(load_bytes("\xef\xbb\xbf{}", 5) == -EINVAL || p.cfg.cpus == 1, "byte order mark");

	/* Every prefix of a good file, and every byte of it flipped: an error or not, but no crash. */
	static const char good[] = "{\"memory\": \"256M\", \"env\": [\"A=b\"], \"args\": [\"x\", \"y\"], \"cpus\": 2}";
	unsigned refused = 0;

	for (size_t n = 0; n < sizeof(good) - 1; n++)
		refused += load_bytes(good, n) == -EINVAL;
	tap_ok(refused == sizeof(good) - 1, "no prefix of a file is taken for the file");
	for (size_t n = 0; n < sizeof(good) - 1; n++) {
		for (int bit = 0; bit < 8; bit++) {
			char bad[sizeof(good)];

			memcpy(bad, good, sizeof(good));
			bad[n] ^= 1 << bit;
			load_bytes(bad, sizeof(good) - 1);
		}
	}
	tap_ok(true, "flipped bits");
}

int main(void)
{
	values_test();
	mistakes_test();
	hostile_test();
	config_free(&p.cfg);
	return tap_done();
}
