/* SPDX-License-Identifier: Apache-2.0 */
/*
 * QEMU's pc-testdev. "Flush" takes the host's mapping of a guest page away for a moment, so that
 * KVM must find the page again; the page keeps what is in it.
 */
#include "devices/pc_testdev.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE	4096ull

enum { REGION_PORT, REGION_FLUSH, REGION_BYTES, REGION_IRQ, REGION_MEM, REGIONS };

static const struct { enum bus_space space; uint64_t base, size; } testdev_region[REGIONS] = {
	[REGION_PORT] = { BUS_PIO, PC_TESTDEV_PORT, 4 },
	[REGION_FLUSH] = { BUS_PIO, PC_TESTDEV_FLUSH, 4 },
	[REGION_BYTES] = { BUS_PIO, PC_TESTDEV_BYTES, 4 },
	[REGION_IRQ] = { BUS_PIO, PC_TESTDEV_IRQ, PC_TESTDEV_IRQS },
	[REGION_MEM] = { BUS_MMIO, PC_TESTDEV_MEM, PC_TESTDEV_MEM_BYTES },
};

struct pc_testdev {
	struct device dev;
	pthread_mutex_t lock;
	uint8_t port[4];			/* lock */
	uint8_t mem[PC_TESTDEV_MEM_BYTES];	/* lock */
};

static void page_flush(struct device *dev, uint64_t gpa)
{
	void *p = guest_mem_ptr(bus_mem(dev->bus), GPA(gpa & ~(PAGE - 1)), PAGE);

	if (p && !mprotect(p, PAGE, PROT_NONE) && mprotect(p, PAGE, PROT_READ | PROT_WRITE))
		bus_stop(dev->bus, "a page of guest memory could not be mapped again");
}

static void pc_testdev_read(struct device *dev, struct access *acc)
{
	struct pc_testdev *t = (struct pc_testdev *)dev;

	pthread_mutex_lock(&t->lock);
	if (acc->region == REGION_PORT || acc->region == REGION_BYTES)
		memcpy(&acc->val, t->port + acc->off, acc->len);
	else if (acc->region == REGION_MEM)
		memcpy(&acc->val, t->mem + acc->off, acc->len);
	pthread_mutex_unlock(&t->lock);
}

static void pc_testdev_write(struct device *dev, struct access *acc)
{
	struct pc_testdev *t = (struct pc_testdev *)dev;

	pthread_mutex_lock(&t->lock);
	if (acc->region == REGION_PORT)
		memcpy(t->port + acc->off, &acc->val, acc->len);
	else if (acc->region == REGION_MEM)
		memcpy(t->mem + acc->off, &acc->val, acc->len);
	pthread_mutex_unlock(&t->lock);
	if (acc->region == REGION_FLUSH && acc->len == 4)
		page_flush(dev, acc->val & 0xffffffff);
	else if (acc->region == REGION_IRQ)
		bus_irq(dev->bus, (unsigned)acc->off, acc->val & 0xff);
}

static void pc_testdev_release(struct device *dev)
{
	pthread_mutex_destroy(&((struct pc_testdev *)dev)->lock);
	free(dev);
}

static const struct device_ops pc_testdev_ops = {
	.name = "pc-testdev",
	.read = pc_testdev_read,
	.write = pc_testdev_write,
	.release = pc_testdev_release,
};

struct device *pc_testdev_new(struct bus *bus)
{
	struct pc_testdev *t = calloc(1, sizeof(*t));
	int ret = 0;

	if (!t)
		return NULL;
	t->dev = (struct device){ &pc_testdev_ops, bus };
	pthread_mutex_init(&t->lock, NULL);
	for (unsigned i = 0; i < REGIONS && !ret; i++)
		ret = bus_map(bus, &t->dev, testdev_region[i].space, testdev_region[i].base,
			      testdev_region[i].size, i);
	if (!ret)
		return &t->dev;
	for (unsigned i = 0; i < REGIONS; i++)
		bus_unmap(bus, &t->dev, testdev_region[i].space, testdev_region[i].base);
	pc_testdev_release(&t->dev);
	errno = -ret;
	return NULL;
}
