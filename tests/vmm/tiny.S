/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests of a few instructions for tests/guest/boot_state.c, which copies them to the start of a
 * kernel's text segment. Entered in ring 3 in the state of include/husk/boot.h. Position-independent.
 */
#include "husk/layout.h"
#include "husk/system.h"

#define SYSTEM_EXIT	HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_EXIT

	.text
	.globl tiny_state, tiny_state_end

/* Exit code: number of the first check that fails, 0 if none does. */
tiny_state:
	mov	$1, %ebx
	mov	%cs, %eax
	cmp	$HUSK_USER_CS, %eax
	jne	1f
	inc	%ebx				/* 2 */
	mov	%ss, %eax
	cmp	$HUSK_USER_DS, %eax
	jne	1f
	inc	%ebx				/* 3: all else starts as zero */
	test	%rsp, %rsp
	jne	1f
	inc	%ebx				/* 4 */
	mov	(%rdi), %eax
	cmp	$0xedfe0dd0, %eax		/* FDT magic, big-endian */
	jne	1f
	inc	%ebx				/* 5: GS base is the block of this vCPU */
	mov	%gs:0, %rax
	lea	0x1000(%rsi), %rcx		/* the test stored 0x1000 + n in block n */
	cmp	%rcx, %rax
	jne	1f
	inc	%ebx				/* 6: data is writable, also in the direct map */
	movabs	$HUSK_KERNEL_DATA + 0x10, %rax
	movl	$0x12345678, (%rax)
	movabs	$HUSK_DIRECT_MAP + HUSK_KERNEL_DATA_PHYS + 0x10, %rax
	cmpl	$0x12345678, (%rax)
	jne	1f
	inc	%ebx				/* 7: the serial port's line status */
	movabs	$HUSK_DIRECT_MAP + HUSK_SERIAL_MMIO, %rdx
	movb	5(%rdx), %al
	cmp	$0x60, %al
	jne	1f
	inc	%ebx				/* 8: scratch register keeps a byte */
	movb	$0x5a, 7(%rdx)
	cmpb	$0x5a, 7(%rdx)
	jne	1f
	inc	%ebx				/* 9: the PM timer counts */
	movabs	$HUSK_DIRECT_MAP + HUSK_PM_TIMER_MMIO, %rcx
	mov	(%rcx), %eax
	mov	(%rcx), %ecx
	cmp	%eax, %ecx
	je	1f
	inc	%ebx				/* 10: the wall clock is set */
	movabs	$HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_REALTIME, %rax
	mov	(%rax), %rax
	shr	$56, %rax
	cmp	$0x17, %eax			/* 2023-07-22 up to 2025-11-02 */
	jb	1f
	movb	$'h', (%rdx)
	movb	$'i', (%rdx)
	movb	$'\n', (%rdx)
	xor	%ebx, %ebx
1:	movabs	$SYSTEM_EXIT, %rax
	mov	%ebx, (%rax)
2:	pause
	jmp	2b
tiny_state_end:

/* vCPU 1 reports, the others wait for ever. */
	.globl tiny_second, tiny_second_end
tiny_second:
	cmp	$1, %rsi
	jne	2f
	mov	%gs:0, %rbx
	movabs	$SYSTEM_EXIT, %rax
	and	$0xff, %ebx
	add	$40, %ebx
	mov	%ebx, (%rax)
2:	pause
	jmp	2b
tiny_second_end:

/* Never ends by itself. */
	.globl tiny_spin, tiny_spin_end
tiny_spin:
	pause
	jmp	tiny_spin
tiny_spin_end:

/* Writes its own text through the window: a page fault with no usable IDT, so a triple fault. */
	.globl tiny_wx, tiny_wx_end
tiny_wx:
	lea	tiny_wx(%rip), %rax
	movb	$0, (%rax)
	movabs	$SYSTEM_EXIT, %rax
	movl	$7, (%rax)
2:	pause
	jmp	2b
tiny_wx_end:

/*
 * First touches of RAM that has no memslot yet, by instructions that KVM can and cannot emulate.
 * Exit code as tiny_state. With 9 GiB: chunks start at 32 MiB, 128 MiB, 512 MiB, 2 GiB, 4 GiB, 8 GiB.
 */
	.globl tiny_memory, tiny_memory_end
tiny_memory:
	mov	$1, %ebx			/* 1: plain store and load, 32 MiB */
	movabs	$HUSK_DIRECT_MAP + 0x2000000 - 4, %rdi
	movabs	$0x1122334455667788, %rax
	mov	%rax, (%rdi)			/* across the border of two chunks */
	cmp	%rax, (%rdi)
	jne	1f
	inc	%ebx				/* 2: locked add, 128 MiB */
	movabs	$HUSK_DIRECT_MAP + 0x8000000, %rdi
	mov	$5, %eax
	lock xadd %eax, (%rdi)
	test	%eax, %eax
	jne	1f
	cmpl	$5, (%rdi)
	jne	1f
	inc	%ebx				/* 3: vector store, 512 MiB */
	movabs	$HUSK_DIRECT_MAP + 0x20000000, %rdi
	movq	%rbx, %xmm1
	punpcklqdq %xmm1, %xmm1
	movntdq	%xmm1, (%rdi)
	cmp	%rbx, 8(%rdi)
	jne	1f
	inc	%ebx				/* 4: string store, 4 GiB */
	movabs	$HUSK_DIRECT_MAP + 0x100000000, %rdi
	mov	%rdi, %rdx
	mov	$1024, %ecx
	mov	$0x77, %al
	cld
	rep stosb
	cmpb	$0x77, 1023(%rdx)
	jne	1f
	cmpb	$0, 1024(%rdx)
	jne	1f
	inc	%ebx				/* 5: FXSAVE image, 8 GiB */
	movabs	$HUSK_DIRECT_MAP + 0x200000000, %rdi
	fxsave	(%rdi)
	cmpw	$0x37f, (%rdi)
	jne	1f
	xor	%ebx, %ebx
1:	movabs	$SYSTEM_EXIT, %rax
	mov	%ebx, (%rax)
2:	pause
	jmp	2b
tiny_memory_end:

/* A new page directory in RAM without a memslot, then a load through it; exit code 0 if it works. */
	.globl tiny_tables, tiny_tables_end
tiny_tables:
	mov	$1, %ebx
	movabs	$HUSK_DIRECT_MAP + 0x2000, %rsi		/* boot PDPT */
	movq	$0x10000067, 300 * 8(%rsi)		/* a directory at 256 MiB, never touched */
	movabs	$HUSK_DIRECT_MAP + 0x10000000, %rdi
	movq	$0x40000e7, (%rdi)			/* maps 64 MiB, never touched */
	movabs	$HUSK_WINDOW_BASE + 300 * 0x40000000, %rdx
	cmpq	$0, (%rdx)
	jne	1f
	inc	%ebx
	movq	$0x55, 0x100(%rdx)
	movabs	$HUSK_DIRECT_MAP + 0x4000100, %rdi
	cmpq	$0x55, (%rdi)
	jne	1f
	inc	%ebx					/* 3: an image of this code, run there */
	movb	$0xc3, 0x200(%rdx)			/* ret */
	movabs	$HUSK_KERNEL_DATA + 0x3000, %rsp
	movabs	$HUSK_WINDOW_BASE + 300 * 0x40000000 + 0x200, %rax
	call	*%rax
	xor	%ebx, %ebx
1:	movabs	$SYSTEM_EXIT, %rax
	mov	%ebx, (%rax)
2:	pause
	jmp	2b
tiny_tables_end:

	.section .note.GNU-stack, "", @progbits
