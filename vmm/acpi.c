/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ACPI tables (ACPI 6.4, chapter 5) of the machine that `husk boot` gives: RSDP, RSDT and XSDT,
 * FADT, FACS, MADT, MCFG, DSDT. Everything that they tell is constant but the number of vCPUs.
 */
#include "vmm/acpi.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "devices/acpi_pm.h"
#include "devices/exit_ports.h"
#include "husk/layout.h"
#include "vmm/aml.h"

#define PM_TIMER_PORT	0x608
#define SCI_IRQ		9
#define TABLE_MAX	4096

struct acpi_header {
	char signature[4];
	uint32_t length;
	uint8_t revision, checksum;
	char oem_id[6], oem_table_id[8];
	uint32_t oem_revision;
	char creator_id[4];
	uint32_t creator_revision;
} __attribute__((packed));

struct acpi_rsdp {
	char signature[8];
	uint8_t checksum;
	char oem_id[6];
	uint8_t revision;
	uint32_t rsdt;
	uint32_t length;
	uint64_t xsdt;
	uint8_t extended_checksum, reserved[3];
} __attribute__((packed));

struct acpi_gas {
	uint8_t space, bits, offset, access;
	uint64_t address;
} __attribute__((packed));

struct acpi_fadt {
	struct acpi_header h;
	uint32_t facs, dsdt;
	uint8_t reserved, profile;
	uint16_t sci;
	uint32_t smi_cmd;
	uint8_t acpi_enable, acpi_disable, s4bios, pstate;
	uint32_t pm1a_evt, pm1b_evt, pm1a_cnt, pm1b_cnt, pm2_cnt, pm_tmr, gpe0, gpe1;
	uint8_t pm1_evt_len, pm1_cnt_len, pm2_cnt_len, pm_tmr_len, gpe0_len, gpe1_len, gpe1_base, cst;
	uint16_t c2_latency, c3_latency, flush_size, flush_stride;
	uint8_t duty_offset, duty_width, day_alarm, month_alarm, century;
	uint16_t boot_arch;
	uint8_t reserved2;
	uint32_t flags;
	struct acpi_gas reset_reg;
	uint8_t reset_value;
	uint16_t arm_arch;
	uint8_t minor;
	uint64_t x_facs, x_dsdt;
	struct acpi_gas x_pm1a_evt, x_pm1b_evt, x_pm1a_cnt, x_pm1b_cnt, x_pm2_cnt, x_pm_tmr, x_gpe0, x_gpe1;
} __attribute__((packed));

_Static_assert(sizeof(struct acpi_header) == 36 && sizeof(struct acpi_rsdp) == 36 &&
	       sizeof(struct acpi_fadt) == 244, "as in ACPI 5.0");

#define FADT_WBINVD	(1u << 0)
#define FADT_RESET	(1u << 10)
#define BOOT_LEGACY	(1u << 0)	/* there are ISA devices */
#define BOOT_NO_VGA	(1u << 2)

struct acpi_facs {
	char signature[4];
	uint32_t length, hardware, waking, lock, flags;
	uint64_t x_waking;
	uint8_t version, reserved[31];
} __attribute__((packed));

/* Tables being laid out; each starts at a multiple of 64. */
struct acpi_writer {
	struct guest_mem *mem;
	uint64_t next, end;
	int err;
};

static uint8_t checksum(const void *p, size_t len)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum += ((const uint8_t *)p)[i];
	return -sum;
}

static void header_fill(struct acpi_header *h, const char *signature, uint8_t revision, size_t len)
{
	memset(h, 0, sizeof(*h));
	memcpy(h->signature, signature, 4);
	memcpy(h->oem_id, "HUSK  ", 6);
	memcpy(h->oem_table_id, "HUSKBOOT", 8);
	memcpy(h->creator_id, "HUSK", 4);
	h->length = (uint32_t)len;
	h->revision = revision;
	h->oem_revision = h->creator_revision = 1;
}

static uint64_t blob_put(struct acpi_writer *w, const void *p, size_t len)
{
	uint64_t at = w->next;

	if (at + len > w->end || guest_write(w->mem, GPA(at), p, len))
		w->err = -ENOMEM;
	w->next = (at + len + 63) & ~63ull;
	return at;
}

/* A whole table whose header lacks its checksum only; where it is. */
static uint64_t table_put(struct acpi_writer *w, void *table)
{
	struct acpi_header *h = table;

	h->checksum = 0;
	h->checksum = checksum(table, h->length);
	return blob_put(w, table, h->length);
}

static void dsdt_pci(struct aml *a)
{
	size_t dev = aml_device_begin(a, "PCI0"), crs;

	aml_name(a, "_HID");
	aml_eisa_id(a, "PNP0A08");
	aml_name(a, "_CID");
	aml_eisa_id(a, "PNP0A03");
	aml_name_integer(a, "_UID", 0);
	aml_name_integer(a, "_BBN", 0);
	crs = aml_crs_begin(a);
	aml_window(a, AML_BUS, 0, 1);
	aml_io(a, 0xcf8, 8);
	aml_window(a, AML_IO, HUSK_PCI_IO_BASE, HUSK_PCI_IO_SIZE);
	aml_window(a, AML_MEMORY, HUSK_PCI_MMIO_BASE, HUSK_PCI_MMIO_SIZE);
	aml_crs_end(a, crs);
	aml_block_end(a, dev);
}

static void dsdt_device(struct aml *a, const char *name, const char *pnp, uint16_t port, uint8_t ports,
			int irq)
{
	size_t dev = aml_device_begin(a, name), crs;

	aml_name(a, "_HID");
	aml_eisa_id(a, pnp);
	aml_name_integer(a, "_UID", 1);
	crs = aml_crs_begin(a);
	aml_io(a, port, ports);
	if (irq >= 0)
		aml_irq(a, (unsigned)irq);
	aml_crs_end(a, crs);
	aml_block_end(a, dev);
}

/* The panic device, as guests know it from QEMU. */
static void dsdt_panic(struct aml *a)
{
	size_t dev = aml_device_begin(a, "PEVT"), crs;

	aml_name(a, "_HID");
	aml_string(a, "QEMU0001");
	aml_name_integer(a, "_STA", 0xf);
	crs = aml_crs_begin(a);
	aml_io(a, EXIT_PORT_PANIC, 1);
	aml_crs_end(a, crs);
	aml_block_end(a, dev);
}

/* What no driver may take: the ECAM window. */
static void dsdt_reserved(struct aml *a)
{
	size_t dev = aml_device_begin(a, "MRES"), crs;

	aml_name(a, "_HID");
	aml_eisa_id(a, "PNP0C02");
	crs = aml_crs_begin(a);
	aml_memory(a, HUSK_ECAM_BASE, HUSK_ECAM_SIZE);
	aml_crs_end(a, crs);
	aml_block_end(a, dev);
}

static uint64_t dsdt_put(struct acpi_writer *w)
{
	static const uint8_t s5[] = { ACPI_PM_SLEEP_S5, ACPI_PM_SLEEP_S5, 0, 0 };
	uint8_t table[TABLE_MAX];
	struct aml a = { table, sizeof(struct acpi_header), sizeof(table), false };
	size_t sb = aml_scope_begin(&a, "\\_SB_");

	dsdt_pci(&a);
	dsdt_device(&a, "COM1", "PNP0501", 0x3f8, 8, 4);
	dsdt_device(&a, "RTC_", "PNP0B00", 0x70, 2, -1);
	dsdt_panic(&a);
	dsdt_reserved(&a);
	aml_block_end(&a, sb);
	aml_name_package(&a, "\\_S5_", s5, sizeof(s5));
	if (a.failed)
		w->err = -ENOMEM;
	header_fill((struct acpi_header *)table, "DSDT", 2, a.len);
	return table_put(w, table);
}

static struct acpi_gas port(uint16_t at, uint8_t bytes)
{
	return (struct acpi_gas){ 1, 8 * bytes, 0, bytes == 1 ? 1 : bytes == 2 ? 2 : 3, at };
}

static uint64_t fadt_put(struct acpi_writer *w, uint64_t facs, uint64_t dsdt)
{
	struct acpi_fadt f = {
		.facs = (uint32_t)facs, .dsdt = (uint32_t)dsdt, .x_dsdt = dsdt,
		.sci = SCI_IRQ,
		.pm1a_evt = ACPI_PM_EVENT_PORT, .pm1_evt_len = 4,
		.pm1a_cnt = ACPI_PM_CONTROL_PORT, .pm1_cnt_len = 2,
		.pm_tmr = PM_TIMER_PORT, .pm_tmr_len = 4,
		.c2_latency = 0xffff, .c3_latency = 0xffff,	/* no such states */
		.century = 0x32,
		.boot_arch = BOOT_LEGACY | BOOT_NO_VGA,
		.flags = FADT_WBINVD | FADT_RESET,
		.reset_reg = port(ACPI_PM_RESET_PORT, 1), .reset_value = ACPI_PM_RESET_VALUE,
		.x_pm1a_evt = port(ACPI_PM_EVENT_PORT, 4),
		.x_pm1a_cnt = port(ACPI_PM_CONTROL_PORT, 2),
		.x_pm_tmr = port(PM_TIMER_PORT, 4),
	};

	header_fill(&f.h, "FACP", 3, sizeof(f));
	return table_put(w, &f);
}

/* Processors, IOAPIC, and where its wiring differs from "ISA line n is input n, edge". */
static uint64_t madt_put(struct acpi_writer *w, unsigned ncpus)
{
	static const uint8_t tail[] = {
		1, 12, 0, 0, 0x00, 0x00, 0xc0, 0xfe, 0, 0, 0, 0,	/* IOAPIC 0 */
		2, 10, 0, 0, 2, 0, 0, 0, 0, 0,				/* PIT: input 2 */
		2, 10, 0, SCI_IRQ, SCI_IRQ, 0, 0, 0, 0x0d, 0,		/* SCI: level, high */
		4, 6, 0xff, 0, 0, 1,					/* NMI on LINT1 of all */
	};
	uint8_t table[TABLE_MAX];
	struct aml a = { table, sizeof(struct acpi_header), sizeof(table), false };
	const uint32_t head[2] = { HUSK_LAPIC_BASE, 1 };	/* a PIC is there, too */

	aml_bytes(&a, head, sizeof(head));
	for (unsigned i = 0; i < ncpus; i++) {
		const uint8_t lapic[] = { 0, 8, (uint8_t)i, (uint8_t)i, 1, 0, 0, 0 };

		aml_bytes(&a, lapic, sizeof(lapic));
	}
	aml_bytes(&a, tail, sizeof(tail));
	if (a.failed)
		w->err = -ENOMEM;
	header_fill((struct acpi_header *)table, "APIC", 3, a.len);
	return table_put(w, table);
}

static uint64_t mcfg_put(struct acpi_writer *w)
{
	struct {
		struct acpi_header h;
		uint8_t reserved[8];
		uint64_t base;
		uint16_t segment;
		uint8_t first_bus, last_bus;
		uint32_t reserved2;
	} __attribute__((packed)) m = { .base = HUSK_ECAM_BASE };

	header_fill(&m.h, "MCFG", 1, sizeof(m));
	return table_put(w, &m);
}

/* RSDT and XSDT: the same list in two widths. */
static void roots_put(struct acpi_writer *w, const uint64_t *list, unsigned n, struct acpi_rsdp *rsdp)
{
	struct { struct acpi_header h; uint32_t entry[8]; } __attribute__((packed)) rsdt;
	struct { struct acpi_header h; uint64_t entry[8]; } __attribute__((packed)) xsdt;

	for (unsigned i = 0; i < n; i++) {
		rsdt.entry[i] = (uint32_t)list[i];
		xsdt.entry[i] = list[i];
	}
	header_fill(&rsdt.h, "RSDT", 1, sizeof(rsdt.h) + 4 * n);
	header_fill(&xsdt.h, "XSDT", 1, sizeof(xsdt.h) + 8 * n);
	rsdp->rsdt = (uint32_t)table_put(w, &rsdt);
	rsdp->xsdt = table_put(w, &xsdt);
}

int acpi_write(struct guest_mem *mem, uint64_t at, uint64_t end, unsigned ncpus)
{
	struct acpi_writer w = { mem, at + 64, end, 0 };
	struct acpi_facs facs = { { 'F', 'A', 'C', 'S' }, sizeof(facs), .version = 1 };
	struct acpi_rsdp rsdp = { .revision = 2,
				  .length = sizeof(rsdp) };
	uint64_t list[3], facs_at, dsdt_at;

	memcpy(rsdp.signature, "RSD PTR ", 8);
	memcpy(rsdp.oem_id, "HUSK  ", 6);
	facs_at = blob_put(&w, &facs, sizeof(facs));
	dsdt_at = dsdt_put(&w);
	list[0] = fadt_put(&w, facs_at, dsdt_at);
	list[1] = madt_put(&w, ncpus);
	list[2] = mcfg_put(&w);
	roots_put(&w, list, 3, &rsdp);
	rsdp.checksum = checksum(&rsdp, 20);
	rsdp.extended_checksum = checksum(&rsdp, sizeof(rsdp));
	w.next = at;
	blob_put(&w, &rsdp, sizeof(rsdp));
	return w.err;
}
