/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole run: make the VM, start it, turn its end into husk's exit code and message. Nothing is
 * torn down here: the caller leaves by _exit(), and the kernel takes the VM apart.
 */
#include "vmm/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "devices/fuse/fuse_server.h"
#include "devices/system.h"
#include "devices/virtio_console.h"
#include "husk/fdt.h"
#include "husk/system.h"
#include "vmm/config.h"
#include "vmm/jail.h"
#include "vmm/log.h"
#include "vmm/signals.h"
#include "vmm/stall.h"
#include "vmm/stats.h"
#include "vmm/stdio_kind.h"
#include "vmm/terminal.h"
#include "vmm/vm.h"

#define MAX_ROOTS	256	/* of shares, each way */

static const char *program_name(const struct config *cfg)
{
	if (cfg->boot)
		return cfg->kernel_path;
	return cfg->argv && cfg->argv[0] ? cfg->argv[0] : "(no program)";
}

/* Like a shell: say how a program was killed, but not for what a user does on purpose. */
static int report_signal(const struct config *cfg, unsigned sig)
{
	if (sig != SIGINT && sig != SIGPIPE && sig != SIGTERM && sig != SIGHUP && sig != SIGKILL)
		husk_err("%s: %s", program_name(cfg), strsignal((int)sig));
	return 128 + (int)(sig & 127);
}

static int report_exec(const struct config *cfg, unsigned err)
{
	if (err == ENOENT) {
		husk_err("%s: not found", program_name(cfg));
		return EXIT_NOT_FOUND;
	}
	husk_err("%s: cannot execute: %s", program_name(cfg), strerror((int)err));
	return EXIT_CANNOT;
}

static int report_guest(const struct config *cfg, const struct vm_end *end)
{
	switch (end->guest_kind) {
	case HUSK_EXIT_CODE:
		return end->value & 0xff;
	case HUSK_EXIT_SIGNAL:
		return report_signal(cfg, end->value);
	case HUSK_EXIT_EXEC:
		return report_exec(cfg, end->value);
	case HUSK_EXIT_REBOOT:
		return 0;
	case HUSK_EXIT_PANIC:
		log_kernel_flush(true);
		husk_err("the guest kernel panicked");
		return EXIT_HUSK;
	default:
		husk_err("the guest ended in an unknown way (%u)", end->guest_kind);
		return EXIT_HUSK;
	}
}

/* --trace=exit: what KVM counted for each vCPU, zeroes left out. */
static void report_stats(struct vm *vm)
{
	for (unsigned id = 0; id < vm->ncpus; id++) {
		struct stats *st = &vm->vcpus[id].stats;
		uint64_t value;

		for (unsigned i = 0; i < st->count; i++)
			if (!stats_value(st, i, &value) && value)
				husk_note("vCPU %u: %s %llu", id, stats_name(st, i),
					 (unsigned long long)value);
	}
}

static int report_end(const struct config *cfg, const struct vm_end *end)
{
	log_kernel_flush(false);
	switch (end->kind) {
	case VM_END_GUEST:
		return report_guest(cfg, end);
	case VM_END_TIMEOUT:
		husk_err("%s: timed out after %g s", program_name(cfg), cfg->timeout_s);
		return EXIT_TIMEOUT;
	case VM_END_STOP:
		husk_err("VM stopped: %s", end->reason);
		return EXIT_HUSK;
	default:
		husk_err("the VM ended without a reason");
		return EXIT_HUSK;
	}
}

static void timeout_event(void *arg, uint32_t events)
{
	vm_end_timeout(arg);
}

static int timeout_start(struct vm *vm, double seconds)
{
	struct itimerspec its = { 0 };
	int fd, ret;

	if (seconds <= 0)
		return 0;
	fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	its.it_value.tv_sec = (time_t)seconds;
	its.it_value.tv_nsec = (long)((seconds - (double)its.it_value.tv_sec) * 1e9);
	if (!its.it_value.tv_sec && !its.it_value.tv_nsec)
		its.it_value.tv_nsec = 1;
	ret = timerfd_settime(fd, 0, &its, NULL) < 0 ? -errno : 0;
	if (!ret)
		ret = loop_add(vm->loop, fd, EPOLLIN, timeout_event, vm);
	if (ret)
		close(fd);
	return ret;
}

/* What signals.c does with the guest. */
static void signal_raise(void *arg, int sig)
{
	system_raise(((struct vm *)arg)->system, (unsigned)sig);
}

static bool signal_taken(void *arg, int sig)
{
	return !system_pending(((struct vm *)arg)->system, (unsigned)sig);
}

static void signal_stop(void *arg, int sig)
{
	vm_end_guest(arg, HUSK_EXIT_SIGNAL, (unsigned)sig);
}

static void signal_resize(void *arg, unsigned rows, unsigned cols)
{
	virtio_console_resize(((struct vm *)arg)->console, rows, cols);
}

static const struct signals_ops signals_ops = {
	.raise = signal_raise,
	.taken = signal_taken,
	.stop = signal_stop,
	.resize = signal_resize,
};

/* A kernel that is not ours knows nothing of our signals: what ends husk ends the VM. */
static void signal_boot(void *arg, int sig)
{
	if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT)
		vm_end_guest(arg, HUSK_EXIT_SIGNAL, (unsigned)sig);
}

static bool signal_boot_taken(void *arg, int sig)
{
	return false;
}

static const struct signals_ops signals_boot_ops = {
	.raise = signal_boot,
	.taken = signal_boot_taken,
	.stop = signal_stop,
	.resize = signal_resize,
};

static int jail_start(struct vm *vm, const struct config *cfg)
{
	int ro[MAX_ROOTS], rw[MAX_ROOTS], ret;
	size_t n_ro = fuse_server_roots(vm->view.server, false, ro, MAX_ROOTS);
	size_t n_rw = fuse_server_roots(vm->view.server, true, rw, MAX_ROOTS);

	if (n_ro > MAX_ROOTS || n_rw > MAX_ROOTS) {
		husk_err("too many shares: at most %d of a kind", MAX_ROOTS);
		return -E2BIG;
	}
	ret = jail_prepare(cfg, ro, n_ro, rw, n_rw);
	if (!ret)
		ret = jail_enter_process();
	if (ret)
		husk_err("cannot enter the jail: %s", strerror(-ret));
	else if (*jail_notes() && !cfg->no_jail)
		husk_warn("note: weaker jail on this host: %s", jail_notes());
	vm->vcpu_allowed = jail_enter_vcpu;
	return ret;
}

/* All that the loop watches besides devices. */
static int events_start(struct vm *vm, const struct config *cfg)
{
	int ret = timeout_start(vm, cfg->timeout_s);

	if (!ret && !signals_new(vm->loop, cfg->boot ? &signals_boot_ops : &signals_ops, vm))
		ret = -errno;
	if (!ret)
		ret = stall_start(vm, cfg->stall_s);
	if (ret)
		husk_err("cannot watch signals and time: %s", strerror(-ret));
	return ret;
}

static int terminal_start(void)
{
	int ret = terminal_open();

	if (ret)
		husk_err("cannot set the terminal to raw mode: %s", strerror(-ret));
	log_crlf(terminal_is_raw());
	return ret;
}

/* Each step says what went wrong itself. */
static int vm_prepare(struct vm *vm, const struct config *cfg)
{
	int ret = cfg->boot ? machine_attach_boot(vm, cfg) : machine_attach(vm, cfg);

	if (!ret)
		ret = cfg->boot ? vm_load_boot(vm) : vm_load(vm);
	if (!ret)
		ret = events_start(vm, cfg);
	if (!ret)
		ret = jail_start(vm, cfg);
	if (!ret)
		ret = terminal_start();	/* last: from here on errors must restore it */
	return ret;
}

int vm_run(const struct config *cfg)
{
	static struct vm vm;	/* outlives this call: threads may still be on their way out */
	struct vm_end end;
	int ret = stdio_fill();

	if (!ret)
		ret = log_open(cfg->log_path, cfg->quiet);
	if (!ret)
		ret = signals_block();	/* before the first thread */
	if (!ret)
		ret = vm_create(&vm, cfg);
	if (ret)
		return EXIT_HUSK;
	stdio_describe(vm.stdio);
	ret = vm_prepare(&vm, cfg);
	if (!ret)
		ret = vm_enter(&vm);
	terminal_close();
	log_crlf(false);
	if (ret)
		return EXIT_HUSK;
	end = vm_end_get(&vm);
	if (cfg->trace & HUSK_TRACE_EXIT)
		report_stats(&vm);
	return report_end(cfg, &end);
}
