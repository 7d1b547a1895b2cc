/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/sys: the values that programs and libraries read. Only the names of the machine can be
 * written; the others say what this kernel does.
 */
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/string.h"
#include "drivers/drivers.h"
#include "fs/procfs.h"
#include "mm/page.h"
#include "proc/misc.h"

/* A file whose text never changes. */
#define SYS_CONST(fn, text)							\
static int fn(struct seq *seq, const struct pseudo *self)			\
{										\
	seq_puts(seq, text "\n");						\
	return 0;								\
}

#define STR_(x) #x
#define STR(x) STR_(x)

SYS_CONST(sys_ostype, UTS_SYSNAME)
SYS_CONST(sys_osrelease, UTS_RELEASE)
SYS_CONST(sys_version, UTS_VERSION)
SYS_CONST(sys_pid_max, STR(PID_MAX))
SYS_CONST(sys_ngroups_max, "32")
SYS_CONST(sys_cap_last, "40")
SYS_CONST(sys_overflow_id, "65534")
SYS_CONST(sys_entropy, "256")
SYS_CONST(sys_overcommit, "1")
SYS_CONST(sys_max_map_count, "65530")
SYS_CONST(sys_mmap_min_addr, "65536")
SYS_CONST(sys_swappiness, "0")
SYS_CONST(sys_nr_open, "1048576")
SYS_CONST(sys_pipe_max_size, "1048576")
SYS_CONST(sys_somaxconn, "4096")

static int sys_threads_max(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%llu\n", (unsigned long long)page_total_count() / 32);
	return 0;
}

/* Files have no limit of their own but memory: an eighth of it in 256-byte objects. */
static int sys_file_max(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%llu\n", (unsigned long long)page_total_count() * 2);
	return 0;
}

static int sys_hostname(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%s\n", uts_names.hostname);
	return 0;
}

static int sys_domainname(struct seq *seq, const struct pseudo *self)
{
	seq_printf(seq, "%s\n", uts_names.domainname);
	return 0;
}

static long sys_name_set(char *name, const char *text, size_t len)
{
	size_t n = len && text[len - 1] == '\n' ? len - 1 : len;

	if (!capable_root())
		return -EPERM;
	n = MIN(n, (size_t)UTS_LEN - 1);
	memset(name, 0, UTS_LEN);
	memcpy(name, text, n);
	return (long)len;
}

static long sys_hostname_set(const struct pseudo *self, const char *text, size_t len)
{
	return sys_name_set(uts_names.hostname, text, len);
}

static long sys_domainname_set(const struct pseudo *self, const char *text, size_t len)
{
	return sys_name_set(uts_names.domainname, text, len);
}

/* A random UUID (RFC 4122, version 4). */
static void uuid_make(u8 uuid[16])
{
	random_bytes(uuid, 16);
	uuid[6] = (u8)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (u8)((uuid[8] & 0x3f) | 0x80);
}

static void uuid_print(struct seq *seq, const u8 uuid[16])
{
	for (int i = 0; i < 16; i++)
		seq_printf(seq, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			   uuid[i]);
	seq_puts(seq, "\n");
}

static int sys_uuid(struct seq *seq, const struct pseudo *self)
{
	u8 uuid[16];

	uuid_make(uuid);
	uuid_print(seq, uuid);
	return 0;
}

static int sys_boot_id(struct seq *seq, const struct pseudo *self)
{
	static u8 boot_id[16];
	static bool made;

	if (!made)
		uuid_make(boot_id);
	made = true;
	uuid_print(seq, boot_id);
	return 0;
}

static const struct pseudo_node random_nodes[] = {
	PROC_FILE("boot_id", 0444, sys_boot_id),
	PROC_FILE("entropy_avail", 0444, sys_entropy),
	PROC_FILE("poolsize", 0444, sys_entropy),
	PROC_FILE("uuid", 0444, sys_uuid),
};

static const struct pseudo_node kernel_nodes[] = {
	PROC_FILE("cap_last_cap", 0444, sys_cap_last),
	PROC_RW("domainname", 0644, sys_domainname, sys_domainname_set),
	PROC_RW("hostname", 0644, sys_hostname, sys_hostname_set),
	PROC_FILE("ngroups_max", 0444, sys_ngroups_max),
	PROC_FILE("osrelease", 0444, sys_osrelease),
	PROC_FILE("ostype", 0444, sys_ostype),
	PROC_FILE("overflowgid", 0444, sys_overflow_id),
	PROC_FILE("overflowuid", 0444, sys_overflow_id),
	PROC_FILE("pid_max", 0444, sys_pid_max),
	PROC_FILE("threads-max", 0444, sys_threads_max),
	PROC_FILE("version", 0444, sys_version),
	PROC_DIR("random", random_nodes),
};

static const struct pseudo_node vm_nodes[] = {
	PROC_FILE("max_map_count", 0444, sys_max_map_count),
	PROC_FILE("mmap_min_addr", 0444, sys_mmap_min_addr),
	PROC_FILE("overcommit_memory", 0444, sys_overcommit),
	PROC_FILE("swappiness", 0444, sys_swappiness),
};

static const struct pseudo_node fs_nodes[] = {
	PROC_FILE("file-max", 0444, sys_file_max),
	PROC_FILE("nr_open", 0444, sys_nr_open),
	PROC_FILE("overflowgid", 0444, sys_overflow_id),
	PROC_FILE("overflowuid", 0444, sys_overflow_id),
	PROC_FILE("pipe-max-size", 0444, sys_pipe_max_size),
};

static const struct pseudo_node net_core_nodes[] = {
	PROC_FILE("somaxconn", 0444, sys_somaxconn),
};
static const struct pseudo_node net_nodes[] = { PROC_DIR("core", net_core_nodes) };

const struct pseudo_node proc_sys_dirs[PROC_SYS_DIRS] = {
	PROC_DIR("fs", fs_nodes),
	PROC_DIR("kernel", kernel_nodes),
	PROC_DIR("net", net_nodes),
	PROC_DIR("vm", vm_nodes),
};
