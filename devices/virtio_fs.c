/* SPDX-License-Identifier: Apache-2.0 */
/*
 * virtio-fs, VIRTIO 1.2 section 5.11 (device id 26): a high-priority queue for FORGET and one
 * request queue. A request is finished on the vCPU thread that notified: one exit, and by the time
 * the guest goes on, the reply is there. The interrupt is raised only if the driver wants it.
 */
#include "devices/virtio_fs.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "devices/fuse/fuse_server.h"
#include "devices/virtio.h"
#include "husk/fdt.h"
#include "husk/fuse.h"
#include "husk/layout.h"

#define VIRTIO_ID_FS	26
#define FS_QUEUES	2		/* hiprio, then requests */
#define FS_REQUEST_QUEUE 1

struct fs_config {
	char tag[36];
	uint32_t num_request_queues;
} __attribute__((packed));

struct virtio_fs {
	struct virtio_device vd;
	struct fuse_server *srv;
	unsigned resets;		/* chains popped before the last one are void */
};

_Static_assert(VIRTQ_MAX_IOV <= HUSK_FUSE_MAX_IOV, "the server takes every chain");

static struct virtio_fs *fs_of(struct virtio_device *vd)
{
	return (struct virtio_fs *)((char *)vd - offsetof(struct virtio_fs, vd));
}

static void fs_config_read(struct virtio_device *vd, unsigned off, void *buf, unsigned len)
{
	struct fs_config config = { .num_request_queues = htole32(FS_QUEUES - 1) };

	memcpy(config.tag, HUSK_FUSE_TAG, sizeof(HUSK_FUSE_TAG) - 1);
	memcpy(buf, (char *)&config + off, len);
}

static void fs_config_write(struct virtio_device *vd, unsigned off, const void *buf, unsigned len)
{
}

/*
 * The device's lock is dropped while a request runs, so that another vCPU can have its own taken
 * at the same time; a reset in between makes the chain void.
 */
static void fs_notify(struct virtio_device *vd, unsigned q)
{
	struct virtio_fs *fs = fs_of(vd);
	struct virtq *vq = virtio_queue(vd, q);
	unsigned resets = fs->resets;
	struct virtq_elem elem;
	bool pushed = false;

	for (unsigned i = 0; i < VIRTQ_MAX_SIZE && virtq_pop(vq, &elem) == 1; i++) {
		size_t len;

		pthread_mutex_unlock(&vd->lock);
		len = fuse_handle(fs->srv, elem.iov, elem.nout, elem.iov + elem.nout, elem.nin);
		pthread_mutex_lock(&vd->lock);
		if (fs->resets != resets)
			return;
		virtq_push(vq, &elem, (uint32_t)len);
		pushed = true;
	}
	if (pushed)
		virtq_interrupt(vq);
}

static void fs_reset(struct virtio_device *vd)
{
	struct virtio_fs *fs = fs_of(vd);

	fs->resets++;
	fuse_server_reset(fs->srv);
}

static void fs_release(struct virtio_device *vd)
{
	free(fs_of(vd));
}

static const struct virtio_ops fs_ops = {
	.name = "virtio-fs",
	.id = VIRTIO_ID_FS,
	.nqueues = FS_QUEUES,
	.config_size = sizeof(struct fs_config),
	.config_read = fs_config_read,
	.config_write = fs_config_write,
	.notify = fs_notify,
	.reset = fs_reset,
	.release = fs_release,
};

int virtio_fs_attach(struct pci_host *host, struct fuse_server *srv)
{
	struct virtio_fs *fs = calloc(1, sizeof(*fs));
	int err;

	if (!fs)
		return -ENOMEM;
	fs->srv = srv;
	err = virtio_attach(host, &fs->vd, &fs_ops);
	if (err < 0) {
		free(fs);
		return err;
	}
	/* Refused where there is no RAM at that place: then the driver does it itself. */
	virtio_preset(&fs->vd, FS_REQUEST_QUEUE, HUSK_READY_SIZE, HUSK_READY_RINGS,
		      HUSK_READY_RINGS + HUSK_READY_AVAIL, HUSK_READY_RINGS + HUSK_READY_USED);
	return 0;
}
