/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a VM whose kernel does nothing that can be seen. */
#pragma once

struct vm;

/*
 * Watch from now on: a guest that has printed nothing yet and leaves KVM for nothing during
 * `seconds` is stopped. 0: do not. 0 or -errno.
 */
int stall_start(struct vm *vm, double seconds);
