/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making, starting and ending a VM. The irqchip is split (LAPIC in KVM, no PIC or IOAPIC) but for
 * `husk boot`: our own guest needs no more, and the full one makes later calls wait for milliseconds on some hosts.
 */
#include "vmm/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "husk/layout.h"
#include "vmm/bus.h"
#include "vmm/config.h"
#include "vmm/guest_ram.h"
#include "vmm/log.h"

static int kvm_open_error(int err)
{
	const struct passwd *pw;

	switch (err) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		husk_err("no /dev/kvm: enable virtualization (VT-x, AMD-V) in the firmware and "
			 "load kvm_intel or kvm_amd; inside a VM, enable nested virtualization");
		break;
	case EACCES:
	case EPERM:
		pw = getpwuid(getuid());
		husk_err("no permission to open /dev/kvm: run `sudo usermod -aG kvm %s` and log in "
			 "again", pw ? pw->pw_name : "$USER");
		break;
	default:
		husk_err("cannot open /dev/kvm: %s", strerror(err));
	}
	return -err;
}

static int kvm_open(struct vm *vm)
{
	int version;

	vm->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm_fd < 0)
		return kvm_open_error(errno);
	version = ioctl(vm->kvm_fd, KVM_GET_API_VERSION, 0);
	if (version < 0) {
		husk_err("/dev/kvm is not KVM: %s", strerror(errno));
		return -ENODEV;
	}
	if (version != KVM_API_VERSION) {
		husk_err("/dev/kvm speaks API version %d, husk needs %d: update the host kernel",
			 version, KVM_API_VERSION);
		return -ENOSYS;
	}
	return 0;
}

static int vm_fail(const char *what, int err)
{
	husk_err("%s: %s", what, strerror(err));
	return -err;
}

static int interrupts_create(struct vm *vm)
{
	struct kvm_enable_cap cap = { .cap = KVM_CAP_SPLIT_IRQCHIP, .args = { 24 } };

	if (vm->cfg->boot)
		return irqchip_create(vm);
	if (vm->cfg->bench && vm->cfg->bench->pic) {
		if (ioctl(vm->vm_fd, KVM_CREATE_IRQCHIP, 0) < 0)
			return vm_fail("KVM_CREATE_IRQCHIP", errno);
		vm->irqchip = true;
		return 0;
	}
	if (ioctl(vm->vm_fd, KVM_ENABLE_CAP, &cap) < 0) {
		husk_err("KVM has no split irqchip (KVM_CAP_SPLIT_IRQCHIP): husk needs Linux 4.7 "
			 "or later");
		return -ENOSYS;
	}
	return 0;
}

static int vm_open(struct vm *vm)
{
	int size, ret;

	do
		vm->vm_fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, 0);
	while (vm->vm_fd < 0 && errno == EINTR);
	if (vm->vm_fd < 0)
		return vm_fail("KVM cannot create a VM", errno);
	ret = interrupts_create(vm);
	if (ret)
		return ret;
	size = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (size < (int)sizeof(struct kvm_run))
		return vm_fail("KVM_GET_VCPU_MMAP_SIZE", size < 0 ? errno : EINVAL);
	vm->run_size = size;
	return 0;
}

static int memory_create(struct vm *vm, uint64_t bytes)
{
	uint64_t size = (bytes + GUEST_MEM_ALIGN - 1) & ~(GUEST_MEM_ALIGN - 1);
	int ret;

	if (size < GUEST_MEM_MIN) {
		husk_err("%llu bytes of memory are too few: give the VM at least %llu MiB",
			 (unsigned long long)bytes, GUEST_MEM_MIN >> 20);
		return -EINVAL;
	}
	ret = guest_mem_init(&vm->mem, size);
	if (ret) {
		husk_err("cannot reserve %llu MiB of guest memory: %s; try a smaller --memory",
			 (unsigned long long)(size >> 20), strerror(-ret));
		return ret;
	}
	guest_mem_advise(&vm->mem);
	return memslots_create(vm);
}

static int vcpus_create(struct vm *vm, unsigned n)
{
	int ret = 0;

	if (n < 1 || n > HUSK_MAX_CPUS) {
		husk_err("%u vCPUs: between 1 and %d are possible", n, HUSK_MAX_CPUS);
		return -EINVAL;
	}
	vm->vcpus = calloc(n, sizeof(*vm->vcpus));
	if (!vm->vcpus)
		return vm_fail("no memory for vCPUs", ENOMEM);
	while (!ret && vm->ncpus < n) {
		ret = vcpu_create(vm, &vm->vcpus[vm->ncpus], vm->ncpus);
		if (!ret)
			vm->ncpus++;
	}
	return ret;
}

int vm_create(struct vm *vm, const struct config *cfg)
{
	int ret;

	memset(vm, 0, sizeof(*vm));
	vm->cfg = cfg;
	vm->kvm_fd = vm->vm_fd = -1;
	pthread_mutex_init(&vm->end_lock, NULL);
	pthread_mutex_init(&vm->chunk_lock, NULL);
	ret = kvm_open(vm);
	if (!ret)
		ret = vm_open(vm);
	if (!ret)
		ret = memory_create(vm, cfg->memory_bytes);
	if (!ret)
		ret = vcpus_create(vm, cfg->cpus);
	if (ret)
		goto fail;
	vm->bus = bus_new(vm, vm->ncpus);
	vm->loop = loop_new();
	if (vm->bus && vm->loop)
		return 0;
	ret = vm_fail("cannot set up the event loop", vm->bus ? errno : ENOMEM);
fail:
	vm_destroy(vm);
	return ret;
}

static void *loop_thread(void *arg)
{
	struct vm *vm = arg;
	int ret = loop_run(vm->loop);

	if (ret)
		vm_stop(vm, "event loop: %s", strerror(-ret));
	return NULL;
}

static int loop_start(struct vm *vm)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, VM_STACK_BYTES);
	err = pthread_create(&vm->loop_thread, &attr, loop_thread, vm);
	pthread_attr_destroy(&attr);
	vm->loop_started = !err;
	return err ? vm_fail("cannot start the event loop's thread", err) : 0;
}

int vm_enter(struct vm *vm)
{
	int ret;

	vcpu_kick_init();
	ret = loop_start(vm);
	for (unsigned i = 1; i < vm->ncpus && !ret; i++)
		ret = vcpu_start(&vm->vcpus[i]);
	if (ret)
		vm_stop(vm, "a thread could not be started");
	else
		vcpu_enter(&vm->vcpus[0]);
	return ret;
}

void vm_destroy(struct vm *vm)
{
	vm_stop(vm, "torn down");
	for (unsigned i = 0; i < vm->ncpus; i++)
		if (vm->vcpus[i].started)
			pthread_join(vm->vcpus[i].thread, NULL);
	if (vm->loop_started)
		pthread_join(vm->loop_thread, NULL);
	while (vm->ndevices)
		if (vm->devices[--vm->ndevices]->ops->release)
			vm->devices[vm->ndevices]->ops->release(vm->devices[vm->ndevices]);
	while (vm->ncpus)
		vcpu_destroy(&vm->vcpus[--vm->ncpus]);
	free(vm->vcpus);
	free(vm->cpuid);
	view_free(&vm->view);
	bus_free(vm->bus);
	loop_free(vm->loop);
	if (vm->vm_fd >= 0)
		close(vm->vm_fd);
	if (vm->kvm_fd >= 0)
		close(vm->kvm_fd);
	guest_mem_free(&vm->mem);
	pthread_mutex_destroy(&vm->end_lock);
	pthread_mutex_destroy(&vm->chunk_lock);
	memset(vm, 0, sizeof(*vm));
	vm->kvm_fd = vm->vm_fd = -1;
}

int vm_add_device(struct vm *vm, struct device *dev)
{
	if (!dev)
		return vm_fail("no memory for a device", ENOMEM);
	if (vm->ndevices == VM_MAX_DEVICES) {
		husk_err("too many devices (at most %d)", VM_MAX_DEVICES);
		return -ENOSPC;
	}
	vm->devices[vm->ndevices++] = dev;
	return 0;
}

/* Record the end unless one is recorded, and get everything out of the guest. */
static void vm_end_set(struct vm *vm, const struct vm_end *end)
{
	bool first;

	pthread_mutex_lock(&vm->end_lock);
	first = vm->end.kind == VM_END_NONE;
	if (first)
		vm->end = *end;
	pthread_mutex_unlock(&vm->end_lock);
	if (!first)
		return;
	atomic_store(&vm->stopping, true);
	if (vm->loop)
		loop_quit(vm->loop);
	for (unsigned i = 0; i < vm->ncpus; i++)
		vcpu_kick(&vm->vcpus[i]);
}

void vm_stop(struct vm *vm, const char *fmt, ...)
{
	struct vm_end end = { .kind = VM_END_STOP };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(end.reason, sizeof(end.reason), fmt, ap);
	va_end(ap);
	vm_end_set(vm, &end);
}

void vm_end_guest(struct vm *vm, unsigned kind, unsigned value)
{
	struct vm_end end = { .kind = VM_END_GUEST, .guest_kind = kind, .value = value };

	vm_end_set(vm, &end);
}

void vm_end_timeout(struct vm *vm)
{
	struct vm_end end = { .kind = VM_END_TIMEOUT };

	vm_end_set(vm, &end);
}

struct vm_end vm_end_get(struct vm *vm)
{
	struct vm_end end;

	pthread_mutex_lock(&vm->end_lock);
	end = vm->end;
	pthread_mutex_unlock(&vm->end_lock);
	return end;
}
