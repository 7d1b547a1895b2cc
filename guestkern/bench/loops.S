/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The measured ring-0 loops, nucleus calls all of them. In: rdi = operations, rsi = argument, the
 * int3 frame at rsp, IF = 0. Out: rax = TSC cycles, rdx = 0, or the BENCH_FAULT_* of the fault that
 * ended the loop (bench.h): so rsp must not move where an instruction may fault. They clobber every
 * register that C may lose and rbx.
 */
#include "husk/bench.h"
#include "husk/layout.h"

#define LAPIC		(HUSK_DIRECT_MAP + HUSK_LAPIC_BASE)
#define LAPIC_ICR	(LAPIC + 0x300)
#define LAPIC_EOI	(LAPIC + 0xb0)
#define ICR_SELF	0x44000			/* shorthand self, assert */
#define ICR_ASSERT	0x4000
#define MSR_TSC_DEADLINE 0x6e0
#define MSR_X2APIC_EOI	0x80b
#define MSR_X2APIC_ICR	0x830
#define MSR_X2APIC_SELF	0x83f
#define DEADLINE_CYCLES	3000
#define HALT_CYCLES	2000

	.section .text.bench, "ax", @progbits

.macro loop name
	.p2align 4
	.globl bench_\name
bench_\name:
	rdtsc
	shlq	$32, %rdx
	orq	%rax, %rdx
	movq	%rdx, %r8
	testq	%rdi, %rdi
	jz	2f
1:
.endm

.macro endloop
	decq	%rdi
	jnz	1b
2:	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	subq	%r8, %rax
	xorl	%edx, %edx
	iretq
.endm

/* Nothing: the price of the loop itself, and so of ring 0. */
loop ring0
	endloop

loop cpuid_loop
	xorl	%eax, %eax
	cpuid
	endloop

/* No hypercall has this number. (0, as good elsewhere, changes the address space on some hosts.) */
loop vmcall
	movl	$0x7fffffff, %eax
	vmcall
	endloop

loop vmmcall
	movl	$0x7fffffff, %eax
	vmmcall
	endloop

loop wbinvd
	wbinvd
	endloop

loop invd
	invd
	endloop

loop mov_from_cr8
	movq	%cr8, %rax
	endloop

loop mov_to_cr8
	xorl	%eax, %eax
	movq	%rax, %cr8
	endloop

loop inl				/* rsi = port */
	movl	%esi, %edx
	inl	%dx, %eax
	endloop

loop inb
	movl	%esi, %edx
	inb	%dx, %al
	endloop

loop outb				/* rsi = port | value << 16 */
	movl	%esi, %edx
	movl	%esi, %eax
	shrl	$16, %eax
	outb	%al, %dx
	endloop

loop writeb				/* rsi = address, its value at BENCH_DATA */
	movb	%r9b, (%rsi)
	endloop

loop mov_dr
	movl	$0x400, %eax
	movq	%rax, %dr7
	endloop

loop wrmsr				/* rsi = MSR | value << 32 */
	movl	%esi, %ecx
	movq	%rsi, %rax
	shrq	$32, %rax
	xorl	%edx, %edx
	wrmsr
	endloop

loop rdmsr
	movl	%esi, %ecx
	rdmsr
	endloop

loop ibrs				/* on and off, as one operation */
	movl	$0x48, %ecx		/* IA32_SPEC_CTRL */
	movl	$1, %eax
	xorl	%edx, %edx
	wrmsr
	xorl	%eax, %eax
	wrmsr
	endloop

loop cr0_wp
	movq	%cr0, %rax
	andq	$~0x10000, %rax
	movq	%rax, %cr0
	orq	$0x10000, %rax
	movq	%rax, %cr0
	endloop

loop cr4_pge
	movq	%cr4, %rax
	xorq	$0x80, %rax
	movq	%rax, %cr4
	xorq	$0x80, %rax
	movq	%rax, %cr4
	endloop

/* --- interrupts to itself ------------------------------------------------------------------- */

.macro ipi_xapic
	movl	$(ICR_SELF | HUSK_VECTOR_BENCH), %eax
	movabsl	%eax, LAPIC_ICR
.endm

.macro ipi_x2apic
	movl	$MSR_X2APIC_SELF, %ecx
	movl	$HUSK_VECTOR_BENCH, %eax
	xorl	%edx, %edx
	wrmsr
.endm

.macro tpr value
	movl	$\value, %eax
	movq	%rax, %cr8
.endm

/* The five ways to take it. cli at the end is the one that the next turn wants. */
.macro self_ipi_rows prefix, send
loop \prefix\()sti_nop
	cli
	\send
	sti
	nop
	endloop_cli
loop \prefix\()sti_hlt
	cli
	\send
	sti
	hlt
	endloop_cli
loop \prefix\()tpr
	sti
	tpr	0xf
	\send
	tpr	0
	nop
	endloop_cli
loop \prefix\()tpr_sti_nop
	cli
	tpr	0xf
	\send
	tpr	0
	sti
	nop
	endloop_cli
loop \prefix\()tpr_sti_hlt
	cli
	tpr	0xf
	\send
	tpr	0
	sti
	hlt
	endloop_cli
.endm

.macro endloop_cli
	decq	%rdi
	jnz	1b
2:	cli
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	subq	%r8, %rax
	xorl	%edx, %edx
	iretq
.endm

	self_ipi_rows self_ipi_, ipi_xapic
	self_ipi_rows x2apic_self_ipi_, ipi_x2apic

/* IA32_TSC_DEADLINE = now + \delta. */
.macro deadline delta
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	addq	$\delta, %rax
	movq	%rax, %rdx
	shrq	$32, %rdx
	movl	$MSR_TSC_DEADLINE, %ecx
	wrmsr
.endm

loop tscdeadline_immed
	sti
	deadline 0
	nop
	endloop_cli

loop tscdeadline
	sti
	movq	bench_irqs(%rip), %r9
	deadline DEADLINE_CYCLES
3:	cmpq	%r9, bench_irqs(%rip)
	je	3b
	endloop_cli

/* --- interrupts to vCPU 1 ------------------------------------------------------------------- */

.macro send_xapic			/* ICR2 already names vCPU 1 */
	movl	$(ICR_ASSERT | HUSK_VECTOR_BENCH), %eax
	movabsl	%eax, LAPIC_ICR
.endm

.macro send_x2apic
	movl	$MSR_X2APIC_ICR, %ecx
	movl	$(ICR_ASSERT | HUSK_VECTOR_BENCH), %eax
	movl	$1, %edx
	wrmsr
.endm

.macro ipi_rows suffix, send
loop ipi\suffix
	movq	bench_irqs(%rip), %r9
	\send
3:	pause
	cmpq	%r9, bench_irqs(%rip)
	je	3b
	endloop
loop ipi_halt\suffix			/* and wait until it sleeps again */
	movq	bench_irqs(%rip), %r9
	\send
3:	pause
	cmpq	%r9, bench_irqs(%rip)
	je	3b
	rdtsc
	shlq	$32, %rdx
	leaq	HALT_CYCLES(%rax,%rdx), %r9
4:	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	cmpq	%r9, %rax
	jb	4b
	endloop
.endm

	ipi_rows _xapic, send_xapic
	ipi_rows _x2apic, send_x2apic

/* What vCPU 1 does meanwhile; it does not return. */
	.p2align 4
	.globl bench_wait
bench_wait:
	sti
	hlt
	jmp	bench_wait

/* Vector HUSK_VECTOR_BENCH. Each clobbers nothing. */
	.p2align 4
	.globl bench_isr_xapic, bench_isr_x2apic
bench_isr_xapic:
	incq	bench_irqs(%rip)
	movabsl	%eax, LAPIC_EOI
	iretq

	.p2align 4
bench_isr_x2apic:
	incq	bench_irqs(%rip)
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	movl	$MSR_X2APIC_EOI, %ecx
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	popq	%rdx
	popq	%rcx
	popq	%rax
	iretq

/*
 * A token goes round all vCPUs. rsi = this vCPU | number of them << 32. Each has a cache line in
 * bench_counters: turns given to it, turns it has taken.
 */
loop ple_round_robin
	leaq	bench_counters(%rip), %r9
	movl	%esi, %eax
	shll	$6, %eax
	leaq	(%r9,%rax), %r10
3:	movl	(%r10), %ecx
	cmpl	4(%r10), %ecx
	jne	4f
	pause
	jmp	3b
4:	movl	%ecx, 4(%r10)
	leal	1(%rsi), %eax
	movq	%rsi, %rdx
	shrq	$32, %rdx
	cmpl	%edx, %eax
	jne	5f
	xorl	%eax, %eax
5:	shll	$6, %eax
	incl	(%r9,%rax)
	endloop

/* --- not measured by themselves ------------------------------------------------------------- */

	.globl bench_nop, bench_in8, bench_in32, bench_out8
bench_nop:
	iretq

/* rdi = port; the value in rax. */
bench_in8:
	movl	%edi, %edx
	xorl	%eax, %eax
	inb	%dx, %al
	iretq
bench_in32:
	movl	%edi, %edx
	inl	%dx, %eax
	iretq
/* rdi = port, rsi = value. */
bench_out8:
	movl	%edi, %edx
	movl	%esi, %eax
	outb	%al, %dx
	iretq

/* #GP and #UD while a row is measured: in ring 0 they end the loop, elsewhere they are as usual. */
	.globl bench_fault_gp, bench_fault_ud
	.p2align 4
bench_fault_gp:
	testb	$3, 16(%rsp)
	jnz	stub_13
	movq	32(%rsp), %rsp
	movq	$-1, %rdx
	iretq
	.p2align 4
bench_fault_ud:
	testb	$3, 8(%rsp)
	jnz	stub_6
	movq	24(%rsp), %rsp
	movq	$-2, %rdx
	iretq

/* --- ring 3 --------------------------------------------------------------------------------- */

/* u64 bench_user_loop(u64 n): system calls; copied into the program's memory for a patched site. */
	.p2align 4
	.globl bench_user_loop, bench_user_loop_end
bench_user_loop:
	pushq	%rbx
	movq	%rdi, %rbx
	lfence
	rdtsc
	shlq	$32, %rdx
	orq	%rax, %rdx
	movq	%rdx, %r8
	testq	%rbx, %rbx
	jz	2f
1:	movl	$39, %eax			/* getpid */
	syscall
	decq	%rbx
	jnz	1b
2:	lfence
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	subq	%r8, %rax
	popq	%rbx
	ret
bench_user_loop_end:

	.data
	.p2align 6
	.globl bench_counters
bench_counters:				/* the token starts at vCPU 0 */
	.long	-1
	.skip	64 * HUSK_MAX_CPUS - 4
	.bss
	.p2align 6
	.globl bench_irqs
bench_irqs:
	.skip	64
	.section .note.GNU-stack, "", @progbits
