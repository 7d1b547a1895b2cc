/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing AML (ACPI 6.4, section 20.2) byte by byte: just the terms that our DSDT has. A block that
 * does not fit marks the whole as failed; nothing is written behind the buffer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct aml {
	uint8_t *buf;
	size_t len, size;
	bool failed;
};

void aml_byte(struct aml *a, uint8_t v);
void aml_bytes(struct aml *a, const void *p, size_t len);
/* A constant in its shortest form. */
void aml_integer(struct aml *a, uint64_t v);
/* A string constant; and "PNP0501" as the 32-bit id that it abbreviates. */
void aml_string(struct aml *a, const char *s);
void aml_eisa_id(struct aml *a, const char *id);

/* A block with a length: begin gives what end wants back. */
size_t aml_scope_begin(struct aml *a, const char *name);	/* four letters, or \ and four */
size_t aml_device_begin(struct aml *a, const char *name);
void aml_block_end(struct aml *a, size_t at);
/* Name (NAME, what comes next). */
void aml_name(struct aml *a, const char *name);
/* Name (NAME, integer) and Name (NAME, Package () { v... }) of bytes. */
void aml_name_integer(struct aml *a, const char *name, uint64_t v);
void aml_name_package(struct aml *a, const char *name, const uint8_t *v, uint8_t n);

/* Name (_CRS, ResourceTemplate () { ... }): descriptors go between (section 6.4). */
size_t aml_crs_begin(struct aml *a);
void aml_crs_end(struct aml *a, size_t at);
void aml_io(struct aml *a, uint16_t base, uint8_t len);
void aml_irq(struct aml *a, unsigned irq);			/* edge, active high */
void aml_memory(struct aml *a, uint32_t base, uint32_t len);	/* fixed, read-write */
enum aml_space { AML_MEMORY = 0, AML_IO = 1, AML_BUS = 2 };
/* What a bridge passes on: an address-space descriptor, produced, of 16 or 32 bits. */
void aml_window(struct aml *a, enum aml_space kind, uint32_t base, uint32_t len);
