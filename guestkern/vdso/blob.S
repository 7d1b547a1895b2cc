/* SPDX-License-Identifier: Apache-2.0 */
/* The vDSO image, for exec to map into every program. */
	.section .rodata
	.p2align 4
	.globl vdso_start, vdso_end
vdso_start:
	.incbin VDSO_FILE
vdso_end:
	.section .note.GNU-stack, "", @progbits
