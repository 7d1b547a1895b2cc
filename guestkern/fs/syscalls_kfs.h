/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of pipe.c, poll.c, epoll.c, eventfd.c and timerfd.c. Arguments as the ABI passes
 * them; user pointers are u64 and checked inside. Not here, so ENOSYS: signalfd, inotify, select's
 * old 32-bit forms.
 */
#pragma once

#include "core/types.h"

long sys_pipe(u64 fds);
long sys_pipe2(u64 fds, u32 flags);

long sys_poll(u64 fds, u32 nfds, int timeout_ms);
long sys_ppoll(u64 fds, u32 nfds, u64 timeout, u64 sigmask, u64 sigsetsize);
long sys_select(int n, u64 in, u64 out, u64 ex, u64 timeout);
long sys_pselect6(int n, u64 in, u64 out, u64 ex, u64 timeout, u64 sig);

long sys_epoll_create(int size);
long sys_epoll_create1(u32 flags);
long sys_epoll_ctl(int epfd, int op, int fd, u64 event);
long sys_epoll_wait(int epfd, u64 events, int maxevents, int timeout_ms);
long sys_epoll_pwait(int epfd, u64 events, int maxevents, int timeout_ms, u64 sigmask,
		     u64 sigsetsize);
long sys_epoll_pwait2(int epfd, u64 events, int maxevents, u64 timeout, u64 sigmask,
		      u64 sigsetsize);

long sys_eventfd(u32 count);
long sys_eventfd2(u32 count, u32 flags);

long sys_timerfd_create(int clockid, u32 flags);
long sys_timerfd_settime(int fd, u32 flags, u64 new_value, u64 old_value);
long sys_timerfd_gettime(int fd, u64 cur_value);
