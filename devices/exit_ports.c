/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports with which kernels end a virtual PC. There is no keyboard: its controller's status says
 * that nothing is there to read and that every command has been taken. No state, so no lock.
 */
#include "devices/exit_ports.h"

#include <errno.h>
#include <stdlib.h>
#include "husk/system.h"

#define PANIC_PANICKED	0x01
#define PANIC_CRASH	0x02	/* a crash kernel takes over: not the end */
#define KBD_RESET	0xfe

enum { REGION_DEBUG, REGION_PANIC, REGION_KBD, REGION_KBD_DATA, REGIONS };

static const struct { uint16_t port, len; } exit_region[REGIONS] = {
	[REGION_DEBUG] = { EXIT_PORT_DEBUG, 4 },
	[REGION_PANIC] = { EXIT_PORT_PANIC, 1 },
	[REGION_KBD] = { EXIT_PORT_KBD, 1 },
	[REGION_KBD_DATA] = { 0x60, 1 },
};

static void exit_ports_read(struct device *dev, struct access *acc)
{
	acc->val = acc->region == REGION_PANIC ? PANIC_PANICKED | PANIC_CRASH : 0;
}

static void exit_ports_write(struct device *dev, struct access *acc)
{
	switch (acc->region) {
	case REGION_DEBUG:
		if (acc->off == 0)
			bus_exit(dev->bus, HUSK_EXIT_CODE, (acc->val << 1 | 1) & 0xff);
		break;
	case REGION_PANIC:
		if (acc->val & PANIC_PANICKED)
			bus_exit(dev->bus, HUSK_EXIT_PANIC, 0);
		break;
	case REGION_KBD:
		if ((uint8_t)acc->val == KBD_RESET)
			bus_exit(dev->bus, HUSK_EXIT_REBOOT, 0);
		break;
	}
}

static void exit_ports_release(struct device *dev)
{
	free(dev);
}

static const struct device_ops exit_ports_ops = {
	.name = "exit-ports",
	.read = exit_ports_read,
	.write = exit_ports_write,
	.release = exit_ports_release,
};

struct device *exit_ports_new(struct bus *bus)
{
	struct device *dev = calloc(1, sizeof(*dev));
	int ret = 0;

	if (!dev)
		return NULL;
	*dev = (struct device){ &exit_ports_ops, bus };
	for (unsigned i = 0; i < REGIONS && !ret; i++)
		ret = bus_map(bus, dev, BUS_PIO, exit_region[i].port, exit_region[i].len, i);
	if (!ret)
		return dev;
	for (unsigned i = 0; i < REGIONS; i++)
		bus_unmap(bus, dev, BUS_PIO, exit_region[i].port);
	free(dev);
	errno = -ret;
	return NULL;
}
