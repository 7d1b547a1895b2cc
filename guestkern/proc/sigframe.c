/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame that a signal handler runs on, laid out as Linux does it (arch/x86 rt_sigframe,
 * struct ucontext): the whole floating-point state goes with it, and sigreturn takes it back.
 */
#include "proc/signal_send.h"
#include "proc/fpu.h"
#include "proc/syscalls.h"
#include "core/string.h"
#include "husk/layout.h"
#include "mm/kmalloc.h"
#include "mm/uaccess.h"
#include <asm/sigcontext.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <linux/errno.h>

#define UC_FP_XSTATE		0x1
#define UC_SIGCONTEXT_SS	0x2
#define UC_STRICT_RESTORE_SS	0x4
#define REDZONE 128
#define MXCSR_MASK 0xffff
#define RFLAGS_USER 0xcd5ul		/* CF PF AF ZF SF DF OF */
#define RFLAGS_TF 0x100ul

struct altstack { u64 sp; u32 flags, pad; u64 size; };

struct sig_ucontext {
	u64 flags, link;
	struct altstack stack;
	struct sigcontext_64 mc;
	u64 sigmask;
};

struct rt_sigframe {
	u64 pretcode;
	struct sig_ucontext uc;
	u8 info[128];
};

_Static_assert(sizeof(struct sigcontext_64) == 256, "struct sigcontext");
_Static_assert(sizeof(struct rt_sigframe) == 8 + 40 + 256 + 8 + 128, "struct rt_sigframe");

static bool on_altstack(u64 sp)
{
	return current->altstack_size && !(current->altstack_flags & SS_AUTODISARM_) &&
	       sp > current->altstack_sp && sp - current->altstack_sp <= current->altstack_size;
}

static u32 altstack_state(u64 sp)
{
	if (!current->altstack_size)
		return SS_DISABLE_;
	return (on_altstack(sp) ? SS_ONSTACK_ : 0) | (current->altstack_flags & SS_AUTODISARM_);
}

static void context_fill(struct sigcontext_64 *mc, const struct regs *r, u64 oldmask, u64 fp)
{
	*mc = (struct sigcontext_64){
		.r8 = r->r8, .r9 = r->r9, .r10 = r->r10, .r11 = r->r11, .r12 = r->r12,
		.r13 = r->r13, .r14 = r->r14, .r15 = r->r15, .di = r->rdi, .si = r->rsi,
		.bp = r->rbp, .bx = r->rbx, .dx = r->rdx, .ax = r->rax, .cx = r->rcx,
		.sp = r->rsp, .ip = r->rip, .flags = r->rflags, .cs = HUSK_USER_CS,
		.ss = HUSK_USER_DS, .oldmask = oldmask, .fpstate = fp,
	};
	mc->err = current->fault_err;
	mc->trapno = current->fault_trapno;
	mc->cr2 = current->fault_addr;
}

/* Live state to the program's stack at fp, with the words that say how much of it there is. */
static int fpstate_push(u64 fp)
{
	struct _fpx_sw_bytes sw = { 0 };
	u32 magic2 = FP_XSTATE_MAGIC2;
	int ret;

	fpu_save(current);
	if (fpu_xsave) {
		sw.magic1 = FP_XSTATE_MAGIC1;
		sw.extended_size = fpu_size + FP_XSTATE_MAGIC2_SIZE;
		sw.xfeatures = fpu_xcr0;
		sw.xstate_size = fpu_size;
	}
	memcpy((u8 *)current->fpu + 464, &sw, sizeof(sw));
	ret = copy_to_user(fp, current->fpu, fpu_size);
	if (!ret && fpu_xsave)
		ret = copy_to_user(fp + fpu_size, &magic2, sizeof(magic2));
	return ret;
}

int sigframe_push(struct regs *regs, int sig, const struct sigaction_k *act,
		  const struct siginfo_k *info, u64 oldmask)
{
	struct rt_sigframe frame = { .pretcode = act->restorer };
	u64 sp = regs->rsp - REDZONE, fp;

	if (!(act->flags & SA_RESTORER_))
		return -EFAULT;		/* x86-64 has no other way back */
	frame.uc.stack = (struct altstack){ .sp = current->altstack_sp, .size = current->altstack_size,
					    .flags = altstack_state(regs->rsp) };
	if ((act->flags & SA_ONSTACK) && current->altstack_size && !on_altstack(regs->rsp)) {
		sp = current->altstack_sp + current->altstack_size;
		if (current->altstack_flags & SS_AUTODISARM_)
			current->altstack_size = 0;
	}
	fp = ALIGN_DOWN(sp - fpu_size - FP_XSTATE_MAGIC2_SIZE, 64);
	sp = ALIGN_DOWN(fp - sizeof(frame), 16) - 8;
	frame.uc.flags = UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS | (fpu_xsave ? UC_FP_XSTATE : 0);
	frame.uc.sigmask = oldmask;
	context_fill(&frame.uc.mc, regs, oldmask, fp);
	memcpy(frame.info, info, sizeof(frame.info));
	if (fpstate_push(fp) || copy_to_user(sp, &frame, sizeof(frame)))
		return -EFAULT;
	regs->rdi = (u64)sig;
	regs->rsi = sp + offsetof(struct rt_sigframe, info);
	regs->rdx = sp + offsetof(struct rt_sigframe, uc);
	regs->rax = 0;
	regs->rsp = sp;
	regs->rip = act->handler;
	regs->rflags &= ~(0x400ul | RFLAGS_TF);		/* DF */
	regs->orig_rax = ~0ull;
	return 0;
}

/* The program may have written anything: bits that would fault in FXRSTOR or XRSTOR are cleared. */
static int fpstate_pop(u64 fp)
{
	u8 *area = current->fpu;
	struct _fpx_sw_bytes sw;
	u32 magic2 = 0;

	if (!fp) {
		fpu_reset();
		return 0;
	}
	if (copy_from_user(area, fp, 512))
		return -EFAULT;
	memcpy(&sw, area + 464, sizeof(sw));
	*(u32 *)(area + 24) &= MXCSR_MASK;
	if (fpu_xsave) {
		memset(area + 512, 0, fpu_size - 512);
		*(u64 *)(area + 512) = 3;			/* x87 and SSE only ... */
		if (sw.magic1 == FP_XSTATE_MAGIC1 && sw.xstate_size == fpu_size &&
		    !copy_from_user(&magic2, fp + fpu_size, 4) && magic2 == FP_XSTATE_MAGIC2) {
			if (copy_from_user(area + 512, fp + 512, fpu_size - 512))
				return -EFAULT;
			*(u64 *)(area + 512) &= fpu_xcr0;	/* ... or all that is enabled */
			memset(area + 520, 0, 56);
		}
	}
	current->fs_base = fsbase_read();
	fpu_restore(current);
	return 0;
}

static void context_restore(struct regs *r, const struct sigcontext_64 *mc)
{
	r->r8 = mc->r8, r->r9 = mc->r9, r->r10 = mc->r10, r->r11 = mc->r11;
	r->r12 = mc->r12, r->r13 = mc->r13, r->r14 = mc->r14, r->r15 = mc->r15;
	r->rdi = mc->di, r->rsi = mc->si, r->rbp = mc->bp, r->rbx = mc->bx;
	r->rdx = mc->dx, r->rax = mc->ax, r->rcx = mc->cx, r->rsp = mc->sp, r->rip = mc->ip;
	r->rflags = (r->rflags & ~RFLAGS_USER) | (mc->flags & RFLAGS_USER);
	r->orig_rax = ~0ull;
}

long sys_rt_sigreturn(void)
{
	struct regs *regs = task_regs(current);
	struct rt_sigframe frame;
	u64 at = regs->rsp - 8;

	if (copy_from_user(&frame, at, sizeof(frame)) || fpstate_pop(frame.uc.mc.fpstate)) {
		signal_fault(SIGSEGV, SI_KERNEL, 0);
		return 0;
	}
	current->regs_changed = true;
	signal_set_mask(frame.uc.sigmask);
	if (!(frame.uc.stack.flags & ~(SS_ONSTACK_ | SS_DISABLE_ | SS_AUTODISARM_))) {
		current->altstack_sp = frame.uc.stack.sp;
		current->altstack_size = frame.uc.stack.flags & SS_DISABLE_ ? 0 : frame.uc.stack.size;
		current->altstack_flags = frame.uc.stack.flags & SS_AUTODISARM_;
	}
	context_restore(regs, &frame.uc.mc);
	return (long)regs->rax;
}

long sys_sigaltstack(u64 new, u64 old)
{
	u64 sp = task_regs(current)->rsp;
	struct altstack ss = { .sp = current->altstack_sp, .size = current->altstack_size,
			       .flags = altstack_state(sp) };
	struct altstack set;

	if (new && copy_from_user(&set, new, sizeof(set)))
		return -EFAULT;
	if (old && copy_to_user(old, &ss, sizeof(ss)))
		return -EFAULT;
	if (!new)
		return 0;
	if (on_altstack(sp))
		return -EPERM;
	if (set.flags & ~(SS_ONSTACK_ | SS_DISABLE_ | SS_AUTODISARM_))
		return -EINVAL;
	if (!(set.flags & SS_DISABLE_) && set.size < MINSIGSTKSZ)
		return -ENOMEM;
	current->altstack_sp = set.sp;
	current->altstack_size = set.flags & SS_DISABLE_ ? 0 : set.size;
	current->altstack_flags = set.flags & SS_AUTODISARM_;
	return 0;
}
