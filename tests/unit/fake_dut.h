/* SPDX-License-Identifier: Apache-2.0 */
/* A virtio device that does what a test tells it: queue 0 echoes, all calls are counted. */
#pragma once

#include <linux/virtio_ring.h>
#include <stdlib.h>
#include <string.h>
#include "devices/virtio_priv.h"
#include "tests/unit/fake_bus.h"

#define DUT_QUEUES	3
#define DUT_CONFIG	12

struct dut {
	struct virtio_device vd;
	struct virtq_elem last;
	int last_pop;
	unsigned pops, notifies[DUT_QUEUES], driver_oks, resets;
	bool hold;			/* leave chains to the test */
	uint8_t config[DUT_CONFIG];
};

static unsigned dut_released;

static void dut_notify(struct virtio_device *vd, unsigned q)
{
	struct dut *dut = (struct dut *)vd;
	struct virtq *vq = virtio_queue(vd, q);

	dut->notifies[q]++;
	while (!dut->hold && (dut->last_pop = virtq_pop(vq, &dut->last)) == 1) {
		dut->pops++;
		virtq_push(vq, &dut->last, (uint32_t)dut->last.out_bytes);
		virtq_interrupt(vq);
	}
}

static void dut_config_read(struct virtio_device *vd, unsigned off, void *buf, unsigned len)
{
	memcpy(buf, ((struct dut *)vd)->config + off, len);
}

static void dut_config_write(struct virtio_device *vd, unsigned off, const void *buf, unsigned len)
{
	memcpy(((struct dut *)vd)->config + off, buf, len);
}

static void dut_driver_ok(struct virtio_device *vd)
{
	((struct dut *)vd)->driver_oks++;
}

static void dut_reset(struct virtio_device *vd)
{
	((struct dut *)vd)->resets++;
}

static void dut_release(struct virtio_device *vd)
{
	dut_released++;
	free(vd);
}

static const struct virtio_ops dut_ops = {
	.name = "dut",
	.id = 63,
	.nqueues = DUT_QUEUES,
	.features = 1ull << 5 | 1ull << VIRTIO_RING_F_EVENT_IDX,
	.config_size = DUT_CONFIG,
	.config_read = dut_config_read,
	.config_write = dut_config_write,
	.notify = dut_notify,
	.driver_ok = dut_driver_ok,
	.reset = dut_reset,
	.release = dut_release,
};

/* A machine with one such device in slot 1. */
static inline struct dut *dut_new(struct bus **bus)
{
	struct dut *dut = calloc(1, sizeof(*dut));
	struct pci_host *host;

	*bus = fake_bus_new(0x100000);
	if (!dut || pci_host_attach(*bus, &host) < 0 || virtio_attach(host, &dut->vd, &dut_ops) < 0)
		exit(1);
	return dut;
}
