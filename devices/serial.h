/* SPDX-License-Identifier: Apache-2.0 */
/* 16550A serial port; the guest kernel's log comes out of it. */
#pragma once

#include "devices/bus.h"

typedef void serial_output_fn(void *arg, const char *bytes, size_t len);

/* NULL with errno. out is called on a vCPU thread with what was transmitted. */
struct device *serial_new(struct bus *bus, serial_output_fn *out, void *arg);
