/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Per-vCPU blocks and the descriptor tables. The VMM has already loaded GDTR, IDTR and TR with
 * these addresses (boot note in entry.S); the contents are filled in here, before the first trap.
 */
#include "nucleus/percpu.h"
#include "core/string.h"
#include "husk/layout.h"

__attribute__((section(".bss.percpu"), aligned(4096))) struct percpu percpu_blocks[HUSK_MAX_CPUS];

/* Linux's selectors; the TSS descriptor of each vCPU is only in its TR, so the slot here serves all. */
u64 gdt[9 + 2] = {
	[HUSK_KERNEL_CS / 8] = 0x00af9b000000ffff,
	[HUSK_KERNEL_DS / 8] = 0x00cf93000000ffff,
	[HUSK_USER32_CS / 8] = 0x00cffb000000ffff,
	[HUSK_USER_DS / 8] = 0x00cff3000000ffff,
	[HUSK_USER_CS / 8] = 0x00affb000000ffff,
	[HUSK_TSS_SEL / 8] = 0x00008b0000000067,
};

struct gate {			/* Intel SDM volume 3, figure 6-8 */
	u16 off_low, selector;
	u8 ist, type;
	u16 off_mid;
	u32 off_high, reserved;
};

#define GATES 0x70
#define GATE_INTERRUPT		0x8e
#define GATE_INTERRUPT_USER	0xee	/* int3 and into are allowed from ring 3 */

struct gate idt[GATES];

extern void upcall_page_fault(void), upcall_trap(void), upcall_interrupt(void), upcall_syscall(void);
extern void syscall_fast(void);
extern const u64 stub_exceptions[32];
extern const u8 stub_interrupts[], stub_interrupts_end[];

void gate_set(unsigned vec, u64 target)
{
	idt[vec] = (struct gate){
		.off_low = target, .off_mid = target >> 16, .off_high = target >> 32,
		.selector = HUSK_KERNEL_CS,
		.type = vec == 3 || vec == 4 ? GATE_INTERRUPT_USER : GATE_INTERRUPT,
	};
}

void descriptors_init(void)
{
	const u64 stub_size = 64;	/* .p2align 5 and the macro's length; asserted below */

	if ((u64)(stub_interrupts_end - stub_interrupts) - 63 * stub_size > stub_size)
		__builtin_trap();
	for (unsigned i = 0; i < 32; i++)
		if (stub_exceptions[i])
			gate_set(i, stub_exceptions[i]);
	for (unsigned i = 0; i < 64; i++)
		gate_set(HUSK_VECTOR_BASE + i, (u64)stub_interrupts + i * stub_size);
}

static void frame_init(struct percpu *cpu, unsigned i, void (*entry)(void))
{
	cpu->prebuilt[i] = (struct iret_frame){
		.rip = (u64)entry, .cs = HUSK_USER_CS, .rflags = 0x202, .ss = HUSK_USER_DS,
		/* Never used: each entry sets its stack before it pushes. */
		.rsp = (u64)&cpu->slots[0],
	};
	cpu->frame[i] = &cpu->prebuilt[i];
}

void percpu_init(struct percpu *cpu, unsigned id)
{
	cpu->id = id;
	cpu->tss.rsp0 = (u64)cpu + RSP0_MASKED;
	cpu->tss.iomap_base = sizeof(struct tss);
	cpu->fast_entry = syscall_fast;
	frame_init(cpu, 0, upcall_page_fault);
	frame_init(cpu, 1, upcall_trap);
	frame_init(cpu, 2, upcall_interrupt);
	frame_init(cpu, 3, upcall_syscall);
}
