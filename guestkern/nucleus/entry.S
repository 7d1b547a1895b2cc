/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring 3: boot entry, upcalls, system calls, the way back to the program, task switch, and user
 * memory copies with fix-up. Interrupts are masked (RSP0_MASKED) from every entry until the
 * windows at the end of ret_to_user and fast_return.
 *
 * Which stack a trap's registers go to depends on the interrupted rsp: in the kernel's window
 * they nest below it, else they go to the top of the task's kernel stack (PC_KSTACK).
 */
#include "husk/layout.h"
#include "nucleus/offsets.h"

	.text

/* In: rdi = FDT, rsi = vCPU number, no stack, GS base set. Out: kmain(fdt, vcpu). */
	.globl	_start
_start:
	movq	%rsi, %rax
	imulq	$PERCPU_SIZE, %rax
	leaq	percpu_blocks(%rip), %rdx
	addq	%rdx, %rax
	movq	%rax, %gs:PC_SELF
	leaq	boot_stack_top(%rip), %rsp
	testq	%rsi, %rsi
	jz	1f
	leaq	4096(%rax), %rsp		/* the unused end of the block's first page */
1:
	xorl	%ebp, %ebp
	call	kmain
	ud2

/* Push everything of struct regs below orig_rax, with rcx and rax from \rcx and \rax. */
.macro push_gprs rcx, rax
	pushq	%rdi
	pushq	%rsi
	pushq	%rdx
	pushq	\rcx
	pushq	\rax
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
.endm

.macro pop_gprs
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
.endm

/*
 * In: masked, rax = slot top, rcx saved in PC_SCRATCH. Out: rsp = the stack to push struct regs
 * on, and the iretq frame and orig_rax = -1 already pushed.
 */
.macro slot_to_stack
	movq	SLOT_RSP(%rax), %rcx
	shrq	$WINDOW_SHIFT, %rcx
	cmpl	$WINDOW_SLOT, %ecx
	movq	%gs:PC_KSTACK, %rsp
	jne	1f
	movq	SLOT_RSP(%rax), %rsp
	andq	$-16, %rsp
	subq	$8, %rsp
1:	pushq	SLOT_SS(%rax)
	pushq	SLOT_RSP(%rax)
	pushq	SLOT_RFLAGS(%rax)
	pushq	SLOT_CS(%rax)
	pushq	SLOT_RIP(%rax)
	pushq	$-1
.endm

/* The slot has been copied: give it back, stay masked. Clobbers rcx. */
.macro slot_done
	movq	%gs:PC_SELF, %rcx
	leaq	RSP0_MASKED(%rcx), %rcx
	movq	%rcx, %gs:PC_RSP0
	cld
.endm

	.p2align 4
	.globl	upcall_page_fault
upcall_page_fault:
	movq	%gs:PC_RSP0, %rax
	addq	$SLOT_SIZE, %rax
	movq	%rcx, %gs:PC_SCRATCH
	slot_to_stack
	push_gprs %gs:PC_SCRATCH, SLOT_RAX(%rax)
	movq	SLOT_ERR(%rax), %rsi
	movq	SLOT_CR2(%rax), %rdx
	slot_done
	movq	%rsp, %rdi
	call	trap_page_fault
	jmp	ret_from_trap

	.p2align 4
	.globl	upcall_trap
upcall_trap:
	movq	%rcx, %gs:PC_SCRATCH
	movq	%gs:PC_RSP0, %rcx
	movq	%rax, SLOT_SIZE - 72(%rcx)		/* a free word of the slot */
	leaq	SLOT_SIZE(%rcx), %rax
	slot_to_stack
	push_gprs %gs:PC_SCRATCH, -72(%rax)
	movq	SLOT_VECTOR(%rax), %rsi
	movq	SLOT_ERR(%rax), %rdx
	slot_done
	movq	%rsp, %rdi
	call	trap_exception
	jmp	ret_from_trap

/*
 * An interrupt outside the kernel. In the windows of ret_to_user and fast_return the program's
 * registers are still at the top of the kernel stack: start the return again instead of nesting.
 */
	.p2align 4
	.globl	upcall_interrupt
upcall_interrupt:
	movq	%rcx, %gs:PC_SCRATCH
	movq	%gs:PC_RSP0, %rcx
	movq	%rax, SLOT_SIZE - 72(%rcx)
	leaq	SLOT_SIZE(%rcx), %rax
	movq	SLOT_RIP(%rax), %rcx
	movq	%rdx, SLOT_VECTOR(%rax)
	leaq	window_start(%rip), %rdx
	subq	%rdx, %rcx
	cmpq	$(window_end - window_start), %rcx
	jb	2f
	leaq	fast_window_start - window_start(%rdx), %rdx
	movq	SLOT_RIP(%rax), %rcx
	subq	%rdx, %rcx
	cmpq	$(fast_window_end - fast_window_start), %rcx
	jb	2f
	movq	SLOT_VECTOR(%rax), %rdx
	slot_to_stack
	push_gprs %gs:PC_SCRATCH, -72(%rax)
	slot_done
	movq	%rsp, %rdi
	call	trap_interrupt_fixup
	jmp	ret_to_user
2:	movq	%gs:PC_KSTACK, %rsp
	subq	$REGS_SIZE, %rsp
	slot_done
	jmp	ret_to_user

/* In: rsp = struct regs, masked. A trap of kernel code goes straight back, still masked. */
ret_from_trap:
	movq	REGS_RSP(%rsp), %rax
	shrq	$WINDOW_SHIFT, %rax
	cmpl	$WINDOW_SLOT, %eax
	je	restore_regs
	.globl	ret_to_user
ret_to_user:
	movq	%rsp, %rdi
	call	exit_to_user			/* interrupts, rescheduling, signals: until none is left */
	movq	%gs:PC_SELF, %rax
	addq	$RSP0_UNMASKED, %rax
	movq	%rax, %gs:PC_RSP0
window_start:					/* an interrupt is handed over from here on */
	cmpq	$0, %gs:PC_PENDING
	jne	1f
restore_regs:
	pop_gprs
	addq	$8, %rsp
	iretq
1:	subq	$SLOT_SIZE, %gs:PC_RSP0
window_end:
	jmp	ret_to_user

/*
 * SYSCALL. In: rcx = return address, r11 = rflags, rsp = the program's; ring 0 with IF = 0, or
 * ring 3 on hosts where guest ring 3 keeps control.
 */
	.p2align 4
	.globl	syscall_entry
syscall_entry:
	subq	$SLOT_SIZE, %gs:PC_RSP0
	movq	%rsp, %gs:PC_SCRATCH
	movl	%cs, %esp
	testb	$3, %spl
	jnz	1f
	movq	%gs:PC_FRAME_SYSCALL, %rsp
	iretq
1:	movq	%gs:PC_KSTACK, %rsp
	cmpq	$0, %gs:PC_RING3_SYSCALL
	jne	syscall_trap
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	leaq	nc_ring3_syscall(%rip), %rax
	int3
	popq	%rdx
	popq	%rcx
	popq	%rax
	movq	$1, %gs:PC_RING3_SYSCALL
	jmp	syscall_trap

/* struct regs on the kernel stack; r11 = rflags, PC_SCRATCH = the program's rsp. */
.macro syscall_save
	pushq	$HUSK_USER_DS
	pushq	%gs:PC_SCRATCH
	pushq	%r11
	pushq	$HUSK_USER_CS
	pushq	%rcx
	pushq	%rax
	push_gprs %rcx, %rax
	cld
	movq	%rsp, %rdi
.endm

	.p2align 4
	.globl	upcall_syscall			/* from syscall_entry in ring 0 */
upcall_syscall:
	movq	%gs:PC_KSTACK, %rsp
syscall_trap:
	syscall_save
	call	syscall_trapped
	testl	%eax, %eax
	jz	fast_return
	jmp	ret_to_user

/*
 * From a patched site's stub: rcx = return address, eax = number; r11 is free. The flags are the
 * program's and stay so: masked without arithmetic.
 */
	.p2align 4
	.globl	syscall_fast, syscall_fast_masked
syscall_fast:
	movq	%gs:PC_SELF, %r11
	leaq	RSP0_MASKED(%r11), %r11
	movq	%r11, %gs:PC_RSP0
syscall_fast_masked:
	movq	%rsp, %gs:PC_SCRATCH
	movq	%gs:PC_KSTACK, %rsp
	pushfq
	popq	%r11
	syscall_save
	call	syscall_dispatch		/* nonzero: registers changed, or work is pending */
	testl	%eax, %eax
	jnz	ret_to_user
/* Behind the call again, with all registers but rcx and r11 as they were, and rax the result. */
fast_return:
	movq	%gs:PC_SELF, %rax
	addq	$RSP0_UNMASKED, %rax
	movq	%rax, %gs:PC_RSP0
fast_window_start:				/* like window_start: an interrupt starts the return again */
	cmpq	$0, %gs:PC_PENDING
	jne	1f
	movq	REGS_R10(%rsp), %r10
	movq	REGS_R9(%rsp), %r9
	movq	REGS_R8(%rsp), %r8
	movq	REGS_RAX(%rsp), %rax
	movq	REGS_RDX(%rsp), %rdx
	movq	REGS_RSI(%rsp), %rsi
	movq	REGS_RDI(%rsp), %rdi
	movq	REGS_RIP(%rsp), %rcx
	movq	REGS_RFLAGS(%rsp), %r11
	pushq	%r11
	popfq
	movq	REGS_RSP(%rsp), %rsp
	jmp	*%rcx
1:	subq	$SLOT_SIZE, %gs:PC_RSP0
fast_window_end:
	jmp	ret_to_user

/*
 * void switch_stacks(u64 *save, u64 load): the callee-saved registers and the stack; everything
 * else belongs to C.
 */
	.globl	switch_stacks
switch_stacks:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret

/* First instruction of a new task: its struct regs are at rsp + 8 (alignment). */
	.globl	task_first_run
task_first_run:
	call	schedule_tail
	addq	$8, %rsp
	jmp	ret_to_user

/*
 * size_t user_copy(void *dst, const void *src, size_t n) and user_clear(dst, n): 0, or the bytes
 * left when an address is bad. A fault at a rep instruction resumes at its fix-up with rcx as it
 * was. user_byte(dst, src): one string byte at a time is in C through user_load8().
 */
	.globl	user_copy, user_clear, user_load8
user_copy:
	movq	%rdx, %rcx
	cmpq	$64, %rcx
	jae	1f
	movq	%rcx, %rdx
	shrq	$3, %rcx
	andl	$7, %edx
fix1:	rep movsq
	movl	%edx, %ecx
fix2:	rep movsb
	xorl	%eax, %eax
	ret
1:
fix3:	rep movsb
	xorl	%eax, %eax
	ret
fixup1:	leaq	(%rdx,%rcx,8), %rax
	ret
fixup2:	movq	%rcx, %rax
	ret

user_clear:
	movq	%rsi, %rcx
	xorl	%eax, %eax
fix4:	rep stosb
	ret

/* int user_load8(const u8 *p): the byte, or -1. */
user_load8:
fix5:	movzbl	(%rdi), %eax
	ret
fixup3:	movl	$-1, %eax
	ret

/* bool probe_rdfsbase(void): not every CPUID that hides FSGSBASE tells the truth. */
	.globl	probe_rdfsbase
probe_rdfsbase:
fix6:	rdfsbase %rax
	movl	$1, %eax
	ret
fixup4:	xorl	%eax, %eax
	ret

/* void task_enter(struct regs *regs): leave the kernel for the first time. */
	.globl	task_enter
task_enter:
	movq	%rdi, %rsp
	jmp	ret_to_user

	.section .rodata
	.p2align 3
	.globl	fixup_table, fixup_table_end
fixup_table:
	.quad	fix1, fixup1
	.quad	fix2, fixup2
	.quad	fix3, fixup2
	.quad	fix4, fixup2
	.quad	fix5, fixup3
	.quad	fix6, fixup4
fixup_table_end:

	.bss
	.p2align 4
	.skip	8192
boot_stack_top:

	.section .note.husk, "a", @note
	.p2align 2
	.long	5, 2f - 1f, 1			/* "husk", HUSK_NOTE_BOOT */
	.asciz	"husk"
	.p2align 2
1:	.long	1, HUSK_MAX_CPUS
	.quad	gdt, idt
	.long	(9 + 2) * 8 - 1, 0x70 * 16 - 1
	.quad	percpu_blocks, PERCPU_SIZE
	.long	PC_TSS, 103
	.quad	(HUSK_KERNEL_CS << 32) | (HUSK_USER32_CS << 48)
	.quad	syscall_entry
	.quad	0x47700				/* TF IF DF IOPL NT AC */
2:
	.section .note.GNU-stack, "", @progbits
