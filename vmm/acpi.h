/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware tables for kernels that are not ours: ACPI, or an MP table (`husk boot`). */
#pragma once

#include <stdint.h>
#include "devices/guest_mem.h"

/* Write the ACPI tables at gpa `at`, not beyond `end`; the root pointer is at `at`. 0 or -errno. */
int acpi_write(struct guest_mem *mem, uint64_t at, uint64_t end, unsigned ncpus);
/* Write an MP floating pointer and table (Intel MultiProcessor Specification 1.4). */
int mptable_write(struct guest_mem *mem, uint64_t at, unsigned ncpus);
