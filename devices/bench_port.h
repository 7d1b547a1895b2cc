/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of a measuring guest (include/husk/bench.h), and the ports that its rows read. */
#pragma once

#include "devices/bus.h"

/* Called on the thread of vCPU 0, in the order of the guest's writes. */
struct bench_port_ops {
	void (*ready)(void *arg, uint64_t flags);
	void (*begin)(void *arg, uint64_t operations);
	void (*end)(void *arg, uint64_t cycles);
	void (*done)(void *arg, uint64_t status);
	void (*elcr)(void *arg);	/* any vCPU: a port that KVM should have served came here */
};

/* NULL with errno. */
struct device *bench_port_new(struct bus *bus, const struct bench_port_ops *ops, void *arg);
