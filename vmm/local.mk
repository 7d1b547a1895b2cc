# SPDX-License-Identifier: Apache-2.0

husk_SOURCES += vmm/main.c vmm/cli.c vmm/cli.h vmm/cli_parse.c \
	vmm/config.c vmm/config.h vmm/config_json.c \
	vmm/options.c vmm/options.h vmm/run.h vmm/terminal.c vmm/terminal.h vmm/signals.c \
	vmm/signals.h vmm/jail.c vmm/jail.h vmm/landlock_abi.h vmm/options_boot.c

# Kernels that are not ours (`husk boot`): files, firmware tables.
BOOT_LOADERS = vmm/boot_kernel.c vmm/boot_kernel.h vmm/boot_elf.c vmm/boot_linux.c \
	vmm/boot_multiboot.c vmm/boot_pvh.c
BOOT_TABLES = vmm/acpi.c vmm/acpi.h vmm/aml.c vmm/aml.h vmm/mptable.c
BOOT_SOURCES = $(BOOT_LOADERS) $(BOOT_TABLES)

# One VM on KVM; also what tests/vmm/boot_state runs.
VM_SOURCES = vmm/stats.c vmm/stats.h vmm/vm.c vmm/vm.h vmm/vcpu.c vmm/bus.c vmm/bus.h vmm/loop.c vmm/guest_mem.c \
	vmm/guest_ram.h vmm/memslots.c vmm/loader.c vmm/loader.h vmm/load.c vmm/boot.c \
	vmm/machine.c vmm/machine_fdt.c vmm/run.c vmm/log.c vmm/log.h vmm/stdio_kind.c \
	vmm/stdio_kind.h vmm/view.c vmm/view.h vmm/view_cwd.c vmm/view_cwd.h \
	vmm/stall.c vmm/stall.h vmm/irqchip.c vmm/machine_boot.c vmm/load_boot.c \
	vmm/serial_input.c vmm/serial_input.h $(BOOT_SOURCES)
husk_SOURCES += $(VM_SOURCES) vmm/guest_blob.S

# husk bench.
husk_SOURCES += vmm/bench.c vmm/bench_cli.c vmm/bench_cli.h vmm/bench_rows.c vmm/bench_rows.h \
	vmm/bench_vm.c vmm/bench_vm.h vmm/bench_child.c vmm/bench_result.h vmm/bench_stats.c \
	vmm/bench_json.c vmm/bench_csv.c vmm/bench_table.c vmm/bench_tune.c vmm/bench_tune.h \
	vmm/bench_host.c vmm/bench_host.h

# The jail's filter is made by a tool that links libseccomp; husk does not.
EXTRA_PROGRAMS = vmm/mkseccomp
vmm_mkseccomp_SOURCES = vmm/mkseccomp.c
vmm_mkseccomp_CFLAGS = $(WARN_CFLAGS)
vmm_mkseccomp_LDADD = $(SECCOMP_LIBS)

vmm/seccomp_filter.h: vmm/mkseccomp$(EXEEXT)
	$(AM_V_GEN)vmm/mkseccomp$(EXEEXT) >$@.tmp && mv $@.tmp $@

vmm/husk-jail.$(OBJEXT) vmm/husk_asan-jail.$(OBJEXT): vmm/seccomp_filter.h
vmm/tests_unit_jail-jail.$(OBJEXT): vmm/seccomp_filter.h
CLEANFILES += vmm/seccomp_filter.h vmm/mkseccomp$(EXEEXT)
