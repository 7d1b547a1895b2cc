/* SPDX-License-Identifier: Apache-2.0 */
/* Names, clocks, sleeping, timers, identity, capabilities, limits, prctl on the test kernel. */
#include <errno.h>
#include <string.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/time.h>
#include <linux/utsname.h>
#include "kfs_fake.h"
#include "tap.h"
#include "husk/fdt.h"
#include "proc/misc.h"
#include "proc/signo.h"
#include "proc/syscalls_misc.h"

#define MS 1000000ull
#define KEEP 0xffffffffu

static void test_names(void)
{
	struct new_utsname uts;
	static u8 bytes[10000];

	fake_fdt_set(HUSK_FDT_HOSTNAME, "box", 4);
	misc_init(fake_fdt());
	tap_ok(sys_uname(U(&uts)) == 0 && !strcmp(uts.sysname, "Linux") &&
	       !strcmp(uts.nodename, "box") && !strcmp(uts.machine, "x86_64"), "uname");
	tap_ok(sys_sethostname(U("other"), 5) == 0 && !sys_uname(U(&uts)) &&
	       !strcmp(uts.nodename, "other"), "sethostname");
	tap_ok(sys_sethostname(U("x"), 65) == -EINVAL && sys_uname(FAKE_BAD_ADDR) == -EFAULT, "errors");
	tap_ok(sys_getrandom(U(bytes), sizeof(bytes), 0) == sizeof(bytes) && bytes[9999] != bytes[9998],
	       "getrandom of 10000 bytes");
	tap_ok(sys_getrandom(U(bytes), 1, 8) == -EINVAL && sys_getrandom(U(bytes), 1, 6) == -EINVAL &&
	       sys_getrandom(FAKE_BAD_ADDR, 1, 0) == -EFAULT, "getrandom's errors");
}

static struct task *victim;

static long signal_later(void *arg)
{
	struct wait_queue wq = WAIT_QUEUE_INIT(wq);

	wait_event(&wq, false, time_monotonic_ns() + 40 * MS);
	fake_signal(victim);
	return 0;
}

static void test_sleep(void)
{
	struct timespec64 ts = { 1, 5 }, left = { 0, 0 };
	u64 before = time_monotonic_ns();
	struct fake_task *t;
	long ret;

	tap_ok(sys_nanosleep(U(&ts), 0) == 0 && time_monotonic_ns() - before == NSEC_PER_SEC + 5,
	       "nanosleep");
	victim = current;
	t = fake_spawn(signal_later, NULL);
	ts = (struct timespec64){ 0, 100 * MS };
	before = time_monotonic_ns();
	ret = sys_nanosleep(U(&ts), U(&left));
	fake_signal_done(current);
	fake_join(t);
	tap_ok(ret == -ERESTARTNOHAND && left.nsec == (s64)(60 * MS), "interrupted: the time left");
	fake_advance(10 * MS);
	tap_ok(sys_nanosleep(U(&ts), U(&left)) == 0 && time_monotonic_ns() - before == 100 * MS,
	       "its restart ends on time");
	before = time_monotonic_ns();
	ts = time_from_ns(time_realtime_ns() + 7 * MS);
	tap_ok(sys_clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, U(&ts), 0) == 0 &&
	       time_monotonic_ns() - before == 7 * MS, "absolute realtime");
	tap_ok(sys_clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, U(&ts), 0) == 0 &&
	       time_monotonic_ns() - before == 7 * MS, "in the past: at once");
	ts.nsec = 1000000000;
	tap_ok(sys_nanosleep(U(&ts), 0) == -EINVAL && sys_nanosleep(FAKE_BAD_ADDR, 0) == -EFAULT &&
	       sys_clock_nanosleep(99, 0, U(&left), 0) == -EINVAL, "errors");
}

static void test_clocks(void)
{
	struct timespec64 ts;

	current->utime_ns = 3 * NSEC_PER_SEC;
	current->stime_ns = 5;
	tap_ok(sys_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, U(&ts)) == 0 && ts.sec == 3 && ts.nsec == 5,
	       "process CPU time");
	tap_ok(sys_clock_gettime((int)(~100u << 3 | 2), U(&ts)) == 0 && ts.sec == 3 &&
	       sys_clock_gettime((int)(~55u << 3 | 2), U(&ts)) == -EINVAL, "by process id");
	tap_ok(sys_clock_gettime(CLOCK_REALTIME, U(&ts)) == 0 && ts.sec > 1800000000, "realtime");
	tap_ok(sys_clock_gettime(77, U(&ts)) == -EINVAL && sys_clock_getres(1, 0) == 0, "errors");
	tap_ok(sys_settimeofday(0, 0) == -EPERM && sys_clock_settime(0, U(&ts)) == -EPERM, "EPERM");
}

static void test_itimer(void)
{
	struct { s64 is, iu, vs, vu; } it = { 0, 10000, 0, 25000 }, cur;

	fake_nsent = 0;
	tap_ok(sys_setitimer(ITIMER_REAL, U(&it), 0) == 0, "setitimer");
	fake_advance(46 * MS);
	tap_ok(fake_nsent == 3 && fake_sent[2].sig == SIGALRM, "25, 35, 45 ms: three SIGALRM");
	tap_ok(sys_getitimer(ITIMER_REAL, U(&cur)) == 0 && cur.vu == 9000 && cur.iu == 10000,
	       "getitimer");
	tap_ok(sys_alarm(10) == 1, "alarm takes its place; what was left rounds up to 1");
	fake_advance(50 * MS);
	tap_ok(fake_nsent == 3 && sys_alarm(0) == 10, "alarm(0) cancels and tells");
	fake_advance(20 * NSEC_PER_SEC);
	tap_ok(fake_nsent == 3, "silence");
	tap_ok(sys_setitimer(ITIMER_PROF, U(&it), 0) == -EINVAL, "no CPU-time timers");
	it.vu = 1000000;
	tap_ok(sys_setitimer(ITIMER_REAL, U(&it), 0) == -EINVAL, "microseconds are checked");
}

static void test_ids(void)
{
	struct cred *c = &current->proc->cred;
	u32 r, e, s, groups[40] = { 1, 2, 3 };

	tap_ok(sys_setgroups(3, U(groups)) == 0 && sys_getgroups(0, 0) == 3 &&
	       sys_getgroups(2, U(groups)) == -EINVAL && sys_setgroups(33, U(groups)) == -EINVAL,
	       "groups");
	tap_ok(sys_setresuid(KEEP, 1000, KEEP) == 0 && c->uid == 0 && c->euid == 1000 && c->fsuid == 1000,
	       "setresuid changes what it is told");
	tap_ok(sys_setgid(5) == -EPERM && sys_setgroups(0, 0) == -EPERM, "effective user decides");
	tap_ok(sys_setuid(0) == 0 && c->euid == 0, "back to the real one");
	tap_ok(sys_setuid(1000) == 0 && c->uid == 1000 && c->suid == 1000, "root's setuid is for good");
	tap_ok(sys_setuid(0) == -EPERM && sys_setresuid(0, KEEP, KEEP) == -EPERM &&
	       sys_setreuid(KEEP, 0) == -EPERM && sys_setfsuid(0) == 1000 && c->fsuid == 1000,
	       "no way back");
	tap_ok(sys_getresuid(U(&r), U(&e), U(&s)) == 0 && r == 1000 && e == 1000 && s == 1000,
	       "getresuid");
	tap_ok(cap_effective(current->proc) == 0 && cap_permitted(current->proc) == 0, "no capabilities");
	*c = (struct cred){ 0 };
	tap_ok(sys_setuid(KEEP) == -EINVAL, "-1 is no user");
}

static void test_caps(void)
{
	struct __user_cap_header_struct h = { 0x12345, 0 };
	struct __user_cap_data_struct d[2];

	tap_ok(sys_capget(U(&h), 0) == 0 && h.version == _LINUX_CAPABILITY_VERSION_3,
	       "capget tells the version");
	h.version = 0x999;
	tap_ok(sys_capget(U(&h), U(d)) == -EINVAL, "and refuses an unknown one");
	tap_ok(sys_capget(U(&h), U(d)) == 0 && d[0].effective == 0xffffffff && d[1].permitted == 0x1ff,
	       "root has all");
	d[0].permitted = d[0].effective = 1u << CAP_CHOWN;
	d[1].permitted = d[1].effective = 0;
	d[0].inheritable = d[1].inheritable = 0;
	tap_ok(sys_capset(U(&h), U(d)) == 0 && cap_permitted(current->proc) == 1, "capset drops");
	d[0].permitted = 3;
	tap_ok(sys_capset(U(&h), U(d)) == -EPERM, "and never adds");
	tap_ok(sys_prctl(PR_CAPBSET_DROP, 5, 0, 0, 0) == -EPERM, "CAPBSET_DROP needs CAP_SETPCAP");
	current->proc->cap_dropped = current->proc->cap_ineffective = 0;
	tap_ok(sys_prctl(PR_CAPBSET_DROP, 5, 0, 0, 0) == 0 && !sys_prctl(PR_CAPBSET_READ, 5, 0, 0, 0) &&
	       sys_prctl(PR_CAPBSET_READ, 6, 0, 0, 0) == 1 &&
	       sys_prctl(PR_CAPBSET_READ, 41, 0, 0, 0) == -EINVAL, "bounding set");
	tap_ok(sys_prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && sys_setuid(1000) == 0 &&
	       cap_permitted(current->proc) == CAP_ALL && cap_effective(current->proc) == 0,
	       "KEEPCAPS keeps the permitted ones");
	current->proc->cred = (struct cred){ 0 };
	current->proc->cap_kept = current->proc->cap_ineffective = 0;
}

static void test_limits(void)
{
	struct rlim lim;

	rlimits_init(current->proc, fake_fdt());
	tap_ok(sys_getrlimit(3, U(&lim)) == 0 && lim.cur == 8 << 20, "RLIMIT_STACK");
	lim = (struct rlim){ 100, 50 };
	tap_ok(sys_setrlimit(7, U(&lim)) == -EINVAL, "soft above hard");
	lim = (struct rlim){ 100, 2000000 };
	tap_ok(sys_setrlimit(7, U(&lim)) == -EPERM, "more files than there can be");
	lim = (struct rlim){ 100, 200 };
	current->proc->cred.euid = 1000;
	tap_ok(sys_prlimit64(0, 7, U(&lim), U(&lim)) == 0 && lim.cur == 1024, "prlimit: old value");
	lim.max = 300;
	lim.cur = 1;
	tap_ok(sys_setrlimit(7, U(&lim)) == -EPERM, "a hard limit only goes down");
	tap_ok(sys_prlimit64(4242, 7, 0, U(&lim)) == -ESRCH && sys_getrlimit(16, U(&lim)) == -EINVAL,
	       "errors");
	current->proc->cred.euid = 0;
}

static void test_prctl(void)
{
	char name[16];
	int value = -1;

	tap_ok(sys_prctl(PR_SET_NAME, U("a-name-that-is-too-long"), 0, 0, 0) == 0 &&
	       sys_prctl(PR_GET_NAME, U(name), 0, 0, 0) == 0 && !strcmp(name, "a-name-that-is-"), "name");
	tap_ok(sys_prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0) == 0 &&
	       !sys_prctl(PR_GET_PDEATHSIG, U(&value), 0, 0, 0) && value == 9 &&
	       sys_prctl(PR_SET_PDEATHSIG, 65, 0, 0, 0) == -EINVAL, "PDEATHSIG");
	tap_ok(sys_prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       sys_prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
	       sys_prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == -EINVAL, "NO_NEW_PRIVS");
	tap_ok(sys_prctl(PR_SET_VMA, 0, 0, 0, 0) == -EINVAL && sys_prctl(9999, 0, 0, 0, 0) == -EINVAL,
	       "unknown options");
}

static void test_sched(void)
{
	s32 prio = 10;

	tap_ok(sys_sched_get_priority_max(1) == 99 && sys_sched_get_priority_max(0) == 0 &&
	       sys_sched_get_priority_max(9) == -EINVAL, "priorities");
	tap_ok(sys_sched_setscheduler(0, 1, U(&prio)) == 0 && sys_sched_getscheduler(0) == 1, "FIFO");
	tap_ok(sys_sched_setscheduler(0, 0, U(&prio)) == -EINVAL, "normal has no priority");
	prio = 0;
	sys_sched_setscheduler(0, 0, U(&prio));
	tap_ok(sys_setpriority(0, 0, 5) == 0 && sys_getpriority(0, 0) == 15 &&
	       sys_setpriority(0, 0, 99) == 0 && sys_getpriority(0, 0) == 1, "nice, in the raw scale");
	current->proc->cred.euid = 1;
	tap_ok(sys_setpriority(0, 0, 0) == -EPERM || sys_setpriority(0, 0, 0) == -EACCES, "not back");
	current->proc->cred.euid = 0;
	tap_ok(sys_getpriority(0, 4242) == -ESRCH && sys_getpriority(3, 0) == -EINVAL, "errors");
}

int main(void)
{
	fake_init();
	test_names();
	test_sleep();
	test_clocks();
	test_itimer();
	test_ids();
	test_caps();
	test_limits();
	test_prctl();
	test_sched();
	return tap_done();
}
