/* SPDX-License-Identifier: Apache-2.0 */
/* KVM's binary statistics of a vCPU (Documentation/virt/kvm/api.rst, KVM_GET_STATS_FD). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kvm_stats_desc;

struct stats {
	int fd;
	unsigned count;
	size_t desc_size;		/* of one descriptor with its name */
	uint32_t data_offset;
	uint8_t *desc;			/* count descriptors */
};

/* Open the statistics of a vCPU. 0 or -errno (-ENOTTY: this host has none). */
int stats_open(struct stats *st, int vcpu_fd);
void stats_close(struct stats *st);
/* Name of entry i, and its current value (the first, where it is a histogram); -errno. */
const char *stats_name(const struct stats *st, unsigned i);
int stats_value(const struct stats *st, unsigned i, uint64_t *value);
/* Is entry i a plain count of events that only grows? */
bool stats_is_counter(const struct stats *st, unsigned i);
