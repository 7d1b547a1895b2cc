# SPDX-License-Identifier: Apache-2.0

unit_tests += tests/unit/guest_string
tests_unit_guest_string_SOURCES = tests/unit/guest_string.c
unit_tests += tests/unit/guest_print
tests_unit_guest_print_SOURCES = tests/unit/guest_print.c
unit_tests += tests/unit/guest_fdt
tests_unit_guest_fdt_SOURCES = tests/unit/guest_fdt.c guestkern/core/fdt.c
tests_unit_guest_fdt_LDADD = $(LIBFDT_LIBS)
unit_tests += tests/unit/guest_time
tests_unit_guest_time_SOURCES = tests/unit/guest_time.c
unit_tests += tests/unit/guest_random
tests_unit_guest_random_SOURCES = tests/unit/guest_random.c
unit_tests += tests/unit/guest_virtio
tests_unit_guest_virtio_SOURCES = tests/unit/guest_virtio.c
unit_tests += tests/unit/options
tests_unit_options_SOURCES = tests/unit/options.c vmm/options.c vmm/options_boot.c vmm/config.c vmm/config_json.c vmm/cli_parse.c
tests_unit_options_LDADD = $(LIBJANSSON_LIBS)

unit_tests += tests/unit/config_json
tests_unit_config_json_SOURCES = tests/unit/config_json.c vmm/options.c vmm/config.c vmm/config_json.c
tests_unit_config_json_LDADD = $(LIBJANSSON_LIBS)

unit_tests += tests/unit/jail
tests_unit_jail_SOURCES = tests/unit/jail.c vmm/jail.c
tests_unit_jail_CFLAGS = $(WARN_CFLAGS)

unit_tests += tests/unit/signals
tests_unit_signals_SOURCES = tests/unit/signals.c vmm/signals.c vmm/terminal.c

unit_tests += tests/unit/terminal
tests_unit_terminal_SOURCES = tests/unit/terminal.c vmm/terminal.c
# A machine for device tests (tests/unit/fake_bus.h), with the devices' common parts.
FAKE_MACHINE = tests/unit/fake_bus.c tests/unit/fake_bus.h tests/unit/fake_mem.c \
	tests/unit/fake_virtio.c devices/pci.c devices/pci_func.c devices/pci_fdt.c devices/msix.c
FAKE_VIRTIO = $(FAKE_MACHINE) devices/virtio.c devices/virtio_pci.c devices/virtq.c

unit_tests += tests/unit/pci
tests_unit_pci_SOURCES = tests/unit/pci.c $(FAKE_MACHINE)
tests_unit_pci_LDADD = $(LIBFDT_LIBS)

unit_tests += tests/unit/virtq
tests_unit_virtq_SOURCES = tests/unit/virtq.c tests/unit/fake_dut.h $(FAKE_VIRTIO)
tests_unit_virtq_LDADD = $(LIBFDT_LIBS)

unit_tests += tests/unit/virtio_pci
tests_unit_virtio_pci_SOURCES = tests/unit/virtio_pci.c tests/unit/fake_dut.h $(FAKE_VIRTIO)
tests_unit_virtio_pci_LDADD = $(LIBFDT_LIBS)

unit_tests += tests/unit/virtio_console
tests_unit_virtio_console_SOURCES = tests/unit/virtio_console.c devices/virtio_console.c \
	devices/console_control.c devices/console_stream.c $(FAKE_VIRTIO)
tests_unit_virtio_console_LDADD = $(LIBFDT_LIBS) -lutil

unit_tests += tests/unit/virtio_rng
tests_unit_virtio_rng_SOURCES = tests/unit/virtio_rng.c devices/virtio_rng.c $(FAKE_VIRTIO)
tests_unit_virtio_rng_LDADD = $(LIBFDT_LIBS)

test_scripts += tests/cli/help
test_scripts += tests/cli/compatibility

unit_tests += tests/unit/guest_elf
tests_unit_guest_elf_SOURCES = tests/unit/guest_elf.c guestkern/proc/elf.c
# The VMM's own parts, each alone.
unit_tests += tests/unit/guest_mem
tests_unit_guest_mem_SOURCES = tests/unit/guest_mem.c vmm/guest_mem.c

unit_tests += tests/unit/loader
tests_unit_loader_SOURCES = tests/unit/loader.c vmm/loader.c vmm/guest_mem.c

unit_tests += tests/unit/bus
tests_unit_bus_SOURCES = tests/unit/bus.c vmm/bus.c

unit_tests += tests/unit/loop
tests_unit_loop_SOURCES = tests/unit/loop.c vmm/loop.c

unit_tests += tests/unit/machine_fdt
tests_unit_machine_fdt_SOURCES = tests/unit/machine_fdt.c vmm/machine_fdt.c vmm/guest_mem.c \
	vmm/log.c vmm/terminal.c devices/fdt_reg.c
tests_unit_machine_fdt_LDADD = $(LIBFDT_LIBS)

unit_tests += tests/unit/serial
tests_unit_serial_SOURCES = tests/unit/serial.c tests/unit/bus_stub.h devices/serial.c devices/fdt_reg.c
tests_unit_serial_LDADD = $(LIBFDT_LIBS)

unit_tests += tests/unit/pm_timer
tests_unit_pm_timer_SOURCES = tests/unit/pm_timer.c tests/unit/bus_stub.h devices/pm_timer.c \
	devices/system.c devices/fdt_reg.c
tests_unit_pm_timer_LDADD = $(LIBFDT_LIBS)

# Tiny guests on the real KVM, with all of the VMM but its command line.
vm_tests += tests/vmm/boot_state
check_PROGRAMS += tests/vmm/boot_state
tests_vmm_boot_state_SOURCES = tests/vmm/boot_state.c tests/vmm/tiny.S $(VM_SOURCES) \
	$(DEVICE_SOURCES) vmm/terminal.c vmm/signals.c vmm/jail.c
tests_vmm_boot_state_CFLAGS = $(AM_CFLAGS)
tests_vmm_boot_state_CCASFLAGS =
tests_vmm_boot_state_LDADD = $(LIBFDT_LIBS)
vmm/tests_vmm_boot_state-jail.$(OBJEXT): vmm/seccomp_filter.h

# The file server, alone and behind its device.
FUSE_SERVER = tests/unit/fuse_client.h devices/fuse/fuse_export.c devices/fuse/fuse_fd.c \
	devices/fuse/fuse_host.c devices/fuse/fuse_lookup.c devices/fuse/fuse_msg.c \
	devices/fuse/fuse_node.c devices/fuse/fuse_ops_attr.c devices/fuse/fuse_ops_dir.c \
	devices/fuse/fuse_ops_file.c devices/fuse/fuse_ops_open.c devices/fuse/fuse_ops_readdir.c \
	devices/fuse/fuse_ops_xattr.c devices/fuse/fuse_server.c devices/fuse/fuse_table.c \
	devices/fuse/fuse_walk.c

unit_tests += tests/unit/fuse_ops
tests_unit_fuse_ops_SOURCES = tests/unit/fuse_ops.c $(FUSE_SERVER)

unit_tests += tests/unit/fuse_hostile
tests_unit_fuse_hostile_SOURCES = tests/unit/fuse_hostile.c $(FUSE_SERVER)

unit_tests += tests/unit/fuse_kernel
tests_unit_fuse_kernel_SOURCES = tests/unit/fuse_kernel.c $(FUSE_SERVER)

unit_tests += tests/unit/fuse_view
tests_unit_fuse_view_SOURCES = tests/unit/fuse_view.c vmm/view.c vmm/view_cwd.c $(FUSE_SERVER)

unit_tests += tests/unit/virtio_fs
tests_unit_virtio_fs_SOURCES = tests/unit/virtio_fs.c devices/virtio_fs.c $(FUSE_SERVER) \
	$(FAKE_VIRTIO)
tests_unit_virtio_fs_LDADD = $(LIBFDT_LIBS)

# The guest's FUSE client and what it stands on, against the file server.
unit_tests += tests/unit/guest_fusefs
tests_unit_guest_fusefs_SOURCES = tests/unit/guest_fusefs.c tests/unit/guest_host.c \
	tests/unit/guest_host.h tests/unit/host_files.c tests/unit/host_files.h \
	guestkern/fs/fusefs_req.c guestkern/fs/fusefs_inode.c guestkern/fs/fusefs_name.c \
	guestkern/fs/fusefs_walk.c guestkern/fs/fusefs_dir.c guestkern/fs/fusefs_file.c \
	guestkern/fs/fusefs_io.c guestkern/fs/fusefs_xattr.c \
	guestkern/fs/dcache.c guestkern/fs/lookup.c guestkern/fs/inode.c guestkern/fs/pagecache.c \
	guestkern/fs/pagecache_rw.c guestkern/fs/pagecache_wb.c guestkern/fs/pagetree.c $(FUSE_SERVER)
tests_unit_guest_fusefs_CPPFLAGS = $(AM_CPPFLAGS) -DHUSK_HOST_TEST -include sys/stat.h

# husk bench.
unit_tests += tests/unit/bench_stats
tests_unit_bench_stats_SOURCES = tests/unit/bench_stats.c vmm/bench_stats.c
unit_tests += tests/unit/bench_json
tests_unit_bench_json_SOURCES = tests/unit/bench_json.c vmm/bench_json.c vmm/bench_csv.c vmm/bench_stats.c
tests_unit_bench_json_LDADD = $(LIBJANSSON_LIBS)
unit_tests += tests/unit/bench_tune
tests_unit_bench_tune_SOURCES = tests/unit/bench_tune.c vmm/bench_tune.c vmm/bench_host.c vmm/log.c
vm_tests += tests/cli/bench.sh
# The VFS core with the kernel around it faked. Freestanding: the C library's headers would hide
# parts of the UAPI ones. The oracle is the host's kernel, in a chroot: root only, else a skip.
VFS_CORE = tests/unit/vfs_fake.c tests/unit/vfs_fake.h \
	guestkern/fs/attr.c guestkern/fs/dcache.c guestkern/fs/dirs.c guestkern/fs/fcntl.c \
	guestkern/fs/fdtable.c guestkern/fs/file.c guestkern/fs/inode.c guestkern/fs/iov.c \
	guestkern/fs/locks.c guestkern/fs/lookup.c guestkern/fs/memfd.c guestkern/fs/mount.c \
	guestkern/fs/namei.c guestkern/fs/names.c guestkern/fs/nametab.c guestkern/fs/open.c \
	guestkern/fs/overlay.c guestkern/fs/overlay_copyup.c guestkern/fs/overlay_dir.c \
	guestkern/fs/overlay_readdir.c guestkern/fs/pagecache.c guestkern/fs/pagecache_rw.c \
	guestkern/fs/pagecache_wb.c guestkern/fs/pagetree.c guestkern/fs/path.c \
	guestkern/fs/readwrite.c guestkern/fs/rename.c guestkern/fs/root.c guestkern/fs/sendfile.c \
	guestkern/fs/stat.c guestkern/fs/sync.c guestkern/fs/times.c guestkern/fs/tmpfs.c \
	guestkern/fs/tmpfs_dir.c guestkern/fs/tmpfs_xattr.c guestkern/fs/xattr.c
VFS_ORACLE = tests/unit/vfs_oracle.c tests/unit/vfs_oracle.h

unit_tests += tests/unit/vfs_random
tests_unit_vfs_random_SOURCES = tests/unit/vfs_random.c $(VFS_ORACLE) $(VFS_CORE)
tests_unit_vfs_random_CPPFLAGS = $(AM_CPPFLAGS) -DHUSK_HOST_TEST
tests_unit_vfs_random_CFLAGS = $(AM_CFLAGS) -ffreestanding

unit_tests += tests/unit/vfs_calls
tests_unit_vfs_calls_SOURCES = tests/unit/vfs_calls.c $(VFS_ORACLE) $(VFS_CORE)
tests_unit_vfs_calls_CPPFLAGS = $(AM_CPPFLAGS) -DHUSK_HOST_TEST
tests_unit_vfs_calls_CFLAGS = $(AM_CFLAGS) -ffreestanding

unit_tests += tests/unit/vfs_cache
tests_unit_vfs_cache_SOURCES = tests/unit/vfs_cache.c tests/unit/vfs_hostfs.c \
	tests/unit/vfs_hostfs.h $(VFS_CORE)
tests_unit_vfs_cache_CPPFLAGS = $(AM_CPPFLAGS) -DHUSK_HOST_TEST
tests_unit_vfs_cache_CFLAGS = $(AM_CFLAGS) -ffreestanding
# Pipes to /proc and the small system calls, on a test kernel with tasks and a clock of its own.
KFS_SOURCES = tests/unit/kfs_fake.c tests/unit/kfs_fake.h tests/unit/kfs_fake_fs.c \
	guestkern/fs/devfs.c guestkern/fs/epoll.c guestkern/fs/epoll_item.c guestkern/fs/eventfd.c \
	guestkern/fs/pipe.c guestkern/fs/pipe_ring.c guestkern/fs/poll.c guestkern/fs/proc_cpu.c \
	guestkern/fs/proc_fd.c guestkern/fs/proc_mem.c guestkern/fs/proc_mounts.c \
	guestkern/fs/proc_pid.c guestkern/fs/proc_stat.c guestkern/fs/proc_sys.c \
	guestkern/fs/proc_system.c guestkern/fs/procfs.c guestkern/fs/pseudo.c guestkern/fs/select.c \
	guestkern/fs/seq.c guestkern/fs/stdio.c guestkern/fs/sysfs.c guestkern/fs/timerfd.c \
	guestkern/fs/tty.c guestkern/fs/tty_input.c guestkern/fs/tty_jobs.c guestkern/fs/tty_ldisc.c \
	guestkern/proc/caps.c guestkern/proc/clock.c guestkern/proc/cred.c guestkern/proc/itimer.c \
	guestkern/proc/limits.c guestkern/proc/misc.c guestkern/proc/prctl.c \
	guestkern/proc/sched_param.c
# Freestanding: the kernel's files take stdint.h from the compiler, as in the guest.
KFS_CPPFLAGS = $(AM_CPPFLAGS) -DHUSK_HOST_TEST
KFS_CFLAGS = $(AM_CFLAGS) -ffreestanding -pthread

unit_tests += tests/unit/kfs_pipe tests/unit/kfs_poll tests/unit/kfs_tty tests/unit/kfs_proc \
	tests/unit/kfs_misc tests/unit/kfs_ldisc
tests_unit_kfs_pipe_SOURCES = tests/unit/kfs_pipe.c $(KFS_SOURCES)
tests_unit_kfs_pipe_CPPFLAGS = $(KFS_CPPFLAGS)
tests_unit_kfs_pipe_CFLAGS = $(KFS_CFLAGS)
tests_unit_kfs_poll_SOURCES = tests/unit/kfs_poll.c $(KFS_SOURCES)
tests_unit_kfs_poll_CPPFLAGS = $(KFS_CPPFLAGS)
tests_unit_kfs_poll_CFLAGS = $(KFS_CFLAGS)
tests_unit_kfs_tty_SOURCES = tests/unit/kfs_tty.c $(KFS_SOURCES)
tests_unit_kfs_tty_CPPFLAGS = $(KFS_CPPFLAGS)
tests_unit_kfs_tty_CFLAGS = $(KFS_CFLAGS)
tests_unit_kfs_proc_SOURCES = tests/unit/kfs_proc.c $(KFS_SOURCES)
tests_unit_kfs_proc_CPPFLAGS = $(KFS_CPPFLAGS)
tests_unit_kfs_proc_CFLAGS = $(KFS_CFLAGS)
tests_unit_kfs_misc_SOURCES = tests/unit/kfs_misc.c $(KFS_SOURCES)
tests_unit_kfs_misc_CPPFLAGS = $(KFS_CPPFLAGS)
tests_unit_kfs_misc_CFLAGS = $(KFS_CFLAGS)
tests_unit_kfs_ldisc_SOURCES = tests/unit/kfs_ldisc.c guestkern/fs/tty_ldisc.c guestkern/fs/tty_input.c
tests_unit_kfs_ldisc_CPPFLAGS = $(KFS_CPPFLAGS)
tests_unit_kfs_ldisc_CFLAGS = $(KFS_CFLAGS)

# End to end: natively, where /dev/kvm opens, and always inside the software host too.
vm_tests += tests/cli/run.sh tests/cli/shell.sh tests/cli/stdio.sh tests/cli/status.sh \
	tests/cli/options.sh tests/cli/signals.sh tests/cli/isolation.sh tests/cli/abi.sh \
	tests/cli/panic.sh tests/cli/trace.sh tests/cli/tty.sh
test_scripts += tests/cli/on-tcg
# Kernels that are not ours.
unit_tests += tests/unit/boot_kernel
tests_unit_boot_kernel_SOURCES = tests/unit/boot_kernel.c vmm/guest_mem.c $(BOOT_SOURCES)

# A kernel for `husk boot`: 32-bit, no library, no start-up code.
guest_programs += tests/guest/mb_smp
tests_guest_mb_smp_SOURCES = tests/guest/mb_smp.S
tests_guest_mb_smp_CCASFLAGS = -m32
tests_guest_mb_smp_LINK = $(CC) -m32 -nostdlib -static -no-pie -Wl,-N,--build-id=none,-e,start \
	-Wl,--section-start=.multiboot=0x200000,-Ttext=0x200020 -o $@
vm_tests += tests/cli/boot
