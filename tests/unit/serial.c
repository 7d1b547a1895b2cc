/* SPDX-License-Identifier: Apache-2.0 */
/* The 16550A model: registers behind DLAB, FIFO, loopback, interrupt identification, output. */
#include "devices/serial.h"
#include "husk/layout.h"
#include "tests/unit/bus_stub.h"
#include "tests/unit/tap.h"

static char sent[64];
static size_t nsent;

static void out(void *arg, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && nsent < sizeof(sent); i++)
		sent[nsent++] = bytes[i];
}

static struct bus bus;

static uint8_t in(unsigned reg)
{
	return stub_read(&bus, BUS_MMIO, HUSK_SERIAL_MMIO + reg, 1);
}

static void put(unsigned reg, uint8_t v)
{
	stub_write(&bus, BUS_MMIO, HUSK_SERIAL_MMIO + reg, 1, v);
}

static void test_registers(void)
{
	tap_ok(in(5) == 0x60, "transmitter empty, nothing received");
	put(0, 'a');
	stub_write(&bus, BUS_PIO, 0x3f8, 1, 'b');
	tap_ok(nsent == 2 && sent[0] == 'a' && sent[1] == 'b', "output by memory and by port");
	put(3, 0x83);
	put(0, 12);
	put(1, 1);
	tap_ok(in(0) == 12 && in(1) == 1 && nsent == 2, "divisor behind DLAB, nothing sent");
	put(3, 0x03);
	tap_ok(in(3) == 0x03 && in(1) == 0, "IER is back");
	put(7, 0xa5);
	tap_ok(in(7) == 0xa5 && stub_read(&bus, BUS_PIO, 0x3ff, 1) == 0xa5, "scratch");
	put(1, 0xff);
	tap_ok(in(1) == 0x0f, "IER has four bits");
	put(1, 0);
	put(5, 0xff);
	put(6, 0xff);
	tap_ok(in(5) == 0x60, "LSR and MSR are read-only");
	put(4, 0xff);
	tap_ok(in(4) == 0x1f, "MCR has five bits");
	put(4, 0);
	in(6);
	tap_ok(in(6) == 0xb0, "a host that is always there");
	tap_ok(stub_read(&bus, BUS_MMIO, HUSK_SERIAL_MMIO, 4) == 0xffffffff, "wide reads: all ones");
	stub_write(&bus, BUS_MMIO, HUSK_SERIAL_MMIO, 4, 0x41414141);
	tap_ok(nsent == 2, "wide writes are dropped");
}

static void test_interrupts(void)
{
	put(2, 0);
	in(6);
	tap_ok(in(2) == 0x01, "nothing pending");
	put(1, 0x02);
	tap_ok(in(2) == 0x02, "transmitter empty");
	tap_ok(in(2) == 0x01, "reading takes it");
	put(0, 'c');
	tap_ok(in(2) == 0x02, "pending again after a byte");
	put(2, 0x01);
	tap_ok((in(2) & 0xc0) == 0xc0, "FIFOs on");
	put(1, 0);
}

static void test_loopback(void)
{
	size_t before = nsent;

	put(2, 0x03);
	put(4, 0x10);
	for (unsigned i = 0; i < 16; i++)
		put(0, 'A' + i);
	tap_ok(nsent == before && (in(5) & 1), "loopback: received, not sent");
	put(1, 0x05);
	tap_ok((in(2) & 0x0f) == 0x04, "received data available");
	put(0, 'z');
	tap_ok((in(2) & 0x0f) == 0x06, "line status comes first");
	tap_ok((in(5) & 0x03) == 0x03 && !(in(5) & 0x02), "overrun, cleared by reading");
	tap_ok(in(0) == 'A' && in(0) == 'B', "FIFO keeps order and what it had");
	put(2, 0xc1);
	tap_ok(in(0) == 'C' && (in(2) & 0x0f) == 0x0c, "below the trigger level: time-out");
	put(2, 0x03);
	tap_ok(!(in(5) & 1) && in(0) == 0, "cleared FIFO");
	put(2, 0x00);
	put(0, 'x');
	put(0, 'y');
	tap_ok((in(5) & 3) == 3 && in(0) == 'y' && !(in(5) & 1), "without FIFO the last byte stays");
	put(1, 0);
	put(4, 0x1f);
	in(6);
	tap_ok(in(6) == 0xf0, "modem lines turned round");
	put(4, 0x10);
	tap_ok(in(6) == 0x0f, "changes: CTS, DSR, trailing RI, DCD");
	tap_ok(in(6) == 0x00, "cleared by reading");
	put(4, 0x00);
}

/* Any sequence of accesses: no crash, sanitizers watch. */
static void test_random(void)
{
	unsigned seed = 7;

	for (unsigned i = 0; i < 200000; i++) {
		seed = seed * 1103515245 + 12345;
		stub_access(&bus, seed >> 31 ? BUS_PIO : BUS_MMIO,
			    (seed >> 31 ? 0x3f8 : HUSK_SERIAL_MMIO) + (seed >> 8 & 7),
			    1 << (seed >> 12 & 3), seed >> 16, seed >> 30 & 1);
	}
	tap_ok(true, "random accesses");
}

int main(void)
{
	struct device *dev = serial_new(&bus, out, NULL);

	tap_ok(dev && bus.nmaps == 2, "mapped twice");
	test_registers();
	test_interrupts();
	test_loopback();
	test_random();
	dev->ops->reset(dev);
	tap_ok(in(5) == 0x60 && in(7) == 0 && in(3) == 0, "reset");
	dev->ops->release(dev);
	memset(&bus, 0, sizeof(bus));
	bus.fail_map = 2;
	errno = 0;
	tap_ok(!serial_new(&bus, out, NULL) && errno == EEXIST && bus.nmaps == 0,
	       "a port that is taken: nothing stays mapped");
	return tap_done();
}
