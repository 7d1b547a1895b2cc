/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `husk boot`, and what must hold between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "vmm/options.h"

static int initrd_set(struct config_parse *p, const char *value)
{
	return option_set_string(p, &p->cfg.initrd_path, value);
}

static int append_set(struct config_parse *p, const char *value)
{
	return option_set_string(p, &p->cfg.append, value);
}

static int mptable_set(struct config_parse *p, const char *value)
{
	p->cfg.mptable = true;
	return 0;
}

static int stall_set(struct config_parse *p, const char *value)
{
	double timeout_s = p->cfg.timeout_s;
	int ret = option_set_timeout(p, value);	/* the same kind of number */

	if (!ret)
		p->cfg.stall_s = p->cfg.timeout_s;
	p->cfg.timeout_s = timeout_s;
	return ret;
}

static int share_set(struct config_parse *p, const char *value)
{
	size_t len = strlen(value);
	struct share *s = p->cfg.shares;
	bool rw = len > 3 && !strcmp(value + len - 3, ":rw");

	if (!s)
		s = calloc(1, sizeof(*s));
	else
		free(s->host);
	if (!s)
		return config_error(p, "out of memory");
	p->cfg.shares = s;
	p->cfg.nshares = 1;
	s->rw = rw;
	s->host = strndup(value, rw ? len - 3 : len);
	if (!s->guest)
		s->guest = strdup("/");
	return s->host && s->guest ? 0 : config_error(p, "out of memory");
}

const struct option_spec boot_option_table[] = {
	{ "kernel", 'k', OPTION_VALUE, false, "FILE", "bzImage, or ELF with Multiboot or PVH entry",
	  option_set_kernel },
	{ "initrd", 'i', OPTION_VALUE, false, "FILE", "initial ramdisk, or Multiboot module", initrd_set },
	{ "append", 'a', OPTION_VALUE, false, "STRING", "the kernel's command line", append_set },
	{ "memory", 'm', OPTION_VALUE, true, "SIZE", "memory, such as 256M or 1G (512M)", option_set_memory },
	{ "cpus", 'c', OPTION_VALUE, true, "N", "virtual CPUs, 1 to 32 (1)", option_set_cpus },
	{ "share", 0, OPTION_VALUE, false, "DIR[:rw]", "show DIR as virtio-fs \"husk\"", share_set },
	{ "mptable", 0, OPTION_FLAG, false, NULL, "an MP table instead of ACPI tables", mptable_set },
	{ "timeout", 0, OPTION_VALUE, true, "SECONDS", "stop after this time, exit 124", option_set_timeout },
	{ "stall", 0, OPTION_VALUE, true, "SECONDS", "give up if nothing happens at start (60)", stall_set },
	{ "log", 0, OPTION_VALUE, false, "FILE", "write husk's messages to FILE", option_set_log },
	{ "quiet", 'q', OPTION_FLAG, false, NULL, "say nothing but errors", option_set_quiet },
	{ "no-jail", 0, OPTION_FLAG, false, NULL, "do not confine husk itself", option_set_no_jail },
	{ "trace", 0, OPTION_VALUE, false, "exit", "count the exits of each vCPU", option_set_trace },
};
const size_t boot_option_count = sizeof(boot_option_table) / sizeof(boot_option_table[0]);

static int file_check(struct config_parse *p, const char *option, const char *path)
{
	struct stat st;

	if (access(path, R_OK) || stat(path, &st))
		return config_error(p, "--%s %s: %s", option, path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return config_error(p, "--%s %s: not a regular file", option, path);
	return 0;
}

int boot_config_check(struct config_parse *p)
{
	struct config *cfg = &p->cfg;
	struct stat st;
	int ret;

	if (cfg->argv && cfg->argv[0])
		return config_error(p, "\"%.60s\" is no option; write: husk boot --kernel FILE [OPTIONS]",
				    cfg->argv[0]);
	if (!cfg->kernel_path)
		return config_error(p, "no kernel; write: husk boot --kernel FILE [OPTIONS]");
	ret = file_check(p, "kernel", cfg->kernel_path);
	if (!ret && cfg->initrd_path)
		ret = file_check(p, "initrd", cfg->initrd_path);
	if (ret)
		return ret;
	if (cfg->nshares && stat(cfg->shares[0].host, &st))
		return config_error(p, "--share %s: %s", cfg->shares[0].host, strerror(errno));
	if (cfg->nshares && !S_ISDIR(st.st_mode))
		return config_error(p, "--share %s: not a directory", cfg->shares[0].host);
	return 0;
}
