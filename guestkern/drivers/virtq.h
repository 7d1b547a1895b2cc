/* SPDX-License-Identifier: Apache-2.0 */
/* Between virtio.c and virtq.c. */
#pragma once

#include "drivers/virtio.h"

/* Status and queue_select in one store. */
void virtio_write_select(struct virtio_dev *vd, u16 queue);
/* Set up the shared MSI-X entry if it is not yet. */
int virtio_use_msix(struct virtio_dev *vd);
