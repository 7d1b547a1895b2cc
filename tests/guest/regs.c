/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a system call may change: rax, rcx, r11 and nothing else, on the trap and at a rewritten
 * site alike. Each site runs several times, so that the first call (which may rewrite it) and later ones
 * are both seen; then the `syscall` instruction of a rewritten site is jumped to directly.
 */
#include "check.h"

#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROUNDS		5
#define FLAG_BITS	0x8d5	/* CF PF AF ZF SF OF */

/* rbx rbp rdi rsi rdx r8 r9 r10 r12 r13 r14 r15, then rax rcx r11 and the flags */
uint64_t regs_in[12], regs_out[16], flags_in, red_out[16];
uint64_t xmm_in[32], xmm_out[32];

void site_all(void);
extern char site_all_return[];
long site_plain(void), site_zero(void), site_red_zone(void), site_trap(long nr);
extern char site_plain_syscall[];

__asm__(
"	.text\n"
"	.macro each_xmm op, a\n"
"	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
"	.ifc \\op, load\n	movdqu \\a+\\n*16(%rip), %xmm\\n\n"
"	.else\n	movdqu %xmm\\n, \\a+\\n*16(%rip)\n	.endif\n"
"	.endr\n"
"	.endm\n"
"site_all:\n"
"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
"	each_xmm load, xmm_in\n"
"	mov regs_in+0(%rip), %rbx;	mov regs_in+8(%rip), %rbp\n"
"	mov regs_in+16(%rip), %rdi;	mov regs_in+24(%rip), %rsi\n"
"	mov regs_in+32(%rip), %rdx;	mov regs_in+40(%rip), %r8\n"
"	mov regs_in+48(%rip), %r9;	mov regs_in+56(%rip), %r10\n"
"	mov regs_in+64(%rip), %r12;	mov regs_in+72(%rip), %r13\n"
"	mov regs_in+80(%rip), %r14;	mov regs_in+88(%rip), %r15\n"
"	push flags_in(%rip)\n"
"	popfq\n"
"	mov $39, %eax\n"			/* getpid */
"	syscall\n"
"site_all_return:\n"
"	mov %rbx, regs_out+0(%rip);	mov %rbp, regs_out+8(%rip)\n"
"	mov %rdi, regs_out+16(%rip);	mov %rsi, regs_out+24(%rip)\n"
"	mov %rdx, regs_out+32(%rip);	mov %r8, regs_out+40(%rip)\n"
"	mov %r9, regs_out+48(%rip);	mov %r10, regs_out+56(%rip)\n"
"	mov %r12, regs_out+64(%rip);	mov %r13, regs_out+72(%rip)\n"
"	mov %r14, regs_out+80(%rip);	mov %r15, regs_out+88(%rip)\n"
"	mov %rax, regs_out+96(%rip);	mov %rcx, regs_out+104(%rip)\n"
"	mov %r11, regs_out+112(%rip)\n"
"	pushfq\n"
"	pop %rax\n"
"	mov %rax, regs_out+120(%rip)\n"
"	cld\n"
"	each_xmm store, xmm_out\n"
"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n"
"	ret\n"

"site_plain:\n"
"	mov $39, %eax\n"
"site_plain_syscall:\n"
"	syscall\n"
"	ret\n"

"site_zero:\n"				/* glibc's read: the number by xor, then a compare */
"	xor %eax, %eax\n"
"	syscall\n"
"	cmp $-4096, %rax\n"
"	ret\n"

"site_trap:\n"				/* a number from a register: nothing to rewrite */
"	mov %rdi, %rax\n"
"	syscall\n"
"	ret\n"

"site_red_zone:\n"
"	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
"	movq $0x1111*\\n, -8*\\n(%rsp)\n"
"	.endr\n"
"	mov $39, %eax\n"
"	syscall\n"
"	.irp n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16\n"
"	mov -8*\\n(%rsp), %rcx\n"
"	mov %rcx, red_out+8*\\n-8(%rip)\n"
"	.endr\n"
"	ret\n"
);

static void check_all_registers(uint64_t flags, const char *name)
{
	bool same = true, xmm = true, rcx = true, r11 = true, kept = true, value = true;
	char line[128];

	flags_in = flags | 0x202;
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < 12; i++)
			regs_in[i] = 0x0123456789abcdefull * (i + 3) + round;
		for (int i = 0; i < 32; i++)
			xmm_in[i] = 0xfedcba9876543211ull * (i + 5) + round;
		site_all();
		same &= !memcmp(regs_in, regs_out, sizeof(regs_in));
		xmm &= !memcmp(xmm_in, xmm_out, sizeof(xmm_in));
		value &= regs_out[12] == (uint64_t)getpid();
		rcx &= regs_out[13] == (uintptr_t)site_all_return;
		r11 &= (regs_out[14] & (FLAG_BITS | 0x400)) == flags;
		kept &= (regs_out[15] & (FLAG_BITS | 0x400)) == flags;
	}
	snprintf(line, sizeof(line), "%s: the result is right", name);
	check(value, line);
	snprintf(line, sizeof(line), "%s: general registers are preserved", name);
	check(same, line);
	snprintf(line, sizeof(line), "%s: XMM registers are preserved", name);
	check(xmm, line);
	snprintf(line, sizeof(line), "%s: rcx is the return address", name);
	check(rcx, line);
	snprintf(line, sizeof(line), "%s: r11 is the flags", name);
	check(r11, line);
	snprintf(line, sizeof(line), "%s: flags are preserved", name);
	check(kept, line);
}

static void check_red_zone(void)
{
	bool good = true;

	for (int round = 0; round < ROUNDS; round++) {
		memset(red_out, 0, sizeof(red_out));
		good &= site_red_zone() == getpid();
		for (int i = 0; i < 16; i++)
			good &= red_out[i] == 0x1111u * (i + 1);
	}
	check(good, "the red zone survives");
}

static long call_at(void *site, long nr)
{
	long ret;

	__asm__ volatile("sub $128, %%rsp; call *%1; add $128, %%rsp"
			 : "=a"(ret) : "r"(site), "0"(nr) : "rcx", "r11", "memory");
	return ret;
}

static void check_jump_to_syscall(void)
{
	bool pid = true, parent = true, mixed = true;

	for (int round = 0; round < ROUNDS; round++)
		mixed &= site_plain() == getpid();
	check(mixed, "a plain site");
	for (int round = 0; round < ROUNDS; round++) {
		pid &= call_at(site_plain_syscall, SYS_getpid) == getpid();
		parent &= call_at(site_plain_syscall, SYS_getppid) == getppid();
		mixed &= site_plain() == getpid();
	}
	check(pid, "a jump to the syscall instruction");
	check(parent, "... with another number");
	check(mixed, "... and the site as a whole between them");
}

static void check_zero_site(void)
{
	bool good = true;
	int fds[2], saved = dup(0);
	char c = 0;

	if (pipe(fds) < 0 || write(fds[1], "abcde", 5) != 5)
		exit(1);
	dup2(fds[0], 0);
	for (int round = 0; round < ROUNDS; round++) {
		register long rdi __asm__("rdi") = 0;
		register char *rsi __asm__("rsi") = &c;
		register long rdx __asm__("rdx") = 1;
		long ret;

		__asm__ volatile("sub $128, %%rsp; call site_zero; add $128, %%rsp"
				 : "=a"(ret), "+r"(rdi), "+r"(rsi), "+r"(rdx)
				 : : "rcx", "r11", "memory", "cc");
		good &= ret == 1 && c == 'a' + round;
	}
	dup2(saved, 0);
	check(good, "a read by xor %eax,%eax");
}

int main(void)
{
	bool good = true;

	check_all_registers(0, "no flags");
	check_all_registers(0x8d5, "all flags");
	check_all_registers(0x400, "direction flag");
	check_red_zone();
	check_jump_to_syscall();
	check_zero_site();
	for (int round = 0; round < ROUNDS; round++)
		good &= site_trap(SYS_getpid) == getpid() && site_trap(SYS_getppid) == getppid();
	check(good, "the number from a register");
	check(site_trap(100000) == -ENOSYS, "an impossible number is ENOSYS");
	check(site_trap(-1) == -ENOSYS, "number -1 is ENOSYS");
	return checks_done();
}
