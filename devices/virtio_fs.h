/* SPDX-License-Identifier: Apache-2.0 */
/* The virtio-fs device: carries FUSE requests of the guest to a FUSE server. */
#pragma once

struct fuse_server;
struct pci_host;

/*
 * Plug one in that serves from srv, which must outlive the machine. 0 or -errno. The device resets
 * the server when the guest resets it.
 */
int virtio_fs_attach(struct pci_host *host, struct fuse_server *srv);
