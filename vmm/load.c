/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a created VM to one that can start: the guest kernel, page tables, the FDT, registers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "husk/layout.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/vm.h"

/* The file at path, mapped. NULL after a message. */
static void *file_map(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = MAP_FAILED;

	if (fd >= 0 && fstat(fd, &st) == 0) {
		*size = st.st_size;
		p = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (p == MAP_FAILED)
		husk_err("cannot read the guest kernel %s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static int kernel_place(struct vm *vm, const void *elf, size_t size, const char *name)
{
	const char *why;
	int ret = kernel_parse(elf, size, vm->ncpus, &vm->kernel, &why);

	if (ret) {
		husk_err("cannot use %s: %s", name, why);
		return ret;
	}
	ret = kernel_load(elf, &vm->kernel, &vm->mem);
	if (ret)
		husk_err("the guest kernel does not fit into %llu MiB of memory",
			 (unsigned long long)vm->mem.region[0].size >> 20);
	return ret;
}

static int kernel_get(struct vm *vm)
{
	const char *path = vm->cfg->kernel_path;
	size_t size;
	void *elf;
	int ret;

	if (!path)
		return kernel_place(vm, guest_kernel, guest_kernel_end - guest_kernel,
				    "the built-in guest kernel");
	elf = file_map(path, &size);
	if (!elf)
		return -ENOENT;
	ret = kernel_place(vm, elf, size, path);
	munmap(elf, size);
	return ret;
}

/* The TSC's rate, if it is the same on all CPUs and does not change (CPUID 0x80000007.EDX[8]). */
static uint32_t tsc_khz(struct vm *vm)
{
	const struct kvm_cpuid2 *c = vm->cpuid;
	int khz;

	for (uint32_t i = 0; i < c->nent; i++) {
		if (c->entries[i].function != 0x80000007 || !(c->entries[i].edx & 1u << 8))
			continue;
		khz = ioctl(vm->vcpus[0].fd, KVM_GET_TSC_KHZ, 0);
		return khz > 0 ? khz : 0;
	}
	return 0;
}

int vm_load(struct vm *vm)
{
	uint64_t end;
	int ret = kernel_get(vm);

	if (!ret)
		ret = boot_cpuid(vm);
	if (!ret) {
		ret = boot_tables(vm, &end);
		if (ret)
			husk_err("no room for the page tables of this much memory");
	}
	if (!ret) {
		vm->tsc_khz = tsc_khz(vm);
		ret = machine_fdt(vm, end);
	}
	for (unsigned i = 0; i < vm->ncpus && !ret; i++)
		ret = boot_vcpu(vm, &vm->vcpus[i]);
	return ret;
}
