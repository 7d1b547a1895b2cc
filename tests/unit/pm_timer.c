/* SPDX-License-Identifier: Apache-2.0 */
/* PM timer and system device: widths, rate, read-only, signals, exits. */
#include "devices/pm_timer.h"
#include <time.h>
#include "devices/system.h"
#include "husk/layout.h"
#include "husk/system.h"
#include "tests/unit/bus_stub.h"
#include "tests/unit/tap.h"

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void test_pm_timer(void)
{
	struct bus bus = { 0 };
	struct device *dev = pm_timer_new(&bus, true);
	struct timespec nap = { 0, 20000000 };
	uint64_t t0 = now_ns(), a, b, t1, t2, lo, hi;
	uint32_t whole, part;

	a = stub_read(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO, 4);
	t1 = now_ns();
	nanosleep(&nap, NULL);
	t2 = now_ns();
	b = stub_read(&bus, BUS_PIO, 0x608, 4);
	/* Ticks lie between those of the shortest and the longest time it can have been. */
	lo = (t2 - t1) * 3579545 / 1000000000;
	hi = (now_ns() - t0) * 3579545 / 1000000000 + 2;
	tap_ok(b - a >= lo && b - a <= hi, "counts at 3.579545 MHz");
	stub_write(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO, 4, 0);
	tap_ok(stub_read(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO, 4) >= b, "writes are ignored");
	whole = stub_read(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO, 4);
	part = stub_read(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO + 2, 2);
	tap_ok(part == whole >> 16 || part == (whole >> 16) + 1, "upper half");
	tap_ok(stub_read(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO, 8) == ~0ull, "too wide");
	dev->ops->reset(dev);
	tap_ok(stub_read(&bus, BUS_PIO, 0x608, 4) < b, "reset starts it again");
	dev->ops->release(dev);

	memset(&bus, 0, sizeof(bus));
	dev = pm_timer_new(&bus, false);
	tap_ok(!(stub_read(&bus, BUS_MMIO, HUSK_PM_TIMER_MMIO, 4) >> 24), "24 bits");
	dev->ops->release(dev);
	memset(&bus, 0, sizeof(bus));
	bus.fail_map = 1;
	tap_ok(!pm_timer_new(&bus, false), "a range that is taken");
}

static void test_system(void)
{
	const uint64_t at = HUSK_SYSTEM_MMIO;
	struct bus bus = { 0 };
	struct device *dev = system_new(&bus);
	struct timespec now;
	uint64_t ns;

	clock_gettime(CLOCK_REALTIME, &now);
	ns = stub_read(&bus, BUS_MMIO, at + HUSK_SYS_REALTIME, 8);
	tap_ok(ns >= now.tv_sec * 1000000000ull + now.tv_nsec &&
	       ns < (now.tv_sec + 60) * 1000000000ull, "wall clock");
	tap_ok(stub_read(&bus, BUS_MMIO, at + HUSK_SYS_REALTIME, 4) == 0xffffffff, "only in 64 bits");
	tap_ok(stub_read(&bus, BUS_MMIO, at + HUSK_SYS_SIGNALS, 8) == 0, "no signals");
	system_raise(dev, 15);
	system_raise(dev, 2);
	system_raise(dev, 64);
	tap_ok(bus.msis == 3 && bus.msi_addr == HUSK_LAPIC_BASE && bus.msi_data == HUSK_VECTOR_SYSTEM,
	       "each raises the system vector on vCPU 0");
	tap_ok(system_pending(dev, 15) && !system_pending(dev, 14), "pending until it is read");
	system_raise(dev, 0);
	system_raise(dev, 65);
	tap_ok(bus.msis == 3, "there is no signal 0 or 65");
	tap_ok(stub_read(&bus, BUS_MMIO, at + HUSK_SYS_SIGNALS, 4) == 0xffffffff, "half the mask");
	tap_ok(stub_read(&bus, BUS_MMIO, at + HUSK_SYS_SIGNALS, 8) == (1ull << 63 | 1 << 14 | 1 << 1),
	       "all three are marked");
	tap_ok(stub_read(&bus, BUS_MMIO, at + HUSK_SYS_SIGNALS, 8) == 0 && !system_pending(dev, 15),
	       "reading clears");
	stub_write(&bus, BUS_MMIO, at + HUSK_SYS_EXIT, 1, 1);
	stub_write(&bus, BUS_MMIO, at + HUSK_SYS_EXIT, 8, 1);
	stub_write(&bus, BUS_MMIO, at + 4, 4, 1);
	tap_ok(bus.exits == 0, "only a 32-bit write at its offset ends");
	stub_write(&bus, BUS_MMIO, at + HUSK_SYS_EXIT, 4, HUSK_EXIT_SIGNAL << 24 | 11);
	tap_ok(bus.exits == 1 && bus.exit_kind == HUSK_EXIT_SIGNAL && bus.exit_value == 11, "exit");
	dev->ops->release(dev);
}

int main(void)
{
	test_pm_timer();
	test_system();
	return tap_done();
}
