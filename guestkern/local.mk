# SPDX-License-Identifier: Apache-2.0

GUEST_SOURCES += guestkern/drivers/serial.c guestkern/drivers/virtio.c guestkern/drivers/virtq.c \
	guestkern/drivers/virtio_fs.c guestkern/drivers/virtio_console.c \
	guestkern/drivers/virtio_rng.c guestkern/drivers/chacha20.c
GUEST_SOURCES += guestkern/fs/fusefs_req.c guestkern/fs/fusefs_inode.c guestkern/fs/fusefs_name.c \
	guestkern/fs/fusefs_walk.c guestkern/fs/fusefs_dir.c guestkern/fs/fusefs_file.c \
	guestkern/fs/fusefs_io.c guestkern/fs/fusefs_xattr.c

# The guest kernel, in the order of docs/tour.md.

GUEST_SOURCES += guestkern/nucleus/nucleus.S guestkern/nucleus/entry.S guestkern/nucleus/percpu.c

GUEST_SOURCES += guestkern/core/main.c guestkern/core/init.c guestkern/core/trap.c \
	guestkern/core/irq.c guestkern/core/sched.c guestkern/core/timer.c guestkern/core/time.c \
	guestkern/core/panic.c guestkern/core/print.c guestkern/core/string.c guestkern/core/fdt.c

GUEST_SOURCES += guestkern/mm/page.c guestkern/mm/kmalloc.c guestkern/mm/pgtable.c guestkern/mm/mm.c \
	guestkern/mm/fault.c guestkern/mm/mmap.c guestkern/mm/uaccess.c

GUEST_SOURCES += guestkern/proc/process.c guestkern/proc/fork.c guestkern/proc/exit.c \
	guestkern/proc/wait.c guestkern/proc/elf.c guestkern/proc/exec.c guestkern/proc/exec_load.c \
	guestkern/proc/fpu.c guestkern/proc/futex.c guestkern/proc/threadcalls.c \
	guestkern/proc/signal.c guestkern/proc/sigframe.c guestkern/proc/sigcalls.c \
	guestkern/proc/syscall.c guestkern/proc/syscall_table.c guestkern/proc/systrace.c \
	guestkern/proc/patch.c

VDSO_SOURCES += guestkern/vdso/vdso.c
GUEST_SOURCES += guestkern/vdso/blob.S
