/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A configuration's life: defaults, the lists that options add to, the checks that need the whole
 * of it, and its end.
 */
#include "vmm/options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_DEFAULT	(512ull << 20)

int config_error(struct config_parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->error, sizeof(p->error), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static size_t list_count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static void list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

int config_init(struct config_parse *p)
{
	memset(p, 0, sizeof(*p));
	p->command = "run";
	p->options = option_table;
	p->noptions = option_count;
	p->check = config_check;
	p->cfg.memory_bytes = MEMORY_DEFAULT;
	p->cfg.cpus = 1;
	p->cfg.uid = getuid();
	p->cfg.gid = getgid();
	p->cfg.hostname = strdup("husk");
	p->cfg.envp = calloc(1, sizeof(char *));
	if (p->cfg.hostname && p->cfg.envp)
		return 0;
	config_free(&p->cfg);
	return -ENOMEM;
}

int config_set_args(struct config_parse *p, size_t n, char *const *args)
{
	char **copy = calloc(n + 1, sizeof(*copy));

	if (!copy)
		return config_error(p, "out of memory");
	for (size_t i = 0; i < n; i++) {
		copy[i] = strdup(args[i]);
		if (!copy[i]) {
			list_free(copy);
			return config_error(p, "out of memory");
		}
	}
	list_free(p->cfg.argv);
	p->cfg.argv = copy;
	return 0;
}

static char **env_find(char **envp, const char *assignment)
{
	size_t len = strcspn(assignment, "=") + 1;

	while (*envp && strncmp(*envp, assignment, len))
		envp++;
	return envp;
}

int config_set_env(struct config_parse *p, const char *assignment)
{
	char **slot = env_find(p->cfg.envp, assignment), **grown;
	char *copy = strdup(assignment);
	size_t n;

	if (!copy)
		return config_error(p, "out of memory");
	if (*slot) {
		free(*slot);
		*slot = copy;
		return 0;
	}
	n = list_count(p->cfg.envp);
	grown = realloc(p->cfg.envp, (n + 2) * sizeof(*grown));
	if (!grown) {
		free(copy);
		return config_error(p, "out of memory");
	}
	grown[n] = copy;
	grown[n + 1] = NULL;
	p->cfg.envp = grown;
	return 0;
}

/* What every program gets unless the user says otherwise. */
static int env_defaults(struct config_parse *p)
{
	const char *term = getenv("TERM");
	char text[80];
	const char *defaults[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		p->cfg.uid ? "HOME=/" : "HOME=/root",
		"LANG=C.UTF-8",
		NULL,
	};

	if (term && *term && (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)) &&
	    snprintf(text, sizeof(text), "TERM=%s", term) < (int)sizeof(text))
		defaults[3] = text;
	for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
		if (!defaults[i] || *env_find(p->cfg.envp, defaults[i]))
			continue;
		if (config_set_env(p, defaults[i]))
			return -EINVAL;
	}
	return 0;
}

int config_check(struct config_parse *p)
{
	struct config *cfg = &p->cfg;
	struct stat st;

	if (!cfg->argv || !cfg->argv[0])
		return config_error(p, "no program to run; write: husk run [OPTIONS] -- PROGRAM [ARGS]");
	if (!*cfg->argv[0])
		return config_error(p, "the program's name is empty");
	if (cfg->root) {
		if (stat(cfg->root, &st))
			return config_error(p, "--root %s: %s; name a directory that exists",
					    cfg->root, strerror(errno));
		if (!S_ISDIR(st.st_mode))
			return config_error(p, "--root %s: not a directory", cfg->root);
	}
	for (size_t i = 0; i < cfg->nshares; i++)
		if (stat(cfg->shares[i].host, &st))
			return config_error(p, "--volume %s:%s: %s on the host: %s", cfg->shares[i].host,
					    cfg->shares[i].guest, cfg->shares[i].host, strerror(errno));
	if (cfg->kernel_path && access(cfg->kernel_path, R_OK))
		return config_error(p, "--kernel %s: %s", cfg->kernel_path, strerror(errno));
	return env_defaults(p);
}

void config_free(struct config *cfg)
{
	for (size_t i = 0; i < cfg->nshares; i++) {
		free(cfg->shares[i].host);
		free(cfg->shares[i].guest);
	}
	free(cfg->shares);
	list_free(cfg->argv);
	list_free(cfg->envp);
	free(cfg->workdir);
	free(cfg->root);
	free(cfg->hostname);
	free(cfg->log_path);
	free(cfg->kernel_path);
	free(cfg->initrd_path);
	free(cfg->append);
	memset(cfg, 0, sizeof(*cfg));
}
