/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state in which a vCPU starts (include/husk/boot.h): page tables in guest RAM, CPUID, and
 * every privileged register, so that the guest kernel runs in ring 3 from its first instruction.
 *
 * Every level of the tables has US = 1, since the kernel lives in ring 3, and every leaf has A and
 * D set: KVM then need not fault to set them, and maps neighbours ahead.
 */
#include <elf.h>
#include <errno.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "husk/layout.h"
#include "vmm/log.h"
#include "vmm/vm.h"

/* Intel SDM volume 3, section 4.5: 4-level paging */
#define PTE_P		(1ull << 0)
#define PTE_RW		(1ull << 1)
#define PTE_US		(1ull << 2)
#define PTE_PWT		(1ull << 3)
#define PTE_PCD		(1ull << 4)
#define PTE_A		(1ull << 5)
#define PTE_D		(1ull << 6)
#define PTE_PS		(1ull << 7)
#define PTE_G		(1ull << 8)
#define PTE_NX		(1ull << 63)
#define PTE_TABLE	(PTE_P | PTE_RW | PTE_US | PTE_A)
#define PTE_LEAF	(PTE_P | PTE_US | PTE_A | PTE_D | PTE_PS | PTE_G)

#define HUGE		0x200000ull
#define GIB		0x40000000ull
#define TABLE_BYTES	4096ull
#define PML4_SLOT	(HUSK_WINDOW_BASE >> 39 & 511)
#define KERNEL_SLOT	(HUSK_KERNEL_VIRT >> 30 & 511)

/* Section 2.5: control registers; 2.2.1: EFER */
#define CR0_BOOT	(1ull << 0 | 1ull << 1 | 1ull << 4 | 1ull << 5 | 1ull << 16 | 1ull << 18 | \
			 1ull << 31)				/* PE MP ET NE WP AM PG */
#define CR4_BOOT	(1ull << 5 | 1ull << 9 | 1ull << 10)	/* PAE OSFXSR OSXMMEXCPT */
#define CR4_PGE		(1ull << 7)
#define CR4_FSGSBASE	(1ull << 16)
#define CR4_OSXSAVE	(1ull << 18)
#define EFER_BOOT	(1ull << 0 | 1ull << 8 | 1ull << 10 | 1ull << 11) /* SCE LME LMA NXE */
#define RFLAGS_BOOT	0x202		/* IF and the bit that is always 1 */

#define MSR_STAR	0xc0000081
#define MSR_LSTAR	0xc0000082
#define MSR_FMASK	0xc0000084

#define CPUID_MAX	256

/* Page tables being built from HUSK_BOOT_TABLES up. */
struct tables {
	const struct guest_mem *mem;
	uint64_t next;
	uint64_t *pdpt;
};

/* A fresh table; RAM is zero before the first run. NULL when the room is used up. */
static uint64_t *table_new(struct tables *t, uint64_t *gpa)
{
	uint64_t *p;

	if (t->next + TABLE_BYTES > HUSK_BOOT_END)
		return NULL;
	p = guest_mem_ptr(t->mem, GPA(t->next), TABLE_BYTES);
	if (p) {
		*gpa = t->next;
		t->next += TABLE_BYTES;
	}
	return p;
}

/* The page directory behind slot `slot` of the PDPT. */
static uint64_t *directory_get(struct tables *t, unsigned slot)
{
	uint64_t gpa;
	uint64_t *pd;

	if (t->pdpt[slot])
		return guest_mem_ptr(t->mem, GPA(t->pdpt[slot] & ~0xfffull), TABLE_BYTES);
	pd = table_new(t, &gpa);
	if (pd)
		t->pdpt[slot] = gpa | PTE_TABLE;
	return pd;
}

/* Map [base, base + size) of guest physical memory into the direct map. */
static int direct_map(struct tables *t, uint64_t base, uint64_t size, uint64_t flags)
{
	for (uint64_t gpa = base & ~(HUGE - 1); gpa < base + size; gpa += HUGE) {
		uint64_t *pd = directory_get(t, gpa / GIB);

		if (!pd)
			return -ENOMEM;
		pd[gpa / HUGE & 511] = gpa | PTE_LEAF | PTE_NX | flags;
	}
	return 0;
}

/* Does a writable segment lie, even in part, in the 2 MiB page at gpa? */
static bool image_writes(const struct kernel_image *img, uint64_t gpa)
{
	for (unsigned i = 0; i < img->nsegs; i++) {
		const struct kernel_segment *s = &img->seg[i];

		if ((s->flags & PF_W) && s->paddr < gpa + HUGE && s->paddr + s->memsz > gpa)
			return true;
	}
	return false;
}

/*
 * The kernel image. Code is read-only in the direct map too, unless it shares its 2 MiB page with
 * data: then the direct map has it writable, never executable.
 */
static int image_map(struct tables *t, const struct kernel_image *img)
{
	uint64_t *pd = directory_get(t, KERNEL_SLOT);

	if (!pd)
		return -ENOMEM;
	for (unsigned i = 0; i < img->nsegs; i++) {
		const struct kernel_segment *s = &img->seg[i];
		uint64_t off = s->vaddr & (HUGE - 1);
		uint64_t flags = PTE_LEAF | (s->flags & PF_W ? PTE_RW : 0) |
				 (s->flags & PF_X ? 0 : PTE_NX);

		for (uint64_t at = 0; at < off + s->memsz; at += HUGE) {
			uint64_t gpa = s->paddr - off + at;

			pd[(s->vaddr - HUSK_KERNEL_VIRT + at) / HUGE] = gpa | flags;
			if (!(s->flags & PF_W) && !image_writes(img, gpa))
				directory_get(t, gpa / GIB)[gpa / HUGE & 511] &= ~PTE_RW;
		}
	}
	return 0;
}

int boot_tables(struct vm *vm, uint64_t *end)
{
	static const struct { uint64_t base, size; } device_map[] = {
		{ HUSK_PCI_MMIO_BASE, HUSK_PCI_MMIO_SIZE },
		{ HUSK_ECAM_BASE, HUSK_ECAM_SIZE },
		{ HUSK_SERIAL_MMIO, HUGE },		/* the platform devices share 2 MiB */
		{ HUSK_LAPIC_BASE, TABLE_BYTES },
	};
	struct tables t = { .mem = &vm->mem, .next = HUSK_BOOT_TABLES };
	uint64_t pml4_gpa = 0, pdpt_gpa = 0;
	uint64_t *pml4 = table_new(&t, &pml4_gpa);
	int ret = 0;

	t.pdpt = table_new(&t, &pdpt_gpa);
	if (!pml4 || !t.pdpt)
		return -ENOMEM;
	pml4[PML4_SLOT] = pdpt_gpa | PTE_TABLE;
	for (unsigned i = 0; i < vm->mem.nregions && !ret; i++)
		ret = direct_map(&t, vm->mem.region[i].base, vm->mem.region[i].size, PTE_RW);
	for (unsigned i = 0; i < sizeof(device_map) / sizeof(device_map[0]) && !ret; i++)
		ret = direct_map(&t, device_map[i].base, device_map[i].size,
				 PTE_RW | PTE_PCD | PTE_PWT);
	if (!ret)
		ret = image_map(&t, &vm->kernel);
	vm->cr3 = pml4_gpa;
	*end = t.next;
	return ret;
}

static struct kvm_cpuid_entry2 *cpuid_find(struct kvm_cpuid2 *c, uint32_t function, uint32_t index)
{
	for (uint32_t i = 0; i < c->nent; i++)
		if (c->entries[i].function == function && c->entries[i].index == index)
			return &c->entries[i];
	return NULL;
}

/* KVM never lists the TSC-deadline timer; our kernel has no use for it, but husk bench has. */
static void deadline_offer(struct vm *vm)
{
	struct kvm_cpuid_entry2 *leaf1 = cpuid_find(vm->cpuid, 1, 0);

	if (leaf1 && ioctl(vm->vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_TSC_DEADLINE_TIMER) > 0)
		leaf1->ecx |= 1u << 24;
}

int boot_cpuid(struct vm *vm)
{
	struct kvm_cpuid2 *c = calloc(1, sizeof(*c) + CPUID_MAX * sizeof(c->entries[0]));

	if (!c)
		return -ENOMEM;
	c->nent = CPUID_MAX;
	if (ioctl(vm->kvm_fd, KVM_GET_SUPPORTED_CPUID, c) < 0) {
		int err = errno;

		free(c);
		husk_err("KVM does not tell which CPU features it supports: %s", strerror(err));
		return -err;
	}
	vm->cpuid = c;
	if (vm->cfg->bench)
		deadline_offer(vm);
	return 0;
}

const struct kvm_cpuid_entry2 *boot_cpuid_find(struct vm *vm, uint32_t function, uint32_t index)
{
	return cpuid_find(vm->cpuid, function, index);
}

static unsigned bits_for(unsigned n)
{
	unsigned bits = 0;

	while (1u << bits < n)
		bits++;
	return bits;
}

/* Leaves 0xb and 0x1f: one thread a core, all cores in one package. SDM volume 2, CPUID. */
static void topology_fix(struct kvm_cpuid_entry2 *e, unsigned apic_id, unsigned ncpus)
{
	e->eax = e->ebx = 0;
	e->ecx = e->index;
	e->edx = apic_id;
	if (e->index == 0) {
		e->ebx = 1;
		e->ecx |= 1 << 8;			/* SMT level */
	} else if (e->index == 1) {
		e->eax = bits_for(ncpus);
		e->ebx = ncpus;
		e->ecx |= 2 << 8;			/* core level */
	}
}

/* What names the vCPU or counts its siblings; the rest is as KVM gives it, its PV leaf included. */
static void cpuid_fix(struct kvm_cpuid2 *c, unsigned apic_id, unsigned ncpus)
{
	for (uint32_t i = 0; i < c->nent; i++) {
		struct kvm_cpuid_entry2 *e = &c->entries[i];

		switch (e->function) {
		case 1:
			e->ebx = (e->ebx & 0xffff) | apic_id << 24 | ncpus << 16;
			e->ecx |= 1u << 31;		/* hypervisor present */
			if (ncpus > 1)
				e->edx |= 1u << 28;	/* ebx's count is valid */
			else
				e->edx &= ~(1u << 28);
			break;
		case 4:
			e->eax &= ~0xffffc000;		/* caches are nobody else's */
			e->eax |= (ncpus - 1) << 26;
			break;
		case 0xb:
		case 0x1f:
			topology_fix(e, apic_id, ncpus);
			break;
		case 0x80000008:
			e->ecx = (e->ecx & ~0xf0ffu) | bits_for(ncpus) << 12 | (ncpus - 1);
			break;
		case 0x8000001e:
			e->eax = apic_id;
			e->ebx = apic_id;
			e->ecx = 0;
			break;
		}
	}
}

/* KVM lists only the first subleaves of a topology leaf; add those up to the core level. */
static void topology_complete(struct kvm_cpuid2 *c)
{
	static const uint32_t leaf[] = { 0xb, 0x1f };

	for (unsigned i = 0; i < 2; i++)
		for (uint32_t index = 1; index <= 2; index++)
			if (cpuid_find(c, leaf[i], 0) && !cpuid_find(c, leaf[i], index) &&
			    c->nent < CPUID_MAX)
				c->entries[c->nent++] = (struct kvm_cpuid_entry2){
					.function = leaf[i], .index = index,
					.flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
				};
}

static struct kvm_segment segment_flat(uint16_t selector, uint8_t type)
{
	return (struct kvm_segment){
		.selector = selector, .limit = 0xffffffff, .type = type, .present = 1,
		.dpl = 3, .s = 1, .g = 1, .db = type == 3, .l = type == 11,
	};
}

static int sregs_set(struct vm *vm, struct vcpu *vcpu)
{
	const struct husk_boot_note *n = &vm->kernel.note;
	const struct kvm_cpuid_entry2 *leaf1 = cpuid_find(vm->cpuid, 1, 0);
	const struct kvm_cpuid_entry2 *leaf7 = cpuid_find(vm->cpuid, 7, 0);
	uint64_t block = n->percpu + vcpu->id * n->percpu_stride;
	struct kvm_sregs s;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &s) < 0)	/* for apic_base */
		return -errno;
	s.cs = segment_flat(HUSK_USER_CS, 11);
	s.ds = s.es = s.ss = segment_flat(HUSK_USER_DS, 3);
	s.fs = s.gs = segment_flat(0, 3);
	s.gs.base = block;
	s.tr = (struct kvm_segment){
		.selector = HUSK_TSS_SEL, .base = block + n->tss_offset, .limit = n->tss_limit,
		.type = 11, .present = 1,		/* busy 64-bit TSS */
	};
	s.ldt = (struct kvm_segment){ .type = 2, .unusable = 1 };
	s.gdt = (struct kvm_dtable){ .base = n->gdt, .limit = n->gdt_limit };
	s.idt = (struct kvm_dtable){ .base = n->idt, .limit = n->idt_limit };
	s.cr0 = CR0_BOOT;
	s.cr2 = 0;
	s.cr3 = vm->cr3;
	s.cr4 = CR4_BOOT;
	if (leaf1 && (leaf1->edx & 1u << 13))
		s.cr4 |= CR4_PGE;
	if (leaf1 && (leaf1->ecx & 1u << 26))
		s.cr4 |= CR4_OSXSAVE;
	if (leaf7 && (leaf7->ebx & 1u << 0))
		s.cr4 |= CR4_FSGSBASE;
	s.efer = EFER_BOOT;
	return ioctl(vcpu->fd, KVM_SET_SREGS, &s) < 0 ? -errno : 0;
}

static int regs_set(struct vm *vm, struct vcpu *vcpu)
{
	struct kvm_regs r = {
		.rip = vm->kernel.entry,
		.rdi = HUSK_DIRECT_MAP + vm->fdt_gpa,
		.rsi = vcpu->id,
		.rflags = RFLAGS_BOOT,
	};
	struct kvm_fpu fpu = { .fcw = 0x37f, .mxcsr = 0x1f80 };

	if (ioctl(vcpu->fd, KVM_SET_REGS, &r) < 0)
		return -errno;
	return ioctl(vcpu->fd, KVM_SET_FPU, &fpu) < 0 ? -errno : 0;
}

static int msrs_set(struct vm *vm, struct vcpu *vcpu)
{
	const struct husk_boot_note *n = &vm->kernel.note;
	const struct kvm_msr_entry entry[3] = {
		{ .index = MSR_STAR, .data = n->star },
		{ .index = MSR_LSTAR, .data = n->lstar },
		{ .index = MSR_FMASK, .data = n->fmask },
	};
	union {
		struct kvm_msrs head;
		uint8_t room[sizeof(struct kvm_msrs) + sizeof(entry)];
	} msrs = { .head = { .nmsrs = 3 } };
	int done;

	memcpy(msrs.head.entries, entry, sizeof(entry));
	done = ioctl(vcpu->fd, KVM_SET_MSRS, &msrs);
	return done < 0 ? -errno : done < 3 ? -EINVAL : 0;
}

static int xcrs_set(struct vm *vm, struct vcpu *vcpu)
{
	const struct kvm_cpuid_entry2 *leaf1 = cpuid_find(vm->cpuid, 1, 0);
	const struct kvm_cpuid_entry2 *leafd = cpuid_find(vm->cpuid, 0xd, 0);
	struct kvm_xcrs x = { .nr_xcrs = 1 };

	if (!leaf1 || !(leaf1->ecx & 1u << 26) || !leafd)
		return 0;
	x.xcrs[0].value = (uint64_t)leafd->edx << 32 | leafd->eax;
	return ioctl(vcpu->fd, KVM_SET_XCRS, &x) < 0 ? -errno : 0;
}

int boot_vcpu_cpuid(struct vm *vm, struct vcpu *vcpu)
{
	struct kvm_cpuid_entry2 *leaf1 = cpuid_find(vm->cpuid, 1, 0);

	if (!vcpu->id)
		topology_complete(vm->cpuid);
	cpuid_fix(vm->cpuid, vcpu->id, vm->ncpus);
	/* KVM offers the TSC-deadline timer by a capability, not in its list. */
	if (leaf1 && vm->irqchip && ioctl(vm->kvm_fd, KVM_CHECK_EXTENSION, KVM_CAP_TSC_DEADLINE_TIMER) > 0)
		leaf1->ecx |= 1u << 24;
	return ioctl(vcpu->fd, KVM_SET_CPUID2, vm->cpuid) < 0 ? -errno : 0;
}

int boot_vcpu(struct vm *vm, struct vcpu *vcpu)
{
	struct kvm_mp_state mp = { .mp_state = KVM_MP_STATE_RUNNABLE };
	const char *what = "CPUID";
	int ret;

	/* First of all: with no CPUID set, KVM does not know NX and large pages. */
	ret = boot_vcpu_cpuid(vm, vcpu);
	if (!ret) {
		what = "special registers";
		ret = sregs_set(vm, vcpu);
	}
	if (!ret) {
		what = "registers";
		ret = regs_set(vm, vcpu);
	}
	if (!ret) {
		what = "system-call MSRs";
		ret = msrs_set(vm, vcpu);
	}
	if (!ret) {
		what = "XCR0";
		ret = xcrs_set(vm, vcpu);
	}
	if (!ret && vcpu->id) {
		/* With the LAPIC in KVM, all but the first would wait for a start-up IPI. */
		what = "run state";
		ret = ioctl(vcpu->fd, KVM_SET_MP_STATE, &mp) < 0 ? -errno : 0;
	}
	if (ret)
		husk_err("KVM refuses the %s of vCPU %u: %s", what, vcpu->id, strerror(-ret));
	return ret;
}
