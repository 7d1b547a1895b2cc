/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions of a run of `husk bench`. */
#include "vmm/bench_host.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "vmm/bench_result.h"
#include "vmm/bench_tune.h"
#include "vmm/log.h"

/* Parameters of kvm and its vendor modules that move exit, interrupt or halt costs. */
static const char *const parameters[] = {
	"halt_poll_ns", "halt_poll_ns_grow", "halt_poll_ns_shrink", "lapic_timer_advance",
	"lapic_timer_advance_ns", "vector_hashing", "pi_inject_timer", "tdp_mmu", "nx_huge_pages",
	"enable_pmu", "ept", "vpid", "npt", "ple_gap", "ple_window", "pause_filter_thresh",
	"pause_filter_count", "enable_apicv", "enable_ipiv", "avic", "flexpriority",
	"preemption_timer", "unrestricted_guest", "efer_autoload", "ipi_fastpath",
};

static void param_add(struct bench_conditions *c, const char *root, const char *module,
		      const char *name)
{
	char path[512];

	if (c->nparams == BENCH_PARAMS)
		return;
	snprintf(path, sizeof(path), "%s/module/%s/parameters/%s", root, module, name);
	if (tune_read(path, c->param[c->nparams].value, sizeof(c->param[0].value)))
		return;
	snprintf(c->param[c->nparams].name, sizeof(c->param[0].name), "%.24s.%.38s", module, name);
	c->nparams++;
}

static int kvm_module(const struct dirent *d)
{
	return !strcmp(d->d_name, "kvm") || !strncmp(d->d_name, "kvm_", 4);
}

static void modules_read(struct bench_conditions *c, const char *root)
{
	struct dirent **list;
	char path[512];
	int n;

	snprintf(path, sizeof(path), "%s/module", root);
	n = scandir(path, &list, kvm_module, alphasort);
	for (int i = 0; i < n; i++) {
		size_t len = strlen(c->kvm);

		snprintf(c->kvm + len, sizeof(c->kvm) - len, "%s%s", len ? " " : "", list[i]->d_name);
		for (size_t k = 0; k < sizeof(parameters) / sizeof(parameters[0]); k++)
			param_add(c, root, list[i]->d_name, parameters[k]);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

static void cpu_read(struct bench_conditions *c)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !value)
			continue;
		value[strcspn(value, "\n")] = 0;
		snprintf(c->cpu, sizeof(c->cpu), "%.79s", value + 1 + strspn(value + 1, " "));
		break;
	}
	if (f)
		fclose(f);
}

static void governor_read(struct bench_conditions *c, const char *root)
{
	char path[512];

	if (c->nparams == BENCH_PARAMS)
		return;
	snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu0/cpufreq/scaling_governor", root);
	if (tune_read(path, c->param[c->nparams].value, sizeof(c->param[0].value)))
		return;
	strcpy(c->param[c->nparams++].name, "cpufreq.governor");
}

void bench_host_read(struct bench_conditions *c, const char *root)
{
	struct utsname u;

	if (!uname(&u))
		snprintf(c->kernel, sizeof(c->kernel), "%.79s", u.release);
	cpu_read(c);
	modules_read(c, root);
	governor_read(c, root);
}

/* --- --quiet-host --------------------------------------------------------------------------- */

static const struct { const char *path, *quiet; } quiet[] = {
	{ "module/kvm/parameters/halt_poll_ns", "0" },
	{ "module/kvm/parameters/lapic_timer_advance_ns", "0" },
	{ "module/kvm/parameters/lapic_timer_advance", "0" },
	{ "devices/system/cpu/intel_pstate/no_turbo", "1" },
};

static void quiet_add_one(struct tune *t, const char *path)
{
	int ret = tune_add(t, path);

	if (ret == -EACCES)
		husk_warn("--quiet-host: %s is read-only here and stays as it is", path);
	else if (ret && ret != -ENOENT && ret != -ENOTDIR)
		husk_warn("--quiet-host: %s: %s", path, strerror(-ret));
}

void bench_host_quiet_add(struct tune *t, const char *root)
{
	char path[512];

	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, quiet[i].path);
		quiet_add_one(t, path);
	}
	for (unsigned cpu = 0; cpu < 64; cpu++) {
		snprintf(path, sizeof(path), "%s/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
			 root, cpu);
		quiet_add_one(t, path);
	}
}

static const char *quiet_value(const char *path)
{
	for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
		size_t n = strlen(quiet[i].path), len = strlen(path);

		if (len > n && !strcmp(path + len - n, quiet[i].path))
			return quiet[i].quiet;
	}
	return strstr(path, "/scaling_governor") ? "performance" : NULL;
}

void bench_host_quiet_set(const struct tune *t)
{
	for (unsigned i = 0; i < t->n; i++) {
		const char *value = quiet_value(t->item[i].path);
		int ret = value ? tune_write(t->item[i].path, value) : 0;

		if (ret)
			husk_warn("--quiet-host: %s does not take %s: %s", t->item[i].path, value,
				  strerror(-ret));
	}
}
