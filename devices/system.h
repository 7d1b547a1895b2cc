/* SPDX-License-Identifier: Apache-2.0 */
/* The system device: exit, wall clock, signals for the program (include/husk/system.h). */
#pragma once

#include "devices/bus.h"

/* NULL with errno. */
struct device *system_new(struct bus *bus);

/* Signal sig (1 .. 64) for the program: marks it and interrupts vCPU 0. Any thread. */
void system_raise(struct device *dev, unsigned sig);
/* Is it still marked: the guest has not read it? Any thread. */
bool system_pending(struct device *dev, unsigned sig);
