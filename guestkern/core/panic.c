/* SPDX-License-Identifier: Apache-2.0 */
/* The end: reason, registers, symbolised backtrace, then the VM is left with status 125. */
#include "core/trap.h"
#include "core/print.h"
#include "husk/layout.h"
#include "husk/system.h"
#include "nucleus/percpu.h"
#include "proc/exit.h"
#include "proc/task.h"

struct ksym { u64 addr; u32 name, pad; };
extern const u64 ksym_count;			/* made by guestkern/mksyms */
extern const struct ksym ksym_table[];
extern const char ksym_strings[];
extern const char kernel_text[], kernel_text_end[];

void system_exit(unsigned kind, unsigned value)
{
	volatile u32 *reg = (u32 *)(HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_EXIT);

	for (;;)
		*reg = kind << 24 | (value & 0xffff);
}

static void addr_print(const char *what, u64 addr)
{
	u64 lo = 0, hi = ksym_count;

	while (lo < hi) {
		u64 mid = (lo + hi) / 2;

		if (ksym_table[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && addr >= (u64)kernel_text && addr < (u64)kernel_text_end)
		klog("%s 0x%lx %s+0x%lx", what, addr, ksym_strings + ksym_table[lo - 1].name,
		     addr - ksym_table[lo - 1].addr);
	else
		klog("%s 0x%lx", what, addr);
}

/* The kernel is compiled with frame pointers. */
static void backtrace(u64 rip, u64 rbp)
{
	addr_print(" at", rip);
	for (unsigned depth = 0; depth < 24; depth++) {
		const u64 *frame = (const u64 *)rbp;

		if (rbp >> WINDOW_SHIFT != WINDOW_SLOT || (rbp & 7) || !frame[1])
			break;
		addr_print(" from", frame[1] - 1);
		if (frame[0] <= rbp)
			break;
		rbp = frame[0];
	}
}

static void regs_print(const struct regs *r)
{
	klog("rip %016lx rsp %016lx rflags %08lx cs %lx ss %lx", r->rip, r->rsp, r->rflags, r->cs, r->ss);
	klog("rax %016lx rbx %016lx rcx %016lx rdx %016lx", r->rax, r->rbx, r->rcx, r->rdx);
	klog("rsi %016lx rdi %016lx rbp %016lx r8  %016lx", r->rsi, r->rdi, r->rbp, r->r8);
	klog("r9  %016lx r10 %016lx r11 %016lx r12 %016lx", r->r9, r->r10, r->r11, r->r12);
	klog("r13 %016lx r14 %016lx r15 %016lx", r->r13, r->r14, r->r15);
}

static void panic_header(const char *where, int line, const char *fmt, va_list ap)
{
	static char text[256];
	static bool again;
	struct task *task = current;

	if (again)		/* the panic's own output faults */
		system_exit(HUSK_EXIT_PANIC, 0);
	again = true;
	vsnprintf(text, sizeof(text), fmt, ap);
	if (where)
		klog("guest kernel panic: %s (%s:%d)", text, where, line);
	else
		klog("guest kernel panic: %s", text);
	if (task)
		klog("vCPU %u, task %d (%s)", cpu_this()->id, task->tid, task->comm);
}

void panic_regs(const struct regs *regs, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	panic_header(NULL, 0, fmt, ap);
	va_end(ap);
	regs_print(regs);
	backtrace(regs->rip, regs->rbp);
	system_exit(HUSK_EXIT_PANIC, 0);
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	struct regs regs = { 0 };
	va_list ap;

	__asm__ volatile("movq %%rax, %0; movq %%rbx, %1; movq %%r12, %2; movq %%r13, %3"
			 : "=m"(regs.rax), "=m"(regs.rbx), "=m"(regs.r12), "=m"(regs.r13));
	__asm__ volatile("movq %%rsp, %0; movq %%rbp, %1; movq %%r14, %2; movq %%r15, %3"
			 : "=m"(regs.rsp), "=m"(regs.rbp), "=m"(regs.r14), "=m"(regs.r15));
	regs.rip = (u64)__builtin_return_address(0);
	va_start(ap, fmt);
	panic_header(file, line, fmt, ap);
	va_end(ap);
	regs_print(&regs);
	backtrace(regs.rip - 1, *(const u64 *)regs.rbp);
	system_exit(HUSK_EXIT_PANIC, 0);
}
