# SPDX-License-Identifier: Apache-2.0

GUEST_SOURCES += guestkern/core/string.c guestkern/core/print.c guestkern/core/fdt.c \
	guestkern/core/time.c
GUEST_SOURCES += guestkern/drivers/serial.c guestkern/drivers/virtio.c guestkern/drivers/virtq.c \
	guestkern/drivers/virtio_fs.c guestkern/drivers/virtio_console.c \
	guestkern/drivers/virtio_rng.c guestkern/drivers/chacha20.c
GUEST_SOURCES += guestkern/fs/fusefs_req.c guestkern/fs/fusefs_inode.c guestkern/fs/fusefs_name.c \
	guestkern/fs/fusefs_walk.c guestkern/fs/fusefs_dir.c guestkern/fs/fusefs_file.c \
	guestkern/fs/fusefs_io.c guestkern/fs/fusefs_xattr.c
VDSO_SOURCES += guestkern/vdso/vdso.c
