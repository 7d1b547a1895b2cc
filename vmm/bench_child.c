/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parent's side of one measured VM. Every message renews the time budget; a child that is
 * silent for longer is killed, and with it its VM. So no row can hang the run.
 */
#include "vmm/bench_vm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "husk/bench.h"

#define BUDGET_START_MS	60000	/* until the guest is ready: software hosts take seconds */
#define BUDGET_BATCH_MS	3000	/* and a multiple of the aim */
#define END_PATIENCE_MS	10000
#define BATCHES_MAX	(sizeof(((struct bench_run *)0)->cycles) / sizeof(double))

const char *const bench_status_name[BENCH_STATUSES] = { "ok", "unsupported", "no answer" };

static const char *const done_reason[] = {
	[HUSK_BENCH_S_UNKNOWN] = "the guest kernel has no such row",
	[HUSK_BENCH_S_GP] = "general-protection fault (#GP)",
	[HUSK_BENCH_S_UD] = "undefined instruction (#UD)",
	[HUSK_BENCH_S_CPUS] = "needs more vCPUs",
	[HUSK_BENCH_S_X2APIC] = "no x2APIC",
	[HUSK_BENCH_S_DEADLINE] = "no TSC-deadline timer",
	[HUSK_BENCH_S_TESTDEV] = "the PCI test device refuses the test",
	[HUSK_BENCH_S_MEMORY] = "out of guest memory",
	[HUSK_BENCH_S_FEATURE] = "not in the guest's CPUID",
};

/* While messages come in. */
struct gather {
	const struct bench_job *job;
	struct bench_run *run;
	uint64_t count[BENCH_COUNTERS];		/* sums over batches, the empty one taken off each */
	uint64_t empty[BENCH_COUNTERS];
	bool ready, done, seen_empty;
};

static void run_refuse(struct bench_run *run, enum bench_status status, const char *reason)
{
	run->status = status;
	snprintf(run->reason, sizeof(run->reason), "%s", reason);
}

static void take_batch(struct gather *g, const struct bench_msg *m)
{
	struct bench_run *run = g->run;

	if (!m->operations) {
		for (unsigned i = 0; i < BENCH_COUNTERS; i++)
			if (!g->seen_empty || m->count[i] < g->empty[i])
				g->empty[i] = m->count[i];
		g->seen_empty = true;
		return;
	}
	if (run->nbatches == BATCHES_MAX)
		return;
	run->cycles[run->nbatches++] = (double)m->cycles / (double)m->operations;
	run->operations += m->operations * (g->job->row->parallel ? g->job->cpus : 1);
	for (unsigned i = 0; i < BENCH_COUNTERS; i++)
		if (m->count[i] > g->empty[i])
			g->count[i] += m->count[i] - g->empty[i];
}

static void take_done(struct gather *g, uint32_t status)
{
	const size_t known = sizeof(done_reason) / sizeof(done_reason[0]);

	g->done = true;
	if (status == BENCH_ELSEWHERE)
		run_refuse(g->run, BENCH_UNSUPPORTED, "KVM does not serve this port");
	else if (status)
		run_refuse(g->run, BENCH_UNSUPPORTED,
			   status < known && done_reason[status] ? done_reason[status] : "unknown reason");
}

static void take_message(struct gather *g, const struct bench_msg *m)
{
	struct bench_run *run = g->run;

	switch (m->kind) {
	case BENCH_MSG_COUNTER:
		if (m->value < BENCH_COUNTERS) {
			snprintf(run->counter[m->value], BENCH_NAME, "%.*s", BENCH_NAME - 1, m->text);
			run->ncounters = m->value + 1;
		}
		break;
	case BENCH_MSG_HOST:
		run->tsc_khz = m->value;
		run->no_vm = false;
		break;
	case BENCH_MSG_READY:
		g->ready = true;
		run->x2apic = m->value & HUSK_BENCH_F_X2APIC;
		break;
	case BENCH_MSG_BATCH:
		take_batch(g, m);
		break;
	case BENCH_MSG_DONE:
		take_done(g, m->value);
		break;
	case BENCH_MSG_FAILED:
		if (!g->done)
			run_refuse(run, BENCH_UNSUPPORTED, m->text);	/* terminated: gather_messages() */
		g->done = true;
		break;
	}
}

static int budget_ms(const struct gather *g)
{
	if (!g->ready)
		return BUDGET_START_MS;
	return BUDGET_BATCH_MS + 2 * (int)g->job->time_ms;
}

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* Until the pipe's end, or until the budget or the user's patience is used up. */
static int gather_messages(struct gather *g, int fd, const volatile sig_atomic_t *stop)
{
	uint64_t deadline = now_ms() + (uint64_t)budget_ms(g);

	while (!*stop) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		struct bench_msg m;
		uint64_t now = now_ms();
		int n = now < deadline ? poll(&p, 1, (int)(deadline - now)) : 0;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			run_refuse(g->run, BENCH_NO_ANSWER, g->ready ? "cut off by its time budget" :
				   "the guest did not get ready in time");
			return 0;
		}
		if (read(fd, &m, sizeof(m)) != (ssize_t)sizeof(m))
			return 0;
		if (m.kind == BENCH_MSG_FAILED || m.kind == BENCH_MSG_COUNTER)
			m.text[sizeof(m.text) - 1] = 0;
		take_message(g, &m);
		deadline = now_ms() + (uint64_t)budget_ms(g);
	}
	return -EINTR;
}

static void run_finish(struct gather *g)
{
	struct bench_run *run = g->run;

	if (run->status == BENCH_OK && (!g->done || !run->nbatches))
		run_refuse(run, BENCH_UNSUPPORTED, "the VM ended without an answer");
	for (unsigned i = 0; i < run->ncounters && run->operations; i++)
		run->count[i] = (double)g->count[i] / (double)run->operations;
}

/*
 * Kill the child and wait for its end, but not for ever: a host's KVM may keep a vCPU's thread from
 * noticing. Then it is left behind, and the row says so.
 */
static void child_end(pid_t pid, struct bench_run *run)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	uint64_t deadline = now_ms() + END_PATIENCE_MS;

	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (now_ms() >= deadline) {
			run_refuse(run, BENCH_NO_ANSWER, "its VM does not even end when killed");
			return;
		}
		nanosleep(&pause, NULL);
	}
}

static void child_main(const struct bench_job *job, const int fd[2])
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(fd[0]);
	bench_vm_run(job, fd[1]);
}

int bench_child_run(const struct bench_job *job, const volatile sig_atomic_t *stop,
		    struct bench_run *run)
{
	struct gather g = { .job = job, .run = run };
	int fd[2], ret;
	pid_t pid;

	memset(run, 0, sizeof(*run));
	run->no_vm = true;
	if (pipe(fd))
		return -errno;
	fflush(NULL);
	pid = fork();
	if (pid < 0) {
		ret = -errno;
		close(fd[0]);
		close(fd[1]);
		return ret;
	}
	if (!pid)
		child_main(job, fd);
	close(fd[1]);
	ret = gather_messages(&g, fd[0], stop);
	child_end(pid, run);
	close(fd[0]);
	run_finish(&g);
	return ret;
}
