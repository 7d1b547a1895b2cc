/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vCPU: its thread, and what to do at each exit. KVM_RUN is left by a signal together with
 * immediate_exit, so a kick is never lost between the check and the call.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include "husk/fdt.h"
#include "husk/layout.h"
#include "vmm/bus.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/vm.h"

#define VCPU_KICK_SIGNAL	SIGRTMIN
#define BOOT_HINT ": this host emulates ring 0, where such a kernel may not run"

int vcpu_create(struct vm *vm, struct vcpu *vcpu, unsigned id)
{
	void *run;
	int fd = ioctl(vm->vm_fd, KVM_CREATE_VCPU, (unsigned long)id);

	if (fd < 0) {
		int err = errno;

		husk_err("cannot create vCPU %u: %s", id, strerror(err));
		return -err;
	}
	run = mmap(NULL, vm->run_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (run == MAP_FAILED) {
		int err = errno;

		husk_err("cannot map the state of vCPU %u: %s", id, strerror(err));
		close(fd);
		return -err;
	}
	*vcpu = (struct vcpu){ .vm = vm, .id = id, .fd = fd, .run = run, .stats.fd = -1 };
	if (vm->cfg->trace & HUSK_TRACE_EXIT && stats_open(&vcpu->stats, fd) < 0)
		husk_note("vCPU %u: this host counts no exits", id);
	return 0;
}

void vcpu_destroy(struct vcpu *vcpu)
{
	stats_close(&vcpu->stats);
	munmap(vcpu->run, vcpu->vm->run_size);
	close(vcpu->fd);
}

static void registers_log(struct vcpu *vcpu)
{
	struct kvm_regs r;
	struct kvm_sregs s;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &r) < 0 || ioctl(vcpu->fd, KVM_GET_SREGS, &s) < 0) {
		husk_err("vCPU %u: registers cannot be read: %s", vcpu->id, strerror(errno));
		return;
	}
	if (s.cs.selector == 0xf000) {
		husk_err("vCPU %u: its registers are lost: this host resets a vCPU that shuts down",
			 vcpu->id);
		return;
	}
	husk_err("vCPU %u: rip %016llx cs %02x rflags %08llx rsp %016llx ss %02x", vcpu->id, r.rip,
		 s.cs.selector, r.rflags, r.rsp, s.ss.selector);
	husk_err("  rax %016llx rbx %016llx rcx %016llx rdx %016llx", r.rax, r.rbx, r.rcx, r.rdx);
	husk_err("  rsi %016llx rdi %016llx rbp %016llx r8  %016llx", r.rsi, r.rdi, r.rbp, r.r8);
	husk_err("  r9  %016llx r10 %016llx r11 %016llx r12 %016llx", r.r9, r.r10, r.r11, r.r12);
	husk_err("  r13 %016llx r14 %016llx r15 %016llx efer %llx", r.r13, r.r14, r.r15, s.efer);
	husk_err("  cr0 %llx cr2 %llx cr3 %llx cr4 %llx fs %llx gs %llx", s.cr0, s.cr2, s.cr3,
		 s.cr4, s.fs.base, s.gs.base);
	husk_err("  gdt %llx+%x idt %llx+%x tr %x at %llx", s.gdt.base, s.gdt.limit, s.idt.base,
		 s.idt.limit, s.tr.selector, s.tr.base);
}

/* Instruction bytes at rip, as many as lie in guest memory up to the page's end. */
static void instruction_log(struct vcpu *vcpu)
{
	struct kvm_regs r;
	struct kvm_translation tr = { 0 };
	uint8_t insn[15];
	char text[3 * sizeof(insn) + 1] = "";
	size_t n;

	if (ioctl(vcpu->fd, KVM_GET_REGS, &r) < 0 || (r.rip < HUSK_WINDOW_BASE && !vcpu->vm->cfg->boot))
		return;		/* our program's own code is of no use here */
	tr.linear_address = r.rip;
	if (ioctl(vcpu->fd, KVM_TRANSLATE, &tr) < 0 || !tr.valid)
		return;
	n = 4096 - (tr.physical_address & 4095);
	if (n > sizeof(insn))
		n = sizeof(insn);
	if (guest_read(&vcpu->vm->mem, insn, GPA(tr.physical_address), n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		sprintf(text + 3 * i, " %02x", insn[i]);
	husk_err("  code at rip:%s", text);
}

static void vcpu_fail(struct vcpu *vcpu, const char *what)
{
	log_kernel_flush(true);
	registers_log(vcpu);
	instruction_log(vcpu);
	vm_stop(vcpu->vm, "%s", what);
}

static void internal_error(struct vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;
	char what[192];
	int n;

	/* Perhaps only for want of a memslot, which another vCPU may have made meanwhile. */
	if (run->internal.suberror == KVM_INTERNAL_ERROR_EMULATION &&
	    (atomic_load(&vcpu->vm->chunks_present) != vcpu->chunks_seen ||
	     memslots_add_next(vcpu->vm) > 0))
		return;
	n = snprintf(what, sizeof(what), "KVM internal error %u", run->internal.suberror);
	if (run->internal.suberror == KVM_INTERNAL_ERROR_EMULATION) {
		n += snprintf(what + n, sizeof(what) - n, " (cannot emulate an instruction%s)",
			      vcpu->vm->cfg->boot ? BOOT_HINT : "");
	} else {
		for (unsigned i = 0; i < run->internal.ndata && i < 4; i++)
			n += snprintf(what + n, sizeof(what) - n, " %llx",
				      (unsigned long long)run->internal.data[i]);
	}
	vcpu_fail(vcpu, what);
}

static void exit_io(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	uint8_t *data = (uint8_t *)run + run->io.data_offset;

	for (uint32_t i = 0; i < run->io.count; i++, data += run->io.size)
		bus_access(vcpu->vm->bus, vcpu->id, BUS_PIO, run->io.port, data, run->io.size,
			   run->io.direction == KVM_EXIT_IO_OUT);
}

static void vcpu_exit(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	char what[96];

	switch (run->exit_reason) {
	case KVM_EXIT_MMIO:
		if (memslots_access(vcpu->vm, run->mmio.phys_addr, run->mmio.data, run->mmio.len,
				    run->mmio.is_write))
			break;
		bus_access(vcpu->vm->bus, vcpu->id, BUS_MMIO, run->mmio.phys_addr, run->mmio.data,
			   run->mmio.len, run->mmio.is_write);
		break;
	case KVM_EXIT_IO:
		exit_io(vcpu);
		break;
	case KVM_EXIT_INTR:
	case KVM_EXIT_IRQ_WINDOW_OPEN:
	case KVM_EXIT_IOAPIC_EOI:	/* split irqchip: there is no IOAPIC to tell */
		break;
	case KVM_EXIT_SHUTDOWN:
		vcpu_fail(vcpu, "triple fault in the guest");
		break;
	case KVM_EXIT_FAIL_ENTRY:
		snprintf(what, sizeof(what), "the CPU refused the guest's state, reason %#llx",
			 (unsigned long long)run->fail_entry.hardware_entry_failure_reason);
		vcpu_fail(vcpu, what);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		internal_error(vcpu);
		break;
	default:
		snprintf(what, sizeof(what), "KVM exit %u that husk does not know",
			 run->exit_reason);
		vcpu_fail(vcpu, what);
	}
}

static void vcpu_loop(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;

	while (!atomic_load_explicit(&vm->stopping, memory_order_relaxed)) {
		vcpu->chunks_seen = atomic_load_explicit(&vm->chunks_present, memory_order_relaxed);
		if (ioctl(vcpu->fd, KVM_RUN, 0) == 0) {
			atomic_store_explicit(&vcpu->exits,
					      atomic_load_explicit(&vcpu->exits, memory_order_relaxed) + 1,
					      memory_order_relaxed);
			vcpu_exit(vcpu);
		} else if (errno == EFAULT) {
			vcpu_fail(vcpu, "KVM cannot reach guest memory: is the host out of it?");
		} else if (errno != EINTR && errno != EAGAIN) {
			char what[96];

			snprintf(what, sizeof(what), "KVM_RUN: %s", strerror(errno));
			vcpu_fail(vcpu, what);
		}
	}
}

void vcpu_enter(struct vcpu *vcpu)
{
	int (*allowed)(void) = vcpu->vm->vcpu_allowed;
	int ret;

	vcpu->thread = pthread_self();
	atomic_store(&vcpu->running, true);
	ret = allowed ? allowed() : 0;
	if (ret)
		vm_stop(vcpu->vm, "a vCPU thread is outside of the jail: %s", strerror(-ret));
	vcpu_loop(vcpu);
	atomic_store(&vcpu->running, false);
}

static void *vcpu_thread(void *arg)
{
	vcpu_enter(arg);
	return NULL;
}

int vcpu_start(struct vcpu *vcpu)
{
	pthread_attr_t attr;
	int err;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, VM_STACK_BYTES);
	err = pthread_create(&vcpu->thread, &attr, vcpu_thread, vcpu);
	pthread_attr_destroy(&attr);
	if (err) {
		husk_err("cannot start the thread of vCPU %u: %s", vcpu->id, strerror(err));
		return -err;
	}
	vcpu->started = true;
	return 0;
}

/* The signal only has to end KVM_RUN. */
static void kick_handler(int sig)
{
	(void)sig;
}

void vcpu_kick_init(void)
{
	struct sigaction sa = { .sa_handler = kick_handler };

	sigemptyset(&sa.sa_mask);
	sigaction(VCPU_KICK_SIGNAL, &sa, NULL);
}

void vcpu_kick(struct vcpu *vcpu)
{
	/* A thread that is not seen running here sees immediate_exit before it enters KVM_RUN. */
	__atomic_store_n(&vcpu->run->immediate_exit, 1, __ATOMIC_SEQ_CST);
	if (atomic_load(&vcpu->running) && !pthread_equal(vcpu->thread, pthread_self()))
		pthread_kill(vcpu->thread, VCPU_KICK_SIGNAL);
}
