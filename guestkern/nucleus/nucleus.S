/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring 0. Trap stubs and nucleus calls, straight-line: on some hosts each of these instructions is
 * emulated at almost a microsecond. A stub runs on the slot at TSS.RSP0 with interrupts off,
 * moves RSP0 down one slot (interrupts are masked from there on) and returns by a prebuilt frame
 * to the upcall entry in ring 3 (entry.S). GS base is the per-vCPU block in every ring.
 */
#include "husk/layout.h"
#include "husk/system.h"
#include "nucleus/offsets.h"

	.section .nucleus, "ax", @progbits

/* Hand over to ring 3: \frame is the percpu offset of the frame pointer. */
.macro upcall frame
	subq	$SLOT_SIZE, %gs:PC_RSP0
	movq	%gs:\frame, %rsp
	iretq
.endm

/* In: CPU frame with error code. Six instructions. */
	.globl	stub_page_fault
stub_page_fault:
	pushq	%rax
	movq	%cr2, %rax
	pushq	%rax
	upcall	PC_FRAME_PF

.macro stub_noerr vec
	.p2align 4
stub_\vec:
	pushq	$0
	pushq	$\vec
	upcall	PC_FRAME_TRAP
.endm

.macro stub_err vec
	.p2align 4
stub_\vec:
	pushq	$\vec
	upcall	PC_FRAME_TRAP
.endm

	stub_noerr 0
	stub_noerr 1
	stub_noerr 4
	stub_noerr 5
	.globl	stub_6, stub_13			/* for the gates of guestkern/bench/ */
	stub_noerr 6
	stub_noerr 7
	stub_err 10
	stub_err 11
	stub_err 12
	stub_noerr 16
	stub_err 17
	stub_noerr 19
	stub_err 21

/* #GP in ring 0 can only come from rdmsr or wrmsr: tell the caller, who is in the outer frame. */
	.p2align 4
stub_13:
	testb	$3, 16(%rsp)
	jz	1f
	pushq	$13
	upcall	PC_FRAME_TRAP
1:	movq	32(%rsp), %rsp
	movq	$-1, %rdx
	iretq

	.p2align 4
stub_nmi:
	iretq

/* Double fault, machine check: nothing can be trusted any more; end the VM as a panic. */
	.p2align 4
stub_fatal:
	movl	$(HUSK_EXIT_PANIC << 24), %eax
	movabsl	%eax, HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_EXIT
1:	hlt
	jmp	1b

/*
 * int3: from the kernel image it is a nucleus call (rax = routine), from anywhere else a
 * breakpoint. 4(%rsp) is the upper half of the return address.
 */
	.p2align 4
stub_int3:
	cmpl	$(HUSK_KERNEL_VIRT >> 32), 4(%rsp)
	jne	1f
	jmp	*%rax
1:	pushq	$0
	pushq	$3
	upcall	PC_FRAME_TRAP

/*
 * Nucleus calls. In: rax = the routine itself (only kernel code gets here), arguments as
 * nucleus/offsets.h says, the int3 frame at rsp. Out: iretq.
 */
	.globl	nc_idle, nc_cr3, nc_invlpg, nc_invlpg_list, nc_flush
	.globl	nc_rdmsr, nc_wrmsr, nc_ring3_syscall

/* The check and sti;hlt cannot be torn apart by an interrupt: sti takes effect after hlt began. */
nc_idle:
	cmpq	$0, %gs:PC_PENDING
	jne	1f
	sti
	hlt
1:	iretq

nc_cr3:
	movq	%rdi, %cr3
	iretq

nc_invlpg:
	invlpg	(%rdi)
	iretq

nc_invlpg_list:
	movq	(%rdi), %rax
	invlpg	(%rax)
	addq	$8, %rdi
	decq	%rsi
	jnz	nc_invlpg_list
	iretq

nc_flush:
	movq	%cr3, %rax
	movq	%rax, %cr3
	iretq

nc_rdmsr:
	rdmsr
	iretq

nc_wrmsr:
	movl	%edi, %eax
	wrmsr
	xorl	%edx, %edx
	iretq

/* rcx, rax, rdx clobbered. The caller continues with IF = 1. */
nc_ring3_syscall:
	movl	$0xc0000084, %ecx		/* IA32_FMASK */
	xorl	%eax, %eax
	xorl	%edx, %edx
	wrmsr
	orl	$0x200, 16(%rsp)
	iretq

/*
 * Interrupts, one stub a vector: mark it, EOI (xAPIC: any value, no register changes), and hand
 * over unless masked or in ring 0 (idle; RSP0 is masked there too).
 */
.macro stub_interrupt n
	.p2align 5
	btsq	$\n, %gs:PC_PENDING
	movabsl	%eax, HUSK_DIRECT_MAP + HUSK_LAPIC_BASE + 0xb0
	testl	$0xfff, %gs:PC_RSP0
	jnz	1f
	upcall	PC_FRAME_INTR
1:	iretq
.endm

	.p2align 5
	.globl	stub_interrupts
stub_interrupts:
	.altmacro
.set n, 0
.rept 63
	stub_interrupt %n
	.set n, n + 1
.endr
	.noaltmacro
	.p2align 5
stub_spurious:				/* vector HUSK_VECTOR_SPURIOUS: no EOI */
	iretq
	.globl	stub_interrupts_end
stub_interrupts_end:

	.section .rodata
	.p2align 3
	.globl	stub_exceptions		/* 32 pointers; 0: no gate */
stub_exceptions:
	.quad	stub_0, stub_1, stub_nmi, stub_int3, stub_4, stub_5, stub_6, stub_7
	.quad	stub_fatal, 0, stub_10, stub_11, stub_12, stub_13, stub_page_fault, 0
	.quad	stub_16, stub_17, stub_fatal, stub_19, 0, stub_21, 0, 0
	.quad	0, 0, 0, 0, 0, 0, 0, 0
