# SPDX-License-Identifier: Apache-2.0
# Device models. They know the bus interface and their back ends, never KVM.
DEVICE_SOURCES = devices/bus.h devices/guest_mem.h devices/loop.h
DEVICE_SOURCES += devices/pci.c devices/pci.h devices/pci_func.c devices/pci_fdt.c devices/pci_fdt.h
DEVICE_SOURCES += devices/msix.c devices/msix.h
DEVICE_SOURCES += devices/virtio.c devices/virtio.h devices/virtio_priv.h
DEVICE_SOURCES += devices/virtio_pci.c devices/virtq.c
DEVICE_SOURCES += devices/virtio_console.c devices/virtio_console.h devices/console_priv.h
DEVICE_SOURCES += devices/console_control.c devices/console_stream.c devices/console_stream.h
DEVICE_SOURCES += devices/virtio_rng.c devices/virtio_rng.h
DEVICE_SOURCES += devices/system.c devices/system.h devices/serial.c devices/serial.h
DEVICE_SOURCES += devices/pm_timer.c devices/pm_timer.h devices/fdt_reg.c devices/fdt_reg.h
# Only in the machine of `husk boot`.
DEVICE_SOURCES += devices/acpi_pm.c devices/acpi_pm.h devices/cmos.c devices/cmos.h
DEVICE_SOURCES += devices/exit_ports.c devices/exit_ports.h devices/fw_cfg.c devices/fw_cfg.h
DEVICE_SOURCES += devices/pc_testdev.c devices/pc_testdev.h
DEVICE_SOURCES += devices/virtio_fs.c devices/virtio_fs.h
DEVICE_SOURCES += devices/fuse/fuse_export.c \
	devices/fuse/fuse_fd.c \
	devices/fuse/fuse_host.c \
	devices/fuse/fuse_impl.h \
	devices/fuse/fuse_lookup.c \
	devices/fuse/fuse_msg.c \
	devices/fuse/fuse_node.c \
	devices/fuse/fuse_ops_attr.c \
	devices/fuse/fuse_ops_dir.c \
	devices/fuse/fuse_ops_file.c \
	devices/fuse/fuse_ops_open.c \
	devices/fuse/fuse_ops_readdir.c \
	devices/fuse/fuse_ops_xattr.c \
	devices/fuse/fuse_server.c \
	devices/fuse/fuse_server.h \
	devices/fuse/fuse_table.c \
	devices/fuse/fuse_walk.c
DEVICE_SOURCES += devices/pci_testdev.c devices/pci_testdev.h
DEVICE_SOURCES += devices/bench_port.c devices/bench_port.h
husk_SOURCES += $(DEVICE_SOURCES)
