/* SPDX-License-Identifier: Apache-2.0 */
/* Floating-point state and the FS base. Intel SDM volume 1, 10.5 (FXSAVE) and 13 (XSAVE). */
#include "proc/fpu.h"
#include "proc/task.h"
#include "core/fdt.h"
#include "core/print.h"
#include "core/string.h"
#include "husk/fdt.h"
#include "mm/kmalloc.h"
#include "nucleus/nucleus.h"

#define FXSAVE_SIZE	512
#define CPUID1_ECX_OSXSAVE (1u << 27)
#define MSR_FS_BASE	0xc0000100
#define FCW_DEFAULT	0x037f
#define MXCSR_DEFAULT	0x1f80

u32 fpu_size = FXSAVE_SIZE;
bool fpu_xsave;
u64 fpu_xcr0;
u32 cpu_hwcap;
static bool have_fsgsbase;
static u8 fpu_clean[4096] __attribute__((aligned(64)));

bool probe_rdfsbase(void);	/* nucleus/entry.S: false if the instruction traps */

static void cpuid(u32 leaf, u32 sub, u32 r[4])
{
	__asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(sub));
}

/* What the FDT does not say is asked of the CPU; each CPUID is an exit. */
void fpu_init(const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");
	u64 size = fdt_u32(fdt, chosen, HUSK_FDT_XSAVE_SIZE, ~0ull);
	u32 r[4];

	if (size == ~0ull) {
		cpuid(1, 0, r);
		cpu_hwcap = r[3];
		size = 0;
		if (r[2] & CPUID1_ECX_OSXSAVE) {
			cpuid(0xd, 0, r);
			size = r[1];
		}
	} else {
		cpu_hwcap = (u32)fdt_u32(fdt, chosen, HUSK_FDT_HWCAP, 0);
	}
	if (size > FXSAVE_SIZE && size <= sizeof(fpu_clean)) {
		u32 lo, hi;

		__asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
		fpu_xcr0 = lo | (u64)hi << 32;
		fpu_xsave = true;
		fpu_size = (u32)size;
	}
	*(u16 *)fpu_clean = FCW_DEFAULT;
	*(u32 *)(fpu_clean + 24) = MXCSR_DEFAULT;
	have_fsgsbase = probe_rdfsbase();
}

void *fpu_alloc(void)
{
	/* kmalloc's larger classes and page blocks are 64-byte aligned. */
	return kzalloc(MAX(fpu_size, FXSAVE_SIZE));
}

static void state_save(void *area)
{
	if (fpu_xsave)
		__asm__ volatile("xsave64 (%0)" : : "r"(area), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ volatile("fxsave64 (%0)" : : "r"(area) : "memory");
}

static void state_load(const void *area)
{
	if (fpu_xsave)
		__asm__ volatile("xrstor64 (%0)" : : "r"(area), "a"(~0u), "d"(~0u) : "memory");
	else
		__asm__ volatile("fxrstor64 (%0)" : : "r"(area) : "memory");
}

void fpu_save(struct task *task)
{
	state_save(task->fpu);
	task->fs_base = fsbase_read();
}

void fpu_restore(struct task *task)
{
	state_load(task->fpu);
	fsbase_write(task->fs_base);
}

void fpu_reset(void)
{
	state_load(fpu_clean);
}

u64 fsbase_read(void)
{
	u64 base;

	if (!have_fsgsbase)
		return current->fs_base;	/* only arch_prctl can have changed it */
	__asm__ volatile("rdfsbase %0" : "=r"(base));
	return base;
}

void fsbase_write(u64 base)
{
	current->fs_base = base;
	if (have_fsgsbase)
		__asm__ volatile("wrfsbase %0" : : "r"(base));
	else
		nucleus_wrmsr(MSR_FS_BASE, base);
}
