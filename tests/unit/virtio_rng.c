/* SPDX-License-Identifier: Apache-2.0 */
/* Entropy device: fills what is writable, no more than its bound, and nothing else. */
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <string.h>
#include "devices/virtio_rng.h"
#include "tests/unit/fake_bus.h"
#include "tests/unit/tap.h"

static struct bus *bus;
static struct fake_driver drv;

static bool all_zero(uint64_t gpa, size_t len)
{
	const uint8_t *p = fake_ptr(bus, gpa, len);

	for (size_t i = 0; i < len; i++)
		if (p[i])
			return false;
	return true;
}

static uint32_t request(const struct fake_buf *bufs, unsigned nout, unsigned nin)
{
	uint32_t len = ~0u;

	fake_queue_add(&drv, 0, bufs, nout, nin);
	fake_queue_kick(&drv, 0);
	fake_queue_used(&drv, 0, NULL, &len);
	return len;
}

int main(void)
{
	struct pci_host *host;
	struct fake_buf b[3];
	uint64_t mem;

	bus = fake_bus_new(0x100000);
	tap_ok(pci_host_attach(bus, &host) == 0 && virtio_rng_attach(host) == 0, "attached");
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x10441af4, "ids");
	tap_ok(fake_driver_init(&drv, bus, 1, 0), "features");
	fake_queue_setup(&drv, 0, 16);
	fake_driver_ok(&drv);
	mem = fake_alloc(bus, 0x10000, 4096);

	b[0] = (struct fake_buf){ mem, 64 };
	tap_ok(request(b, 0, 1) == 64, "64 bytes");
	tap_ok(!all_zero(mem, 64) && all_zero(mem + 64, 64), "random, and only those");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(0)) == 1, "interrupt");
	b[0] = (struct fake_buf){ mem + 0x1000, 16 };
	b[1] = (struct fake_buf){ mem + 0x2000, 16 };
	b[2] = (struct fake_buf){ mem + 0x3000, 100 };
	tap_ok(request(b, 1, 2) == 116, "two pieces");
	tap_ok(all_zero(mem + 0x1000, 16) && !all_zero(mem + 0x2000, 16) &&
	       !all_zero(mem + 0x3000, 100), "device-readable piece untouched");
	b[0] = (struct fake_buf){ mem + 0x4000, 0x8000 };
	tap_ok(request(b, 0, 1) == 4096 && all_zero(mem + 0x5000, 0x7000), "bounded");
	b[0] = (struct fake_buf){ mem, 8 };
	tap_ok(request(b, 1, 0) == 0, "nothing writable: nothing written");
	b[0] = (struct fake_buf){ 0xfffff, 2 };
	tap_ok(request(b, 0, 1) == ~0u && fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET,
	       "buffer outside memory");
	fake_bus_free(bus);
	return tap_done();
}
