/* SPDX-License-Identifier: Apache-2.0 */
/* The virtio-fs device behind a virtio driver: requests, both queues, reset, malformed chains. */
#include <linux/virtio_config.h>
#include <linux/virtio_pci.h>
#include <linux/virtio_ring.h>
#include "devices/virtio_fs.h"
#include "husk/fdt.h"
#include "tests/unit/fake_bus.h"
#include "tests/unit/fuse_client.h"

#define HIPRIO	0
#define REQUEST	1
#define QSIZE	16

static struct bus *bus;
static struct fake_driver drv;
static uint64_t in_gpa, out_gpa;

/* One request in one chain: in_len bytes at in_gpa, out_len at out_gpa; the used length or -1. */
static long fs_send(unsigned q, uint32_t in_len, uint32_t out_len)
{
	const struct fake_buf bufs[] = {
		{ in_gpa, 16 },
		{ in_gpa + 16, in_len - 16 },
		{ out_gpa, 16 },
		{ out_gpa + 16, out_len - 16 },
	};
	uint32_t id, len;
	uint16_t head = fake_queue_add(&drv, q, bufs, 2, out_len ? 2 : 0);

	fake_queue_kick(&drv, q);
	if (!fake_queue_used(&drv, q, &id, &len) || id != head)
		return -1;
	return len;
}

static long fs_lookup(uint64_t dir, const char *name, struct fuse_entry_out *e)
{
	struct fuse_in_header h = { .opcode = FUSE_LOOKUP, .nodeid = dir, .unique = 5 };
	struct fuse_out_header oh;
	long n;

	h.len = (uint32_t)(sizeof(h) + strlen(name) + 1);
	memcpy(fake_ptr(bus, in_gpa, sizeof(h)), &h, sizeof(h));
	strcpy(fake_ptr(bus, in_gpa + sizeof(h), 64), name);
	n = fs_send(REQUEST, h.len, 16 + sizeof(*e));
	memcpy(&oh, fake_ptr(bus, out_gpa, 16), 16);
	if (n < 16 || oh.len != n)
		return -1000;
	memcpy(e, fake_ptr(bus, out_gpa + 16, sizeof(*e)), sizeof(*e));
	return oh.error;
}

static void drv_start(void)
{
	fake_driver_init(&drv, bus, 1, 0);
	fake_queue_setup(&drv, HIPRIO, QSIZE);
	fake_queue_setup(&drv, REQUEST, QSIZE);
	fake_driver_ok(&drv);
}

static void test_requests(void)
{
	struct fuse_in_header h = { .len = 48, .opcode = FUSE_FORGET };
	struct fuse_forget_in f = { .nlookup = 1 };
	struct fuse_entry_out e, again;

	tap_ok(fs_lookup(FUSE_ROOT_ID, "share", &e) == 0 && e.nodeid,
	       "a request is done when the notification returns");
	tap_ok(fs_lookup(e.nodeid, "file", &e) == 0 && e.attr.size == 8, "and the next");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(REQUEST)) == 2,
	       "an interrupt each, when it is wanted");
	h.nodeid = e.nodeid;
	memcpy(fake_ptr(bus, in_gpa, 40), &h, 40);
	memcpy(fake_ptr(bus, in_gpa + 40, 8), &f, 8);
	tap_ok(fs_send(HIPRIO, 48, 0) == 0, "FORGET on the hiprio queue");
	fs_lookup(FUSE_ROOT_ID, "share", &again);
	fs_lookup(again.nodeid, "file", &again);
	tap_ok(again.nodeid != e.nodeid, "was heard");
	tap_ok(fs_send(REQUEST, 48, 0) == 0, "a request without room for a reply");
}

static void test_reset(void)
{
	struct fuse_entry_out e, f;

	fs_lookup(FUSE_ROOT_ID, "share", &e);
	fs_lookup(e.nodeid, "file", &e);
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_STATUS, 1, 0);
	drv_start();
	tap_ok(fs_lookup(e.nodeid, "x", &f) == -ESTALE, "a reset forgets the guest's nodes");
	tap_ok(fs_lookup(FUSE_ROOT_ID, "share", &e) == 0, "and the device works on");
}

static void test_malformed(void)
{
	struct fuse_in_header h = { .len = 4000, .opcode = FUSE_WRITE, .nodeid = 1 };
	struct fuse_entry_out e;
	const struct fake_buf outside = { 0xf0000000, 64 };
	bool ok = true;

	for (uint32_t len = 17; len < 120; len += 3) {
		memcpy(fake_ptr(bus, in_gpa, 40), &h, 40);
		ok &= fs_send(REQUEST, len, 64) == 16;
	}
	tap_ok(ok, "a request shorter than it says is an error reply");
	fake_queue_add(&drv, REQUEST, &outside, 1, 0);
	fake_queue_kick(&drv, REQUEST);
	tap_ok(fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET,
	       "a chain outside memory: DEVICE_NEEDS_RESET");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_STATUS, 1, 0);
	drv_start();
	fake_queue_publish(&drv, REQUEST, 999);
	fake_queue_kick(&drv, REQUEST);
	tap_ok(fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET,
	       "a head outside the ring: DEVICE_NEEDS_RESET");
	fake_set_reg(&drv, VIRTIO_PCI_COMMON_STATUS, 1, 0);
	drv_start();
	tap_ok(fs_lookup(FUSE_ROOT_ID, "share", &e) == 0 && !bus->stopped[0],
	       "after a reset all is well");
}

int main(void)
{
	struct fuse_export ex = { .host = "dir", .guest = "/share" };
	struct fuse_server *srv;
	struct pci_host *host;
	char tag[36] = "";

	scratch_make();
	dir_put("dir", 0755);
	file_put("dir/file", "contents", 0644);
	srv = server_with(&ex, 1);
	bus = fake_bus_new(1 << 20);
	tap_ok(pci_host_attach(bus, &host) == 0 && virtio_fs_attach(host, srv) == 0, "attach");
	in_gpa = fake_alloc(bus, 8192, 4096);
	out_gpa = fake_alloc(bus, 8192, 4096);
	drv_start();
	for (unsigned i = 0; i < sizeof(tag); i++)
		tag[i] = (char)fake_reg(&drv, HUSK_VIRTIO_DEVICE + i, 1);
	tap_ok(strcmp(tag, HUSK_FUSE_TAG) == 0 && fake_reg(&drv, HUSK_VIRTIO_DEVICE + 36, 4) == 1,
	       "configuration: tag, one request queue");
	test_requests();
	test_reset();
	test_malformed();
	fake_bus_free(bus);
	fuse_server_free(srv);
	return tap_done();
}
