/* SPDX-License-Identifier: Apache-2.0 */
/* ACPI power-management timer. */
#pragma once

#include "devices/bus.h"

/* wide: 32 bits instead of 24. NULL with errno. */
struct device *pm_timer_new(struct bus *bus, bool wide);
