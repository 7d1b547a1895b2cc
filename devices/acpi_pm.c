/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACPI fixed hardware (ACPI 6.4, section 4.8.3): the PM1a register blocks, with which a kernel
 * turns the machine off, and a reset register. No event ever happens. ACPI mode is always on.
 */
#include "devices/acpi_pm.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "husk/system.h"

#define CONTROL_SCI_EN	(1u << 0)
#define CONTROL_SLP_EN	(1u << 13)
#define CONTROL_SLP_TYP(v)	((v) >> 10 & 7)

enum { REGION_EVENT, REGION_CONTROL, REGION_RESET };

struct acpi_pm {
	struct device dev;
	_Atomic uint16_t enable;
};

static void acpi_pm_read(struct device *dev, struct access *acc)
{
	struct acpi_pm *pm = (struct acpi_pm *)dev;
	uint32_t v = 0;

	if (acc->region == REGION_EVENT)
		v = (uint32_t)atomic_load(&pm->enable) << 16;	/* the status is 0 */
	else if (acc->region == REGION_CONTROL)
		v = CONTROL_SCI_EN;
	acc->val = v >> (8 * acc->off);
}

static void acpi_pm_write(struct device *dev, struct access *acc)
{
	struct acpi_pm *pm = (struct acpi_pm *)dev;

	switch (acc->region) {
	case REGION_EVENT:
		if (acc->off == 2 && acc->len == 2)
			atomic_store(&pm->enable, (uint16_t)acc->val);
		break;
	case REGION_CONTROL:
		if (acc->off == 0 && acc->len == 2 && (acc->val & CONTROL_SLP_EN) &&
		    CONTROL_SLP_TYP(acc->val) == ACPI_PM_SLEEP_S5)
			bus_exit(dev->bus, HUSK_EXIT_REBOOT, 0);
		break;
	default:
		if ((uint8_t)acc->val == ACPI_PM_RESET_VALUE)
			bus_exit(dev->bus, HUSK_EXIT_REBOOT, 0);
	}
}

static void acpi_pm_reset(struct device *dev)
{
	atomic_store(&((struct acpi_pm *)dev)->enable, 0);
}

static void acpi_pm_release(struct device *dev)
{
	free(dev);
}

static const struct device_ops acpi_pm_ops = {
	.name = "acpi-pm",
	.read = acpi_pm_read,
	.write = acpi_pm_write,
	.reset = acpi_pm_reset,
	.release = acpi_pm_release,
};

struct device *acpi_pm_new(struct bus *bus)
{
	struct acpi_pm *pm = calloc(1, sizeof(*pm));
	int ret;

	if (!pm)
		return NULL;
	pm->dev = (struct device){ &acpi_pm_ops, bus };
	ret = bus_map(bus, &pm->dev, BUS_PIO, ACPI_PM_EVENT_PORT, 4, REGION_EVENT);
	if (!ret)
		ret = bus_map(bus, &pm->dev, BUS_PIO, ACPI_PM_CONTROL_PORT, 2, REGION_CONTROL);
	if (!ret)
		ret = bus_map(bus, &pm->dev, BUS_PIO, ACPI_PM_RESET_PORT, 1, REGION_RESET);
	if (!ret)
		return &pm->dev;
	bus_unmap(bus, &pm->dev, BUS_PIO, ACPI_PM_EVENT_PORT);
	bus_unmap(bus, &pm->dev, BUS_PIO, ACPI_PM_CONTROL_PORT);
	free(pm);
	errno = -ret;
	return NULL;
}
