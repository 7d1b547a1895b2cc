/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine: the one list of devices, in attach order. A device belongs here or does not exist.
 */
#include "vmm/vm.h"

#include <stddef.h>
#include "devices/pm_timer.h"
#include "devices/serial.h"
#include "devices/system.h"
#include "vmm/config.h"
#include "vmm/log.h"

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

typedef int attach_fn(struct vm *vm, const struct config *cfg);

static attach_fn *const machine[] = {
	system_attach,		/* first: it can say why the rest failed */
	serial_attach,
	pm_timer_attach,
};

int machine_attach(struct vm *vm, const struct config *cfg)
{
	int ret = 0;

	for (size_t i = 0; i < sizeof(machine) / sizeof(machine[0]) && !ret; i++)
		ret = machine[i](vm, cfg);
	return ret;
}
