/* SPDX-License-Identifier: Apache-2.0 */
/* The ports and the memory of QEMU's pc-testdev, which test kernels use. */
#pragma once

#include "devices/bus.h"

#define PC_TESTDEV_PORT		0xe0	/* a register that keeps what is written, any width */
#define PC_TESTDEV_FLUSH	0xe4	/* drop the host's mapping of the page of this gpa */
#define PC_TESTDEV_BYTES	0xe8	/* the same register, read by bytes only */
#define PC_TESTDEV_IRQ		0x2000	/* port + n: level of interrupt line n */
#define PC_TESTDEV_IRQS		24
#define PC_TESTDEV_MEM		0xff000000	/* memory that is not RAM: every access exits */
#define PC_TESTDEV_MEM_BYTES	0x10000

/* NULL with errno. */
struct device *pc_testdev_new(struct bus *bus);
