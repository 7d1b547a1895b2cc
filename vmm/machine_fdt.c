/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flattened devicetree: everything the guest kernel learns from us (include/husk/fdt.h),
 * written straight into guest RAM behind the page tables.
 */
#include <errno.h>
#include <libfdt.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include "husk/fdt.h"
#include "husk/layout.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/terminal.h"
#include "vmm/vm.h"

#define CPUID1_ECX_XSAVE (1u << 26)
#define SEED_BYTES		32
#define APIC_HZ_DEFAULT		1000000000u
#ifndef KVM_CAP_X86_APIC_BUS_CYCLES_NS
#define KVM_CAP_X86_APIC_BUS_CYCLES_NS	237
#endif

/* libfdt's errors as ours: only running out of room is expected. */
static int fdt_ret(int ret)
{
	return ret >= 0 ? 0 : ret == -FDT_ERR_NOSPACE ? -E2BIG : -EINVAL;
}

static int reg_put(void *fdt, uint64_t base, uint64_t size)
{
	fdt64_t reg[2] = { cpu_to_fdt64(base), cpu_to_fdt64(size) };

	return fdt_property(fdt, "reg", reg, sizeof(reg));
}

/* A NULL-terminated vector as one property of NUL-terminated strings. */
static int strings_put(void *fdt, const char *name, char *const *v)
{
	size_t len = 0;
	char *p;
	void *val;
	int ret;

	for (char *const *s = v; s && *s; s++) {
		len += strlen(*s) + 1;
		if (len > HUSK_BOOT_END)	/* cannot fit; also keeps len an int */
			return -FDT_ERR_NOSPACE;
	}
	ret = fdt_property_placeholder(fdt, name, len, &val);
	if (ret)
		return ret;
	p = val;
	for (char *const *s = v; s && *s; s++)
		p = stpcpy(p, *s) + 1;
	return 0;
}

static int memory_put(struct vm *vm, void *fdt)
{
	int ret = 0;

	for (unsigned i = 0; i < vm->mem.nregions && !ret; i++) {
		const struct guest_mem_region *r = &vm->mem.region[i];
		char name[32];

		snprintf(name, sizeof(name), "memory@%llx", (unsigned long long)r->base);
		ret = fdt_begin_node(fdt, name);
		if (!ret)
			ret = fdt_property_string(fdt, "device_type", "memory");
		if (!ret)
			ret = reg_put(fdt, r->base, r->size);
		if (!ret)
			ret = fdt_end_node(fdt);
	}
	return ret;
}

static int cpus_put(struct vm *vm, void *fdt)
{
	int ret = fdt_begin_node(fdt, "cpus");

	if (!ret)
		ret = fdt_property_u32(fdt, "#address-cells", 1);
	if (!ret)
		ret = fdt_property_u32(fdt, "#size-cells", 0);
	for (unsigned i = 0; i < vm->ncpus && !ret; i++) {
		char name[16];

		snprintf(name, sizeof(name), "cpu@%x", i);
		ret = fdt_begin_node(fdt, name);
		if (!ret)
			ret = fdt_property_string(fdt, "device_type", "cpu");
		if (!ret)
			ret = fdt_property_u32(fdt, "reg", i);
		if (!ret)
			ret = fdt_end_node(fdt);
	}
	return ret ? ret : fdt_end_node(fdt);
}

static int stdio_put(struct vm *vm, void *fdt)
{
	char *kind[4] = { 0 };
	bool tty = false;
	unsigned rows, cols;
	int ret;

	for (int fd = 0; fd < 3; fd++) {
		kind[fd] = (char *)vm->stdio[fd];
		tty |= !strcmp(kind[fd], HUSK_STDIO_TTY);
	}
	ret = strings_put(fdt, HUSK_FDT_STDIO, kind);
	if (!ret && tty && terminal_size(&rows, &cols)) {
		fdt32_t size[2] = { cpu_to_fdt32(rows), cpu_to_fdt32(cols) };

		ret = fdt_property(fdt, HUSK_FDT_TTY_SIZE, size, sizeof(size));
	}
	return ret;
}

static int mounts_put(struct vm *vm, void *fdt)
{
	int ret = 0;

	for (size_t i = 0; i < vm->view.nmounts && !ret; i++) {
		const struct init_mount *m = &vm->view.mounts[i];
		char name[32];

		snprintf(name, sizeof(name), HUSK_FDT_MOUNT "@%zx", i);
		ret = fdt_begin_node(fdt, name);
		if (!ret)
			ret = fdt_property_string(fdt, HUSK_FDT_MOUNT_SOURCE, m->source);
		if (!ret)
			ret = fdt_property_string(fdt, HUSK_FDT_MOUNT_TARGET, m->target);
		if (!ret && m->rw)
			ret = fdt_property(fdt, HUSK_FDT_MOUNT_RW, NULL, 0);
		if (!ret && m->overlay)
			ret = fdt_property(fdt, HUSK_FDT_MOUNT_OVERLAY, NULL, 0);
		if (!ret)
			ret = fdt_end_node(fdt);
	}
	return ret;
}

static int init_put(struct vm *vm, void *fdt)
{
	const struct config *cfg = vm->cfg;
	int ret = fdt_begin_node(fdt, HUSK_FDT_INIT);

	if (!ret)
		ret = strings_put(fdt, HUSK_FDT_ARGV, cfg->argv);
	if (!ret)
		ret = strings_put(fdt, HUSK_FDT_ENVP, cfg->envp);
	if (!ret)
		ret = fdt_property_string(fdt, HUSK_FDT_CWD,
					  vm->view.workdir ? vm->view.workdir : "/");
	if (!ret)
		ret = fdt_property_u32(fdt, HUSK_FDT_UID, cfg->uid);
	if (!ret)
		ret = fdt_property_u32(fdt, HUSK_FDT_GID, cfg->gid);
	if (!ret && cfg->hostname)
		ret = fdt_property_string(fdt, HUSK_FDT_HOSTNAME, cfg->hostname);
	if (!ret)
		ret = stdio_put(vm, fdt);
	if (!ret && cfg->no_patch)
		ret = fdt_property(fdt, HUSK_FDT_NO_PATCH, NULL, 0);
	if (!ret && cfg->trace)
		ret = fdt_property_u32(fdt, HUSK_FDT_TRACE, cfg->trace);
	if (!ret)
		ret = mounts_put(vm, fdt);
	return ret ? ret : fdt_end_node(fdt);
}

static int bench_put(const struct bench_guest *bench, void *fdt)
{
	int ret = fdt_begin_node(fdt, HUSK_FDT_BENCH);

	if (!ret)
		ret = fdt_property_string(fdt, HUSK_FDT_BENCH_ROW, bench->row);
	if (!ret)
		ret = fdt_property_u32(fdt, HUSK_FDT_BENCH_TIME, bench->batch_us);
	if (!ret)
		ret = fdt_property_u32(fdt, HUSK_FDT_BENCH_BATCHES, bench->batches);
	return ret ? ret : fdt_end_node(fdt);
}

/* LAPIC timer input clock: KVM's is 1 GHz unless the VM was told otherwise. */
static uint32_t apic_hz(struct vm *vm)
{
	int ns = ioctl(vm->vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_X86_APIC_BUS_CYCLES_NS);

	return ns > 0 ? APIC_HZ_DEFAULT / (unsigned)ns : APIC_HZ_DEFAULT;
}

/* What the kernel would ask CPUID for, each an exit; xsave-size is that of the XCR0 boot_vcpu() sets. */
static int cpu_put(struct vm *vm, void *fdt)
{
	const struct kvm_cpuid_entry2 *one = boot_cpuid_find(vm, 1, 0), *xsave = boot_cpuid_find(vm, 0xd, 0);
	bool used = one && xsave && (one->ecx & CPUID1_ECX_XSAVE);
	int ret = fdt_property_u32(fdt, HUSK_FDT_XSAVE_SIZE, used ? xsave->ebx : 0);

	return ret ? ret : fdt_property_u32(fdt, HUSK_FDT_HWCAP, one ? one->edx : 0);
}

static int chosen_put(struct vm *vm, void *fdt)
{
	uint8_t seed[SEED_BYTES];
	int ret = fdt_begin_node(fdt, "chosen");

	if (!ret && getrandom(seed, sizeof(seed), 0) == (ssize_t)sizeof(seed))
		ret = fdt_property(fdt, "rng-seed", seed, sizeof(seed));
	if (!ret && vm->tsc_khz)
		ret = fdt_property_u32(fdt, HUSK_FDT_TSC_KHZ, vm->tsc_khz);
	if (!ret)
		ret = fdt_property_u32(fdt, HUSK_FDT_APIC_HZ, apic_hz(vm));
	if (!ret)
		ret = cpu_put(vm, fdt);
	if (!ret)
		ret = vm->cfg->bench ? bench_put(vm->cfg->bench, fdt) : init_put(vm, fdt);
	return ret ? ret : fdt_end_node(fdt);
}

static int root_put(struct vm *vm, void *fdt)
{
	int ret = fdt_begin_node(fdt, "");

	if (!ret)
		ret = fdt_property_string(fdt, "compatible", HUSK_FDT_COMPAT);
	if (!ret)
		ret = fdt_property_u32(fdt, "#address-cells", 2);
	if (!ret)
		ret = fdt_property_u32(fdt, "#size-cells", 2);
	if (!ret)
		ret = memory_put(vm, fdt);
	if (!ret)
		ret = cpus_put(vm, fdt);
	return ret;
}

/* Room for all but strings of any length; a guess that only costs time if it is wrong. */
#define FDT_BASE_BYTES	6144u	/* with four PCI functions */
#define FDT_DEVICE_BYTES 512u
#define FDT_CPU_BYTES	96u
#define FDT_MOUNT_BYTES	256u

static uint64_t strings_bytes(char *const *v)
{
	uint64_t n = 0;

	for (; v && *v; v++)
		n += strlen(*v) + 1;
	return n;
}

static uint64_t size_guess(const struct vm *vm)
{
	uint64_t n = FDT_BASE_BYTES + vm->ndevices * FDT_DEVICE_BYTES + vm->ncpus * FDT_CPU_BYTES;

	for (size_t i = 0; i < vm->view.nmounts; i++)
		n += FDT_MOUNT_BYTES + strlen(vm->view.mounts[i].source) +
		     strlen(vm->view.mounts[i].target);
	return n + strings_bytes(vm->cfg->argv) + strings_bytes(vm->cfg->envp);
}

/* Our own part in one go by the sequential writer; devices then add their nodes to the root. */
static int fdt_write(struct vm *vm, void *fdt, int size)
{
	int ret = fdt_create(fdt, size);

	if (!ret)
		ret = fdt_finish_reservemap(fdt);
	if (!ret)
		ret = root_put(vm, fdt);
	if (!ret)
		ret = chosen_put(vm, fdt);
	if (!ret)
		ret = fdt_end_node(fdt);
	if (!ret)
		ret = fdt_finish(fdt);
	if (!ret)
		ret = fdt_open_into(fdt, fdt, size);
	ret = fdt_ret(ret);
	for (unsigned i = 0; i < vm->ndevices && !ret; i++) {
		struct device *dev = vm->devices[i];

		if (dev->ops->fdt)
			ret = dev->ops->fdt(dev, fdt, 0);
	}
	return ret == -ENOSPC ? -E2BIG : ret;
}

int machine_fdt(struct vm *vm, uint64_t at)
{
	uint64_t room = at < HUSK_BOOT_END ? HUSK_BOOT_END - at : 0;
	uint64_t size = size_guess(vm);
	void *fdt = guest_mem_ptr(&vm->mem, GPA(at), room);
	int ret = -E2BIG;

	/* Not the whole room at once: fdt_create() clears what it gets, a millisecond for 2 MiB. */
	if (fdt && size < room)
		ret = fdt_write(vm, fdt, size);
	if (fdt && ret == -E2BIG && strings_bytes(vm->cfg->argv) < room)
		ret = fdt_write(vm, fdt, room);
	vm->fdt_gpa = at;
	if (ret == -E2BIG)
		husk_err("arguments and environment are too large: %llu KiB are possible",
			 (unsigned long long)room >> 10);
	else if (ret)
		husk_err("the machine's description could not be written: %s", strerror(-ret));
	return ret;
}
