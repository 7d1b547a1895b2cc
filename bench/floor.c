/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floor of a microVM's life on this host: everything that any VMM must ask of KVM for one
 * vCPU and one exit, and nothing else. bench/startup runs it beside husk. With an argument it
 * prints what each step took instead (microseconds); exit 77 when there is no /dev/kvm.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEM_BYTES	(512ul << 20)
#define MMIO_GPA	0xfe000000u
#define MAX_CPUID	256

static int verbose;
static double last_us;

static double now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static void step(const char *name)
{
	if (verbose)
		printf("%-16s %8.1f\n", name, now_us() - last_us);
	last_us = now_us();
}

static int kvm(int fd, const char *name, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	if (ret < 0) {
		fprintf(stderr, "floor: %s: %s\n", name, strerror(errno));
		exit(1);
	}
	return ret;
}

/* 32-bit flat protected mode without paging at 0x1000, where the MMIO store is. */
static void set_registers(int vcpu)
{
	struct kvm_segment code = {
		.limit = 0xffffffff, .selector = 0x10, .type = 11, .present = 1, .db = 1, .s = 1,
		.g = 1,
	};
	struct kvm_segment data = code;
	struct kvm_regs regs = { .rip = 0x1000, .rflags = 2, .rbx = MMIO_GPA };
	struct kvm_sregs sregs;

	data.selector = 0x18;
	data.type = 3;
	kvm(vcpu, "KVM_GET_SREGS", KVM_GET_SREGS, &sregs);
	sregs.cs = code;
	sregs.ds = sregs.es = sregs.ss = sregs.fs = sregs.gs = data;
	sregs.cr0 |= 1;
	kvm(vcpu, "KVM_SET_SREGS", KVM_SET_SREGS, &sregs);
	kvm(vcpu, "KVM_SET_REGS", KVM_SET_REGS, &regs);
}

static void set_cpuid(int sys, int vcpu)
{
	struct kvm_cpuid2 *id;

	id = calloc(1, sizeof(*id) + MAX_CPUID * sizeof(*id->entries));
	if (!id)
		exit(1);
	id->nent = MAX_CPUID;
	kvm(sys, "KVM_GET_SUPPORTED_CPUID", KVM_GET_SUPPORTED_CPUID, id);
	kvm(vcpu, "KVM_SET_CPUID2", KVM_SET_CPUID2, id);
	free(id);
}

int main(int argc, char **argv)
{
	static const unsigned char code[] = { 0x89, 0x03, 0xf4 };	/* mov %eax,(%ebx); hlt */
	struct kvm_enable_cap split = { .cap = KVM_CAP_SPLIT_IRQCHIP, .args = { 24 } };
	struct kvm_userspace_memory_region slot = { .memory_size = MEM_BYTES };
	struct kvm_run *run;
	double first;
	char *mem;
	int sys, vm, vcpu, len;

	verbose = argc > 1;
	first = last_us = now_us();
	sys = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (sys < 0) {
		fprintf(stderr, "floor: /dev/kvm: %s\n", strerror(errno));
		return 77;
	}
	step("open");
	vm = kvm(sys, "KVM_CREATE_VM", KVM_CREATE_VM, NULL);
	step("create VM");
	kvm(vm, "KVM_CAP_SPLIT_IRQCHIP", KVM_ENABLE_CAP, &split);
	step("split irqchip");
	mem = mmap(NULL, MEM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return 1;
	slot.userspace_addr = (uintptr_t)mem;
	kvm(vm, "KVM_SET_USER_MEMORY_REGION", KVM_SET_USER_MEMORY_REGION, &slot);
	step("memory slot");
	vcpu = kvm(vm, "KVM_CREATE_VCPU", KVM_CREATE_VCPU, NULL);
	len = kvm(sys, "KVM_GET_VCPU_MMAP_SIZE", KVM_GET_VCPU_MMAP_SIZE, NULL);
	run = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu, 0);
	if (run == MAP_FAILED)
		return 1;
	step("create vCPU");
	set_cpuid(sys, vcpu);
	step("CPUID");
	memcpy(mem + 0x1000, code, sizeof(code));
	set_registers(vcpu);
	step("registers");
	kvm(vcpu, "KVM_RUN", KVM_RUN, NULL);
	step("run to exit");
	if (run->exit_reason != KVM_EXIT_MMIO || run->mmio.phys_addr != MMIO_GPA) {
		fprintf(stderr, "floor: unexpected exit %u\n", run->exit_reason);
		return 1;
	}
	close(vcpu);
	munmap(run, len);
	close(vm);
	step("close");
	if (verbose)
		printf("%-16s %8.1f\n", "in all", now_us() - first);
	return 0;
}
