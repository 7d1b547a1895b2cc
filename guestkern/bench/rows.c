/* SPDX-License-Identifier: Apache-2.0 */
/* The table of rows. The VMM's list (vmm/bench_rows.c) has the same names. */
#include "bench/bench.h"
#include "core/string.h"
#include "nucleus/nucleus.h"

#define PM_TIMER_PORT		0x608

#define MSR_PRED_CMD		0x49
#define MSR_TSC_ADJUST		0x3b
#define MSR_ARCH_CAPABILITIES	0x10a
#define MSR_TSX_CTRL		0x122
#define MSR_KERNEL_GS_BASE	0xc0000102

#define X(name) extern const char bench_##name[];
X(ring0) X(vmcall) X(vmmcall) X(wbinvd) X(invd) X(mov_from_cr8) X(mov_to_cr8)
X(inl) X(inb) X(outb) X(mov_dr) X(wrmsr) X(rdmsr) X(ibrs) X(cr0_wp) X(cr4_pge)
X(self_ipi_sti_nop) X(self_ipi_sti_hlt) X(self_ipi_tpr) X(self_ipi_tpr_sti_nop) X(self_ipi_tpr_sti_hlt)
X(x2apic_self_ipi_sti_nop) X(x2apic_self_ipi_sti_hlt) X(x2apic_self_ipi_tpr)
X(x2apic_self_ipi_tpr_sti_nop) X(x2apic_self_ipi_tpr_sti_hlt)
X(tscdeadline) X(tscdeadline_immed) X(ple_round_robin) X(cpuid_loop)
#undef X

/* The instruction that KVM takes on this CPU: AMD's, unless its vendor is Intel or one like it. */
static unsigned prepare_vmcall(struct bench *b)
{
	u32 r[4];

	bench_cpuid(0, 0, r);
	if (r[1] == 0x68747541 || r[1] == 0x6f677948)	/* "Auth", "Hygo" */
		b->routine = bench_vmmcall;
	return HUSK_BENCH_S_OK;
}

static bool cpuid7_edx(unsigned bit)
{
	u32 r[4];

	bench_cpuid(0, 0, r);
	if (r[0] < 7)
		return false;
	bench_cpuid(7, 0, r);
	return r[3] & 1u << bit;
}

static bool cpuid_amd_ebx(unsigned bit)
{
	u32 r[4];

	bench_cpuid(0x80000000, 0, r);
	if (r[0] < 0x80000008)
		return false;
	bench_cpuid(0x80000008, 0, r);
	return r[1] & 1u << bit;
}

/* Writing what is not offered may succeed and mean nothing: ask first, as the original suite does. */
static unsigned prepare_ibrs(struct bench *b)
{
	return cpuid7_edx(26) || cpuid_amd_ebx(14) ? HUSK_BENCH_S_OK : HUSK_BENCH_S_FEATURE;
}

static unsigned prepare_ibpb(struct bench *b)
{
	return cpuid7_edx(26) || cpuid_amd_ebx(12) ? HUSK_BENCH_S_OK : HUSK_BENCH_S_FEATURE;
}

static unsigned prepare_tsx(struct bench *b)
{
	u64 caps;

	if (!cpuid7_edx(29) || nucleus_rdmsr(MSR_ARCH_CAPABILITIES, &caps) || !(caps & 1u << 7))
		return HUSK_BENCH_S_FEATURE;
	return HUSK_BENCH_S_OK;
}

/* For tests of the time budget: kernel code that does not come back. */
static u64 batch_hang(struct bench *b, u64 n)
{
	for (;;)
		__builtin_ia32_pause();
	return 0;
}

#define ALL(name, routine, arg, prepare) { name, BENCH_ALL, routine, arg, prepare, NULL }
#define ONE(name, routine, arg, prepare) { name, BENCH_ONE, routine, arg, prepare, NULL }
#define KERNEL(name, arg, prepare, batch) { name, BENCH_KERNEL, NULL, arg, prepare, batch }

static const struct bench_row rows[] = {
	ALL("ring0", bench_ring0, 0, NULL),
	ALL("cpuid", bench_cpuid_loop, 0, NULL),
	ALL("vmcall", bench_vmcall, 0, prepare_vmcall),
	ALL("wbinvd", bench_wbinvd, 0, NULL),
	ALL("invd", bench_invd, 0, NULL),
	ALL("mov_from_cr8", bench_mov_from_cr8, 0, NULL),
	ALL("mov_to_cr8", bench_mov_to_cr8, 0, NULL),
	ALL("inl_from_pmtimer", bench_inl, PM_TIMER_PORT, NULL),
	ALL("inl_from_qemu", bench_inl, HUSK_BENCH_PORT, NULL),
	ALL("inl_from_kernel", bench_inb, HUSK_BENCH_PORT_ELCR, NULL),
	ALL("outl_to_kernel", bench_outb, HUSK_BENCH_PORT_ELCR, NULL),
	ALL("mov_dr", bench_mov_dr, 0, NULL),
	ONE("tscdeadline_immed", bench_tscdeadline_immed, 0, bench_prepare_deadline),
	ONE("tscdeadline", bench_tscdeadline, 0, bench_prepare_deadline),
	ONE("self_ipi_sti_nop", bench_self_ipi_sti_nop, 0, bench_prepare_xapic),
	ONE("self_ipi_sti_hlt", bench_self_ipi_sti_hlt, 0, bench_prepare_xapic),
	ONE("self_ipi_tpr", bench_self_ipi_tpr, 0, bench_prepare_xapic),
	ONE("self_ipi_tpr_sti_nop", bench_self_ipi_tpr_sti_nop, 0, bench_prepare_xapic),
	ONE("self_ipi_tpr_sti_hlt", bench_self_ipi_tpr_sti_hlt, 0, bench_prepare_xapic),
	ONE("x2apic_self_ipi_sti_nop", bench_x2apic_self_ipi_sti_nop, 0, bench_prepare_x2apic),
	ONE("x2apic_self_ipi_sti_hlt", bench_x2apic_self_ipi_sti_hlt, 0, bench_prepare_x2apic),
	ONE("x2apic_self_ipi_tpr", bench_x2apic_self_ipi_tpr, 0, bench_prepare_x2apic),
	ONE("x2apic_self_ipi_tpr_sti_nop", bench_x2apic_self_ipi_tpr_sti_nop, 0, bench_prepare_x2apic),
	ONE("x2apic_self_ipi_tpr_sti_hlt", bench_x2apic_self_ipi_tpr_sti_hlt, 0, bench_prepare_x2apic),
	ONE("ipi", NULL, 0, bench_prepare_ipi),
	ONE("ipi_halt", NULL, 1, bench_prepare_ipi),
	{ "ple_round_robin", BENCH_RING, bench_ple_round_robin, 0, NULL, NULL },
	ALL("wr_kernel_gs_base", bench_wrmsr, MSR_KERNEL_GS_BASE, NULL),
	ALL("wr_tsx_ctrl_msr", bench_wrmsr, MSR_TSX_CTRL, prepare_tsx),
	ALL("wr_ibrs_msr", bench_ibrs, 0, prepare_ibrs),
	ALL("wr_ibpb_msr", bench_wrmsr, MSR_PRED_CMD | 1ull << 32, prepare_ibpb),
	ALL("wr_tsc_adjust_msr", bench_wrmsr, MSR_TSC_ADJUST, NULL),
	ALL("rd_tsc_adjust_msr", bench_rdmsr, MSR_TSC_ADJUST, NULL),
	ALL("toggle_cr0_wp", bench_cr0_wp, 0, NULL),
	ALL("toggle_cr4_pge", bench_cr4_pge, 0, NULL),
	ONE("mmio-no-eventfd:pci-mem", NULL, 0, bench_prepare_testdev),
	ONE("mmio-wildcard-eventfd:pci-mem", NULL, 1, bench_prepare_testdev),
	ONE("mmio-datamatch-eventfd:pci-mem", NULL, 2, bench_prepare_testdev),
	ONE("portio-no-eventfd:pci-io", NULL, BENCH_TEST_IO, bench_prepare_testdev),
	ONE("portio-wildcard-eventfd:pci-io", NULL, BENCH_TEST_IO + 1, bench_prepare_testdev),
	ONE("portio-datamatch-eventfd:pci-io", NULL, BENCH_TEST_IO + 2, bench_prepare_testdev),
	KERNEL("page_fault", 0, NULL, bench_batch_fault),
	KERNEL("cr3_switch", 0, bench_prepare_cr3, bench_batch_cr3),
	KERNEL("nucleus_call", 0, NULL, bench_batch_nucleus),
	{ "syscall_trap", BENCH_PROGRAM, NULL, 0, NULL, NULL },
	{ "syscall_patched", BENCH_PROGRAM, NULL, 1, NULL, NULL },
	KERNEL("ctx_2", 2, bench_prepare_tasks, bench_batch_tasks),
	KERNEL("ctx_20", 20, bench_prepare_tasks, bench_batch_tasks),
	KERNEL("ctx_50", 50, bench_prepare_tasks, bench_batch_tasks),
	KERNEL("hang", 0, NULL, batch_hang),
};

const struct bench_row *bench_row_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}
