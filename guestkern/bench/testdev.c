/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PCI test device (QEMU, docs/specs/pci-testdev): found in configuration space; a number
 * written to a BAR selects a test, and the header there says what to write where.
 */
#include "bench/bench.h"
#include "drivers/mmio.h"
#include "husk/layout.h"

#define TESTDEV_ID	0x00051b36
#define SLOTS		32
#define HEAD_TEST	0
#define HEAD_WIDTH	1
#define HEAD_OFFSET	4
#define HEAD_DATA	8

extern const char bench_writeb[], bench_outb[], bench_in8[], bench_in32[], bench_out8[];

static u32 config_read(unsigned slot, unsigned off)
{
	return mmio_read32((void *)(HUSK_DIRECT_MAP + HUSK_ECAM_BASE + (u64)slot * 0x8000 + off));
}

static unsigned test_memory(struct bench *b, u64 bar, u8 test)
{
	u8 *head = (u8 *)(HUSK_DIRECT_MAP + bar);

	*(volatile u8 *)(head + HEAD_TEST) = test;
	if (mmio_read8(head + HEAD_WIDTH) != 1)
		return HUSK_BENCH_S_TESTDEV;
	b->routine = bench_writeb;
	b->arg = (u64)head + mmio_read32(head + HEAD_OFFSET);
	b->flags |= (u64)(u8)mmio_read32(head + HEAD_DATA) << 32;
	return HUSK_BENCH_S_OK;
}

static unsigned test_ports(struct bench *b, u64 port, u8 test)
{
	u64 offset, data;

	bench_call(bench_out8, port + HEAD_TEST, test);
	if ((u8)bench_call(bench_in8, port + HEAD_WIDTH, 0) != 1)
		return HUSK_BENCH_S_TESTDEV;
	offset = (u32)bench_call(bench_in32, port + HEAD_OFFSET, 0);
	data = (u8)bench_call(bench_in32, port + HEAD_DATA, 0);
	b->routine = bench_outb;
	b->arg = (u16)(port + offset) | data << 16;
	return HUSK_BENCH_S_OK;
}

unsigned bench_prepare_testdev(struct bench *b)
{
	u8 test = b->arg & ~BENCH_TEST_IO;

	for (unsigned slot = 0; slot < SLOTS; slot++) {
		if (config_read(slot, 0) != TESTDEV_ID)
			continue;
		if (b->arg & BENCH_TEST_IO)
			return test_ports(b, config_read(slot, 0x14) & ~3u, test);
		return test_memory(b, config_read(slot, 0x10) & ~15u, test);
	}
	return HUSK_BENCH_S_TESTDEV;
}
