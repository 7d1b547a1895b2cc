/* SPDX-License-Identifier: Apache-2.0 */
/* System calls of mm/. */
#pragma once

#include "core/types.h"

long sys_mmap(u64 addr, u64 len, int prot, int flags, int fd, u64 off);
long sys_munmap(u64 addr, u64 len);
long sys_mprotect(u64 addr, u64 len, int prot);
long sys_brk(u64 brk);
long sys_mremap(u64 addr, u64 old_len, u64 new_len, u64 flags, u64 new_addr);
long sys_madvise(u64 addr, u64 len, int advice);
long sys_msync(u64 addr, u64 len, int flags);
long sys_mincore(u64 addr, u64 len, u64 vec);
long sys_mlock(u64 addr, u64 len);
long sys_mlock2(u64 addr, u64 len, int flags);
long sys_munlock(u64 addr, u64 len);
long sys_mlockall(int flags);
long sys_munlockall(void);
