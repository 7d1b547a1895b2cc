/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An MP table (Intel MultiProcessor Specification 1.4, chapter 4) for kernels without ACPI:
 * processors, the ISA bus, the IOAPIC and its inputs.
 */
#include <errno.h>
#include <string.h>
#include "husk/layout.h"
#include "vmm/acpi.h"

#define MP_SPEC		4
#define APIC_VERSION	0x14
#define MP_BSP		0x03		/* enabled, bootstrap */
#define ISA_LINES	16
#define TABLE_MAX	2048

static uint8_t sum_negated(const uint8_t *p, size_t len)
{
	uint8_t sum = 0;

	while (len--)
		sum += *p++;
	return -sum;
}

static size_t entry_put(uint8_t *table, size_t at, const void *entry, size_t len)
{
	memcpy(table + at, entry, len);
	return at + len;
}

/* Interrupt assignment: type 3 ISA line to IOAPIC input, type 4 line to every local APIC. */
static size_t line_put(uint8_t *table, size_t at, uint8_t entry, uint8_t kind, uint8_t line, uint8_t dest,
		       uint8_t input)
{
	const uint8_t e[8] = { entry, kind, 0, 0, 0, line, dest, input };

	return entry_put(table, at, e, sizeof(e));
}

int mptable_write(struct guest_mem *mem, uint64_t at, unsigned ncpus)
{
	static const uint8_t bus[8] = { 1, 0, 'I', 'S', 'A', ' ', ' ', ' ' };
	const uint8_t ioapic_id = (uint8_t)ncpus;
	const uint8_t ioapic[8] = { 2, ioapic_id, 0x11, 1, 0x00, 0x00, 0xc0, 0xfe };
	uint8_t pointer[16] = "_MP_", t[TABLE_MAX] = "PCMP";
	const uint32_t table_at = (uint32_t)at + sizeof(pointer), lapic = HUSK_LAPIC_BASE;
	size_t len = 44;
	uint16_t count = 0;

	for (unsigned i = 0; i < ncpus; i++, count++) {
		const uint8_t cpu[20] = { 0, (uint8_t)i, APIC_VERSION, i ? 1 : MP_BSP, 0, 6, 0, 0,
					  0x01, 0x02 };		/* FPU, APIC */

		len = entry_put(t, len, cpu, sizeof(cpu));
	}
	len = entry_put(t, len, bus, sizeof(bus));
	len = entry_put(t, len, ioapic, sizeof(ioapic));
	count += 2;
	for (uint8_t i = 0; i < ISA_LINES; i++) {
		if (i == 2)
			continue;		/* the cascade; input 2 is the timer's */
		len = line_put(t, len, 3, 0, i, ioapic_id, i ? i : 2);
		count++;
	}
	len = line_put(t, len, 4, 3, 0, 0xff, 0);	/* ExtINT on LINT0 */
	len = line_put(t, len, 4, 1, 0, 0xff, 1);	/* NMI on LINT1 */
	count += 2;
	memcpy(t + 4, &(uint16_t){ (uint16_t)len }, 2);
	t[6] = MP_SPEC;
	memcpy(t + 8, "HUSK    BOOT        ", 20);
	memcpy(t + 34, &count, 2);
	memcpy(t + 36, &lapic, 4);
	t[7] = sum_negated(t, len);
	memcpy(pointer + 4, &table_at, 4);
	pointer[8] = 1;				/* in units of 16 bytes */
	pointer[9] = MP_SPEC;
	pointer[10] = sum_negated(pointer, sizeof(pointer));
	if (guest_write(mem, GPA(at), pointer, sizeof(pointer)) ||
	    guest_write(mem, GPA(table_at), t, len))
		return -ENOMEM;
	return 0;
}
