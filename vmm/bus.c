/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bus: from an address to a device, and from a device to KVM.
 *
 * A look-up takes no lock. Each space has a sorted table that is never changed: bus_map() puts a
 * new one in its place and waits until no vCPU is inside a look-up of the old one (nanoseconds:
 * the device is called after the look-up) before it frees it. So a guest that moves a BAR for
 * ever costs no memory.
 */
#include "vmm/bus.h"

#include <errno.h>
#include <linux/kvm.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "vmm/vm.h"

#define BUS_MAX_RANGES	256
#define BUS_SPACES	2

struct bus_range {
	uint64_t base, size;
	struct device *dev;
	unsigned region;
};

struct bus_table {
	unsigned n;
	struct bus_range range[];	/* sorted by base, disjoint */
};

/* A cache line each: vCPUs must not slow each other down. */
struct bus_reader {
	_Alignas(64) atomic_bool inside;
};

/* Lock t: writers of table[]. */
struct bus {
	struct vm *vm;
	pthread_mutex_t lock;
	_Atomic(struct bus_table *) table[BUS_SPACES];
	struct bus_reader *reader;
	unsigned nreaders;
};

struct bus *bus_new(struct vm *vm, unsigned nreaders)
{
	struct bus *bus = calloc(1, sizeof(*bus));

	if (!bus)
		return NULL;
	bus->vm = vm;
	bus->nreaders = nreaders;
	bus->reader = aligned_alloc(64, nreaders * sizeof(*bus->reader));
	if (!bus->reader) {
		free(bus);
		return NULL;
	}
	memset(bus->reader, 0, nreaders * sizeof(*bus->reader));
	pthread_mutex_init(&bus->lock, NULL);
	return bus;
}

void bus_free(struct bus *bus)
{
	if (!bus)
		return;
	for (unsigned i = 0; i < BUS_SPACES; i++)
		free(atomic_load(&bus->table[i]));
	pthread_mutex_destroy(&bus->lock);
	free(bus->reader);
	free(bus);
}

/* Index of the first range that ends behind addr. */
static unsigned table_search(const struct bus_table *t, uint64_t addr)
{
	unsigned lo = 0, hi = t ? t->n : 0;

	while (lo < hi) {
		unsigned mid = (lo + hi) / 2;

		if (addr - t->range[mid].base < t->range[mid].size || addr < t->range[mid].base)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static bool bus_lookup(struct bus *bus, unsigned reader, enum bus_space space, uint64_t addr,
		       struct bus_range *out)
{
	atomic_bool *inside = &bus->reader[reader].inside;
	const struct bus_table *t;
	unsigned i;
	bool found;

	/* Sequentially consistent on both sides: we see the new table or the writer sees us. */
	atomic_store(inside, true);
	t = atomic_load(&bus->table[space]);
	i = table_search(t, addr);
	found = t && i < t->n && addr >= t->range[i].base;
	if (found)
		*out = t->range[i];
	atomic_store_explicit(inside, false, memory_order_release);
	return found;
}

/* Put a table in place and free the old one when nobody can be reading it. Under the lock. */
static void table_replace(struct bus *bus, enum bus_space space, struct bus_table *t)
{
	struct bus_table *old = atomic_exchange(&bus->table[space], t);

	for (unsigned i = 0; i < bus->nreaders; i++)
		while (atomic_load(&bus->reader[i].inside))
			sched_yield();
	free(old);
}

static struct bus_table *table_alloc(unsigned n)
{
	struct bus_table *t = malloc(sizeof(*t) + n * sizeof(t->range[0]));

	if (t)
		t->n = n;
	return t;
}

int bus_map(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base, uint64_t size,
	    unsigned region)
{
	struct bus_table *old, *t;
	unsigned i, n;
	int ret = -EEXIST;

	if (!size || base + (size - 1) < base)
		return -EINVAL;
	pthread_mutex_lock(&bus->lock);
	old = atomic_load(&bus->table[space]);
	n = old ? old->n : 0;
	i = table_search(old, base);
	if (i < n && old->range[i].base <= base + (size - 1))
		goto out;
	ret = -ENOSPC;
	if (n == BUS_MAX_RANGES)
		goto out;
	ret = -ENOMEM;
	t = table_alloc(n + 1);
	if (!t)
		goto out;
	if (n) {
		memcpy(t->range, old->range, i * sizeof(t->range[0]));
		memcpy(t->range + i + 1, old->range + i, (n - i) * sizeof(t->range[0]));
	}
	t->range[i] = (struct bus_range){ base, size, dev, region };
	table_replace(bus, space, t);
	ret = 0;
out:
	pthread_mutex_unlock(&bus->lock);
	return ret;
}

void bus_unmap(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base)
{
	struct bus_table *old, *t;
	unsigned i;

	pthread_mutex_lock(&bus->lock);
	old = atomic_load(&bus->table[space]);
	i = table_search(old, base);
	if (old && i < old->n && old->range[i].base == base && old->range[i].dev == dev) {
		t = table_alloc(old->n - 1);
		if (t) {
			memcpy(t->range, old->range, i * sizeof(t->range[0]));
			memcpy(t->range + i, old->range + i + 1,
			       (old->n - 1 - i) * sizeof(t->range[0]));
			table_replace(bus, space, t);
		} else {
			vm_stop(bus->vm, "no host memory to move a device");
		}
	}
	pthread_mutex_unlock(&bus->lock);
}

void bus_access(struct bus *bus, unsigned reader, enum bus_space space, uint64_t addr, void *data,
		unsigned len, bool write)
{
	struct bus_range r;
	struct access acc = { .len = len };

	if (!len || len > 8)
		return;
	if ((len & (len - 1)) || !bus_lookup(bus, reader, space, addr, &r) ||
	    len > r.size - (addr - r.base)) {
		if (!write)
			memset(data, 0xff, len);
		return;
	}
	acc.off = addr - r.base;
	acc.region = r.region;
	if (write) {
		memcpy(&acc.val, data, len);
		if (r.dev->ops->write)
			r.dev->ops->write(r.dev, &acc);
		return;
	}
	acc.val = ~0ull;
	if (r.dev->ops->read)
		r.dev->ops->read(r.dev, &acc);
	memcpy(data, &acc.val, len);
}

/*
 * By ioctl, not by an irqfd: KVM_SIGNAL_MSI takes 1.5 us the first time and 0.3 us after, writing
 * an irqfd 1.7 and 0.4, and an irqfd needs KVM_SET_GSI_ROUTING first, 10 to 25 us, 6 when it is
 * repeated for another vector. Neither made closing the VM take longer (kvm_pvm, split irqchip).
 */
void bus_msi(struct bus *bus, uint64_t addr, uint32_t data)
{
	struct kvm_msi msi = {
		.address_lo = (uint32_t)addr,
		.address_hi = addr >> 32,
		.data = data,
	};

	/* Fails only for an address that names no vCPU: the guest's mistake, as on a real bus. */
	ioctl(bus->vm->vm_fd, KVM_SIGNAL_MSI, &msi);
}

void bus_irq(struct bus *bus, unsigned gsi, bool level)
{
	struct kvm_irq_level line = { .irq = gsi, .level = level };

	if (bus->vm->irqchip)
		ioctl(bus->vm->vm_fd, KVM_IRQ_LINE, &line);
}

int bus_ioeventfd(struct bus *bus, const struct bus_ioevent *ev, int fd, bool on)
{
	struct kvm_ioeventfd e = {
		.datamatch = ev->data, .addr = ev->addr, .len = ev->len, .fd = fd,
		.flags = (ev->match ? KVM_IOEVENTFD_FLAG_DATAMATCH : 0) |
			 (ev->space == BUS_PIO ? KVM_IOEVENTFD_FLAG_PIO : 0) |
			 (on ? 0 : KVM_IOEVENTFD_FLAG_DEASSIGN),
	};

	return ioctl(bus->vm->vm_fd, KVM_IOEVENTFD, &e) < 0 ? -errno : 0;
}

void bus_stop(struct bus *bus, const char *fmt, ...)
{
	char reason[sizeof(bus->vm->end.reason)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, sizeof(reason), fmt, ap);
	va_end(ap);
	vm_stop(bus->vm, "%s", reason);
}

void bus_exit(struct bus *bus, unsigned kind, unsigned value)
{
	vm_end_guest(bus->vm, kind, value);
}

struct guest_mem *bus_mem(struct bus *bus)
{
	return &bus->vm->mem;
}

struct loop *bus_loop(struct bus *bus)
{
	return bus->vm->loop;
}
