/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI test device: BAR 0 memory, BAR 1 I/O, each with the same header at its start. Writing a
 * number to the header's first byte selects a test; the header then tells where to write what, and
 * counts the writes that arrived. A test is served here, or by an ioeventfd of any data or of one.
 *
 * While an eventfd serves it, writes do not come here; its counter is added when the header is
 * read. An ioeventfd is at the address that the BAR had when the test was selected: moving a BAR
 * ends the test.
 */
#include "devices/pci_testdev.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "devices/pci.h"

#define MEM_BAR_BYTES	4096	/* the first half is the header, the second takes writes */
#define IO_BAR_BYTES	256
#define TEST_WIDTH	1
#define TEST_DATA	0xfa
#define CLASS_OTHER	0x00ff00

enum { BAR_MEM, BAR_IO, BARS };
enum { KIND_NONE, KIND_WILDCARD, KIND_DATAMATCH };

struct testdev_head {		/* little-endian */
	uint8_t test, width, pad[2];
	uint32_t offset, data, count;
	char name[32];
};

struct pci_testdev {
	struct pci_func fn;
	pthread_mutex_t lock;
	int current;			/* lock; BAR * 3 + kind, -1: none */
	struct testdev_head head;	/* lock */
	int event_fd;			/* lock; -1: none */
	struct bus_ioevent ioevent;	/* lock: what event_fd is registered for */
};

static struct pci_testdev *testdev_of(struct pci_func *fn)
{
	return (struct pci_testdev *)fn;
}

static unsigned bar_bytes(unsigned bar)
{
	return bar == BAR_MEM ? MEM_BAR_BYTES : IO_BAR_BYTES;
}

static void test_end(struct pci_testdev *t)
{
	if (t->event_fd >= 0) {
		bus_ioeventfd(t->fn.host->dev.bus, &t->ioevent, t->event_fd, false);
		close(t->event_fd);
	}
	t->event_fd = -1;
	t->current = -1;
}

static bool event_start(struct pci_testdev *t, unsigned bar, unsigned kind)
{
	const struct pci_bar *b = &t->fn.bar[bar];

	t->ioevent = (struct bus_ioevent){
		.space = b->io ? BUS_PIO : BUS_MMIO,
		.addr = b->at + t->head.offset,
		.len = kind == KIND_DATAMATCH ? TEST_WIDTH : 0,
		.match = kind == KIND_DATAMATCH,
		.data = TEST_DATA,
	};
	t->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->event_fd < 0)
		return false;
	if (!bus_ioeventfd(t->fn.host->dev.bus, &t->ioevent, t->event_fd, true))
		return true;
	close(t->event_fd);
	t->event_fd = -1;
	return false;
}

/* Each test has a byte of its own in the BAR's second half. A number that is none ends the test. */
static void test_start(struct pci_testdev *t, unsigned bar, uint8_t kind)
{
	static const char *const kind_name[] = { "no", "wildcard", "datamatch" };

	test_end(t);
	if (kind >= PCI_TESTDEV_TESTS)
		return;
	memset(&t->head, 0, sizeof(t->head));
	t->head.test = kind;
	t->head.width = TEST_WIDTH;
	t->head.data = TEST_DATA;
	t->head.offset = bar_bytes(bar) / 2 + bar * PCI_TESTDEV_TESTS + kind;
	snprintf(t->head.name, sizeof(t->head.name), "%s-%s-eventfd",
		 bar == BAR_MEM ? "mmio" : "portio", kind_name[kind]);
	if (kind == KIND_NONE || event_start(t, bar, kind))
		t->current = bar * PCI_TESTDEV_TESTS + kind;
}

static void bar_read(struct pci_func *fn, unsigned bar, struct access *acc)
{
	struct pci_testdev *t = testdev_of(fn);
	uint64_t n;

	acc->val = 0;
	pthread_mutex_lock(&t->lock);
	if (t->current >= 0 && acc->off + acc->len <= sizeof(t->head)) {
		if (t->event_fd >= 0 && read(t->event_fd, &n, sizeof(n)) == sizeof(n))
			t->head.count += n;
		memcpy(&acc->val, (uint8_t *)&t->head + acc->off, acc->len);
	}
	pthread_mutex_unlock(&t->lock);
}

/* A write to the test's place that no eventfd took. */
static void write_count(struct pci_testdev *t, unsigned bar, const struct access *acc)
{
	if (t->current < 0 || (unsigned)t->current / PCI_TESTDEV_TESTS != bar ||
	    acc->off != t->head.offset)
		return;
	if (t->current % PCI_TESTDEV_TESTS != KIND_WILDCARD &&
	    (acc->len != TEST_WIDTH || (uint8_t)acc->val != TEST_DATA))
		return;
	t->head.count++;
}

static void bar_write(struct pci_func *fn, unsigned bar, struct access *acc)
{
	struct pci_testdev *t = testdev_of(fn);

	pthread_mutex_lock(&t->lock);
	if (acc->off == 0)
		test_start(t, bar, (uint8_t)acc->val);
	else
		write_count(t, bar, acc);
	pthread_mutex_unlock(&t->lock);
}

/* The command register or a BAR changed: the ioeventfd may be where the BAR no longer is. */
static void config_write(struct pci_func *fn, unsigned off, unsigned len)
{
	struct pci_testdev *t = testdev_of(fn);

	pthread_mutex_lock(&t->lock);
	if (t->event_fd >= 0) {
		const struct pci_bar *b = &fn->bar[t->current / PCI_TESTDEV_TESTS];

		if (!b->mapped || b->at + t->head.offset != t->ioevent.addr)
			test_end(t);
	}
	pthread_mutex_unlock(&t->lock);
}

static void testdev_reset(struct pci_func *fn)
{
	struct pci_testdev *t = testdev_of(fn);

	pthread_mutex_lock(&t->lock);
	test_end(t);
	pthread_mutex_unlock(&t->lock);
}

static void testdev_release(struct pci_func *fn)
{
	struct pci_testdev *t = testdev_of(fn);

	test_end(t);
	pthread_mutex_destroy(&t->lock);
	free(t);
}

static const struct pci_func_ops testdev_ops = {
	.name = "pci-testdev",
	.bar_read = bar_read,
	.bar_write = bar_write,
	.config_write = config_write,
	.reset = testdev_reset,
	.release = testdev_release,
};

int pci_testdev_attach(struct pci_host *host)
{
	struct pci_testdev *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return -ENOMEM;
	t->current = t->event_fd = -1;
	pthread_mutex_init(&t->lock, NULL);
	pci_func_init(&t->fn, &testdev_ops, 0x1b36, 0x0005, CLASS_OTHER);
	pci_add_bar(&t->fn, BAR_MEM, false, MEM_BAR_BYTES);
	pci_add_bar(&t->fn, BAR_IO, true, IO_BAR_BYTES);
	ret = pci_attach(host, &t->fn);
	if (ret) {
		pthread_mutex_destroy(&t->lock);
		free(t);
	}
	return ret;
}
