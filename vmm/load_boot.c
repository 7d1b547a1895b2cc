/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a created VM to one that can start a kernel that is not ours: files, firmware tables, what
 * fw_cfg tells, and the registers of vCPU 0. The other vCPUs wait for INIT and SIPI in KVM.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "devices/fw_cfg.h"
#include "vmm/acpi.h"
#include "vmm/boot_kernel.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/vm.h"

#define MSR_IA32_MISC_ENABLE	0x1a0
#define MISC_FAST_STRING	1ull
#define MSR_MTRR_DEF_TYPE	0x2ff
#define MTRR_ENABLED_WB		0x806ull

/* The file at path, mapped; it stays so for fw_cfg. 0 or -errno after a message. */
static int file_map(const char *path, const char *what, struct boot_file *f)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		errno = ENODATA;
		if (st.st_size > 0)
			p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (p == MAP_FAILED) {
		int err = errno;

		husk_err("cannot read the %s %s: %s", what, path,
			 err == ENODATA ? "it is empty" : strerror(err));
		if (fd >= 0)
			close(fd);
		return -err;
	}
	close(fd);
	*f = (struct boot_file){ p, (size_t)st.st_size };
	return 0;
}

static struct kvm_segment segment(uint16_t selector, uint8_t type, bool is64)
{
	return (struct kvm_segment){
		.selector = selector, .limit = 0xffffffff, .type = type, .present = 1,
		.s = 1, .g = 1, .db = !is64, .l = is64,
	};
}

static int sregs_set(struct vcpu *vcpu, const struct boot_entry *e)
{
	struct kvm_sregs s;

	if (ioctl(vcpu->fd, KVM_GET_SREGS, &s) < 0)
		return -errno;
	s.cs = segment(e->long_mode ? BOOT_CS64 : BOOT_CS32, 11, e->long_mode);
	s.ds = s.es = s.ss = s.fs = s.gs = segment(BOOT_DS, 3, false);
	s.tr = (struct kvm_segment){ .selector = BOOT_TSS, .limit = 0x67, .type = 11, .present = 1 };
	s.ldt = (struct kvm_segment){ .type = 2, .unusable = 1 };
	s.gdt = (struct kvm_dtable){ .base = BOOT_GDT, .limit = BOOT_GDT_LIMIT };
	s.idt = (struct kvm_dtable){ .base = 0, .limit = 0 };
	s.cr0 = 0x11;				/* PE, ET */
	s.cr4 = s.cr3 = s.efer = 0;
	if (e->long_mode) {
		s.cr0 |= 1ull << 31;		/* PG */
		s.cr3 = BOOT_TABLES;
		s.cr4 = 1ull << 5;		/* PAE */
		s.efer = 1ull << 8 | 1ull << 10;	/* LME, LMA */
	}
	return ioctl(vcpu->fd, KVM_SET_SREGS, &s) < 0 ? -errno : 0;
}

static int regs_set(struct vcpu *vcpu, const struct boot_entry *e)
{
	struct kvm_regs r = {
		.rip = e->rip, .rax = e->rax, .rbx = e->rbx, .rsi = e->rsi, .rflags = 2,
	};

	return ioctl(vcpu->fd, KVM_SET_REGS, &r) < 0 ? -errno : 0;
}

/* What firmware would have set: memory is cached. A host that has no such MSR does without. */
static void msrs_set(struct vcpu *vcpu)
{
	static const struct kvm_msr_entry entry[] = {
		{ .index = MSR_MTRR_DEF_TYPE, .data = MTRR_ENABLED_WB },
		{ .index = MSR_IA32_MISC_ENABLE, .data = MISC_FAST_STRING },
	};

	for (unsigned i = 0; i < sizeof(entry) / sizeof(entry[0]); i++) {
		union {
			struct kvm_msrs head;
			uint8_t room[sizeof(struct kvm_msrs) + sizeof(entry[0])];
		} msrs = { .head = { .nmsrs = 1 } };

		memcpy(msrs.head.entries, &entry[i], sizeof(entry[i]));
		ioctl(vcpu->fd, KVM_SET_MSRS, &msrs);
	}
}

static int vcpus_set(struct vm *vm, const struct boot_entry *e)
{
	int ret = 0;

	for (unsigned i = 0; i < vm->ncpus && !ret; i++) {
		ret = boot_vcpu_cpuid(vm, &vm->vcpus[i]);
		msrs_set(&vm->vcpus[i]);
	}
	if (!ret)
		ret = sregs_set(&vm->vcpus[0], e);
	if (!ret)
		ret = regs_set(&vm->vcpus[0], e);
	if (ret)
		husk_err("KVM refuses the state of a vCPU: %s", strerror(-ret));
	return ret;
}

/* The memory map as firmware gives it (etc/e820). */
static int e820_add(struct vm *vm, const struct boot_request *rq)
{
	struct { uint64_t base, size; uint32_t type; } __attribute__((packed)) e[BOOT_MAX_RANGES];

	for (unsigned i = 0; i < rq->nranges; i++) {
		e[i].base = rq->map[i].base;
		e[i].size = rq->map[i].size;
		e[i].type = rq->map[i].type;
	}
	return fw_cfg_add_file(vm->fw_cfg, "etc/e820", e, rq->nranges * sizeof(e[0]));
}

static int fw_cfg_fill(struct vm *vm, const struct boot_request *rq, const struct boot_entry *e)
{
	const size_t cmdline = strlen(rq->cmdline) + 1;
	const struct { uint16_t key; uint64_t v; unsigned bytes; } number[] = {
		{ FW_CFG_RAM_SIZE, vm->cfg->memory_bytes, 8 },
		{ FW_CFG_NOGRAPHIC, 1, 2 },
		{ FW_CFG_NB_CPUS, vm->ncpus, 2 },
		{ FW_CFG_MAX_CPUS, vm->ncpus, 2 },
		{ FW_CFG_KERNEL_ADDR, e->kernel_addr, 4 },
		{ FW_CFG_KERNEL_SIZE, rq->kernel.size, 4 },
		{ FW_CFG_INITRD_ADDR, e->initrd_addr, 4 },
		{ FW_CFG_INITRD_SIZE, rq->initrd.size, 4 },
		{ FW_CFG_CMDLINE_ADDR, BOOT_CMDLINE, 4 },
		{ FW_CFG_CMDLINE_SIZE, cmdline, 4 },
		{ FW_CFG_IRQ0_OVERRIDE, 1, 4 },
	};
	int ret = e820_add(vm, rq);

	for (unsigned i = 0; i < sizeof(number) / sizeof(number[0]) && !ret; i++)
		ret = fw_cfg_add_number(vm->fw_cfg, number[i].key, number[i].v, number[i].bytes);
	if (!ret)
		ret = fw_cfg_add(vm->fw_cfg, FW_CFG_KERNEL_DATA, rq->kernel.data, rq->kernel.size);
	if (!ret)
		ret = fw_cfg_add(vm->fw_cfg, FW_CFG_INITRD_DATA, rq->initrd.data, rq->initrd.size);
	if (!ret)
		ret = fw_cfg_add(vm->fw_cfg, FW_CFG_CMDLINE_DATA, rq->cmdline, cmdline);
	if (ret)
		husk_err("fw_cfg: %s", strerror(-ret));
	return ret;
}

static int tables_write(struct vm *vm, struct boot_request *rq)
{
	int ret;

	boot_map_fill(rq);
	if (vm->cfg->mptable) {
		ret = mptable_write(&vm->mem, BOOT_MP_TABLE, vm->ncpus);
	} else {
		rq->rsdp = BOOT_ROM;
		ret = acpi_write(&vm->mem, BOOT_ROM, BOOT_MP_TABLE, vm->ncpus);
	}
	if (ret)
		husk_err("firmware tables: %s", strerror(-ret));
	return ret;
}

static int kernel_load_file(struct vm *vm, struct boot_request *rq, struct boot_entry *e)
{
	const char *why = "";

	if (!boot_load_kernel(rq, e, &why)) {
		husk_note("%s kernel at %#llx, entry %#llx", e->protocol,
			  (unsigned long long)e->kernel_addr, (unsigned long long)e->rip);
		return 0;
	}
	husk_err("cannot boot %s%s%s: %s", rq->kernel_name, e->protocol ? " by " : "",
		 e->protocol ? e->protocol : "", why);
	return -ENOEXEC;
}

int vm_load_boot(struct vm *vm)
{
	const struct config *cfg = vm->cfg;
	struct boot_request rq = {
		.mem = &vm->mem,
		.kernel_name = cfg->kernel_path,
		.initrd_name = cfg->initrd_path,
		.cmdline = cfg->append ? cfg->append : "",
	};
	struct boot_entry entry;
	int ret = file_map(cfg->kernel_path, "kernel", &rq.kernel);

	if (!ret && cfg->initrd_path)
		ret = file_map(cfg->initrd_path, "initrd", &rq.initrd);
	if (!ret)
		ret = boot_cpuid(vm);
	if (!ret)
		ret = tables_write(vm, &rq);
	if (!ret)
		ret = kernel_load_file(vm, &rq, &entry);
	if (!ret)
		ret = fw_cfg_fill(vm, &rq, &entry);
	return ret ? ret : vcpus_set(vm, &entry);
}
