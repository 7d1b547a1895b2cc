/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine: the one list of devices, in attach order. A device belongs here or does not exist.
 */
#include "vmm/vm.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "devices/pci.h"
#include "devices/pm_timer.h"
#include "devices/serial.h"
#include "devices/system.h"
#include "devices/virtio_console.h"
#include "devices/virtio_fs.h"
#include "devices/virtio_rng.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/terminal.h"

static int system_attach(struct vm *vm, const struct config *cfg)
{
	vm->system = system_new(vm->bus);
	return vm_add_device(vm, vm->system);
}

static int serial_attach(struct vm *vm, const struct config *cfg)
{
	return vm_add_device(vm, serial_new(vm->bus, log_kernel_bytes, NULL));
}

static int pm_timer_attach(struct vm *vm, const struct config *cfg)
{
	return vm_add_device(vm, pm_timer_new(vm->bus, false));
}

static int pci_host_add(struct vm *vm, const struct config *cfg)
{
	int ret = pci_host_attach(vm->bus, &vm->pci);

	return ret ? ret : vm_add_device(vm, &vm->pci->dev);
}

static int fs_attach(struct vm *vm, const struct config *cfg)
{
	struct rlimit files;
	struct view_env env;
	int ret;

	/* The server caches descriptors up to the limit: let it be what we may have. */
	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	ret = view_env_get(&env);
	if (ret)
		return ret;
	ret = view_build(&vm->view, cfg, &env);
	view_env_free(&env);
	return ret ? ret : virtio_fs_attach(vm->pci, vm->view.server);
}

static int console_attach(struct vm *vm, const struct config *cfg)
{
	struct virtio_console_config vc = { STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, 0, 0 };

	terminal_size(&vc.rows, &vc.cols);
	return virtio_console_attach(vm->pci, &vc, &vm->console);
}

static int rng_attach(struct vm *vm, const struct config *cfg)
{
	return virtio_rng_attach(vm->pci);
}

static const struct {
	const char *name;
	int (*attach)(struct vm *vm, const struct config *cfg);
} machine[] = {
	{ "system", system_attach },		/* first: the guest can end whatever else fails */
	{ "serial", serial_attach },
	{ "pm-timer", pm_timer_attach },
	{ "pci", pci_host_add },		/* before all that plug into it */
	{ "virtio-fs", fs_attach },
	{ "virtio-console", console_attach },
	{ "virtio-rng", rng_attach },
};

int machine_attach(struct vm *vm, const struct config *cfg)
{
	for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]); i++) {
		int ret = machine[i].attach(vm, cfg);

		if (ret) {
			husk_err("device %s: %s", machine[i].name, strerror(-ret));
			return ret;
		}
	}
	return 0;
}
