/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the machine, information about it, random numbers. */
#include "proc/misc.h"
#include <linux/errno.h>
#include <linux/random.h>
#include <linux/sysinfo.h>
#include <linux/utsname.h>
#include "core/fdt.h"
#include "core/percpu.h"
#include "core/string.h"
#include "core/time.h"
#include "drivers/drivers.h"
#include "fs/vfs.h"
#include "husk/fdt.h"
#include "mm/kmalloc.h"
#include "mm/page.h"
#include "mm/uaccess.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define RANDOM_CHUNK 4096u
#define PERSONALITY_ASK 0xffffffffu

struct uts_names uts_names = { "husk", "(none)" };

void misc_init(const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");
	int init = chosen < 0 ? -1 : fdt_find(fdt, chosen, HUSK_FDT_INIT);
	const char *name = init < 0 ? NULL : fdt_str(fdt, init, HUSK_FDT_HOSTNAME);

	if (!name || !*name)
		return;
	memset(uts_names.hostname, 0, UTS_LEN);
	memcpy(uts_names.hostname, name, strnlen(name, UTS_LEN - 1));
}

long sys_uname(u64 buf)
{
	struct new_utsname uts;

	memset(&uts, 0, sizeof(uts));
	memcpy(uts.sysname, UTS_SYSNAME, sizeof(UTS_SYSNAME));
	memcpy(uts.nodename, uts_names.hostname, UTS_LEN);
	memcpy(uts.release, UTS_RELEASE, sizeof(UTS_RELEASE));
	memcpy(uts.version, UTS_VERSION, sizeof(UTS_VERSION));
	memcpy(uts.machine, UTS_MACHINE, sizeof(UTS_MACHINE));
	memcpy(uts.domainname, uts_names.domainname, UTS_LEN);
	return copy_to_user(buf, &uts, sizeof(uts));
}

static long name_set(char *name, u64 from, int len)
{
	char copy[UTS_LEN] = { 0 };

	if (!capable_root())
		return -EPERM;
	if (len < 0 || len >= UTS_LEN)
		return -EINVAL;
	if (copy_from_user(copy, from, (size_t)len))
		return -EFAULT;
	memcpy(name, copy, UTS_LEN);
	return 0;
}

long sys_sethostname(u64 name, int len)
{
	return name_set(uts_names.hostname, name, len);
}

long sys_setdomainname(u64 name, int len)
{
	return name_set(uts_names.domainname, name, len);
}

long sys_sysinfo(u64 info)
{
	struct process *proc;
	struct sysinfo si;

	memset(&si, 0, sizeof(si));
	si.uptime = (long)(time_monotonic_ns() / NSEC_PER_SEC);
	si.totalram = page_total_count() * PAGE_SIZE;
	si.freeram = page_free_count() * PAGE_SIZE;
	si.mem_unit = 1;
	list_for_each(proc, &process_list, all_link)
		si.procs += (u16)proc->nthreads;
	return copy_to_user(info, &si, sizeof(si));
}

long sys_getrandom(u64 buf, u64 len, u32 flags)
{
	u8 small[256], *chunk = small;
	size_t size = sizeof(small), done = 0;
	long err = 0;

	if (flags & ~(u32)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE) ||
	    (flags & (GRND_RANDOM | GRND_INSECURE)) == (GRND_RANDOM | GRND_INSECURE))
		return -EINVAL;
	len = MIN(len, (u64)INT32_MAX);
	if (len > sizeof(small)) {
		chunk = kmalloc(RANDOM_CHUNK);
		size = RANDOM_CHUNK;
		if (!chunk)
			return -ENOMEM;
	}
	while (done < len && !err) {
		size_t n = MIN(len - done, size);

		if (done >= sizeof(small) && signal_pending())
			break;
		random_bytes(chunk, n);
		err = copy_to_user(buf + done, chunk, n);
		done += err ? 0 : n;
	}
	if (chunk != small)
		kfree(chunk);
	return done ? (long)done : err;
}

long sys_getcpu(u64 cpu, u64 node, u64 unused)
{
	u32 id = this_cpu()->id, zero = 0;

	if (cpu && copy_to_user(cpu, &id, sizeof(id)))
		return -EFAULT;
	if (node && copy_to_user(node, &zero, sizeof(zero)))
		return -EFAULT;
	return 0;
}

/* The kernel log goes to the host, none of it is kept here: an empty log of size 0. */
long sys_syslog(int type, u64 buf, int len)
{
	if (!capable_root())
		return -EPERM;
	switch (type) {
	case 2:			/* SYSLOG_ACTION_READ .. READ_CLEAR */
	case 3:
	case 4:
		return buf && len >= 0 ? 0 : -EINVAL;
	case 0:			/* CLOSE, OPEN, CLEAR, CONSOLE_*, SIZE_* */
	case 1:
	case 5:
	case 6:
	case 7:
	case 9:
	case 10:
		return 0;
	case 8:			/* CONSOLE_LEVEL */
		return len >= 1 && len <= 8 ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

/* Remembered; PER_LINUX is the only one that means anything here. */
long sys_personality(u32 persona)
{
	u32 old = current->proc->personality;

	if (persona != PERSONALITY_ASK)
		current->proc->personality = persona;
	return old;
}
