/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of proc/: tasks, signals, futexes. */
#pragma once

#include "core/types.h"

struct regs;

long sys_fork(void);
long sys_vfork(void);
long sys_clone(u64 flags, u64 stack, u64 ptid, u64 ctid, u64 tls);
long sys_clone3(u64 args, u64 size);
long sys_execve(u64 path, u64 argv, u64 envp);
long sys_execveat(int dirfd, u64 path, u64 argv, u64 envp, int flags);
long sys_exit(int code);
long sys_exit_group(int code);
long sys_wait4(s32 pid, u64 status, int options, u64 rusage);
long sys_waitid(int which, s32 id, u64 info, int options, u64 rusage);
long sys_getpid(void);
long sys_getppid(void);
long sys_gettid(void);
long sys_getpgrp(void);
long sys_getpgid(s32 pid);
long sys_setpgid(s32 pid, s32 pgid);
long sys_getsid(s32 pid);
long sys_setsid(void);
long sys_set_tid_address(u64 addr);
long sys_set_robust_list(u64 head, u64 len);
long sys_get_robust_list(s32 pid, u64 head, u64 len);
long sys_arch_prctl(int code, u64 addr);
long sys_sched_yield(void);
long sys_sched_getaffinity(s32 pid, u32 len, u64 mask);
long sys_sched_setaffinity(s32 pid, u32 len, u64 mask);
long sys_rseq(u64 area, u32 len, int flags, u32 sig);
long sys_not_socket(int fd);	/* connect, bind, getpeername and the rest */
long sys_socket(int family, int type, int protocol);
long sys_socketpair(int family, int type, int protocol, u64 fds);
long sys_membarrier(int cmd, u32 flags, int cpu);

long sys_reboot(u32 magic, u32 magic2, u32 cmd, u64 arg);

long sys_futex(u64 addr, int op, u32 val, u64 timeout, u64 addr2, u32 val3);

long sys_rt_sigaction(int sig, u64 new, u64 old, u64 size);
long sys_rt_sigprocmask(int how, u64 set, u64 old, u64 size);
long sys_rt_sigpending(u64 set, u64 size);
long sys_rt_sigsuspend(u64 set, u64 size);
long sys_rt_sigtimedwait(u64 set, u64 info, u64 timeout, u64 size);
long sys_rt_sigreturn(void);
long sys_sigaltstack(u64 new, u64 old);
long sys_pause(void);
long sys_kill(s32 pid, int sig);
long sys_tkill(s32 tid, int sig);
long sys_tgkill(s32 tgid, s32 tid, int sig);
long sys_rt_sigqueueinfo(s32 pid, int sig, u64 uinfo);
long sys_rt_tgsigqueueinfo(s32 tgid, s32 tid, int sig, u64 uinfo);
