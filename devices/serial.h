/* SPDX-License-Identifier: Apache-2.0 */
/* 16550A serial port; the guest kernel's log comes out of it. */
#pragma once

#include "devices/bus.h"

typedef void serial_output_fn(void *arg, const char *bytes, size_t len);

/* NULL with errno. out is called on a vCPU thread with what was transmitted. */
struct device *serial_new(struct bus *bus, serial_output_fn *out, void *arg);

/* Called on a vCPU thread when the guest waits for input and none is there. */
typedef void serial_room_fn(void *arg);
/* Before the guest runs. */
void serial_on_room(struct device *dev, serial_room_fn *room, void *arg);
/* Bytes for the guest, once it has enabled receive interrupts (IER, OUT2): how many were taken; the rest is for the next serial_room_fn. Any thread. */
size_t serial_receive(struct device *dev, const char *bytes, size_t len);
