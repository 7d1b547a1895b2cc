/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine of `husk boot`: a PC as far as test kernels and Linux look. PIC, IOAPIC and PIT are
 * KVM's. The one list of its devices, in attach order.
 */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "devices/acpi_pm.h"
#include "devices/cmos.h"
#include "devices/exit_ports.h"
#include "devices/fuse/fuse_server.h"
#include "devices/fw_cfg.h"
#include "devices/pc_testdev.h"
#include "devices/pci.h"
#include "devices/pci_testdev.h"
#include "devices/pm_timer.h"
#include "devices/serial.h"
#include "devices/virtio_console.h"
#include "devices/virtio_fs.h"
#include "devices/virtio_rng.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/serial_input.h"
#include "vmm/terminal.h"
#include "vmm/vm.h"

/* What the kernel says on its serial port is the program's output here. */
static void serial_output(void *arg, const char *bytes, size_t len)
{
	struct vm *vm = arg;

	atomic_store_explicit(&vm->spoke, true, memory_order_relaxed);
	while (len) {
		ssize_t n = write(STDOUT_FILENO, bytes, len);

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return;		/* nobody listens: go on without */
		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		}
	}
}

static int serial_attach(struct vm *vm, const struct config *cfg)
{
	struct device *serial = serial_new(vm->bus, serial_output, vm);
	int ret = vm_add_device(vm, serial);

	return ret ? ret : serial_input_start(vm, serial);
}

static int pm_timer_attach(struct vm *vm, const struct config *cfg)
{
	return vm_add_device(vm, pm_timer_new(vm->bus, false));
}

static int acpi_pm_attach(struct vm *vm, const struct config *cfg)
{
	return vm_add_device(vm, acpi_pm_new(vm->bus));
}

static int exit_ports_attach(struct vm *vm, const struct config *cfg)
{
	return vm_add_device(vm, exit_ports_new(vm->bus));
}

static int cmos_attach(struct vm *vm, const struct config *cfg)
{
	uint64_t high = vm->mem.nregions > 1 ? vm->mem.region[1].size : 0;

	return vm_add_device(vm, cmos_new(vm->bus, vm->mem.region[0].size, high));
}

static int fw_cfg_attach(struct vm *vm, const struct config *cfg)
{
	vm->fw_cfg = fw_cfg_new(vm->bus);
	return vm_add_device(vm, fw_cfg_device(vm->fw_cfg));
}

static int pc_testdev_attach(struct vm *vm, const struct config *cfg)
{
	return vm_add_device(vm, pc_testdev_new(vm->bus));
}

static int pci_host_add(struct vm *vm, const struct config *cfg)
{
	int ret = pci_host_attach(vm->bus, &vm->pci);

	return ret ? ret : vm_add_device(vm, &vm->pci->dev);
}

static int pci_testdev_add(struct vm *vm, const struct config *cfg)
{
	return pci_testdev_attach(vm->pci);
}

/* Output only: standard input is the serial port's. */
static int console_attach(struct vm *vm, const struct config *cfg)
{
	struct virtio_console_config vc = { -1, STDOUT_FILENO, STDERR_FILENO, 0, 0 };

	terminal_size(&vc.rows, &vc.cols);
	return virtio_console_attach(vm->pci, &vc, &vm->console);
}

static int rng_attach(struct vm *vm, const struct config *cfg)
{
	return virtio_rng_attach(vm->pci);
}

/* The view is one directory; without --share the device has an empty one. */
static int fs_attach(struct vm *vm, const struct config *cfg)
{
	struct rlimit files;
	int ret = 0;

	if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	vm->view.server = fuse_server_new();
	if (!vm->view.server)
		return -errno;
	if (cfg->nshares) {
		const struct share *s = &cfg->shares[0];
		const struct fuse_export export = { .host = s->host, .guest = "/", .rw = s->rw };

		ret = fuse_server_add(vm->view.server, &export);
	}
	return ret ? ret : virtio_fs_attach(vm->pci, vm->view.server);
}

static const struct {
	const char *name;
	int (*attach)(struct vm *vm, const struct config *cfg);
} machine[] = {
	{ "exit-ports", exit_ports_attach },	/* first: the guest can end whatever else fails */
	{ "serial", serial_attach },
	{ "pm-timer", pm_timer_attach },
	{ "acpi-pm", acpi_pm_attach },
	{ "cmos", cmos_attach },
	{ "fw-cfg", fw_cfg_attach },
	{ "pc-testdev", pc_testdev_attach },
	{ "pci", pci_host_add },		/* before all that plug into it */
	{ "pci-testdev", pci_testdev_add },
	{ "virtio-console", console_attach },
	{ "virtio-rng", rng_attach },
	{ "virtio-fs", fs_attach },
};

int machine_attach_boot(struct vm *vm, const struct config *cfg)
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
