/* SPDX-License-Identifier: Apache-2.0 */
/* Signals inside the kernel: sending, delivering, and what fork, exec and exit do to them. */
#pragma once

#include "proc/task.h"
#include "proc/signal.h"

/* Queue info for a thread, or for any thread of a process. 0, or -EAGAIN: queue full. */
int signal_send_task(struct task *task, const struct siginfo_k *info);
int signal_send_info(struct process *proc, const struct siginfo_k *info);
void signal_fault(int sig, int code, u64 addr);		/* of the current program; cannot be blocked away */
void signal_from_host(int sig);				/* sent to husk, meant for the program */
void signal_child(struct process *child, int code, int status);	/* SIGCHLD with details, wakes wait4 */

/* Handle one pending signal on the way to the program; false when there is none left. */
bool signal_deliver(struct regs *regs);
/* The oldest pending signal in `set` of the current thread: its number with *info, or 0. */
int signal_dequeue(u64 set, struct siginfo_k *info);

/* proc/sigframe.c: make the program enter its handler. 0 or -EFAULT (then it is SIGSEGV). */
int sigframe_push(struct regs *regs, int sig, const struct sigaction_k *act,
		  const struct siginfo_k *info, u64 oldmask);

void sigqueue_init(struct sigqueue *q);
void sigqueue_flush(struct sigqueue *q, u64 set);
struct sighand *sighand_new(const struct sighand *copy);	/* refs 1, or NULL */
void sighand_put(struct sighand *sh);
void sighand_exec(struct process *proc);			/* handlers back to default */
void signal_set_mask(u64 mask);

/* <asm/signal.h> has these only together with a stack_t that clashes with ours. */
#define SS_ONSTACK_	1u
#define SS_DISABLE_	2u
#define SS_AUTODISARM_	(1u << 31)
#define SA_RESTORER_	0x04000000ul

#define SIGMASK(sig) (1ull << ((sig) - 1))
