/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACPI PM timer (ACPI 6.4, section 4.8.2.1): a read-only counter at 3.579545 MHz, 24 or 32 bits,
 * at HUSK_PM_TIMER_MMIO and at port 0x608. No state but its start, so no lock.
 */
#include "devices/pm_timer.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include "devices/fdt_reg.h"
#include "husk/fdt.h"
#include "husk/layout.h"

#define PM_TIMER_PORT	0x608
#define PM_TIMER_BYTES	4
#define PM_TIMER_HZ	3579545ull
#define NSEC_PER_SEC	1000000000ull

struct pm_timer {
	struct device dev;
	uint64_t start_ns;
	uint32_t mask;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static uint64_t ticks(uint64_t ns)
{
	/* Split so that the product cannot overflow: 10^9 * 3.6 * 10^6 fits. */
	return ns / NSEC_PER_SEC * PM_TIMER_HZ + ns % NSEC_PER_SEC * PM_TIMER_HZ / NSEC_PER_SEC;
}

static void pm_timer_read(struct device *dev, struct access *acc)
{
	struct pm_timer *t = (struct pm_timer *)dev;

	/* Narrower reads see the bytes they ask for, as on the real register. */
	acc->val = (uint32_t)(ticks(now_ns() - t->start_ns) & t->mask) >> (8 * acc->off);
}

static void pm_timer_reset(struct device *dev)
{
	((struct pm_timer *)dev)->start_ns = now_ns();
}

static int pm_timer_fdt(struct device *dev, void *fdt, int parent)
{
	int node = fdt_add_device(fdt, parent, "pm-timer", HUSK_FDT_PM_TIMER, HUSK_PM_TIMER_MMIO,
				  PM_TIMER_BYTES);

	return node < 0 ? node : 0;
}

static void pm_timer_release(struct device *dev)
{
	free(dev);
}

static const struct device_ops pm_timer_ops = {
	.name = "pm-timer",
	.read = pm_timer_read,
	.reset = pm_timer_reset,
	.fdt = pm_timer_fdt,
	.release = pm_timer_release,
};

struct device *pm_timer_new(struct bus *bus, bool wide)
{
	struct pm_timer *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return NULL;
	t->dev = (struct device){ &pm_timer_ops, bus };
	t->mask = wide ? 0xffffffff : 0x00ffffff;
	t->start_ns = now_ns();
	ret = bus_map(bus, &t->dev, BUS_MMIO, HUSK_PM_TIMER_MMIO, PM_TIMER_BYTES, 0);
	if (!ret)
		ret = bus_map(bus, &t->dev, BUS_PIO, PM_TIMER_PORT, PM_TIMER_BYTES, 1);
	if (ret) {
		bus_unmap(bus, &t->dev, BUS_MMIO, HUSK_PM_TIMER_MMIO);
		free(t);
		errno = -ret;
		return NULL;
	}
	return &t->dev;
}
