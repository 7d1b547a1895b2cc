/* SPDX-License-Identifier: Apache-2.0 */
/* Virtio entropy device (VIRTIO 1.1, section 5.4): random bytes from the host's kernel. */
#pragma once

struct pci_host;

/* 0 or -errno. */
int virtio_rng_attach(struct pci_host *host);
