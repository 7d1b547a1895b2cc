/* SPDX-License-Identifier: Apache-2.0 */
/* The guest kernel ELF inside the husk binary; the build gives its path in GUEST_KERNEL_FILE. */
	.section .rodata.guest_kernel, "a"
	.globl guest_kernel, guest_kernel_end
	.balign 4096
guest_kernel:
	.incbin GUEST_KERNEL_FILE
guest_kernel_end:
	.byte 0
	.section .note.GNU-stack, "", @progbits
