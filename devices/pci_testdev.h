/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI test device 1b36:0005 (QEMU, docs/specs/pci-testdev). */
#pragma once

struct pci_host;

#define PCI_TESTDEV_TESTS	3	/* in each BAR: no-eventfd, wildcard-eventfd, datamatch-eventfd */

/* 0 or -errno. */
int pci_testdev_attach(struct pci_host *host);
