# SPDX-License-Identifier: Apache-2.0
# Device models. They know the bus interface and their back ends, never KVM.
husk_SOURCES += devices/bus.h devices/guest_mem.h devices/loop.h
husk_SOURCES += devices/pci.c devices/pci.h devices/pci_func.c devices/pci_fdt.c devices/pci_fdt.h
husk_SOURCES += devices/msix.c devices/msix.h
husk_SOURCES += devices/virtio.c devices/virtio.h devices/virtio_priv.h
husk_SOURCES += devices/virtio_pci.c devices/virtq.c
husk_SOURCES += devices/virtio_console.c devices/virtio_console.h devices/console_priv.h
husk_SOURCES += devices/console_control.c devices/console_stream.c devices/console_stream.h
husk_SOURCES += devices/virtio_rng.c devices/virtio_rng.h
