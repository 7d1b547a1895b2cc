/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio console with two ports (VIRTIO 1.1, section 5.3): port 0 carries husk's standard input
 * and output, port 1 its standard error.
 */
#pragma once

struct pci_host;
struct virtio_console;

/*
 * Descriptors stay the caller's, who keeps them open and never closes them before the device ends;
 * no flag of theirs is changed, for other processes share them. -1: reads as end of input, swallows
 * output. rows and cols: of the terminal, 0 when there is none.
 */
struct virtio_console_config {
	int in_fd, out_fd, err_fd;
	unsigned rows, cols;
};

/*
 * Plug the console in. The process must ignore SIGPIPE. After the jail the device makes these
 * system calls: preadv2, pwritev2, readv, writev, poll, and the event loop's. 0 or -errno.
 */
int virtio_console_attach(struct pci_host *host, const struct virtio_console_config *cfg,
			  struct virtio_console **out);

/* The terminal's size changed. On the event loop's thread. */
void virtio_console_resize(struct virtio_console *vc, unsigned rows, unsigned cols);
