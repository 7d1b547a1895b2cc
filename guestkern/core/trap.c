/* SPDX-License-Identifier: Apache-2.0 */
/* Traps, after entry.S has put the registers on a kernel stack; and the way back to the program. */
#include "core/trap.h"
#include "core/print.h"
#include "core/sched.h"
#include "mm/pgtable.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "nucleus/percpu.h"
#include "proc/signal_send.h"
#include "proc/task.h"
#include "husk/layout.h"
#include <asm/siginfo.h>
#include <asm/signal.h>

extern const u64 fixup_table[][2], fixup_table_end[][2];
extern const char syscall_fast[], syscall_fast_masked[], syscall_entry[];

#define TRAP_INVALID_OPCODE 6
#define TRAP_PROTECTION 13
#define TRAP_PAGE_FAULT 14

static bool regs_in_kernel(const struct regs *regs)
{
	return regs->rip >= HUSK_KERNEL_VIRT && regs->rsp >> WINDOW_SHIFT == WINDOW_SLOT;
}

/* A copy to or from program memory hit a bad address. */
static bool fixup(struct regs *regs)
{
	for (const u64 (*f)[2] = fixup_table; f < fixup_table_end; f++) {
		if (regs->rip != (*f)[0])
			continue;
		regs->rip = (*f)[1];
		return true;
	}
	return false;
}

void trap_page_fault(struct regs *regs, u64 err, u64 addr)
{
	int code = SEGV_MAPERR, sig = SIGSEGV;

	if (addr < USER_TOP && current->proc->mm) {
		sig = mm_fault(current->proc->mm, addr, err, &code);
		if (!sig)
			return;
	} else if (addr >> WINDOW_SHIFT == WINDOW_SLOT) {
		code = SEGV_ACCERR;
	}
	if (regs_in_kernel(regs)) {
		if (fixup(regs))
			return;
		panic_regs(regs, "page fault at 0x%lx, error code %lx", addr, err);
	}
	current->fault_err = err;
	current->fault_trapno = TRAP_PAGE_FAULT;
	current->fault_addr = addr;
	signal_fault(sig, code, addr);
}

static const struct { u8 sig; s8 code; } exception_signal[32] = {
	[0] = { SIGFPE, FPE_INTDIV },
	[1] = { SIGTRAP, TRAP_TRACE },
	[3] = { SIGTRAP, -1 },		/* SI_KERNEL */
	[4] = { SIGSEGV, -1 },
	[5] = { SIGSEGV, -1 },
	[6] = { SIGILL, ILL_ILLOPN },
	[10] = { SIGSEGV, -1 },
	[11] = { SIGBUS, -1 },
	[12] = { SIGBUS, -1 },
	[13] = { SIGSEGV, -1 },
	[16] = { SIGFPE, FPE_FLTINV },
	[17] = { SIGBUS, BUS_ADRALN },
	[19] = { SIGFPE, FPE_FLTINV },
};

static bool is_int_n(u64 rip)
{
	u8 opcode;

	return !copy_from_user(&opcode, rip, 1) && opcode == 0xcd;
}

void trap_exception(struct regs *regs, u64 vector, u64 err)
{
	int sig, code;

	/* `int n` is #GP; some hosts make it #UD. */
	if (vector == TRAP_INVALID_OPCODE && !regs_in_kernel(regs) && is_int_n(regs->rip))
		vector = TRAP_PROTECTION;
	sig = exception_signal[vector & 31].sig;
	code = exception_signal[vector & 31].code;

	if (regs_in_kernel(regs)) {
		if (fixup(regs))
			return;
		panic_regs(regs, "exception %lu, error code %lx", vector, err);
	}
	if (!sig)
		panic_regs(regs, "exception %lu in a program, error code %lx", vector, err);
	if (code == -1)
		code = SI_KERNEL;
	current->fault_err = err;
	current->fault_trapno = vector;
	/* si_addr: the instruction for those that have one, 0 where Linux says SI_KERNEL. */
	signal_fault(sig, code, code == SI_KERNEL ? 0 : regs->rip);
}

/*
 * An interrupt caught kernel code that still runs on the program's stack, at the first instructions
 * of a system-call entry. Show the program's own syscall instruction instead, since a signal may be
 * delivered here.
 */
void trap_interrupt_fixup(struct regs *regs)
{
	if ((regs->rip >= (u64)syscall_fast && regs->rip < (u64)syscall_fast_masked) ||
	    regs->rip == (u64)syscall_entry)
		regs->rip = regs->rcx - 2;
}

void exit_to_user(struct regs *regs)
{
	for (;;) {
		if (irq_pending()) {
			irq_run_pending();
			continue;
		}
		if (current->need_resched) {
			schedule();
			continue;
		}
		if (!signal_deliver(regs))
			break;
	}
	timers_arm();
}
