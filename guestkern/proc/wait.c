/* SPDX-License-Identifier: Apache-2.0 */
/* wait4(2), waitid(2). */
#include "proc/exit.h"
#include "proc/signal_send.h"
#include "proc/syscalls.h"
#include "core/string.h"
#include "mm/uaccess.h"
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <linux/errno.h>
#include <linux/time_types.h>
#include <linux/resource.h>
#include <linux/wait.h>

struct wait_req {
	int which;		/* P_ALL, P_PID, P_PGID */
	s32 id;
	int options;
	/* result */
	s32 pid;
	u32 uid, status;
	int code;		/* CLD_* */
	u64 utime_ns, stime_ns;
};

static bool wait_matches(const struct wait_req *req, const struct process *p)
{
	bool clone_child = p->exit_signal != SIGCHLD;

	if ((req->which == P_PID && p->pid != req->id) || (req->which == P_PGID && p->pgid != req->id))
		return false;
	return (req->options & __WALL) || clone_child == !!(req->options & __WCLONE);
}

static void wait_take_zombie(struct wait_req *req, struct process *p)
{
	struct process *me = current->proc;

	req->status = p->exit_status;
	req->code = req->status & 0x7f ? CLD_KILLED : CLD_EXITED;
	req->utime_ns = p->utime_ns + p->cutime_ns;
	req->stime_ns = p->stime_ns + p->cstime_ns;
	if (req->options & WNOWAIT)
		return;
	me->cutime_ns += req->utime_ns;
	me->cstime_ns += req->stime_ns;
	process_free(p);
}

/* Something to report of p? Fills the result. */
static bool wait_check(struct wait_req *req, struct process *p)
{
	req->pid = p->pid;
	req->uid = p->cred.uid;
	if (p->zombie) {
		if (!(req->options & WEXITED))
			return false;
		wait_take_zombie(req, p);
		return true;
	}
	if ((req->options & WSTOPPED) && p->stopped && !p->stop_reported) {
		req->status = p->stop_signal << 8 | 0x7f;
		req->code = CLD_STOPPED;
		if (!(req->options & WNOWAIT))
			p->stop_reported = true;
		return true;
	}
	if ((req->options & WCONTINUED) && p->continued) {
		req->status = 0xffff;
		req->code = CLD_CONTINUED;
		if (!(req->options & WNOWAIT))
			p->continued = false;
		return true;
	}
	return false;
}

/* 1: reported, 0: children but nothing yet, -ECHILD. */
static int wait_scan(struct wait_req *req)
{
	struct process *p;
	int ret = -ECHILD;

	list_for_each(p, &current->proc->children, sibling) {
		if (!wait_matches(req, p))
			continue;
		ret = 0;
		if (wait_check(req, p))
			return 1;
	}
	return ret;
}

static int wait_run(struct wait_req *req)
{
	int ret = wait_scan(req), r;

	if (ret || (req->options & WNOHANG))
		return ret;
	r = wait_event(&current->proc->child_wait, (ret = wait_scan(req)), WAIT_FOREVER);
	return ret ? ret : r;
}

/* struct rusage: the times; other fields are not kept and read 0. */
static int rusage_put(u64 addr, const struct wait_req *req)
{
	struct { struct timeval_k { s64 sec, usec; } utime, stime; u64 rest[14]; } ru;

	if (!addr)
		return 0;
	memset(&ru, 0, sizeof(ru));
	ru.utime = (struct timeval_k){ (s64)(req->utime_ns / 1000000000), (s64)(req->utime_ns / 1000 % 1000000) };
	ru.stime = (struct timeval_k){ (s64)(req->stime_ns / 1000000000), (s64)(req->stime_ns / 1000 % 1000000) };
	return copy_to_user(addr, &ru, sizeof(ru));
}

long sys_wait4(s32 pid, u64 status, int options, u64 rusage)
{
	struct wait_req req = { .which = P_PID, .id = pid };
	int ret;

	if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WNOTHREAD | __WCLONE | __WALL))
		return -EINVAL;
	req.options = options | WEXITED;	/* WUNTRACED is WSTOPPED */
	if (pid <= 0) {
		req.which = pid == -1 ? P_ALL : P_PGID;
		req.id = pid == 0 ? current->proc->pgid : -pid;
	}
	ret = wait_run(&req);
	if (ret <= 0)
		return ret;
	if (status && copy_to_user(status, &req.status, 4))
		return -EFAULT;
	return rusage_put(rusage, &req) ? -EFAULT : req.pid;
}

long sys_waitid(int which, s32 id, u64 info, int options, u64 rusage)
{
	struct wait_req req = { .which = which, .id = id, .options = options };
	struct siginfo_k si = { 0 };
	int ret;

	if ((options & ~(WNOHANG | WNOWAIT | WEXITED | WSTOPPED | WCONTINUED | __WNOTHREAD | __WCLONE |
			 __WALL)) || !(options & (WEXITED | WSTOPPED | WCONTINUED)))
		return -EINVAL;
	if (which != P_ALL && which != P_PID && which != P_PGID)
		return -EINVAL;
	if (which == P_PGID && !id)
		req.id = current->proc->pgid;
	ret = wait_run(&req);
	if (ret < 0)
		return ret;
	if (ret) {
		si = (struct siginfo_k){ .signo = SIGCHLD, .code = req.code };
		si.child.pid = req.pid;
		si.child.uid = req.uid;
		si.child.status = (s32)(req.code == CLD_EXITED ? req.status >> 8 & 0xff :
					req.code == CLD_STOPPED ? req.status >> 8 & 0xff :
					req.code == CLD_CONTINUED ? SIGCONT : req.status & 0x7f);
	}
	if (info && copy_to_user(info, &si, sizeof(si)))
		return -EFAULT;
	return ret && rusage_put(rusage, &req) ? -EFAULT : 0;
}
