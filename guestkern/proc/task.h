/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks (threads) and processes (thread groups). Everything here is under the kernel lock.
 */
#pragma once

#include "core/list.h"
#include "core/percpu.h"
#include "core/wait.h"
#include "proc/regs.h"
#include "proc/signal.h"

struct files;
struct fs_context;
struct mm;
struct file;
struct tty;

struct cred {
	u32 uid, euid, suid, fsuid;
	u32 gid, egid, sgid, fsgid;
	u32 ngroups;
	u32 groups[32];
};

#define RLIM_COUNT 16
struct rlimit { u64 cur, max; };

enum task_state { TASK_RUNNABLE, TASK_SLEEPING, TASK_SLEEPING_NOINTR, TASK_STOPPED, TASK_DEAD };

struct process {
	s32 pid, pgid, sid;
	struct process *parent;
	struct list children, sibling;	/* of parent->children */
	struct list threads;		/* task.thread_link; the first is not special */
	struct list all_link;		/* in process_list, by start */
	unsigned nthreads;

	struct mm *mm;
	struct files *files;		/* may be shared by CLONE_FILES */
	struct fs_context *fs;		/* may be shared by CLONE_FS */
	struct cred cred;
	struct rlimit rlim[RLIM_COUNT];
	struct sighand *sighand;	/* may be shared by CLONE_SIGHAND */
	struct sigqueue pending;	/* for any thread */
	struct tty *tty;		/* controlling terminal or NULL */

	char comm[16];
	char *exe;			/* path of the executable, as opened */
	u64 start_ns;
	u64 utime_ns, stime_ns;		/* of threads that have ended */
	u64 cutime_ns, cstime_ns;	/* of children waited for */
	u32 umask_unused;		/* umask lives in fs_context */
	bool zombie, group_exit, execed, dumpable, reap_by_kernel;
	u32 exit_status;		/* as wait4(2) reports it */
	s32 exit_signal;		/* sent to the parent; SIGCHLD as a rule */
	struct wait_queue child_wait;	/* woken when a child changes state */
	struct task *vfork_waiter;
};

struct task {
	s32 tid;
	struct process *proc;
	struct list thread_link;	/* in proc->threads */
	struct list run_link;		/* run queue */
	struct list sleep_link;		/* sleepers with a deadline, by time */
	enum task_state state;
	bool woken, timed_out, need_resched;
	u64 deadline_ns;

	u8 *kstack;			/* KSTACK_SIZE bytes; struct regs at its top */
	u64 ksp;			/* saved kernel stack pointer while not running */
	u64 fs_base;
	void *fpu;			/* FXSAVE or XSAVE area, 64-byte aligned; valid while not running */
	bool fpu_valid;

	u64 sigmask, saved_sigmask;
	bool restore_sigmask;
	struct sigqueue pending;	/* for this thread */
	u64 altstack_sp, altstack_size;
	u32 altstack_flags;

	u64 clear_child_tid;		/* set_tid_address(2) */
	u64 robust_list;
	u64 utime_ns, stime_ns, slice_end_ns;
	char comm[16];
};

#ifdef HUSK_HOST_TEST		/* unit tests have no GS block */
struct task *current_task(void);
#define current current_task()
#else
#define current (this_cpu()->current)
#endif

extern struct list process_list;

struct process *process_find(s32 pid);
struct task *task_find(s32 tid);

/* Signals as file systems and terminals send them: 0 or -errno. */
int signal_send_group(s32 pgid, int sig);
int signal_send_process(struct process *proc, int sig);
void signal_send_current(int sig);	/* SIGPIPE, SIGTTIN ... to the running thread */
bool signal_pending(void);		/* current has a signal that would be delivered */

static inline bool capable_root(void)
{
	return current->proc->cred.euid == 0;
}
