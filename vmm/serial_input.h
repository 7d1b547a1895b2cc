/* SPDX-License-Identifier: Apache-2.0 */
/* Standard input to the serial port of `husk boot`. */
#pragma once

struct device;
struct vm;

/* Watch it on the VM's loop; before the guest runs. 0 or -errno. */
int serial_input_start(struct vm *vm, struct device *serial);
