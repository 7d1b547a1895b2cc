/* SPDX-License-Identifier: Apache-2.0 */
/* AML terms and resource descriptors; see vmm/aml.h for the sections. */
#include "vmm/aml.h"

#include <string.h>

enum {		/* ACPI 6.4, section 20.3 */
	AML_ZERO = 0x00, AML_ONE = 0x01, AML_NAME = 0x08, AML_BYTE = 0x0a, AML_WORD = 0x0b,
	AML_DWORD = 0x0c, AML_STRING = 0x0d, AML_QWORD = 0x0e, AML_SCOPE = 0x10, AML_BUFFER = 0x11,
	AML_PACKAGE = 0x12, AML_EXT = 0x5b, AML_EXT_DEVICE = 0x82,
};

#define LENGTH_BYTES	3	/* a package length of 20 bits; longer than needed, which is allowed */

void aml_bytes(struct aml *a, const void *p, size_t len)
{
	if (a->failed || len > a->size - a->len) {
		a->failed = true;
		return;
	}
	memcpy(a->buf + a->len, p, len);
	a->len += len;
}

void aml_byte(struct aml *a, uint8_t v)
{
	aml_bytes(a, &v, 1);
}

static void aml_word(struct aml *a, uint16_t v)
{
	aml_bytes(a, &v, sizeof(v));
}

static void aml_dword(struct aml *a, uint32_t v)
{
	aml_bytes(a, &v, sizeof(v));
}

void aml_integer(struct aml *a, uint64_t v)
{
	if (v < 2) {
		aml_byte(a, v ? AML_ONE : AML_ZERO);
	} else if (v <= 0xff) {
		aml_byte(a, AML_BYTE);
		aml_byte(a, v);
	} else if (v <= 0xffff) {
		aml_byte(a, AML_WORD);
		aml_word(a, v);
	} else if (v <= 0xffffffff) {
		aml_byte(a, AML_DWORD);
		aml_dword(a, v);
	} else {
		aml_byte(a, AML_QWORD);
		aml_bytes(a, &v, sizeof(v));
	}
}

void aml_string(struct aml *a, const char *s)
{
	aml_byte(a, AML_STRING);
	aml_bytes(a, s, strlen(s) + 1);
}

static unsigned hex_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'A' + 10;
}

/* Section 19.3.4: three letters of five bits, four hexadecimal digits, bytes swapped. */
void aml_eisa_id(struct aml *a, const char *id)
{
	uint32_t v = (uint32_t)(id[0] - '@') << 26 | (uint32_t)(id[1] - '@') << 21 |
		     (uint32_t)(id[2] - '@') << 16;

	for (unsigned i = 0; i < 4; i++)
		v |= hex_digit(id[3 + i]) << (12 - 4 * i);
	aml_byte(a, AML_DWORD);
	aml_dword(a, __builtin_bswap32(v));
}

/* Room for the length, to be filled in by aml_block_end(). */
static size_t block_begin(struct aml *a)
{
	static const uint8_t room[LENGTH_BYTES];
	size_t at = a->len;

	aml_bytes(a, room, sizeof(room));
	return at;
}

void aml_block_end(struct aml *a, size_t at)
{
	size_t len = a->len - at;

	if (a->failed || len >> 20) {
		a->failed = true;
		return;
	}
	a->buf[at] = (LENGTH_BYTES - 1) << 6 | (len & 0xf);
	a->buf[at + 1] = len >> 4 & 0xff;
	a->buf[at + 2] = len >> 12;
}

size_t aml_scope_begin(struct aml *a, const char *name)
{
	size_t at;

	aml_byte(a, AML_SCOPE);
	at = block_begin(a);
	aml_bytes(a, name, strlen(name));
	return at;
}

size_t aml_device_begin(struct aml *a, const char *name)
{
	size_t at;

	aml_byte(a, AML_EXT);
	aml_byte(a, AML_EXT_DEVICE);
	at = block_begin(a);
	aml_bytes(a, name, 4);
	return at;
}

void aml_name(struct aml *a, const char *name)
{
	aml_byte(a, AML_NAME);
	aml_bytes(a, name, strlen(name));
}

void aml_name_integer(struct aml *a, const char *name, uint64_t v)
{
	aml_name(a, name);
	aml_integer(a, v);
}

void aml_name_package(struct aml *a, const char *name, const uint8_t *v, uint8_t n)
{
	size_t at;

	aml_name(a, name);
	aml_byte(a, AML_PACKAGE);
	at = block_begin(a);
	aml_byte(a, n);
	for (unsigned i = 0; i < n; i++)
		aml_integer(a, v[i]);
	aml_block_end(a, at);
}

size_t aml_crs_begin(struct aml *a)
{
	size_t at;

	aml_name(a, "_CRS");
	aml_byte(a, AML_BUFFER);
	at = block_begin(a);
	aml_byte(a, AML_WORD);		/* the buffer's size, filled in at the end */
	aml_word(a, 0);
	return at;
}

void aml_crs_end(struct aml *a, size_t at)
{
	size_t data = at + LENGTH_BYTES + 3;
	uint16_t size;

	aml_byte(a, 0x79);		/* end tag; a checksum of 0 counts as right */
	aml_byte(a, 0);
	if (a->failed)
		return;
	size = a->len - data;
	memcpy(a->buf + data - 2, &size, sizeof(size));
	aml_block_end(a, at);
}

void aml_io(struct aml *a, uint16_t base, uint8_t len)
{
	aml_byte(a, 0x47);		/* I/O port descriptor */
	aml_byte(a, 1);			/* decodes 16 bits */
	aml_word(a, base);
	aml_word(a, base);
	aml_byte(a, 1);
	aml_byte(a, len);
}

void aml_irq(struct aml *a, unsigned irq)
{
	aml_byte(a, 0x22);
	aml_word(a, 1u << irq);
}

void aml_memory(struct aml *a, uint32_t base, uint32_t len)
{
	aml_byte(a, 0x86);		/* 32-bit fixed memory range */
	aml_word(a, 9);
	aml_byte(a, 1);
	aml_dword(a, base);
	aml_dword(a, len);
}

void aml_window(struct aml *a, enum aml_space kind, uint32_t base, uint32_t len)
{
	const uint32_t v[] = { 0, base, base + (len - 1), 0, len };
	bool wide = kind == AML_MEMORY;

	aml_byte(a, wide ? 0x87 : 0x88);
	aml_word(a, wide ? 23 : 13);
	aml_byte(a, kind);
	aml_byte(a, 0x0c);		/* both ends fixed, positive decode */
	aml_byte(a, kind == AML_IO ? 3 : kind == AML_MEMORY ? 1 : 0);
	for (unsigned i = 0; i < 5; i++) {
		if (wide)
			aml_dword(a, v[i]);
		else
			aml_word(a, v[i]);
	}
}
