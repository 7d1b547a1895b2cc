# SPDX-License-Identifier: Apache-2.0

GUEST_SOURCES += guestkern/drivers/serial.c guestkern/drivers/virtio.c guestkern/drivers/virtq.c \
	guestkern/drivers/virtio_fs.c guestkern/drivers/virtio_console.c \
	guestkern/drivers/virtio_rng.c guestkern/drivers/chacha20.c
GUEST_SOURCES += guestkern/fs/glue.c guestkern/fs/ioctl.c guestkern/fs/fusefs_req.c guestkern/fs/fusefs_inode.c guestkern/fs/fusefs_name.c \
	guestkern/fs/fusefs_walk.c guestkern/fs/fusefs_dir.c guestkern/fs/fusefs_file.c \
	guestkern/fs/fusefs_io.c guestkern/fs/fusefs_xattr.c

# The guest kernel, in the order of docs/tour.md.

GUEST_SOURCES += guestkern/nucleus/nucleus.S guestkern/nucleus/entry.S guestkern/nucleus/percpu.c

GUEST_SOURCES += guestkern/core/main.c guestkern/core/init.c guestkern/core/trap.c \
	guestkern/core/irq.c guestkern/core/sched.c guestkern/core/timer.c guestkern/core/time.c \
	guestkern/core/panic.c guestkern/core/stamp.c guestkern/core/print.c guestkern/core/string.c guestkern/core/fdt.c

GUEST_SOURCES += guestkern/mm/page.c guestkern/mm/kmalloc.c guestkern/mm/pgtable.c guestkern/mm/mm.c \
	guestkern/mm/fault.c guestkern/mm/mmap.c guestkern/mm/uaccess.c

GUEST_SOURCES += guestkern/proc/process.c guestkern/proc/fork.c guestkern/proc/exit.c \
	guestkern/proc/wait.c guestkern/proc/elf.c guestkern/proc/exec.c guestkern/proc/exec_load.c \
	guestkern/proc/fpu.c guestkern/proc/futex.c guestkern/proc/threadcalls.c \
	guestkern/proc/signal.c guestkern/proc/sigframe.c guestkern/proc/sigcalls.c \
	guestkern/proc/syscall.c guestkern/proc/syscall_table.c guestkern/proc/systrace.c guestkern/proc/errno_name.c \
	guestkern/proc/patch.c guestkern/proc/posix_timer.c

GUEST_SOURCES += guestkern/proc/caps.c guestkern/proc/clock.c guestkern/proc/cred.c \
	guestkern/proc/itimer.c guestkern/proc/limits.c guestkern/proc/misc.c guestkern/proc/prctl.c \
	guestkern/proc/sched_param.c

GUEST_SOURCES += guestkern/fs/attr.c guestkern/fs/dcache.c guestkern/fs/devfs.c \
	guestkern/fs/dirs.c guestkern/fs/epoll.c guestkern/fs/epoll_item.c guestkern/fs/eventfd.c \
	guestkern/fs/fcntl.c guestkern/fs/fdtable.c guestkern/fs/file.c guestkern/fs/inode.c \
	guestkern/fs/iov.c guestkern/fs/locks.c guestkern/fs/lookup.c guestkern/fs/memfd.c \
	guestkern/fs/mount.c guestkern/fs/namei.c guestkern/fs/names.c guestkern/fs/nametab.c \
	guestkern/fs/open.c guestkern/fs/overlay.c guestkern/fs/overlay_copyup.c \
	guestkern/fs/overlay_dir.c guestkern/fs/overlay_readdir.c guestkern/fs/pagecache.c \
	guestkern/fs/pagecache_rw.c guestkern/fs/pagecache_wb.c guestkern/fs/pagetree.c \
	guestkern/fs/path.c guestkern/fs/pipe.c guestkern/fs/pipe_ring.c guestkern/fs/poll.c \
	guestkern/fs/proc_cpu.c guestkern/fs/proc_fd.c guestkern/fs/proc_mem.c guestkern/fs/proc_mounts.c \
	guestkern/fs/proc_pid.c guestkern/fs/proc_stat.c guestkern/fs/proc_sys.c \
	guestkern/fs/proc_system.c guestkern/fs/procfs.c guestkern/fs/pseudo.c guestkern/fs/readwrite.c \
	guestkern/fs/rename.c guestkern/fs/root.c guestkern/fs/select.c guestkern/fs/sendfile.c \
	guestkern/fs/seq.c guestkern/fs/stat.c guestkern/fs/stdio.c guestkern/fs/sync.c \
	guestkern/fs/sysfs.c guestkern/fs/timerfd.c guestkern/fs/times.c guestkern/fs/tmpfs.c \
	guestkern/fs/tmpfs_dir.c guestkern/fs/tmpfs_xattr.c guestkern/fs/tty.c guestkern/fs/tty_input.c \
	guestkern/fs/tty_jobs.c guestkern/fs/tty_ldisc.c guestkern/fs/xattr.c

VDSO_SOURCES += guestkern/vdso/vdso.c
GUEST_SOURCES += guestkern/vdso/blob.S

# `husk bench`: not touched in an ordinary run.
GUEST_SOURCES += guestkern/bench/loops.S guestkern/bench/bench.c guestkern/bench/rows.c \
	guestkern/bench/apic.c guestkern/bench/testdev.c guestkern/bench/tasks.c
