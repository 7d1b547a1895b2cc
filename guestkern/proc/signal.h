/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: handlers, pending sets, queued information (signal(7)). */
#pragma once

#include "core/list.h"

#define SIGNALS 64

struct siginfo_k {		/* what becomes siginfo_t; union by code */
	s32 signo, err, code, pad;
	union {
		struct { s32 pid; u32 uid; s32 status; u32 pad2; s64 utime, stime; } child;
		struct { s32 pid; u32 uid; u64 value; } rt;
		struct { u64 addr; s16 addr_lsb; } fault;
		u8 raw[112];
	};
};

struct sigqueue {
	u64 set;		/* bit n-1: signal n is pending */
	struct list infos;	/* queued struct sigentry, oldest first */
};

struct sigaction_k {		/* the kernel ABI's struct sigaction */
	u64 handler, flags, restorer, mask;
};

struct sighand {
	unsigned refs;
	struct sigaction_k action[SIGNALS];
};
