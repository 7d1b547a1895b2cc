/* SPDX-License-Identifier: Apache-2.0 */
/* CMOS memory and real-time clock. */
#pragma once

#include "devices/bus.h"

/* low: bytes of RAM below 4 GiB, high: above. NULL with errno. */
struct device *cmos_new(struct bus *bus, uint64_t low, uint64_t high);
