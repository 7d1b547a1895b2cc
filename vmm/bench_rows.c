/* SPDX-License-Identifier: Apache-2.0 */
/* Names, in the order in which they are measured and printed. */
#include "vmm/bench_rows.h"

#include <string.h>

#define ALL(name, what)		{ name, 1, true, false, false, what }
#define ONE(name, what)		{ name, 1, false, false, false, what }
#define PIC(name, what)		{ name, 1, true, true, false, what }
#define TWO(name, what)		{ name, 2, false, false, false, what }

const struct bench_row_info bench_rows[] = {
	ALL("cpuid", "CPUID, leaf 0"),
	ALL("vmcall", "a hypercall that KVM does not know"),
	ALL("wbinvd", "WBINVD"),
	ALL("invd", "INVD"),
	ALL("mov_from_cr8", "read CR8"),
	ALL("mov_to_cr8", "write CR8"),
	ALL("inl_from_pmtimer", "read the ACPI PM timer's port (a device of husk)"),
	ALL("inl_from_qemu", "read a port that user space answers"),
	PIC("inl_from_kernel", "read a port that KVM answers (PIC, ELCR)"),
	PIC("outl_to_kernel", "write a port that KVM answers"),
	ALL("mov_dr", "write DR7"),
	ONE("tscdeadline_immed", "arm the TSC-deadline timer for now"),
	ONE("tscdeadline", "arm it 3000 cycles ahead and wait for the interrupt"),
	ONE("self_ipi_sti_nop", "interrupt to itself by xAPIC ICR; sti; nop"),
	ONE("self_ipi_sti_hlt", "ditto; sti; hlt"),
	ONE("self_ipi_tpr", "held back by CR8, then let through"),
	ONE("self_ipi_tpr_sti_nop", "CR8, then sti; nop"),
	ONE("self_ipi_tpr_sti_hlt", "CR8, then sti; hlt"),
	ONE("x2apic_self_ipi_sti_nop", "interrupt to itself by the SELF_IPI MSR; sti; nop"),
	ONE("x2apic_self_ipi_sti_hlt", "ditto; sti; hlt"),
	ONE("x2apic_self_ipi_tpr", "held back by CR8, then let through"),
	ONE("x2apic_self_ipi_tpr_sti_nop", "CR8, then sti; nop"),
	ONE("x2apic_self_ipi_tpr_sti_hlt", "CR8, then sti; hlt"),
	TWO("ipi", "interrupt to another vCPU until it has run its handler"),
	TWO("ipi_halt", "ditto, and 2000 cycles so that it sleeps again"),
	{ "ple_round_robin", 2, true, false, false, "a token goes round all vCPUs, which spin with pause" },
	ALL("wr_kernel_gs_base", "write IA32_KERNEL_GS_BASE"),
	ALL("wr_tsx_ctrl_msr", "write IA32_TSX_CTRL"),
	ALL("wr_ibrs_msr", "IA32_SPEC_CTRL.IBRS on and off"),
	ALL("wr_ibpb_msr", "IA32_PRED_CMD.IBPB"),
	ALL("wr_tsc_adjust_msr", "write IA32_TSC_ADJUST"),
	ALL("rd_tsc_adjust_msr", "read IA32_TSC_ADJUST"),
	ALL("toggle_cr0_wp", "CR0.WP off and on"),
	ALL("toggle_cr4_pge", "CR4.PGE off and on"),
	ONE("mmio-no-eventfd:pci-mem", "byte to a memory BAR, served in user space"),
	ONE("mmio-wildcard-eventfd:pci-mem", "ditto, served by an ioeventfd for any data"),
	ONE("mmio-datamatch-eventfd:pci-mem", "ditto, for one value"),
	ONE("portio-no-eventfd:pci-io", "byte to an I/O BAR, served in user space"),
	ONE("portio-wildcard-eventfd:pci-io", "ditto, served by an ioeventfd for any data"),
	ONE("portio-datamatch-eventfd:pci-io", "ditto, for one value"),
	ONE("page_fault", "#PF to husk's ring-3 kernel and back, nothing mapped"),
	ONE("cr3_switch", "load the other one of two address spaces"),
	ONE("nucleus_call", "int3 to ring 0 and back"),
	ONE("syscall_trap", "getpid(2) by SYSCALL"),
	ONE("syscall_patched", "getpid(2) by a rewritten call site"),
	ONE("ctx_2", "switch between 2 processes"),
	ONE("ctx_20", "20 processes in a ring"),
	ONE("ctx_50", "50 processes in a ring"),
	{ "ring0", 1, true, false, true, "an empty loop in ring 0: two instructions" },
	{ "hang", 1, false, false, true, "never answers (for tests)" },
};
const size_t bench_row_count = sizeof(bench_rows) / sizeof(bench_rows[0]);

const struct bench_row_info *bench_row_info(const char *name)
{
	for (size_t i = 0; i < bench_row_count; i++)
		if (!strcmp(bench_rows[i].name, name))
			return &bench_rows[i];
	return NULL;
}
