/* SPDX-License-Identifier: Apache-2.0 */
/* The bus: overlaps, look-ups at every edge, bad lengths, and maps that change under readers. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"
#include "vmm/bus.h"
#include "vmm/vm.h"

/* What bus.c needs of the VM. */
static char stop_reason[256];
static unsigned end_kind, end_value;

void vm_stop(struct vm *vm, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(stop_reason, sizeof(stop_reason), fmt, ap);
	va_end(ap);
}

void vm_end_guest(struct vm *vm, unsigned kind, unsigned value)
{
	end_kind = kind;
	end_value = value;
}

struct test_dev {
	struct device dev;
	struct access last;
	_Atomic unsigned calls;
};

static void test_read(struct device *dev, struct access *acc)
{
	struct test_dev *t = (struct test_dev *)dev;

	t->last = *acc;
	t->calls++;
	acc->val = 0x1122334455667788;
}

static void test_write(struct device *dev, struct access *acc)
{
	struct test_dev *t = (struct test_dev *)dev;

	t->last = *acc;
	t->calls++;
}

static const struct device_ops test_ops = { .name = "test", .read = test_read, .write = test_write };
static const struct device_ops dead_ops = { .name = "dead" };

static uint64_t rd(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len)
{
	uint64_t v = 0;

	bus_access(bus, 0, space, addr, &v, len, false);
	return v;
}

static void test_overlap(struct bus *bus, struct device *d)
{
	tap_ok(bus_map(bus, d, BUS_MMIO, 0x1000, 0x100, 1) == 0, "map");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0x1000, 0x100, 2) == -EEXIST, "the same again");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0x10ff, 1, 2) == -EEXIST, "its last byte");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0xf00, 0x101, 2) == -EEXIST, "its first byte");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0, ~0ull, 2) == -EEXIST, "around it");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0x1040, 0x10, 2) == -EEXIST, "inside it");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0x1100, 0x100, 3) == 0, "right behind it");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0xf00, 0x100, 4) == 0, "right before it");
	tap_ok(bus_map(bus, d, BUS_PIO, 0x1000, 8, 5) == 0, "the other space");
	tap_ok(bus_map(bus, d, BUS_MMIO, 0x5000, 0, 6) == -EINVAL, "empty");
	tap_ok(bus_map(bus, d, BUS_MMIO, ~0ull, 2, 6) == -EINVAL, "wraps");
	tap_ok(bus_map(bus, d, BUS_MMIO, ~0ull - 7, 8, 6) == 0, "up to the last address");
}

static void test_lookup(struct bus *bus, struct test_dev *t)
{
	tap_ok(rd(bus, BUS_MMIO, 0x1000, 4) == 0x55667788 && t->last.off == 0 && t->last.len == 4 &&
	       t->last.region == 1, "first bytes");
	tap_ok(rd(bus, BUS_MMIO, 0x10ff, 1) == 0x88 && t->last.off == 0xff, "last byte");
	tap_ok(rd(bus, BUS_MMIO, 0x1100, 2) == 0x7788 && t->last.region == 3, "the next range");
	tap_ok(rd(bus, BUS_MMIO, ~0ull, 1) == 0x88 && t->last.off == 7, "last address");
	t->calls = 0;
	tap_ok(rd(bus, BUS_MMIO, 0x10fe, 4) == 0xffffffff, "straddling two ranges");
	tap_ok(rd(bus, BUS_MMIO, ~0ull - 3, 8) == ~0ull, "straddling the last address");
	tap_ok(rd(bus, BUS_MMIO, 0xeff, 1) == 0xff && rd(bus, BUS_MMIO, 0x1200, 1) == 0xff,
	       "nothing there");
	tap_ok(rd(bus, BUS_MMIO, 0x1000, 3) == 0xffffff && rd(bus, BUS_MMIO, 0x1000, 0) == 0 &&
	       rd(bus, BUS_MMIO, 0x1000, 9) == 0, "bad lengths");
	tap_ok(t->calls == 0, "none of these reached a device");
	tap_ok(rd(bus, BUS_PIO, 0x1007, 1) == 0x88 && t->last.region == 5, "port");
	bus_unmap(bus, &t->dev, BUS_MMIO, 0x1001);
	bus_unmap(bus, NULL, BUS_MMIO, 0x1000);
	tap_ok(rd(bus, BUS_MMIO, 0x1000, 1) == 0x88, "unmap of what is not mapped does nothing");
	bus_unmap(bus, &t->dev, BUS_MMIO, 0x1000);
	tap_ok(rd(bus, BUS_MMIO, 0x1000, 1) == 0xff && rd(bus, BUS_MMIO, 0xf00, 1) == 0x88 &&
	       rd(bus, BUS_MMIO, 0x1100, 1) == 0x88, "unmap takes one range away");
}

static void test_many(struct bus *bus, struct device *d)
{
	unsigned ok = 0, wrong = 0;

	for (unsigned i = 0; i < 300; i++)
		ok += bus_map(bus, d, BUS_PIO, 0x2000 + (i * 37 % 300) * 16, 8, i) == 0;
	tap_ok(ok == 255, "a space has at most 256 ranges: %u more", ok);
	for (unsigned a = 0x2000; a < 0x2000 + 300 * 16; a++) {
		struct test_dev *t = (struct test_dev *)d;
		unsigned before = t->calls;
		bool hit;

		rd(bus, BUS_PIO, a, 1);
		hit = t->calls != before;
		if (hit && (a % 16 >= 8 || t->last.off != a % 16))
			wrong++;
	}
	tap_ok(!wrong, "each look-up among many finds its range");
}

struct mover {
	struct bus *bus;
	struct device *dev;
	atomic_bool stop;
};

static void *mover_thread(void *arg)
{
	struct mover *m = arg;
	uint64_t at = 0x100000;

	bus_map(m->bus, m->dev, BUS_MMIO, at, 0x1000, 0);
	for (unsigned i = 0; i < 20000; i++) {
		bus_unmap(m->bus, m->dev, BUS_MMIO, at);
		at = 0x100000 + (i & 7) * 0x1000;
		bus_map(m->bus, m->dev, BUS_MMIO, at, 0x1000, 0);
	}
	atomic_store(&m->stop, true);
	return NULL;
}

static void test_moving(struct bus *bus, struct device *d)
{
	struct mover m = { .bus = bus, .dev = d };
	unsigned wrong = 0;
	pthread_t t;

	pthread_create(&t, NULL, mover_thread, &m);
	for (unsigned i = 0; !atomic_load(&m.stop); i++) {
		uint64_t v = 0;

		bus_access(bus, 1, BUS_MMIO, 0x100000 + (i & 7) * 0x1000, &v, 8, false);
		if (v != 0x1122334455667788 && v != ~0ull)
			wrong++;
		bus_access(bus, 1, BUS_MMIO, 0xf00, &v, 8, false);
		if (v != 0x1122334455667788)
			wrong++;
	}
	pthread_join(t, NULL);
	tap_ok(!wrong, "ranges move while another thread looks up");
}

int main(void)
{
	struct vm *vm = calloc(1, sizeof(*vm));
	struct test_dev t = { .dev = { &test_ops, NULL } };
	struct device dead = { &dead_ops, NULL };
	struct bus *bus = bus_new(vm, 2);
	uint64_t v = 0x0102030405060708;

	tap_ok(rd(bus, BUS_MMIO, 0, 8) == ~0ull, "an empty bus reads as all ones");
	test_overlap(bus, &t.dev);
	test_lookup(bus, &t);
	bus_access(bus, 0, BUS_PIO, 0x1000, &v, 4, true);
	tap_ok(t.last.val == 0x05060708, "a write brings its bytes and no more");
	bus_map(bus, &dead, BUS_PIO, 0x10, 4, 0);
	bus_access(bus, 0, BUS_PIO, 0x10, &v, 4, true);
	tap_ok(rd(bus, BUS_PIO, 0x10, 4) == 0xffffffff, "a device without read or write");
	bus_unmap(bus, &dead, BUS_PIO, 0x10);
	test_many(bus, &t.dev);
	test_moving(bus, &t.dev);
	bus_stop(bus, "reason %d", 7);
	tap_ok(!strcmp(stop_reason, "reason 7"), "stop carries its reason");
	bus_exit(bus, 1, 11);
	tap_ok(end_kind == 1 && end_value == 11, "exit carries kind and value");
	tap_ok(bus_mem(bus) == &vm->mem && bus_loop(bus) == vm->loop, "memory and loop");
	bus_free(bus);
	free(vm);
	return tap_done();
}
