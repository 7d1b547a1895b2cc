/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A Multiboot kernel for tests/cli/boot: prints, starts the other vCPUs by INIT and SIPI through a
 * real-mode trampoline, checks fw_cfg's signature and the number of vCPUs that fw_cfg tells, and
 * ends by the debug exit port with 0 (husk's status 1), or the number of the failed step.
 */
#define LAPIC		0xfee00000
#define ICR_LOW		(LAPIC + 0x300)
#define TRAMPOLINE	0x8000
#define COUNT		0x7000		/* where the other vCPUs count themselves */

	.section .multiboot, "a"
	.code32
	.align	4
	.long	0x1badb002, 0x10002, -(0x1badb002 + 0x10002)
	.long	header, header, 0, 0, start
	.set	header, . - 32

	.globl	start
start:
	mov	$stack_end, %esp
	mov	%eax, %ebp
	mov	$message, %esi
1:	lodsb
	test	%al, %al
	jz	2f
	mov	$0x3f8, %dx
	outb	%al, %dx
	jmp	1b
2:	mov	$1, %ebx			/* 1: the loader's magic */
	cmp	$0x2badb002, %ebp
	jne	fail
	inc	%ebx				/* 2: fw_cfg's signature */
	mov	$0x510, %dx
	xor	%eax, %eax
	outw	%ax, %dx
	inc	%edx
	inb	%dx, %al
	cmp	$'Q', %al
	jne	fail
	inc	%ebx				/* 3: as many vCPUs as fw_cfg says */
	dec	%edx
	mov	$5, %eax
	outw	%ax, %dx
	inc	%edx
	inb	%dx, %al
	movzbl	%al, %ebp
	mov	$trampoline, %esi
	mov	$TRAMPOLINE, %edi
	mov	$trampoline_end - trampoline, %ecx
	rep	movsb
	movl	$1, COUNT
	movl	$0x000c4500, ICR_LOW		/* INIT to all others */
	movl	$0x000c4600 + (TRAMPOLINE >> 12), ICR_LOW	/* SIPI */
	mov	$0x4000000, %ecx
3:	pause
	cmp	%ebp, COUNT
	je	4f
	loop	3b
	jmp	fail
4:	xor	%ebx, %ebx
fail:
	mov	$0xf4, %dx
	mov	%ebx, %eax
	outl	%eax, %dx
5:	hlt
	jmp	5b

	.code16
trampoline:
	cli
	xor	%ax, %ax
	mov	%ax, %ds
	lock incl COUNT
6:	hlt
	jmp	6b
trampoline_end:

message:
	.asciz	"multiboot kernel\n"
	.align	16
	.skip	256
stack_end:
