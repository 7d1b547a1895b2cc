/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel log's way out: the transmit register of the 16550A, by MMIO in the direct map, so
 * that it works from the first instruction of C. The device model is always ready, hence no
 * line-status polling: a byte is one store, one exit.
 */
#include "drivers/drivers.h"
#include "husk/layout.h"

#define SERIAL_THR 0		/* transmit holding register */

void serial_write(const char *s, size_t len)
{
	volatile u8 *uart = (volatile u8 *)(HUSK_DIRECT_MAP + HUSK_SERIAL_MMIO);

	for (size_t i = 0; i < len; i++)
		uart[SERIAL_THR] = (u8)s[i];
}
