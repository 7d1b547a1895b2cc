/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system device. Registers take exactly the widths of include/husk/system.h; what else is
 * tried reads as all ones and is dropped when written.
 */
#include "devices/system.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include "devices/fdt_reg.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "husk/system.h"

#define SYSTEM_BYTES	0x1000

struct system_dev {
	struct device dev;
	_Atomic uint64_t signals;
};

static void system_read(struct device *dev, struct access *acc)
{
	struct system_dev *sys = (struct system_dev *)dev;
	struct timespec now;

	if (acc->len != 8)
		return;
	switch (acc->off) {
	case HUSK_SYS_REALTIME:
		clock_gettime(CLOCK_REALTIME, &now);
		acc->val = (uint64_t)now.tv_sec * 1000000000u + now.tv_nsec;
		break;
	case HUSK_SYS_SIGNALS:
		acc->val = atomic_exchange(&sys->signals, 0);
		break;
	}
}

static void system_write(struct device *dev, struct access *acc)
{
	uint32_t v = acc->val;

	if (acc->len == 4 && acc->off == HUSK_SYS_EXIT)
		bus_exit(dev->bus, v >> 24, v & 0xffff);
}

static void system_reset(struct device *dev)
{
	atomic_store(&((struct system_dev *)dev)->signals, 0);
}

static int system_fdt(struct device *dev, void *fdt, int parent)
{
	int node = fdt_add_device(fdt, parent, "system", HUSK_FDT_SYSTEM, HUSK_SYSTEM_MMIO,
				  SYSTEM_BYTES);

	return node < 0 ? node : 0;
}

static void system_release(struct device *dev)
{
	free(dev);
}

static const struct device_ops system_ops = {
	.name = "system",
	.read = system_read,
	.write = system_write,
	.reset = system_reset,
	.fdt = system_fdt,
	.release = system_release,
};

struct device *system_new(struct bus *bus)
{
	struct system_dev *sys = calloc(1, sizeof(*sys));
	int ret;

	if (!sys)
		return NULL;
	sys->dev = (struct device){ &system_ops, bus };
	ret = bus_map(bus, &sys->dev, BUS_MMIO, HUSK_SYSTEM_MMIO, SYSTEM_BYTES, 0);
	if (ret) {
		free(sys);
		errno = -ret;
		return NULL;
	}
	return &sys->dev;
}

void system_raise(struct device *dev, unsigned sig)
{
	struct system_dev *sys = (struct system_dev *)dev;

	if (sig < 1 || sig > 64)
		return;
	atomic_fetch_or(&sys->signals, 1ull << (sig - 1));
	bus_msi(dev->bus, HUSK_LAPIC_BASE, HUSK_VECTOR_SYSTEM);	/* APIC id 0, fixed, edge */
}

bool system_pending(struct device *dev, unsigned sig)
{
	struct system_dev *sys = (struct system_dev *)dev;

	return sig >= 1 && sig <= 64 && (atomic_load(&sys->signals) & 1ull << (sig - 1));
}
