/* SPDX-License-Identifier: Apache-2.0 */
/* Split virtqueues: honest chains, and rings that lie in every way the format allows. */
#include <errno.h>
#include <linux/virtio_config.h>
#include "tests/unit/fake_dut.h"
#include "tests/unit/tap.h"

#define INDIRECT	(1ull << VIRTIO_RING_F_INDIRECT_DESC)
#define EVENT_IDX	(1ull << VIRTIO_RING_F_EVENT_IDX)
#define SIZE		8
#define LIMIT		0x100000ull	/* end of low memory */

static struct bus *bus;
static struct dut *dut;
static struct fake_driver drv;
static uint64_t buf;			/* a page of guest memory */

static void setup(uint64_t features, uint16_t size)
{
	bus->next = 0x1000;
	memset(bus->mem.region[0].host, 0, LIMIT);
	fake_msi_clear(bus);
	fake_driver_init(&drv, bus, 1, features);
	fake_queue_setup(&drv, 0, size);
	fake_driver_ok(&drv);
	buf = fake_alloc(bus, 4096, 4096);
	dut->pops = 0;
	dut->hold = false;
}

static void set_desc(unsigned i, uint64_t addr, uint32_t len, uint16_t flags, uint16_t next)
{
	*fake_desc(&drv, 0, i) = (struct vring_desc){ addr, len, flags, next };
}

static bool broken(void)
{
	return (fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET) && dut->last_pop == -EPROTO;
}

static void test_honest(void)
{
	uint32_t id, len;
	uint16_t head;

	setup(0, SIZE);
	for (unsigned i = 0; i < 70000; i++) {		/* the indices wrap */
		struct fake_buf b[2] = { { buf, 16 }, { buf + 64, 32 } };

		head = fake_queue_add(&drv, 0, b, 1, 1);
		fake_queue_kick(&drv, 0);
		if (!fake_queue_used(&drv, 0, &id, &len) || id != head || len != 16)
			break;
	}
	tap_ok(dut->pops == 70000, "70000 chains of two");
	tap_ok(dut->last.nout == 1 && dut->last.nin == 1 && dut->last.in_bytes == 32 &&
	       dut->last.iov[0].iov_base == fake_ptr(bus, buf, 16), "pieces point into guest memory");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(0)) > 0, "interrupts");

	setup(0, SIZE);
	set_desc(0, FAKE_HIGH_BASE + FAKE_HIGH_SIZE - 16, 16, 0, 0);
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->pops == 1 && !broken(), "the last bytes of memory");

	setup(0, SIZE);
	for (unsigned i = 0; i < SIZE; i++)
		set_desc(i, buf, 1, i < SIZE - 1 ? VRING_DESC_F_NEXT : 0, i + 1);
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->pops == 1 && dut->last.nout == SIZE, "a chain as long as the ring");

	setup(0, SIZE);
	set_desc(0, buf, 0, VRING_DESC_F_NEXT, 1);
	set_desc(1, 0xdead0000, 0, VRING_DESC_F_WRITE, 0);
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->pops == 1 && dut->last.nout == 0 && dut->last.nin == 0 && !broken(),
	       "empty pieces are left out");
}

struct hostile {
	const char *name;
	struct vring_desc d[3];
};

static const struct hostile hostile[] = {
	{ "descriptor loops to itself", { { 0x1000, 4, VRING_DESC_F_NEXT, 0 } } },
	{ "two descriptors loop", { { 0x1000, 4, VRING_DESC_F_NEXT, 1 },
				    { 0x1000, 4, VRING_DESC_F_NEXT, 0 } } },
	{ "loop of empty descriptors", { { 0x1000, 0, VRING_DESC_F_NEXT, 0 } } },
	{ "next outside the table", { { 0x1000, 4, VRING_DESC_F_NEXT, SIZE } } },
	{ "next far outside", { { 0x1000, 4, VRING_DESC_F_NEXT, 0xffff } } },
	{ "buffer past the end", { { LIMIT - 8, 16, 0, 0 } } },
	{ "buffer outside memory", { { 0xd0000000, 16, 0, 0 } } },
	{ "huge length", { { 0x1000, 0xffffffff, 0, 0 } } },
	{ "address wraps", { { 0xfffffffffffffff0, 0x20, 0, 0 } } },
	{ "address at the top", { { 0xffffffffffffffff, 1, 0, 0 } } },
	{ "readable after writable", { { 0x1000, 4, VRING_DESC_F_NEXT | VRING_DESC_F_WRITE, 1 },
				       { 0x1000, 4, 0, 0 } } },
	{ "indirect not negotiated", { { 0x1000, 16, VRING_DESC_F_INDIRECT, 0 } } },
};

static void test_hostile_chains(void)
{
	for (unsigned i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		setup(0, SIZE);
		for (unsigned j = 0; j < 3; j++)
			*fake_desc(&drv, 0, j) = hostile[i].d[j];
		fake_queue_publish(&drv, 0, 0);
		fake_queue_kick(&drv, 0);
		tap_ok(broken() && dut->pops == 0, "%s", hostile[i].name);
	}
	tap_ok(fake_msi_count(bus, FAKE_VECTOR_CONFIG) == 1, "the driver hears that it must reset");
	fake_queue_publish(&drv, 0, 1);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->pops == 0, "nothing more is taken");
	setup(0, SIZE);
	tap_ok(!(fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET), "reset heals");
}

static void test_hostile_rings(void)
{
	setup(0, SIZE);
	fake_queue_publish(&drv, 0, SIZE);
	fake_queue_kick(&drv, 0);
	tap_ok(broken(), "head outside the table");

	setup(0, SIZE);
	drv.q[0].avail_idx = SIZE;
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(broken(), "available index jumps by more than the ring");

	setup(0, SIZE);
	drv.q[0].avail_idx = 0xfffe;
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(broken(), "available index goes backwards");

	/* Memory that shrinks cannot happen, but addresses are translated at use all the same. */
	setup(0, SIZE);
	bus->mem.region[0].size = 0x1000;
	fake_queue_kick(&drv, 0);
	bus->mem.region[0].size = LIMIT;
	tap_ok(broken(), "ring outside memory at use");

	setup(0, SIZE);
	dut->hold = true;
	set_desc(0, buf, 4, 0, 0);
	fake_queue_publish(&drv, 0, 0);
	tap_ok(virtq_pop(virtio_queue(&dut->vd, 0), &dut->last) == 1, "taken");
	bus->mem.region[0].size = 0x1000;
	virtq_push(virtio_queue(&dut->vd, 0), &dut->last, 0);
	bus->mem.region[0].size = LIMIT;
	tap_ok(fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET, "used ring outside memory at use");
}

/* One indirect table of n descriptors that chain to the next one; returns its address. */
static uint64_t indirect(unsigned n, uint16_t last_flags)
{
	uint64_t table = fake_alloc(bus, 16 * n, 16);

	for (unsigned i = 0; i < n; i++)
		*(struct vring_desc *)fake_ptr(bus, table + 16 * i, 16) = (struct vring_desc){
			buf, 1, i < n - 1 ? VRING_DESC_F_NEXT : last_flags, i + 1 };
	return table;
}

static void kick_indirect(uint64_t addr, uint32_t len, uint16_t flags)
{
	set_desc(0, addr, len, VRING_DESC_F_INDIRECT | flags, 1);
	set_desc(1, buf, 1, 0, 0);
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
}

static void test_indirect(void)
{
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(VIRTQ_MAX_IOV, 0), 16 * VIRTQ_MAX_IOV, 0);
	tap_ok(dut->pops == 1 && dut->last.nout == VIRTQ_MAX_IOV, "indirect, longest chain");
	setup(INDIRECT, SIZE);
	set_desc(0, buf, 4, VRING_DESC_F_NEXT, 1);
	set_desc(1, indirect(2, 0), 32, VRING_DESC_F_INDIRECT, 0);
	fake_queue_publish(&drv, 0, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->pops == 1 && dut->last.nout == 3, "indirect at the end of a direct chain");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(VIRTQ_MAX_IOV + 1, 0), 16 * (VIRTQ_MAX_IOV + 1), 0);
	tap_ok(broken(), "indirect, one too many");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(2, VRING_DESC_F_NEXT), 32, 0);
	tap_ok(broken(), "indirect runs off its table");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(2, VRING_DESC_F_INDIRECT), 32, 0);
	tap_ok(broken(), "indirect in indirect");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(2, 0), 32, VRING_DESC_F_NEXT);
	tap_ok(broken(), "indirect with next");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(2, 0), 24, 0);
	tap_ok(broken(), "indirect of odd length");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(2, 0), 0, 0);
	tap_ok(broken(), "indirect of no length");
	setup(INDIRECT, SIZE);
	kick_indirect(indirect(2, 0) + 8, 16, 0);
	tap_ok(broken(), "indirect table misaligned");
	setup(INDIRECT, SIZE);
	kick_indirect(LIMIT - 16, 0xfffffff0, 0);
	tap_ok(broken(), "indirect table past the end");
	setup(INDIRECT, SIZE);
	kick_indirect(0xfffffffffffffff0, 0x20, 0);
	tap_ok(broken(), "indirect table wraps");
}

static void test_suppression(void)
{
	struct fake_buf b = { buf, 4 };
	uint16_t *avail, *used;

	setup(0, SIZE);
	avail = fake_ptr(bus, drv.q[0].avail, 6 + 2 * SIZE);
	avail[0] = VRING_AVAIL_F_NO_INTERRUPT;
	fake_queue_add(&drv, 0, &b, 1, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(dut->pops == 1 && fake_msi_count(bus, FAKE_VECTOR(0)) == 0, "NO_INTERRUPT");

	setup(EVENT_IDX, SIZE);
	avail = fake_ptr(bus, drv.q[0].avail, 6 + 2 * SIZE);
	used = fake_ptr(bus, drv.q[0].used, 6 + 8 * SIZE);
	avail[2 + SIZE] = 0;
	fake_queue_add(&drv, 0, &b, 1, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(0)) == 1, "EVENT_IDX: first one interrupts");
	tap_ok(used[2 + 4 * SIZE] == 1, "EVENT_IDX: avail_event follows");
	avail[2 + SIZE] = 3;
	fake_queue_add(&drv, 0, &b, 1, 0);
	fake_queue_add(&drv, 0, &b, 1, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(0)) == 1, "EVENT_IDX: not before used_event");
	fake_queue_add(&drv, 0, &b, 1, 0);
	fake_queue_kick(&drv, 0);
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(0)) == 2, "EVENT_IDX: when it is passed");
}

/* Random descriptors, rings and indices; ASan and UBSan are the judges. */
static void test_fuzz(void)
{
	unsigned seed = 7, taken = 0;

	for (unsigned i = 0; i < 20000; i++) {
		uint64_t table;

		setup(i & 1 ? INDIRECT : EVENT_IDX | INDIRECT, SIZE);
		table = fake_alloc(bus, 16 * SIZE, 16);
		for (unsigned j = 0; j < 2 * SIZE; j++) {
			uint64_t at = j < SIZE ? drv.q[0].desc + 16 * j : table + 16 * (j - SIZE);
			struct vring_desc *d = fake_ptr(bus, at, 16);
			unsigned r = rand_r(&seed);

			d->addr = r & 1 ? buf : r & 2 ? table : (uint64_t)rand_r(&seed) << (r >> 8 & 31);
			d->len = r & 4 ? 16 * SIZE : rand_r(&seed) >> (r >> 13 & 31);
			d->flags = r >> 18 & 7;
			d->next = r & 8 ? r >> 21 & 7 : (unsigned)rand_r(&seed);
		}
		for (unsigned j = 0; j < 4; j++)
			fake_queue_publish(&drv, 0, rand_r(&seed) & SIZE);
		if (!(rand_r(&seed) & 7))
			fake_queue_publish(&drv, 0, rand_r(&seed));
		fake_queue_kick(&drv, 0);
		taken += dut->pops;
	}
	tap_ok(taken > 0, "20000 random rings, %u chains were sound", taken);
}

int main(void)
{
	dut = dut_new(&bus);
	test_honest();
	test_hostile_chains();
	test_hostile_rings();
	test_indirect();
	test_suppression();
	test_fuzz();
	tap_ok(!bus->stopped[0], "the VM was never stopped");
	fake_bus_free(bus);
	tap_ok(dut_released == 1, "released");
	return tap_done();
}
