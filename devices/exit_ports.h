/* SPDX-License-Identifier: Apache-2.0 */
/* Ports with which kernels end a virtual PC: debug exit, panic, the keyboard controller's reset. */
#pragma once

#include "devices/bus.h"

#define EXIT_PORT_DEBUG	0xf4	/* QEMU's isa-debug-exit: v ends husk with status v << 1 | 1 */
#define EXIT_PORT_PANIC	0x505	/* QEMU's pvpanic: bit 0, the kernel panicked */
#define EXIT_PORT_KBD	0x64	/* 8042: command 0xfe pulses the reset line */

/* NULL with errno. */
struct device *exit_ports_new(struct bus *bus);
