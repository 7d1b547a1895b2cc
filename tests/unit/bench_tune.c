/* SPDX-License-Identifier: Apache-2.0 */
/* husk bench: kernel parameters on a made-up sysfs; they come back whatever happens. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/unit/tap.h"
#include "vmm/bench_host.h"
#include "vmm/bench_result.h"
#include "vmm/bench_tune.h"

static char root[] = "/tmp/husk-bench-tune.XXXXXX";

static void file_put(const char *name, const char *value, mode_t mode)
{
	char path[256], dir[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		snprintf(dir, sizeof(dir), "%.*s", (int)(p - path), path);
		mkdir(dir, 0755);
	}
	f = fopen(path, "w");
	fputs(value, f);
	fclose(f);
	chmod(path, mode);
}

static bool file_is(const char *name, const char *want)
{
	char path[256], got[64];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return !tune_read(path, got, sizeof(got)) && !strcmp(got, want);
}

#define POLL	"module/kvm/parameters/halt_poll_ns"
#define FIXED	"module/kvm/parameters/lapic_timer_advance"

static void parse_test(void)
{
	static const char *const bad[] = {
		"", "kvm", "kvm.x", "kvm.x=", "kvm.x=1", "kvm.x=1,", "kvm.x=,1", "kvm.x=1,2,3", ".x=1,2",
		"kvm.=1,2", "../kvm.x=1,2", "kvm.../x=1,2", "kvm.a/b=1,2", "kvm x.y=1,2", "a=b.c,d",
	};
	struct tune_toggle t;
	char error[200];

	tap_ok(!tune_toggle_parse(&t, "/sys", "kvm.halt_poll_ns=0,200000", error, sizeof(error)) &&
	       !strcmp(t.path, "/sys/" POLL) && !strcmp(t.value[0], "0") &&
	       !strcmp(t.value[1], "200000") && !strcmp(t.name, "kvm.halt_poll_ns"), "a good toggle");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		*error = 0;
		tap_ok(tune_toggle_parse(&t, "/sys", bad[i], error, sizeof(error)) == -EINVAL && *error,
		       "refused: \"%s\"", bad[i]);
	}
}

static struct tune tuned(const char *name, int *ret)
{
	struct tune t = { 0 };
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	*ret = tune_add(&t, path);
	return t;
}

static void restore_test(void)
{
	int ret;
	struct tune t = tuned(POLL, &ret);

	tap_ok(!ret && t.n == 1 && !strcmp(t.item[0].old, "200000"), "the old value is remembered");
	tap_ok(!tune_guard(&t) && !tune_write(t.item[0].path, "0") && file_is(POLL, "0"), "set");
	tap_ok(!tune_restore(&t) && file_is(POLL, "200000"), "restored at the end");
	tuned("module/kvm/parameters/absent", &ret);
	tap_ok(ret == -ENOENT, "absent: ENOENT");
	tuned(FIXED, &ret);
	tap_ok(ret == -EACCES, "read-only: EACCES, also for root");
}

/* A process that changes the value and then dies of sig (0: exits). */
static void death_test(int sig)
{
	int ret, fd[2];
	char byte;
	pid_t pid;

	if (pipe(fd))
		abort();
	pid = fork();
	if (!pid) {
		struct tune t = tuned(POLL, &ret);

		if (ret || tune_guard(&t) || tune_write(t.item[0].path, "7"))
			_exit(9);
		close(fd[0]);
		if (sig)
			raise(sig);
		_exit(0);
	}
	close(fd[1]);
	waitpid(pid, NULL, 0);
	/* The guard holds the other end until it is done. */
	ret = read(fd[0], &byte, 1) == 0;
	close(fd[0]);
	tap_ok(ret && file_is(POLL, "200000"), "restored after %s", sig ? strsignal(sig) : "exit");
}

static void quiet_test(void)
{
	static struct bench_conditions c;
	struct tune t = { 0 };

	bench_host_read(&c, root);
	tap_ok(!strcmp(c.kvm, "kvm kvm_amd"), "modules: %s", c.kvm);
	tap_ok(c.nparams == 4, "their parameters: %u", c.nparams);
	bench_host_quiet_add(&t, root);
	tap_ok(t.n == 2, "what can be made quiet: %u", t.n);
	tap_ok(!tune_guard(&t), "guard");
	bench_host_quiet_set(&t);
	tap_ok(file_is(POLL, "0") && file_is("devices/system/cpu/cpu0/cpufreq/scaling_governor",
	       "performance"), "made quiet");
	tap_ok(!tune_restore(&t) && file_is(POLL, "200000") &&
	       file_is("devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave"), "restored");
}

static void gone_test(void)
{
	int ret, old = dup(2), null = open("/dev/null", O_WRONLY);
	struct tune t = tuned(POLL, &ret);
	char command[256];

	dup2(null, 2);
	tune_guard(&t);
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ret = system(command);
	ret |= tune_restore(&t) != -EIO;
	dup2(old, 2);
	tap_ok(!ret, "a value that cannot be restored is an error");
}

int main(void)
{
	if (!mkdtemp(root))
		return 99;
	file_put(POLL, "200000\n", 0644);
	file_put(FIXED, "Y\n", 0444);
	file_put("module/kvm_amd/parameters/npt", "Y\n", 0444);
	file_put("devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n", 0644);
	parse_test();
	restore_test();
	death_test(0);
	death_test(SIGKILL);
	death_test(SIGTERM);
	quiet_test();
	gone_test();
	return tap_done();
}
