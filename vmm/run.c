/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole run: make the VM, start it, turn its end into husk's exit code and message. Nothing is
 * torn down here: the caller leaves by _exit(), and the kernel takes the VM apart.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "husk/system.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/vm.h"

static const char *program_name(const struct config *cfg)
{
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

static int vm_run_prepared(struct vm *vm, const struct config *cfg)
{
	int ret = machine_attach(vm, cfg);

	if (!ret)
		ret = vm_load(vm);
	if (!ret)
		ret = timeout_start(vm, cfg->timeout_s);
	if (!ret)
		ret = vm_call_hooks(vm, VM_HOOK_START);
	if (!ret)
		ret = vm_enter(vm);
	return ret;
}

int vm_run(const struct config *cfg)
{
	static struct vm vm;	/* outlives this call: threads may still be on their way out */
	struct vm_end end;
	int ret = vm_create(&vm, cfg);

	if (ret)
		return EXIT_HUSK;
	ret = vm_run_prepared(&vm, cfg);
	if (ret)
		vm_stop(&vm, "start-up failed: %s", strerror(-ret));
	vm_call_hooks(&vm, VM_HOOK_END);
	end = vm_end_get(&vm);
	return report_end(cfg, &end);
}
