/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtio-fs transport (VIRTIO 1.2, section 5.11): carries FUSE messages of fs/fusefs*.c over
 * the first request queue. The high-priority queue is not set up: what it is for cannot overtake
 * anything here, since requests are answered one by one on the notify exit.
 *
 * The VMM has started the device already (HUSK_FDT_VIRTIO_READY), else it takes 6 register accesses
 * at the first request (drivers/virtio.c). Then it is one a request.
 */
#include <linux/errno.h>
#include <linux/fuse.h>
#include "core/print.h"
#include "drivers/virtio.h"

#define REQUEST_QUEUE	1
#define QUEUE_SIZE	256

static struct virtio_dev fs_dev;
static struct virtq *fs_queue;

int virtio_fs_init(const struct fdt *fdt)
{
	return virtio_find(fdt, VIRTIO_ID_FS_DEV, &fs_dev) ? 0 : -ENODEV;
}

static int virtio_fs_start(void)
{
	if (fs_queue)
		return 0;
	if (!fs_dev.bar)
		return -ENODEV;
	if (fs_dev.ready) {
		fs_queue = virtq_adopt(&fs_dev, REQUEST_QUEUE);
	} else {
		virtio_start(&fs_dev, 0);
		fs_queue = virtq_setup(&fs_dev, REQUEST_QUEUE, QUEUE_SIZE);
	}
	return fs_queue ? 0 : -ENOMEM;
}

long virtio_fs_request(const struct io_seg *in, unsigned nin, const struct io_seg *out, unsigned nout)
{
	const struct fuse_out_header *head;
	long len;
	int ret = virtio_fs_start();

	if (ret < 0)
		return ret;
	len = virtq_request(fs_queue, in, nin, out, nout);
	if (len < 0 || !nout)
		return len;
	head = out[0].p;
	if (len < (long)sizeof(*head) || head->len < sizeof(*head) || (long)head->len > len)
		return -EIO;
	if (head->error)
		return head->error < 0 && head->error > -512 ? head->error : -EIO;
	return head->len;
}
