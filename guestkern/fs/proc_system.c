/* SPDX-License-Identifier: Apache-2.0 */
/* /proc files about the whole system. */
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/time.h"
#include "fs/kfs.h"
#include "fs/procfs.h"
#include "mm/page.h"
#include "proc/misc.h"

typedef unsigned long long ull;

static void meminfo_line(struct seq *seq, const char *name, u64 pages)
{
	size_t start = seq->len;

	seq_printf(seq, "%s:", name);
	seq_pad(seq, start, 16);
	seq_printf(seq, "%8llu kB\n", (ull)pages * (PAGE_SIZE / 1024));
}

int proc_meminfo(struct seq *seq, const struct pseudo *self)
{
	u64 cached = pagecache_total(), free = page_free_count();

	meminfo_line(seq, "MemTotal", page_total_count());
	meminfo_line(seq, "MemFree", free);
	meminfo_line(seq, "MemAvailable", free + cached);
	meminfo_line(seq, "Buffers", 0);
	meminfo_line(seq, "Cached", cached);
	meminfo_line(seq, "SwapCached", 0);
	meminfo_line(seq, "SwapTotal", 0);
	meminfo_line(seq, "SwapFree", 0);
	seq_puts(seq, "HugePages_Total:       0\nHugePages_Free:        0\n"
		      "Hugepagesize:       2048 kB\n");
	return 0;
}

struct cpu_totals {
	u64 utime, stime, idle;		/* ns, of all vCPUs together */
	u64 switches;
	unsigned running, tasks;
	s32 last_pid;
};

static void cpu_totals_add(struct cpu_totals *t, const struct process *proc)
{
	u64 utime, stime;
	struct task *task;

	process_cpu_times(proc, &utime, &stime);
	t->utime += utime + proc->cutime_ns;
	t->stime += stime + proc->cstime_ns;
	t->switches += proc->nvcsw + proc->nivcsw;
	if (proc->pid > t->last_pid)
		t->last_pid = proc->pid;
	list_for_each(task, &proc->threads, thread_link) {
		t->tasks++;
		t->running += task->state == TASK_RUNNABLE;
	}
}

static struct cpu_totals cpu_totals(void)
{
	u64 all = time_monotonic_ns() * cpu_online_count();
	struct cpu_totals t = { 0 };
	struct process *proc;

	list_for_each(proc, &process_list, all_link)
		cpu_totals_add(&t, proc);
	t.idle = all > t.utime + t.stime ? all - t.utime - t.stime : 0;
	return t;
}

/* Time is accounted to tasks, not to vCPUs: each line has an equal share of the whole. */
int proc_system_stat(struct seq *seq, const struct pseudo *self)
{
	struct cpu_totals t = cpu_totals();
	unsigned cpus = cpu_online_count();
	u64 up = time_monotonic_ns(), now = time_realtime_ns();

	seq_printf(seq, "cpu  %llu 0 %llu %llu 0 0 0 0 0 0\n", (ull)(t.utime / NS_PER_TICK),
		   (ull)(t.stime / NS_PER_TICK), (ull)(t.idle / NS_PER_TICK));
	for (unsigned i = 0; i < cpus; i++)
		seq_printf(seq, "cpu%u %llu 0 %llu %llu 0 0 0 0 0 0\n", i,
			   (ull)(t.utime / cpus / NS_PER_TICK),
			   (ull)(t.stime / cpus / NS_PER_TICK), (ull)(t.idle / cpus / NS_PER_TICK));
	seq_printf(seq, "ctxt %llu\nbtime %llu\nprocesses %d\nprocs_running %u\nprocs_blocked 0\n",
		   (ull)t.switches, (ull)((now - up) / NSEC_PER_SEC), t.last_pid, t.running);
	return 0;
}

int proc_uptime(struct seq *seq, const struct pseudo *self)
{
	struct cpu_totals t = cpu_totals();
	u64 up = time_monotonic_ns() / 10000000, idle = t.idle / 10000000;

	seq_printf(seq, "%llu.%02llu %llu.%02llu\n", (ull)(up / 100), (ull)(up % 100),
		   (ull)(idle / 100), (ull)(idle % 100));
	return 0;
}

/* There is no periodic tick to sample the run queue by, so the averages stay 0. */
int proc_loadavg(struct seq *seq, const struct pseudo *self)
{
	struct cpu_totals t = cpu_totals();

	seq_printf(seq, "0.00 0.00 0.00 %u/%u %d\n", t.running, t.tasks, t.last_pid);
	return 0;
}

int proc_version(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%s version %s (husk) (%s) %s\n", UTS_SYSNAME, UTS_RELEASE, __VERSION__,
		   UTS_VERSION);
	return 0;
}

int proc_filesystems(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "nodev\tproc\nnodev\tsysfs\nnodev\ttmpfs\nnodev\tdevtmpfs\nnodev\tpipefs\n"
		      "nodev\toverlay\nnodev\tfuse\n");
	return 0;
}

int proc_cmdline(struct seq *seq, const struct pseudo *self)
{
	seq_puts(seq, "\n");	/* nobody gave this kernel a command line */
	return 0;
}
