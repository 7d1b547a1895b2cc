/* SPDX-License-Identifier: Apache-2.0 */
/* /sys: the part that C libraries and runtimes read, which is how many CPUs there are. */
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/percpu.h"
#include "fs/kfs.h"
#include "fs/pseudo.h"

#define SYSFS_MAGIC 0x62656572

static int cpu_range(struct seq *seq, const struct pseudo *self)
{
	unsigned cpus = cpu_online_count();

	if (cpus > 1)
		seq_printf(seq, "0-%u\n", cpus - 1);
	else
		seq_puts(seq, "0\n");
	return 0;
}

static int cpu_kernel_max(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%u\n", cpu_online_count() - 1);
	return 0;
}

#define SYS_DIR(n, table) { .name = n, .mode = S_IFDIR | 0555, PSEUDO_CHILDREN(table) }
#define SYS_FILE(n, fn) { .name = n, .mode = S_IFREG | 0444, .show = fn }

static const struct pseudo_node cpu_nodes[] = {
	SYS_FILE("online", cpu_range),
	SYS_FILE("possible", cpu_range),
	SYS_FILE("present", cpu_range),
	SYS_FILE("kernel_max", cpu_kernel_max),
};
static const struct pseudo_node system_nodes[] = { SYS_DIR("cpu", cpu_nodes) };
static const struct pseudo_node devices_nodes[] = { SYS_DIR("system", system_nodes) };
static const struct pseudo_node sys_nodes[] = {
	SYS_DIR("devices", devices_nodes),
	{ .name = "fs", .mode = S_IFDIR | 0555 },
};
static const struct pseudo_node sys_root = {
	.name = "sys", .mode = S_IFDIR | 0555, PSEUDO_CHILDREN(sys_nodes),
};

static struct super sys_super = { .type = "sysfs", .dev = 0x7, .magic = SYSFS_MAGIC };

int sysfs_mount(struct super **out)
{
	*out = &sys_super;
	return pseudo_mount(&sys_super, &sys_root);
}
