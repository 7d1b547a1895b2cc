/* SPDX-License-Identifier: Apache-2.0 */
/* Reading KVM's binary statistics: a header, descriptors with names, then the values. */
#include "vmm/stats.h"

#include <errno.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NAME_MAX_BYTES	256
#define DESC_MAX	1024

static const struct kvm_stats_desc *stats_desc(const struct stats *st, unsigned i)
{
	return (const struct kvm_stats_desc *)(st->desc + i * st->desc_size);
}

int stats_open(struct stats *st, int vcpu_fd)
{
	struct kvm_stats_header h;
	size_t bytes;
	int ret = -EPROTO;

	st->desc = NULL;
	st->fd = ioctl(vcpu_fd, KVM_GET_STATS_FD, NULL);
	if (st->fd < 0)
		return -errno;
	if (pread(st->fd, &h, sizeof(h), 0) != sizeof(h) || h.name_size > NAME_MAX_BYTES ||
	    h.num_desc > DESC_MAX)
		goto close;
	st->count = h.num_desc;
	st->desc_size = sizeof(struct kvm_stats_desc) + h.name_size;
	st->data_offset = h.data_offset;
	bytes = st->count * st->desc_size;
	st->desc = malloc(bytes ? bytes : 1);
	if (st->desc && pread(st->fd, st->desc, bytes, h.desc_offset) == (ssize_t)bytes)
		return 0;
	ret = st->desc ? -EPROTO : -ENOMEM;
close:
	stats_close(st);
	return ret;
}

void stats_close(struct stats *st)
{
	if (st->fd >= 0)
		close(st->fd);
	free(st->desc);
	st->fd = -1;
	st->desc = NULL;
	st->count = 0;
}

const char *stats_name(const struct stats *st, unsigned i)
{
	return stats_desc(st, i)->name;
}

int stats_value(const struct stats *st, unsigned i, uint64_t *value)
{
	off_t at = (off_t)st->data_offset + stats_desc(st, i)->offset;

	if (pread(st->fd, value, sizeof(*value), at) != sizeof(*value))
		return -EIO;
	return 0;
}

bool stats_is_counter(const struct stats *st, unsigned i)
{
	const struct kvm_stats_desc *d = stats_desc(st, i);

	return (d->flags & KVM_STATS_TYPE_MASK) == KVM_STATS_TYPE_CUMULATIVE &&
	       (d->flags & KVM_STATS_UNIT_MASK) == KVM_STATS_UNIT_NONE && d->size == 1;
}
