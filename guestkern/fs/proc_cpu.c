/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/cpuinfo. CPUID leaves the VM (8 us on some hosts), so it is executed only when the file
 * is read for the first time.
 */
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/string.h"
#include "core/time.h"
#include "fs/procfs.h"

struct cpuid { u32 a, b, c, d; };

static struct cpuid cpuid(u32 leaf, u32 sub)
{
	struct cpuid r;

	__asm__ volatile("cpuid" : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
			 : "0"(leaf), "2"(sub));
	return r;
}

/* Names as Linux has them, by bit; NULL where it shows none. */
static const char *const flags_1d[32] = {
	"fpu", "vme", "de", "pse", "tsc", "msr", "pae", "mce", "cx8", "apic", NULL, "sep", "mtrr",
	"pge", "mca", "cmov", "pat", "pse36", "pn", "clflush", NULL, "dts", "acpi", "mmx", "fxsr",
	"sse", "sse2", "ss", "ht", "tm", "ia64", "pbe",
};
static const char *const flags_1c[32] = {
	"pni", "pclmulqdq", "dtes64", "monitor", "ds_cpl", "vmx", "smx", "est", "tm2", "ssse3",
	"cid", "sdbg", "fma", "cx16", "xtpr", "pdcm", NULL, "pcid", "dca", "sse4_1", "sse4_2",
	"x2apic", "movbe", "popcnt", "tsc_deadline_timer", "aes", "xsave", NULL, "avx", "f16c",
	"rdrand", "hypervisor",
};
static const char *const flags_80d[32] = {
	[11] = "syscall", [19] = "mp", [20] = "nx", [22] = "mmxext", [25] = "fxsr_opt",
	[26] = "pdpe1gb", [27] = "rdtscp", [29] = "lm", [30] = "3dnowext", [31] = "3dnow",
};
static const char *const flags_80c[32] = {
	"lahf_lm", "cmp_legacy", "svm", "extapic", "cr8_legacy", "abm", "sse4a", "misalignsse",
	"3dnowprefetch", "osvw", "ibs", "xop", "skinit", "wdt", NULL, "lwp", "fma4", "tce",
	[22] = "topoext",
};
static const char *const flags_7b[32] = {
	"fsgsbase", "tsc_adjust", NULL, "bmi1", "hle", "avx2", NULL, "smep", "bmi2", "erms",
	"invpcid", "rtm", "cqm", NULL, "mpx", NULL, "avx512f", "avx512dq", "rdseed", "adx", "smap",
	"avx512ifma", NULL, "clflushopt", "clwb", "intel_pt", "avx512pf", "avx512er", "avx512cd",
	"sha_ni", "avx512bw", "avx512vl",
};

struct cpu_facts {
	bool known;
	char vendor[13], model_name[49];
	u32 family, model, stepping, clflush, max_leaf;
	u32 phys_bits, virt_bits;
	u32 leaf1c, leaf1d, leaf7b, leaf80c, leaf80d;
};

static void facts_signature(struct cpu_facts *f, u32 a)
{
	f->stepping = a & 15;
	f->family = a >> 8 & 15;
	f->model = a >> 4 & 15;
	if (f->family == 6 || f->family == 15)
		f->model |= a >> 12 & 0xf0;
	if (f->family == 15)
		f->family += a >> 20 & 0xff;
}

static void facts_extended(struct cpu_facts *f)
{
	u32 max = cpuid(0x80000000, 0).a;
	struct cpuid r;

	f->phys_bits = 36;
	f->virt_bits = 48;
	if (max < 0x80000001)
		return;
	r = cpuid(0x80000001, 0);
	f->leaf80c = r.c;
	f->leaf80d = r.d;
	for (u32 i = 0; i < 3 && max >= 0x80000004; i++) {
		r = cpuid(0x80000002 + i, 0);
		memcpy(f->model_name + 16 * i, &r, 16);
	}
	if (max >= 0x80000008) {
		r = cpuid(0x80000008, 0);
		f->phys_bits = r.a & 0xff;
		f->virt_bits = r.a >> 8 & 0xff;
	}
}

static const struct cpu_facts *cpu_facts(void)
{
	static struct cpu_facts f;
	struct cpuid r;

	if (f.known)
		return &f;
	r = cpuid(0, 0);
	f.max_leaf = r.a;
	memcpy(f.vendor, &r.b, 4);
	memcpy(f.vendor + 4, &r.d, 4);
	memcpy(f.vendor + 8, &r.c, 4);
	r = cpuid(1, 0);
	facts_signature(&f, r.a);
	f.clflush = (r.b >> 8 & 0xff) * 8;
	f.leaf1c = r.c;
	f.leaf1d = r.d;
	if (f.max_leaf >= 7)
		f.leaf7b = cpuid(7, 0).b;
	facts_extended(&f);
	f.known = true;
	return &f;
}

static void flag_names(struct seq *seq, u32 bits, const char *const names[32])
{
	for (int i = 0; i < 32; i++) {
		if (!(bits >> i & 1) || !names[i])
			continue;
		seq_puts(seq, " ");
		seq_puts(seq, names[i]);
	}
}

static const char *model_name(const struct cpu_facts *f)
{
	const char *name = f->model_name;

	while (*name == ' ')
		name++;
	return *name ? name : "unknown";
}

static void cpuinfo_one(struct seq *seq, const struct cpu_facts *f, unsigned cpu, unsigned cpus)
{
	unsigned long long khz = time_tsc_khz();

	seq_printf(seq, "processor\t: %u\nvendor_id\t: %s\ncpu family\t: %u\nmodel\t\t: %u\n"
		   "model name\t: %s\nstepping\t: %u\n", cpu, f->vendor, f->family, f->model,
		   model_name(f), f->stepping);
	seq_printf(seq, "cpu MHz\t\t: %llu.%03llu\nphysical id\t: 0\nsiblings\t: %u\n"
		   "core id\t\t: %u\ncpu cores\t: %u\napicid\t\t: %u\ninitial apicid\t: %u\n",
		   khz / 1000, khz % 1000, cpus, cpu, cpus, cpu, cpu);
	seq_printf(seq, "fpu\t\t: yes\nfpu_exception\t: yes\ncpuid level\t: %u\nwp\t\t: yes\n"
		   "flags\t\t:", f->max_leaf);
	flag_names(seq, f->leaf1d, flags_1d);
	flag_names(seq, f->leaf80d & 0xfff00800, flags_80d);
	flag_names(seq, f->leaf1c, flags_1c);
	flag_names(seq, f->leaf80c, flags_80c);
	flag_names(seq, f->leaf7b, flags_7b);
	seq_printf(seq, "\nbugs\t\t:\nbogomips\t: %llu.%02llu\nclflush size\t: %u\n"
		   "cache_alignment\t: 64\naddress sizes\t: %u bits physical, %u bits virtual\n"
		   "power management:\n\n", khz / 500, khz / 5 % 100, f->clflush, f->phys_bits,
		   f->virt_bits);
}

int proc_cpuinfo(struct seq *seq, const struct pseudo *self)
{
	const struct cpu_facts *f = cpu_facts();
	unsigned cpus = cpu_online_count();

	for (unsigned i = 0; i < cpus; i++)
		cpuinfo_one(seq, f, i, cpus);
	return 0;
}
