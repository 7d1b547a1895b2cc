/* SPDX-License-Identifier: Apache-2.0 */
/* The signal that each kind of bad instruction or access gives: number, si_code, si_addr. */
#define _GNU_SOURCE
#include "check.h"

#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE	4096ul

static sigjmp_buf back;
static siginfo_t info;
static greg_t fault_rip, fault_err;

static void on_signal(int sig, siginfo_t *si, void *context)
{
	ucontext_t *uc = context;

	info = *si;
	fault_rip = uc->uc_mcontext.gregs[REG_RIP];
	fault_err = uc->uc_mcontext.gregs[REG_ERR];
	siglongjmp(back, sig);
}

/* Runs `action` on `arg`; 0 or the signal it raised. */
static int raised_by(void (*action)(char *), char *arg)
{
	int sig;

	memset(&info, 0, sizeof(info));
	sig = sigsetjmp(back, 1);
	if (!sig)
		action(arg);
	return sig;
}

static void do_read(char *p)
{
	*(volatile char *)p;
}

static void do_write(char *p)
{
	*(volatile char *)p = 1;
}

static void do_call(char *p)
{
	((void (*)(void))p)();
}

static void do_divide(char *p)
{
	__asm__ volatile("xor %%edx, %%edx; xor %%ecx, %%ecx; mov $1, %%eax; div %%ecx"
			 : : : "eax", "ecx", "edx");
}

static void do_ud2(char *p)
{
	__asm__ volatile("ud2");
}

static void do_int3(char *p)
{
	__asm__ volatile("int3");
}

static void do_hlt(char *p)
{
	__asm__ volatile("hlt");
}

static void do_cli(char *p)
{
	__asm__ volatile("cli");
}

static void do_cr3(char *p)
{
	__asm__ volatile("mov %%cr3, %%rax" : : : "rax");
}

static void do_in(char *p)
{
	__asm__ volatile("in $0x80, %%al" : : : "eax");
}

static void do_int80_other(char *p)
{
	__asm__ volatile("int $0x21");
}

static void do_trap_flag(char *p)
{
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; nop; nop" : : : "memory", "cc");
}

static void check_accesses(void)
{
	char *p = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	mprotect(p + PAGE, PAGE, PROT_READ);
	munmap(p + 2 * PAGE, PAGE);
	check(raised_by(do_read, p + 2 * PAGE + 5) == SIGSEGV && info.si_code == SEGV_MAPERR &&
	      info.si_addr == p + 2 * PAGE + 5, "read of nothing: SEGV_MAPERR at the address");
	check((fault_err & 7) == 4, "... error code: user read, not present");
	check(raised_by(do_write, p + 2 * PAGE + 9) == SIGSEGV && info.si_code == SEGV_MAPERR &&
	      info.si_addr == p + 2 * PAGE + 9, "write to nothing");
	check((fault_err & 7) == 6, "... error code: user write, not present");
	check(raised_by(do_read, p + PAGE) == 0, "read of a read-only page");
	check(raised_by(do_write, p + PAGE + 3) == SIGSEGV && info.si_code == SEGV_ACCERR &&
	      info.si_addr == p + PAGE + 3, "write to it: SEGV_ACCERR");
	check(raised_by(do_call, p) == SIGSEGV && info.si_code == SEGV_ACCERR &&
	      info.si_addr == p && fault_rip == (greg_t)(uintptr_t)p,
	      "call into a page without PROT_EXEC");
	check(raised_by(do_call, p + 2 * PAGE) == SIGSEGV && info.si_code == SEGV_MAPERR &&
	      fault_rip == (greg_t)(uintptr_t)(p + 2 * PAGE), "call into nothing");
	check(raised_by(do_read, NULL) == SIGSEGV && info.si_addr == NULL, "read of NULL");
	check(raised_by(do_read, (char *)0x8000000000000000) == SIGSEGV &&
	      info.si_code == SI_KERNEL && info.si_addr == NULL, "read of a non-canonical address");
	check(raised_by(do_read, (char *)0xffffffff81000000) == SIGSEGV &&
	      info.si_code == SEGV_MAPERR, "read of the upper half");
	mprotect(p, PAGE, PROT_NONE);
	check(raised_by(do_read, p) == SIGSEGV && info.si_code == SEGV_ACCERR,
	      "read of PROT_NONE: SEGV_ACCERR");
	munmap(p, 2 * PAGE);
}

static void check_file_end(void)
{
	char name[] = "/tmp/fault.XXXXXX", *p;
	int fd = mkstemp(name);

	if (fd < 0 || ftruncate(fd, 10) < 0)
		exit(1);
	p = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	check(raised_by(do_read, p + 11) == 0 && p[11] == 0, "the rest of a file's last page is zero");
	check(raised_by(do_read, p + PAGE + 7) == SIGBUS && info.si_code == BUS_ADRERR &&
	      info.si_addr == p + PAGE + 7, "a page after the end of a file: SIGBUS");
	munmap(p, 2 * PAGE);
	close(fd);
	unlink(name);
}

static void check_instructions(void)
{
	check(raised_by(do_divide, NULL) == SIGFPE && info.si_code == FPE_INTDIV,
	      "division by zero: SIGFPE, FPE_INTDIV");
	check((greg_t)(uintptr_t)info.si_addr == fault_rip, "... si_addr is the instruction");
	check(raised_by(do_ud2, NULL) == SIGILL && info.si_code == ILL_ILLOPN,
	      "ud2: SIGILL, ILL_ILLOPN");
	check((greg_t)(uintptr_t)info.si_addr == fault_rip, "... si_addr is the instruction");
	check(raised_by(do_int3, NULL) == SIGTRAP && info.si_code == SI_KERNEL, "int3: SIGTRAP");
	check(((unsigned char *)fault_rip)[-1] == 0xcc, "... rip is after it");
	check(raised_by(do_hlt, NULL) == SIGSEGV && info.si_code == SI_KERNEL, "hlt: SIGSEGV");
	check(raised_by(do_cli, NULL) == SIGSEGV, "cli: SIGSEGV");
	check(raised_by(do_cr3, NULL) == SIGSEGV, "mov from cr3: SIGSEGV");
	check(raised_by(do_in, NULL) == SIGSEGV, "in: SIGSEGV");
	check(raised_by(do_int80_other, NULL) == SIGSEGV, "int $0x21: SIGSEGV");
	check(raised_by(do_trap_flag, NULL) == SIGTRAP && info.si_code == TRAP_TRACE,
	      "the trap flag: SIGTRAP, TRAP_TRACE");
}

static int overflow(volatile int *depth)
{
	volatile char room[1024];

	room[0] = (char)++*depth;
	return *depth < 0 ? 0 : overflow(depth) + room[0];
}

static volatile int deep;

static void do_overflow(char *p)
{
	overflow(&deep);
}

static void check_stack(void)
{
	stack_t alternate = { .ss_sp = malloc(65536), .ss_size = 65536 };

	check(sigaltstack(&alternate, NULL) == 0, "sigaltstack");
	check(raised_by(do_overflow, NULL) == SIGSEGV && deep > 1000,
	      "a stack that overflows: SIGSEGV on the alternate stack");
}

/* Without a handler the process dies by the signal, and its parent learns which. */
static void check_default(void (*action)(char *), char *arg, int sig, const char *name)
{
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		signal(sig, SIG_DFL);
		action(arg);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	check(WIFSIGNALED(status) && WTERMSIG(status) == sig, name);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK };
	static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &sa, NULL);
	check_accesses();
	check_file_end();
	check_instructions();
	check_stack();
	check_default(do_read, NULL, SIGSEGV, "death by SIGSEGV");
	check_default(do_divide, NULL, SIGFPE, "death by SIGFPE");
	check_default(do_ud2, NULL, SIGILL, "death by SIGILL");
	check_default(do_int3, NULL, SIGTRAP, "death by SIGTRAP");
	return checks_done();
}
