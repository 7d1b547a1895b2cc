/* SPDX-License-Identifier: Apache-2.0 */
/* The checked accessors: every way for an address and a length to be outside RAM. */
#include <errno.h>
#include <string.h>
#include "devices/guest_mem.h"
#include "husk/layout.h"
#include "tests/unit/tap.h"
#include "vmm/guest_ram.h"

#define MIB	(1ull << 20)
#define GIB	(1ull << 30)

static void test_small(void)
{
	struct guest_mem mem;
	uint8_t buf[16] = { 1, 2, 3 }, back[16] = { 0 };
	uint64_t end = 32 * MIB;

	tap_ok(guest_mem_init(&mem, end) == 0 && mem.nregions == 1, "32 MiB in one region");
	tap_ok(((uintptr_t)mem.region[0].host & (2 * MIB - 1)) == 0, "host address suits huge pages");
	tap_ok(guest_mem_ptr(&mem, GPA(0), 1) == mem.region[0].host, "first byte");
	tap_ok(guest_mem_ptr(&mem, GPA(0), end) == mem.region[0].host, "all of it");
	tap_ok(!guest_mem_ptr(&mem, GPA(0), end + 1), "one byte too many");
	tap_ok(guest_mem_ptr(&mem, GPA(end - 1), 1), "last byte");
	tap_ok(!guest_mem_ptr(&mem, GPA(end), 1), "behind the last byte");
	tap_ok(!guest_mem_ptr(&mem, GPA(end - 1), 2), "straddling the end");
	tap_ok(!guest_mem_ptr(&mem, GPA(16), 0), "empty");
	tap_ok(!guest_mem_ptr(&mem, GPA(end), 0), "empty at the end");
	tap_ok(!guest_mem_ptr(&mem, GPA(0), SIZE_MAX), "longest length");
	tap_ok(!guest_mem_ptr(&mem, GPA(4096), SIZE_MAX - 4095), "length that wraps to 0");
	tap_ok(!guest_mem_ptr(&mem, GPA(4096), SIZE_MAX - 4000), "length that wraps into RAM");
	tap_ok(!guest_mem_ptr(&mem, GPA(UINT64_MAX), 1), "last address");
	tap_ok(!guest_mem_ptr(&mem, GPA(UINT64_MAX), 2), "address that wraps");
	tap_ok(!guest_mem_ptr(&mem, GPA(HUSK_PCI_MMIO_BASE), 4), "in the hole");

	tap_ok(guest_write(&mem, GPA(end - 16), buf, 16) == 0 &&
	       guest_read(&mem, back, GPA(end - 16), 16) == 0 && !memcmp(buf, back, 16),
	       "write and read back at the end");
	memset(back, 0x55, 16);
	tap_ok(guest_read(&mem, back, GPA(end - 15), 16) == -EFAULT && back[0] == 0x55,
	       "straddling read copies nothing");
	tap_ok(guest_write(&mem, GPA(end - 15), back, 16) == -EFAULT &&
	       mem.region[0].host[end - 15] == 2, "straddling write copies nothing");
	guest_mem_free(&mem);
	tap_ok(!guest_mem_ptr(&mem, GPA(0), 1), "nothing after free");
}

static void test_large(void)
{
	struct guest_mem mem;
	uint64_t top = HUSK_HOLE_END + 2 * GIB;

	tap_ok(guest_mem_init(&mem, 5 * GIB) == 0 && mem.nregions == 2, "5 GiB in two regions");
	guest_mem_advise(&mem);
	tap_ok(mem.region[0].size == HUSK_HOLE_BASE && mem.region[1].base == HUSK_HOLE_END &&
	       mem.region[1].size == 2 * GIB, "below the hole and above 4 GiB");
	tap_ok(guest_mem_ptr(&mem, GPA(HUSK_HOLE_BASE - 1), 1), "last byte below the hole");
	tap_ok(!guest_mem_ptr(&mem, GPA(HUSK_HOLE_BASE), 1), "first byte of the hole");
	tap_ok(!guest_mem_ptr(&mem, GPA(HUSK_HOLE_BASE - 8), 16), "straddling into the hole");
	tap_ok(!guest_mem_ptr(&mem, GPA(HUSK_HOLE_END - 1), 1), "last byte of the hole");
	tap_ok(!guest_mem_ptr(&mem, GPA(HUSK_HOLE_END - 8), 16), "straddling out of the hole");
	tap_ok(!guest_mem_ptr(&mem, GPA(HUSK_HOLE_BASE - 8), 16 + GIB), "all across the hole");
	tap_ok(guest_mem_ptr(&mem, GPA(HUSK_HOLE_END), 2 * GIB) == mem.region[1].host, "all above");
	tap_ok(guest_mem_ptr(&mem, GPA(top - 1), 1) && !guest_mem_ptr(&mem, GPA(top), 1), "its end");
	guest_mem_free(&mem);
}

int main(void)
{
	struct guest_mem mem;

	test_small();
	test_large();
	tap_ok(guest_mem_init(&mem, 0) == -EINVAL, "no memory at all");
	tap_ok(guest_mem_init(&mem, GUEST_MEM_MIN - GUEST_MEM_ALIGN) == -EINVAL, "too little");
	tap_ok(guest_mem_init(&mem, GUEST_MEM_MIN + 4096) == -EINVAL, "not aligned");
	tap_ok(guest_mem_init(&mem, UINT64_MAX - GUEST_MEM_ALIGN + 1) == -EINVAL, "too much");
	tap_ok(guest_mem_init(&mem, HUSK_HOLE_BASE) == 0 && mem.nregions == 1, "exactly 3 GiB");
	guest_mem_free(&mem);
	return tap_done();
}
