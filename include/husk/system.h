/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The system device: one page of MMIO registers at HUSK_SYSTEM_MMIO through which a guest ends,
 * panics, asks for the wall clock, and learns of signals sent to the husk process.
 */
#pragma once

#define HUSK_SYS_EXIT		0x00	/* w32: HUSK_EXIT_*(kind) << 24 | value; the VM ends */
#define HUSK_SYS_REALTIME	0x08	/* r64: host CLOCK_REALTIME in ns */
#define HUSK_SYS_SIGNALS	0x10	/* r64: bit n-1 = signal n for the program; reading clears */

/* Kinds of end; value is 16 bits. */
#define HUSK_EXIT_CODE		0	/* the program's exit status, 0 .. 255 */
#define HUSK_EXIT_SIGNAL	1	/* killed by signal `value` */
#define HUSK_EXIT_EXEC		2	/* the program could not be executed: errno */
#define HUSK_EXIT_PANIC		3	/* guest kernel panic; the reason is in the kernel log */
#define HUSK_EXIT_REBOOT	4	/* reboot(2) or power-off from inside */
