/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small system calls: names and information (misc.c), time (clock.c), timers (itimer.c), identity
 * (cred.c, caps.c), limits and scheduling parameters (limits.c, sched_param.c), prctl.c.
 * Not here, so ENOSYS: timer_create and its family, clock_settime's relatives that set time.
 */
#pragma once

#include "core/types.h"

/* misc.c */
long sys_uname(u64 buf);
long sys_sethostname(u64 name, int len);
long sys_setdomainname(u64 name, int len);
long sys_sysinfo(u64 info);
long sys_getrandom(u64 buf, u64 len, u32 flags);
long sys_getcpu(u64 cpu, u64 node, u64 unused);
long sys_syslog(int type, u64 buf, int len);
long sys_personality(u32 persona);

/* clock.c */
long sys_clock_gettime(int clockid, u64 tp);
long sys_clock_getres(int clockid, u64 res);
long sys_clock_settime(int clockid, u64 tp);
long sys_clock_nanosleep(int clockid, int flags, u64 request, u64 remain);
long sys_nanosleep(u64 request, u64 remain);
long sys_gettimeofday(u64 tv, u64 tz);
long sys_settimeofday(u64 tv, u64 tz);
long sys_time(u64 tloc);
long sys_times(u64 buf);
long sys_getrusage(int who, u64 usage);

/* itimer.c */
long sys_alarm(u32 seconds);
long sys_setitimer(int which, u64 new_value, u64 old_value);
long sys_getitimer(int which, u64 curr_value);

/* cred.c */
long sys_getuid(void);
long sys_geteuid(void);
long sys_getgid(void);
long sys_getegid(void);
long sys_getresuid(u64 ruid, u64 euid, u64 suid);
long sys_getresgid(u64 rgid, u64 egid, u64 sgid);
long sys_setuid(u32 uid);
long sys_setgid(u32 gid);
long sys_setreuid(u32 ruid, u32 euid);
long sys_setregid(u32 rgid, u32 egid);
long sys_setresuid(u32 ruid, u32 euid, u32 suid);
long sys_setresgid(u32 rgid, u32 egid, u32 sgid);
long sys_setfsuid(u32 uid);
long sys_setfsgid(u32 gid);
long sys_getgroups(int size, u64 list);
long sys_setgroups(int size, u64 list);

/* caps.c */
long sys_capget(u64 header, u64 data);
long sys_capset(u64 header, u64 data);

/* limits.c */
long sys_prlimit64(int pid, u32 resource, u64 new_limit, u64 old_limit);
long sys_getrlimit(u32 resource, u64 rlim);
long sys_setrlimit(u32 resource, u64 rlim);

/* sched_param.c */
long sys_sched_getscheduler(int pid);
long sys_sched_setscheduler(int pid, int policy, u64 param);
long sys_sched_getparam(int pid, u64 param);
long sys_sched_setparam(int pid, u64 param);
long sys_sched_getattr(int pid, u64 attr, u32 size, u32 flags);
long sys_sched_get_priority_max(int policy);
long sys_sched_get_priority_min(int policy);
long sys_sched_rr_get_interval(int pid, u64 interval);
long sys_getpriority(int which, int who);
long sys_setpriority(int which, int who, int nice);
long sys_ioprio_get(int which, int who);
long sys_ioprio_set(int which, int who, int ioprio);

/* prctl.c */
long sys_prctl(int option, u64 a2, u64 a3, u64 a4, u64 a5);
