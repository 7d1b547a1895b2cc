/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The child of `husk bench`: a small VM whose guest kernel measures one row. There is no jail: no
 * program runs in it, and nothing of the host is shown to it.
 */
#include "vmm/bench_vm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "devices/bench_port.h"
#include "devices/pci.h"
#include "devices/pci_testdev.h"
#include "devices/pm_timer.h"
#include "devices/serial.h"
#include "devices/system.h"
#include "husk/fdt.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/vm.h"

#define MEMORY_BYTES	(64ull << 20)
#ifndef KVM_CAP_HALT_POLL
#define KVM_CAP_HALT_POLL 182
#endif

/* All of one measured VM. */
struct bench_vm {
	struct vm vm;
	int pipe_fd;
	unsigned ncounters;
	unsigned entry[BENCH_COUNTERS];		/* of the statistics */
	uint64_t before[BENCH_COUNTERS];
	uint64_t operations;
	atomic_bool elsewhere;
};

static void msg_send(struct bench_vm *b, const struct bench_msg *msg)
{
	/* Shorter than PIPE_BUF, so all or nothing; without a reader there is nothing to do. */
	if (write(b->pipe_fd, msg, sizeof(*msg)) != sizeof(*msg))
		_exit(EXIT_HUSK);
}

static void msg_failed(struct bench_vm *b, const char *text)
{
	struct bench_msg msg = { .kind = BENCH_MSG_FAILED };

	snprintf(msg.text, sizeof(msg.text), "%s", text);
	msg_send(b, &msg);
}

static void counters_find(struct bench_vm *b)
{
	const struct stats *st = &b->vm.vcpus[0].stats;

	for (unsigned i = 0; i < st->count && b->ncounters < BENCH_COUNTERS; i++) {
		struct bench_msg msg = { .kind = BENCH_MSG_COUNTER, .value = b->ncounters };

		if (!stats_is_counter(st, i))
			continue;
		b->entry[b->ncounters++] = i;
		snprintf(msg.text, BENCH_NAME, "%s", stats_name(st, i));
		msg_send(b, &msg);
	}
}

static void counters_read(struct bench_vm *b, uint64_t *sum)
{
	memset(sum, 0, BENCH_COUNTERS * sizeof(*sum));
	for (unsigned id = 0; id < b->vm.ncpus; id++)
		for (unsigned i = 0; i < b->ncounters; i++) {
			uint64_t value;

			if (!stats_value(&b->vm.vcpus[id].stats, b->entry[i], &value))
				sum[i] += value;
		}
}

static void port_ready(void *arg, uint64_t flags)
{
	msg_send(arg, &(struct bench_msg){ .kind = BENCH_MSG_READY, .value = (uint32_t)flags });
}

static void port_begin(void *arg, uint64_t operations)
{
	struct bench_vm *b = arg;

	b->operations = operations;
	counters_read(b, b->before);
}

static void port_end(void *arg, uint64_t cycles)
{
	struct bench_vm *b = arg;
	struct bench_msg msg = {
		.kind = BENCH_MSG_BATCH, .operations = b->operations, .cycles = cycles,
	};

	counters_read(b, msg.count);
	for (unsigned i = 0; i < b->ncounters; i++)
		msg.count[i] -= b->before[i];
	msg_send(b, &msg);
}

static void port_done(void *arg, uint64_t status)
{
	struct bench_vm *b = arg;
	uint32_t value = atomic_load(&b->elsewhere) ? BENCH_ELSEWHERE : (uint32_t)status;

	msg_send(b, &(struct bench_msg){ .kind = BENCH_MSG_DONE, .value = value });
}

static void port_elcr(void *arg)
{
	atomic_store(&((struct bench_vm *)arg)->elsewhere, true);
}

static const struct bench_port_ops port_ops = {
	port_ready, port_begin, port_end, port_done, port_elcr,
};

static int devices_attach(struct bench_vm *b)
{
	struct vm *vm = &b->vm;
	int ret;

	vm->system = system_new(vm->bus);
	ret = vm_add_device(vm, vm->system);
	if (!ret)
		ret = vm_add_device(vm, serial_new(vm->bus, log_kernel_bytes, NULL));
	if (!ret)
		ret = vm_add_device(vm, pm_timer_new(vm->bus, false));
	if (!ret)
		ret = vm_add_device(vm, bench_port_new(vm->bus, &port_ops, b));
	if (!ret)
		ret = pci_host_attach(vm->bus, &vm->pci);
	if (!ret)
		ret = vm_add_device(vm, &vm->pci->dev);
	if (!ret)
		ret = pci_testdev_attach(vm->pci);
	if (ret)
		husk_err("devices: %s", strerror(-ret));
	return ret;
}

/* On each vCPU's thread, in any order: the next CPU of those that we may use. */
static int vcpu_pin(void)
{
	static atomic_uint next;
	unsigned want = atomic_fetch_add(&next, 1), seen = 0;
	cpu_set_t may, one;

	if (sched_getaffinity(0, sizeof(may), &may))
		return -errno;
	want %= (unsigned)CPU_COUNT(&may);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &may) || seen++ != want)
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		return sched_setaffinity(0, sizeof(one), &one) ? -errno : 0;
	}
	return -ESRCH;
}

/* Halt polling off for this VM; needs no privilege. An old kernel goes by the module's parameter. */
static void halt_poll_off(struct vm *vm)
{
	struct kvm_enable_cap cap = { .cap = KVM_CAP_HALT_POLL };

	ioctl(vm->vm_fd, KVM_ENABLE_CAP, &cap);
}

static int vm_prepare(struct bench_vm *b, const struct bench_job *job)
{
	int khz, ret = devices_attach(b);

	if (ret)
		return ret;
	if (job->no_halt_poll)
		halt_poll_off(&b->vm);
	if (job->pin)
		b->vm.vcpu_allowed = vcpu_pin;
	ret = vm_load(&b->vm);
	if (ret)
		return ret;
	khz = ioctl(b->vm.vcpus[0].fd, KVM_GET_TSC_KHZ, 0);
	counters_find(b);
	msg_send(b, &(struct bench_msg){ .kind = BENCH_MSG_HOST, .value = khz > 0 ? (uint32_t)khz : 0 });
	return 0;
}

static void end_report(struct bench_vm *b)
{
	struct vm_end end = vm_end_get(&b->vm);

	if (end.kind == VM_END_STOP) {
		msg_failed(b, end.reason);
	} else if (end.kind != VM_END_GUEST || end.guest_kind) {
		log_kernel_flush(true);
		msg_failed(b, "the guest kernel did not survive it (panic)");
	}
}

void bench_vm_run(const struct bench_job *job, int pipe_fd)
{
	const struct bench_guest guest = {
		.row = job->row->name,
		.batch_us = job->time_ms * 1000 / job->batches,
		.batches = job->batches,
		.pic = job->row->pic,
		.no_halt_poll = job->no_halt_poll,
	};
	const struct config cfg = {
		.memory_bytes = MEMORY_BYTES, .cpus = job->cpus, .bench = &guest,
		.trace = HUSK_TRACE_EXIT, .quiet = true,
	};
	static struct bench_vm b;
	int null = job->loud ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

	b.pipe_fd = pipe_fd;
	if (null >= 0)
		dup2(null, STDERR_FILENO);
	log_open(NULL, true);
	if (vm_create(&b.vm, &cfg)) {
		msg_failed(&b, "KVM does not make such a VM");
	} else if (vm_prepare(&b, job) || vm_enter(&b.vm)) {
		msg_failed(&b, "the VM could not be started");
	} else {
		end_report(&b);
	}
	_exit(0);
}
