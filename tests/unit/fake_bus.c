/* SPDX-License-Identifier: Apache-2.0 */
/* The bus, memory and event loop of device tests (fake_bus.h). */
#include "tests/unit/fake_bus.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "husk/layout.h"

#define LOOP_FDS	32

struct loop {
	int epfd;
	struct { int fd; loop_fn *fn; void *arg; } watch[LOOP_FDS];
};

static void fake_die(const char *what)
{
	printf("Bail out! %s\n", what);
	exit(1);
}

static void fake_region(struct guest_mem_region *r, uint64_t base, size_t size)
{
	r->base = base;
	r->size = size;
	r->host = aligned_alloc(4096, size);
	if (!r->host)
		fake_die("no memory");
	memset(r->host, 0, size);
}

struct bus *fake_bus_new(size_t mem_size)
{
	struct bus *bus = calloc(1, sizeof(*bus));

	if (!bus)
		fake_die("no memory");
	fake_region(&bus->mem.region[0], 0, mem_size);
	fake_region(&bus->mem.region[1], FAKE_HIGH_BASE, FAKE_HIGH_SIZE);
	bus->mem.nregions = 2;
	bus->next = 0x1000;
	pthread_mutex_init(&bus->lock, NULL);
	bus->loop = loop_new();
	if (!bus->loop)
		fake_die("no event loop");
	return bus;
}

void fake_bus_free(struct bus *bus)
{
	while (bus->nmaps) {
		struct device *dev = bus->map[0].dev;
		unsigned kept = 0;

		for (unsigned i = 0; i < bus->nmaps; i++)
			if (bus->map[i].dev != dev)
				bus->map[kept++] = bus->map[i];
		bus->nmaps = kept;
		dev->ops->release(dev);
	}
	loop_free(bus->loop);
	free(bus->mem.region[0].host);
	free(bus->mem.region[1].host);
	free(bus);
}

int bus_map(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base, uint64_t size,
	    unsigned region)
{
	for (unsigned i = 0; i < bus->nmaps; i++) {
		struct fake_map *m = &bus->map[i];

		if (m->space == space && base < m->base + m->size && m->base < base + size)
			return -EEXIST;
	}
	if (bus->nmaps == FAKE_MAPS)
		return -ENOSPC;
	bus->map[bus->nmaps++] = (struct fake_map){ dev, space, base, size, region };
	return 0;
}

void bus_unmap(struct bus *bus, struct device *dev, enum bus_space space, uint64_t base)
{
	for (unsigned i = 0; i < bus->nmaps; i++) {
		struct fake_map *m = &bus->map[i];

		if (m->dev == dev && m->space == space && m->base == base) {
			*m = bus->map[--bus->nmaps];
			return;
		}
	}
	fake_die("bus_unmap of something that is not mapped");
}

static struct fake_map *fake_find(struct bus *bus, enum bus_space space, uint64_t addr,
				  unsigned len)
{
	for (unsigned i = 0; i < bus->nmaps; i++) {
		struct fake_map *m = &bus->map[i];

		if (m->space == space && addr >= m->base && addr - m->base < m->size &&
		    len <= m->size - (addr - m->base))
			return m;
	}
	return NULL;
}

bool fake_mapped(struct bus *bus, enum bus_space space, uint64_t addr)
{
	return fake_find(bus, space, addr, 1) != NULL;
}

uint64_t fake_read(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len)
{
	struct fake_map *m = fake_find(bus, space, addr, len);
	struct access acc = { .val = ~0ull, .len = len };

	if (m) {
		acc.off = addr - m->base;
		acc.region = m->region;
		m->dev->ops->read(m->dev, &acc);
	}
	return len == 8 ? acc.val : acc.val & ((1ull << 8 * len) - 1);
}

void fake_write(struct bus *bus, enum bus_space space, uint64_t addr, unsigned len, uint64_t val)
{
	struct fake_map *m = fake_find(bus, space, addr, len);
	struct access acc = { .val = val, .len = len };

	if (!m)
		return;
	acc.off = addr - m->base;
	acc.region = m->region;
	m->dev->ops->write(m->dev, &acc);
}

void bus_msi(struct bus *bus, uint64_t addr, uint32_t data)
{
	pthread_mutex_lock(&bus->lock);
	if (bus->nmsis < FAKE_MSIS)
		bus->msi[bus->nmsis++] = (struct fake_msi){ addr, data };
	pthread_mutex_unlock(&bus->lock);
}

unsigned fake_msi_count(struct bus *bus, uint32_t data)
{
	unsigned n = 0;

	pthread_mutex_lock(&bus->lock);
	for (unsigned i = 0; i < bus->nmsis; i++)
		n += bus->msi[i].data == data;
	pthread_mutex_unlock(&bus->lock);
	return n;
}

void fake_msi_clear(struct bus *bus)
{
	pthread_mutex_lock(&bus->lock);
	bus->nmsis = 0;
	pthread_mutex_unlock(&bus->lock);
}

void bus_stop(struct bus *bus, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(bus->stopped, sizeof(bus->stopped), fmt, ap);
	va_end(ap);
}

void bus_exit(struct bus *bus, unsigned kind, unsigned value)
{
	bus->exited = true;
	bus->exit_kind = kind;
	bus->exit_value = value;
}

struct guest_mem *bus_mem(struct bus *bus)
{
	return &bus->mem;
}

struct loop *bus_loop(struct bus *bus)
{
	return bus->loop;
}

uint64_t fake_alloc(struct bus *bus, size_t size, size_t align)
{
	uint64_t at = (bus->next + align - 1) & ~(uint64_t)(align - 1);

	if (at + size > bus->mem.region[0].size)
		fake_die("test wants more guest memory than it made");
	bus->next = at + size;
	return at;
}

void *fake_ptr(struct bus *bus, uint64_t gpa, size_t len)
{
	void *p = guest_mem_ptr(&bus->mem, GPA(gpa), len);

	if (!p)
		fake_die("test reads outside guest memory");
	return p;
}

struct loop *loop_new(void)
{
	struct loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->epfd = epoll_create1(EPOLL_CLOEXEC);
	for (unsigned i = 0; i < LOOP_FDS; i++)
		loop->watch[i].fd = -1;
	return loop;
}

void loop_free(struct loop *loop)
{
	close(loop->epfd);
	free(loop);
}

int loop_add(struct loop *loop, int fd, uint32_t events, loop_fn *fn, void *arg)
{
	for (unsigned i = 0; i < LOOP_FDS; i++) {
		struct epoll_event ev = { .events = events, .data.u32 = i };

		if (loop->watch[i].fd >= 0)
			continue;
		if (epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, &ev) < 0)
			return -errno;
		loop->watch[i].fd = fd;
		loop->watch[i].fn = fn;
		loop->watch[i].arg = arg;
		return 0;
	}
	return -ENOSPC;
}

int loop_mod(struct loop *loop, int fd, uint32_t events)
{
	for (unsigned i = 0; i < LOOP_FDS; i++) {
		struct epoll_event ev = { .events = events, .data.u32 = i };

		if (loop->watch[i].fd == fd)
			return epoll_ctl(loop->epfd, EPOLL_CTL_MOD, fd, &ev) < 0 ? -errno : 0;
	}
	return -ENOENT;
}

void loop_del(struct loop *loop, int fd)
{
	for (unsigned i = 0; i < LOOP_FDS; i++) {
		if (loop->watch[i].fd != fd)
			continue;
		epoll_ctl(loop->epfd, EPOLL_CTL_DEL, fd, NULL);
		loop->watch[i].fd = -1;
		return;
	}
}

int fake_loop_run(struct bus *bus, int timeout_ms)
{
	struct epoll_event ev[LOOP_FDS];
	int n = epoll_wait(bus->loop->epfd, ev, LOOP_FDS, timeout_ms);

	for (int i = 0; i < n; i++) {
		unsigned w = ev[i].data.u32;

		if (bus->loop->watch[w].fd >= 0)
			bus->loop->watch[w].fn(bus->loop->watch[w].arg, ev[i].events);
	}
	return n;
}

uint32_t fake_config_read(struct bus *bus, unsigned slot, unsigned off, unsigned len)
{
	return (uint32_t)fake_read(bus, BUS_MMIO, HUSK_ECAM_BASE + (slot << 15) + off, len);
}

void fake_config_write(struct bus *bus, unsigned slot, unsigned off, unsigned len, uint32_t val)
{
	fake_write(bus, BUS_MMIO, HUSK_ECAM_BASE + (slot << 15) + off, len, val);
}
