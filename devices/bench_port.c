/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring device of `husk bench`: turns register writes into calls. It also answers two ports:
 * one that rows read on purpose in user space, and the interrupt controller's ELCR, which comes
 * here only where KVM does not serve it.
 */
#include "devices/bench_port.h"

#include <errno.h>
#include <stdlib.h>
#include "husk/bench.h"
#include "husk/layout.h"

#define BENCH_BYTES	0x1000

enum { REGION_MMIO, REGION_PORT, REGION_ELCR };

struct bench_port {
	struct device dev;
	const struct bench_port_ops *ops;
	void *arg;
};

static void bench_port_read(struct device *dev, struct access *acc)
{
	struct bench_port *b = (struct bench_port *)dev;

	if (acc->region == REGION_PORT)
		acc->val = 0;
	else if (acc->region == REGION_ELCR)
		b->ops->elcr(b->arg);
}

static void bench_port_write(struct device *dev, struct access *acc)
{
	struct bench_port *b = (struct bench_port *)dev;

	if (acc->region == REGION_ELCR)
		b->ops->elcr(b->arg);
	if (acc->region != REGION_MMIO || acc->len != 8)
		return;
	switch (acc->off) {
	case HUSK_BENCH_READY:
		b->ops->ready(b->arg, acc->val);
		break;
	case HUSK_BENCH_BEGIN:
		b->ops->begin(b->arg, acc->val);
		break;
	case HUSK_BENCH_END:
		b->ops->end(b->arg, acc->val);
		break;
	case HUSK_BENCH_DONE:
		b->ops->done(b->arg, acc->val);
		break;
	}
}

static void bench_port_release(struct device *dev)
{
	free(dev);
}

static const struct device_ops bench_port_ops = {
	.name = "bench",
	.read = bench_port_read,
	.write = bench_port_write,
	.release = bench_port_release,
};

struct device *bench_port_new(struct bus *bus, const struct bench_port_ops *ops, void *arg)
{
	struct bench_port *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return NULL;
	b->dev = (struct device){ &bench_port_ops, bus };
	b->ops = ops;
	b->arg = arg;
	ret = bus_map(bus, &b->dev, BUS_MMIO, HUSK_BENCH_MMIO, BENCH_BYTES, REGION_MMIO);
	if (!ret)
		ret = bus_map(bus, &b->dev, BUS_PIO, HUSK_BENCH_PORT, 4, REGION_PORT);
	if (!ret)
		ret = bus_map(bus, &b->dev, BUS_PIO, HUSK_BENCH_PORT_ELCR, 1, REGION_ELCR);
	if (ret) {
		bus_unmap(bus, &b->dev, BUS_MMIO, HUSK_BENCH_MMIO);
		bus_unmap(bus, &b->dev, BUS_PIO, HUSK_BENCH_PORT);
		free(b);
		errno = -ret;
		return NULL;
	}
	return &b->dev;
}
