/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio entropy device (VIRTIO 1.1, section 5.4): each device-writable chain is filled from
 * getrandom() on the notify exit, up to a bound, so that a request cannot hold a vCPU thread for
 * long. The used length says how much there is; a driver that wants more asks again.
 */
#include "devices/virtio_rng.h"

#include <errno.h>
#include <linux/virtio_ids.h>
#include <stdlib.h>
#include <sys/random.h>
#include "devices/virtio.h"

#define REQUEST_MAX	4096

struct virtio_rng {
	struct virtio_device vd;
};

/* Fill the chain's writable part; bytes written, at most REQUEST_MAX. */
static uint32_t rng_fill(const struct virtq_elem *elem)
{
	uint32_t done = 0;

	for (unsigned i = elem->nout; i < elem->nout + elem->nin && done < REQUEST_MAX; i++) {
		size_t len = elem->iov[i].iov_len, left = REQUEST_MAX - done;
		ssize_t n;

		len = len < left ? len : left;
		do {
			n = getrandom(elem->iov[i].iov_base, len, 0);
		} while (n < 0 && errno == EINTR);
		if (n > 0)
			done += (uint32_t)n;
		if (n != (ssize_t)len)
			break;
	}
	return done;
}

static void rng_notify(struct virtio_device *vd, unsigned q)
{
	struct virtq *vq = virtio_queue(vd, q);
	struct virtq_elem elem;
	bool any = false;

	for (unsigned n = 0; n < VIRTQ_MAX_SIZE && virtq_pop(vq, &elem) == 1; n++) {
		virtq_push(vq, &elem, rng_fill(&elem));
		any = true;
	}
	if (any)
		virtq_interrupt(vq);
}

static void rng_release(struct virtio_device *vd)
{
	free(vd);
}

static const struct virtio_ops rng_ops = {
	.name = "rng",
	.id = VIRTIO_ID_RNG,
	.nqueues = 1,
	.notify = rng_notify,
	.release = rng_release,
};

int virtio_rng_attach(struct pci_host *host)
{
	struct virtio_rng *rng = calloc(1, sizeof(*rng));
	int ret;

	if (!rng)
		return -ENOMEM;
	ret = virtio_attach(host, &rng->vd, &rng_ops);
	if (ret < 0)
		free(rng);
	return ret;
}
