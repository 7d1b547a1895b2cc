/* SPDX-License-Identifier: Apache-2.0 */
/* The devicetree, read back with libfdt: what include/husk/fdt.h promises is there. */
#include <errno.h>
#include <libfdt.h>
#include <linux/kvm.h>
#include <stdlib.h>
#include <string.h>
#include "devices/fdt_reg.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "tests/unit/tap.h"
#include "vmm/config.h"
#include "vmm/guest_ram.h"
#include "vmm/vm.h"

#define FDT_AT	0x8000

static int dev_fdt(struct device *dev, void *fdt, int parent)
{
	int node = fdt_add_device(fdt, parent, "thing", "husk,thing", 0xfe00a000, 0x1000);

	return node < 0 ? node : 0;
}

static int dev_fdt_fail(struct device *dev, void *fdt, int parent)
{
	return -EINVAL;
}

static const struct device_ops dev_ops = { .name = "thing", .fdt = dev_fdt };
static const struct device_ops fail_ops = { .name = "fail", .fdt = dev_fdt_fail };
static const struct device_ops silent_ops = { .name = "silent" };

/* The CPU of this machine: XSAVE with an area of 832 bytes. */
const struct kvm_cpuid_entry2 *boot_cpuid_find(struct vm *vm, uint32_t function, uint32_t index)
{
	static const struct kvm_cpuid_entry2 one = { .function = 1, .ecx = 1u << 26, .edx = 0x178bfbff };
	static const struct kvm_cpuid_entry2 xsave = { .function = 0xd, .ebx = 832 };

	return function == 1 ? &one : function == 0xd && !index ? &xsave : NULL;
}

static char *argv_test[] = { "prog", "", "two words", NULL };
static char *envp_test[] = { "A=1", "B=", NULL };

static const void *fdt_of(struct vm *vm)
{
	return guest_mem_ptr(&vm->mem, GPA(vm->fdt_gpa), HUSK_BOOT_END - vm->fdt_gpa);
}

static bool prop_is(const void *fdt, int node, const char *name, const void *val, int len)
{
	int n;
	const void *p = fdt_getprop(fdt, node, name, &n);

	return p && n == len && !memcmp(p, val, len);
}

static bool prop_u32(const void *fdt, int node, const char *name, uint32_t v)
{
	fdt32_t be = cpu_to_fdt32(v);

	return prop_is(fdt, node, name, &be, sizeof(be));
}

static void check_machine(const void *fdt)
{
	fdt64_t low[2] = { 0, cpu_to_fdt64(HUSK_HOLE_BASE) };
	fdt64_t high[2] = { cpu_to_fdt64(HUSK_HOLE_END), cpu_to_fdt64(1ull << 30) };
	int n, len;

	tap_ok(fdt_node_check_compatible(fdt, 0, HUSK_FDT_COMPAT) == 0, "root");
	tap_ok(fdt_address_cells(fdt, 0) == 2 && fdt_size_cells(fdt, 0) == 2, "two cells each");
	tap_ok(prop_is(fdt, fdt_path_offset(fdt, "/memory@0"), "reg", low, 16), "low memory");
	tap_ok(prop_is(fdt, fdt_path_offset(fdt, "/memory@100000000"), "reg", high, 16),
	       "memory above 4 GiB");
	tap_ok(prop_u32(fdt, fdt_path_offset(fdt, "/cpus/cpu@2"), "reg", 2) &&
	       fdt_path_offset(fdt, "/cpus/cpu@3") < 0, "three vCPUs");
	tap_ok(fdt_node_offset_by_compatible(fdt, -1, "husk,thing") > 0, "a device's own node");
	n = fdt_path_offset(fdt, "/chosen");
	tap_ok(fdt_getprop(fdt, n, "rng-seed", &len) && len == 32, "32 bytes of seed");
	tap_ok(prop_u32(fdt, n, HUSK_FDT_TSC_KHZ, 2100000), "TSC rate");
	tap_ok(prop_u32(fdt, n, HUSK_FDT_APIC_HZ, 1000000000), "APIC timer rate");
	tap_ok(prop_u32(fdt, n, HUSK_FDT_XSAVE_SIZE, 832) &&
	       prop_u32(fdt, n, HUSK_FDT_HWCAP, 0x178bfbff), "what CPUID would say");
}

static void check_init(const void *fdt)
{
	static const char argv_bytes[] = "prog\0\0two words", envp_bytes[] = "A=1\0B=";
	static const char stdio_bytes[] = "null\0pipe\0file";
	int n = fdt_path_offset(fdt, "/chosen/husk,init");
	int m = fdt_path_offset(fdt, "/chosen/husk,init/mount@1");

	tap_ok(prop_is(fdt, n, HUSK_FDT_ARGV, argv_bytes, sizeof(argv_bytes)), "argv, empty one too");
	tap_ok(prop_is(fdt, n, HUSK_FDT_ENVP, envp_bytes, sizeof(envp_bytes)), "envp");
	tap_ok(prop_is(fdt, n, HUSK_FDT_STDIO, stdio_bytes, sizeof(stdio_bytes)), "stdio kinds");
	tap_ok(prop_is(fdt, n, HUSK_FDT_CWD, "/work", 6) && prop_u32(fdt, n, HUSK_FDT_UID, 1000) &&
	       prop_u32(fdt, n, HUSK_FDT_GID, 100), "cwd, uid, gid");
	tap_ok(prop_is(fdt, n, HUSK_FDT_HOSTNAME, "box", 4), "hostname");
	tap_ok(fdt_getprop(fdt, n, HUSK_FDT_NO_PATCH, NULL) && prop_u32(fdt, n, HUSK_FDT_TRACE, 5),
	       "no-patch and trace");
	tap_ok(prop_is(fdt, m, HUSK_FDT_MOUNT_SOURCE, "/src", 5) &&
	       prop_is(fdt, m, HUSK_FDT_MOUNT_TARGET, "/mnt", 5) &&
	       fdt_getprop(fdt, m, HUSK_FDT_MOUNT_RW, NULL) &&
	       !fdt_getprop(fdt, m, HUSK_FDT_MOUNT_OVERLAY, NULL), "a mount");
	tap_ok(fdt_getprop(fdt, fdt_path_offset(fdt, "/chosen/husk,init/mount@0"),
			   HUSK_FDT_MOUNT_OVERLAY, NULL), "an overlay");
}

/* argv of `bytes` in total, in pieces of at most 100 KiB. */
static char **argv_large(size_t bytes)
{
	size_t n = bytes / 100000 + 2;
	char **v = calloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n && bytes; i++) {
		size_t len = bytes > 100000 ? 100000 : bytes;

		v[i] = malloc(len);
		memset(v[i], 'x', len - 1);
		v[i][len - 1] = 0;
		bytes -= len;
	}
	return v;
}

static void argv_free(char **v)
{
	for (char **s = v; *s; s++)
		free(*s);
	free(v);
}

static void check_large(struct vm *vm, struct config *cfg)
{
	static const size_t size[] = { 1000000, 1990000, 2090000, 3000000, 64000000 };

	for (unsigned i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		int len = 0, ret;

		cfg->argv = argv_large(size[i]);
		ret = machine_fdt(vm, FDT_AT);
		if (size[i] < 2000000) {
			const void *fdt = fdt_of(vm);

			fdt_getprop(fdt, fdt_path_offset(fdt, "/chosen/husk,init"), HUSK_FDT_ARGV,
				    &len);
			tap_ok(ret == 0 && len == (int)size[i], "%zu bytes of arguments", size[i]);
		} else {
			tap_ok(ret == -E2BIG, "%zu bytes of arguments are too many", size[i]);
		}
		argv_free(cfg->argv);
	}
	cfg->argv = argv_test;
	tap_ok(machine_fdt(vm, HUSK_BOOT_END - 64) == -E2BIG, "no room at all");
	tap_ok(machine_fdt(vm, HUSK_BOOT_END) == -E2BIG, "not one byte");
}

int main(void)
{
	static struct init_mount mount[] = {
		{ (char *)"/", (char *)"/", false, true },
		{ (char *)"/src", (char *)"/mnt", true, false },
	};
	static const char *const stdio[3] = { HUSK_STDIO_NULL, HUSK_STDIO_PIPE, HUSK_STDIO_FILE };
	struct config cfg = {
		.argv = argv_test, .envp = envp_test, .uid = 1000, .gid = 100,
		.hostname = "box", .no_patch = true, .trace = 5,
	};
	struct vm *vm = calloc(1, sizeof(*vm));
	struct device dev = { &dev_ops, NULL }, silent = { &silent_ops, NULL };
	struct device fail = { &fail_ops, NULL };

	vm->cfg = &cfg;
	vm->vm_fd = -1;
	vm->ncpus = 3;
	vm->tsc_khz = 2100000;
	vm->devices[0] = &silent;
	vm->devices[1] = &dev;
	vm->ndevices = 2;
	vm->view = (struct view){ .mounts = mount, .nmounts = 2, .workdir = (char *)"/work" };
	memcpy(vm->stdio, stdio, sizeof(stdio));
	guest_mem_init(&vm->mem, HUSK_HOLE_BASE + (1ull << 30));
	tap_ok(machine_fdt(vm, FDT_AT) == 0 && vm->fdt_gpa == FDT_AT &&
	       fdt_check_header(fdt_of(vm)) == 0, "written");
	check_machine(fdt_of(vm));
	check_init(fdt_of(vm));
	check_large(vm, &cfg);
	cfg.envp = NULL;
	cfg.argv = NULL;
	tap_ok(machine_fdt(vm, FDT_AT) == 0, "no arguments at all");
	vm->devices[1] = &fail;
	tap_ok(machine_fdt(vm, FDT_AT) == -EINVAL, "a device that fails");
	guest_mem_free(&vm->mem);
	free(vm);
	return tap_done();
}
