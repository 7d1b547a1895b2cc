/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks, sleeping, CPU time used. Only the host sets the time: setting it is EPERM for everyone.
 */
#include <linux/errno.h>
#include <linux/time.h>
#include <linux/time_types.h>
#include <linux/times.h>
#include "core/string.h"
#include "core/time.h"
#include "fs/poll.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "proc/misc.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define CLOCK_RESOLUTION_NS	1
#define COARSE_RESOLUTION_NS	1	/* the coarse clocks are the fine ones */
#define CPUCLOCK_PER_THREAD	4	/* clock ids made of a pid: (~pid << 3) | kind */
#define CPUCLOCK_KIND		3
#define RUSAGE_SELF		0
#define RUSAGE_CHILDREN		(-1)
#define RUSAGE_THREAD		1

void process_cpu_times(const struct process *proc, u64 *utime_ns, u64 *stime_ns)
{
	struct task *task;

	*utime_ns = proc->utime_ns;
	*stime_ns = proc->stime_ns;
	list_for_each(task, &proc->threads, thread_link) {
		u64 utime, stime;

		task_cpu_times(task, &utime, &stime);
		*utime_ns += utime;
		*stime_ns += stime;
	}
}

static u64 cpu_time_of_process(const struct process *proc)
{
	u64 utime, stime;

	process_cpu_times(proc, &utime, &stime);
	return utime + stime;
}

static u64 cpu_time_of_task(const struct task *task)
{
	u64 utime, stime;

	task_cpu_times(task, &utime, &stime);
	return utime + stime;
}

/* clock_getcpuclockid(3), pthread_getcpuclockid(3) */
static int clock_read_cpu(int clockid, u64 *ns)
{
	s32 pid = ~(clockid >> 3);
	struct process *proc;
	struct task *task;

	if ((clockid & CPUCLOCK_KIND) == CPUCLOCK_KIND)
		return -EINVAL;
	if (clockid & CPUCLOCK_PER_THREAD) {
		task = pid ? task_find(pid) : current;
		if (!task || task->proc != current->proc)
			return -EINVAL;
		*ns = cpu_time_of_task(task);
		return 0;
	}
	proc = pid ? process_find(pid) : current->proc;
	if (!proc)
		return -EINVAL;
	*ns = cpu_time_of_process(proc);
	return 0;
}

static int clock_read(int clockid, u64 *ns)
{
	switch (clockid) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		*ns = time_realtime_ns();
		return 0;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		*ns = time_monotonic_ns();
		return 0;
	case CLOCK_PROCESS_CPUTIME_ID:
		*ns = cpu_time_of_process(current->proc);
		return 0;
	case CLOCK_THREAD_CPUTIME_ID:
		*ns = cpu_time_of_task(current);
		return 0;
	default:
		return clockid < 0 ? clock_read_cpu(clockid, ns) : -EINVAL;
	}
}

static long put_timespec(u64 addr, u64 ns)
{
	struct timespec64 ts = time_from_ns(ns);

	return copy_to_user(addr, &ts, sizeof(ts));
}

long sys_clock_gettime(int clockid, u64 tp)
{
	u64 ns;
	int err = clock_read(clockid, &ns);

	return err ? err : put_timespec(tp, ns);
}

long sys_clock_getres(int clockid, u64 res)
{
	u64 ns;
	int err = clock_read(clockid, &ns);

	if (err)
		return err;
	return res ? put_timespec(res, CLOCK_RESOLUTION_NS) : 0;
}

long sys_clock_settime(int clockid, u64 tp)
{
	u64 ns;
	int err = timeout_from_user(tp, &ns);

	if (clockid != CLOCK_REALTIME)
		return -EINVAL;
	if (!tp)
		return -EFAULT;
	return err ? err : -EPERM;
}

/* Sleep to a monotonic deadline: 0 or -ERESTARTSYS. */
static int sleep_until(u64 deadline_ns)
{
	struct wait_queue nobody = WAIT_QUEUE_INIT(nobody);
	int err = wait_event(&nobody, false, deadline_ns);

	return err == -ETIMEDOUT ? 0 : err;
}

/* Relative: the time left goes to `remain`, in case a handler makes this EINTR. */
static long sleep_relative(u64 rel_ns, u64 remain)
{
	u64 deadline = deadline_restartable(rel_ns), now;

	if (!sleep_until(deadline))
		return 0;
	now = time_monotonic_ns();
	if (now >= deadline)
		return 0;
	if (remain && put_timespec(remain, deadline - now))
		return -EFAULT;
	return deadline_interrupted(deadline);
}

static u64 clock_to_monotonic(int clockid, u64 ns)
{
	u64 clock_now = 0, now = time_monotonic_ns();

	if (clock_read(clockid, &clock_now) || ns <= clock_now)
		return now;
	return ns - clock_now >= WAIT_FOREVER - now ? WAIT_FOREVER : now + (ns - clock_now);
}

static bool clock_can_sleep(int clockid)
{
	return clockid == CLOCK_REALTIME || clockid == CLOCK_MONOTONIC ||
	       clockid == CLOCK_BOOTTIME || clockid == CLOCK_TAI ||
	       clockid == CLOCK_REALTIME_ALARM || clockid == CLOCK_BOOTTIME_ALARM;
}

long sys_clock_nanosleep(int clockid, int flags, u64 request, u64 remain)
{
	u64 ns;
	int err;

	if (clockid == CLOCK_PROCESS_CPUTIME_ID)
		return -EOPNOTSUPP;	/* needs a timer on CPU time */
	if (clockid == CLOCK_MONOTONIC_RAW || clockid == CLOCK_REALTIME_COARSE ||
	    clockid == CLOCK_MONOTONIC_COARSE)
		return -EOPNOTSUPP;
	if (!clock_can_sleep(clockid))
		return -EINVAL;
	if (!request)
		return -EFAULT;
	err = timeout_from_user(request, &ns);
	if (err)
		return err;
	if (!(flags & TIMER_ABSTIME))
		return sleep_relative(ns, remain);
	err = sleep_until(clock_to_monotonic(clockid, ns));
	return err ? -ERESTARTNOHAND : 0;
}

long sys_nanosleep(u64 request, u64 remain)
{
	return sys_clock_nanosleep(CLOCK_MONOTONIC, 0, request, remain);
}

long sys_gettimeofday(u64 tv, u64 tz)
{
	static const s32 utc[2];	/* minutes west, DST kind */
	u64 ns = time_realtime_ns();
	struct __kernel_old_timeval now = {
		(long)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC / 1000),
	};

	if (tv && copy_to_user(tv, &now, sizeof(now)))
		return -EFAULT;
	if (tz && copy_to_user(tz, utc, sizeof(utc)))
		return -EFAULT;
	return 0;
}

long sys_settimeofday(u64 tv, u64 tz)
{
	return -EPERM;
}

long sys_time(u64 tloc)
{
	s64 now = (s64)(time_realtime_ns() / NSEC_PER_SEC);

	if (tloc && copy_to_user(tloc, &now, sizeof(now)))
		return -EFAULT;
	return now;
}

long sys_times(u64 buf)
{
	const struct process *proc = current->proc;
	u64 utime, stime;
	struct tms tms;

	process_cpu_times(proc, &utime, &stime);
	tms.tms_utime = (long)(utime / NS_PER_TICK);
	tms.tms_stime = (long)(stime / NS_PER_TICK);
	tms.tms_cutime = (long)(proc->cutime_ns / NS_PER_TICK);
	tms.tms_cstime = (long)(proc->cstime_ns / NS_PER_TICK);
	if (buf && copy_to_user(buf, &tms, sizeof(tms)))
		return -EFAULT;
	return (long)(time_monotonic_ns() / NS_PER_TICK);
}

struct rusage_k {		/* the ABI's struct rusage */
	struct __kernel_old_timeval utime, stime;
	long maxrss, ixrss, idrss, isrss, minflt, majflt, nswap, inblock, oublock;
	long msgsnd, msgrcv, nsignals, nvcsw, nivcsw;
};

static struct __kernel_old_timeval timeval_from(u64 ns)
{
	return (struct __kernel_old_timeval){
		(long)(ns / NSEC_PER_SEC), (long)(ns % NSEC_PER_SEC / 1000),
	};
}

long sys_getrusage(int who, u64 usage)
{
	const struct process *proc = current->proc;
	struct rusage_k ru;
	u64 utime, stime;

	memset(&ru, 0, sizeof(ru));
	switch (who) {
	case RUSAGE_SELF:
		process_cpu_times(proc, &utime, &stime);
		break;
	case RUSAGE_THREAD:
		task_cpu_times(current, &utime, &stime);
		break;
	case RUSAGE_CHILDREN:
		utime = proc->cutime_ns;
		stime = proc->cstime_ns;
		break;
	default:
		return -EINVAL;
	}
	ru.utime = timeval_from(utime);
	ru.stime = timeval_from(stime);
	if (who != RUSAGE_CHILDREN) {
		ru.maxrss = proc->mm ? (long)(proc->mm->rss_pages * (PAGE_SIZE / 1024)) : 0;
		ru.minflt = (long)proc->min_faults;
		ru.majflt = (long)proc->maj_faults;
		ru.nvcsw = (long)proc->nvcsw;
		ru.nivcsw = (long)proc->nivcsw;
	}
	return copy_to_user(usage, &ru, sizeof(ru));
}
