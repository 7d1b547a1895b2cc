/* SPDX-License-Identifier: Apache-2.0 */
/* The devicetree node of the PCI host bridge and its functions. */
#pragma once

struct pci_host;

/* Add the node below `parent`; 0 or -errno. */
int pci_fdt_write(struct pci_host *host, void *fdt, int parent);
