/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks (threads) and processes (thread groups). Everything here is under the kernel lock.
 */
#pragma once

#include "core/ktimer.h"
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
struct rlim { u64 cur, max; };

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
	struct rlim rlim[RLIM_COUNT];
	struct sighand *sighand;	/* may be shared by CLONE_SIGHAND */
	struct sigqueue pending;	/* for any thread */
	struct tty *tty;		/* controlling terminal or NULL */

	char comm[16];
	char *exe;			/* path of the executable, as opened */
	u64 start_ns;
	u64 utime_ns, stime_ns;		/* of threads that have ended */
	u64 cutime_ns, cstime_ns;	/* of children waited for */
	bool zombie, group_exit, execed, dumpable;
	bool stopped, stop_reported, continued;	/* job control */
	u32 stop_signal;
	bool patch;			/* rewrite system-call sites */
	u32 exit_status;		/* as wait4(2) reports it */
	s32 exit_signal;		/* sent to the parent; SIGCHLD as a rule */
	struct wait_queue child_wait;	/* woken when a child changes state */
	struct wait_queue signal_wait;	/* woken when a signal is queued: sigtimedwait(2), signalfd(2) */
	struct task *vfork_waiter;	/* the parent's thread that sleeps in vfork(2) */
	bool *vfork_done;

	/* For proc/misc and friends. All zero is right for a new process; "fork" and "exec" say more. */
	struct list posix_timers;	/* proc/posix_timer.c; zero until the first */
	struct ktimer real_timer;	/* ITIMER_REAL; exit calls itimer_exit() */
	u64 real_interval_ns;
	u64 cap_dropped;		/* root's capabilities given up; fork copies */
	u64 cap_kept;			/* permitted set of a process that is not root; fork copies */
	u64 cap_ineffective;		/* permitted but not effective; fork copies, exec clears */
	u64 cap_inheritable, cap_bounding_dropped;	/* fork copies */
	u32 securebits;			/* PR_SET_SECUREBITS; fork copies */
	u32 personality;		/* personality(2); fork copies */
	s32 nice;			/* fork copies */
	s32 pdeath_signal;		/* PR_SET_PDEATHSIG: sent when the parent dies */
	u32 ioprio;			/* fork copies */
	u32 sched_policy, sched_priority;	/* fork copies */
	bool keepcaps, no_new_privs, subreaper;	/* fork copies no_new_privs */
	u64 min_faults, maj_faults;	/* counted by mm, if it does; of ended threads too */
	u64 nvcsw, nivcsw;		/* counted by the scheduler, if it does */
};

struct task {
	s32 tid;
	struct process *proc;
	struct list thread_link;	/* in proc->threads */
	struct list run_link;		/* run queue */
	enum task_state state;
	bool need_resched;
	bool regs_changed;		/* execve, sigreturn: return through all registers */

	u8 *kstack;			/* KSTACK_SIZE bytes; struct regs at its top */
	u64 ksp;			/* saved kernel stack pointer while not running */
	u64 fs_base;
	void *fpu;			/* FXSAVE or XSAVE area, 64-byte aligned; valid while not running */

	u64 sigmask, saved_sigmask;
	bool restore_sigmask;
	struct sigqueue pending;	/* for this thread */
	u64 altstack_sp, altstack_size;
	u32 altstack_flags;

	u64 fault_err, fault_trapno, fault_addr;	/* of the last trap, for a handler's sigcontext */

	u64 clear_child_tid;		/* set_tid_address(2) */
	u64 set_child_tid;		/* CLONE_CHILD_SETTID, until the task first runs */
	u64 robust_list;
	u64 utime_ns, stime_ns, run_since_ns, slice_end_ns;
	char comm[16];

	/*
	 * Deadline of a call that returned -ERESTARTNOHAND, for its restart. Signal delivery sets it
	 * to 0 when it enters a handler.
	 */
	u64 restart_deadline_ns;
};

#ifdef HUSK_HOST_TEST
struct task *current_task(void);	/* the unit test's */
#define current (current_task())
#else
#define current (this_cpu()->task)
#endif

#define KSTACK_SIZE 16384ul

static inline struct regs *task_regs(struct task *task)
{
	return (struct regs *)(task->kstack + KSTACK_SIZE - 8 - sizeof(struct regs));
}

void task_free(struct task *task);	/* a dead one, from another's stack */

extern struct list process_list;

struct process *process_find(s32 pid);
struct task *task_find(s32 tid);

/* Signals as file systems and terminals send them: 0 or -errno. */
int signal_send_group(s32 pgid, int sig);
int signal_send_process(struct process *proc, int sig);
void signal_send_current(int sig);	/* SIGPIPE, SIGTTIN ... to the running thread */
bool signal_pending(void);		/* current has a signal that would be delivered */

/* CPU time up to now, the running slice included. */
void task_cpu_times(const struct task *task, u64 *utime_ns, u64 *stime_ns);

static inline bool capable_root(void)
{
	return current->proc->cred.euid == 0;
}
