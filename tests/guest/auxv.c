/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel puts on a new program's stack, and the vDSO that it names there. */
#define _GNU_SOURCE
#include "check.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef int clock_fn(clockid_t, struct timespec *);

extern char **environ;

static void check_ids(void)
{
	check(getauxval(AT_PAGESZ) == 4096, "AT_PAGESZ");
	check(getauxval(AT_CLKTCK) == 100, "AT_CLKTCK");
	check(getauxval(AT_UID) == getuid() && getauxval(AT_EUID) == geteuid() &&
	      getauxval(AT_GID) == getgid() && getauxval(AT_EGID) == getegid(), "AT_UID to AT_EGID");
	check(getauxval(AT_SECURE) == 0, "AT_SECURE");
	check(getauxval(AT_FLAGS) == 0, "AT_FLAGS");
	check(getauxval(AT_HWCAP) != 0, "AT_HWCAP");
}

static void check_program(char **argv)
{
	const ElfW(Phdr) *phdr = (void *)getauxval(AT_PHDR);
	const char *platform = (char *)getauxval(AT_PLATFORM);
	const char *path = (char *)getauxval(AT_EXECFN);
	const unsigned char *entry = (void *)getauxval(AT_ENTRY);
	unsigned loads = 0;

	check(getauxval(AT_PHENT) == sizeof(ElfW(Phdr)) && getauxval(AT_PHNUM) > 2, "AT_PHNUM");
	for (unsigned i = 0; i < getauxval(AT_PHNUM); i++)
		loads += phdr[i].p_type == PT_LOAD;
	check(loads >= 2, "AT_PHDR is the program's headers");
	check(entry && entry[0] != 0, "AT_ENTRY can be read");
	check(platform && !strcmp(platform, "x86_64"), "AT_PLATFORM");
	check(path && !strcmp(path, argv[0]), "AT_EXECFN");
}

static void check_random(void)
{
	const unsigned char *bytes = (void *)getauxval(AT_RANDOM);
	unsigned bits = 0;

	for (int i = 0; bytes && i < 16; i++)
		bits |= bytes[i] << (i & 1 ? 8 : 0);
	check(bytes && bits != 0, "AT_RANDOM");
}

static void check_stack(int argc, char **argv)
{
	uintptr_t *start = (uintptr_t *)argv - 1;
	uintptr_t *at = (uintptr_t *)environ;

	check(*start == (uintptr_t)argc && argv[argc] == NULL, "argc and argv on the stack");
	check(!((uintptr_t)start & 15), "... aligned to 16 bytes");
	check(environ == argv + argc + 1, "the environment follows");
	while (*at)
		at++;
	check(at[1] != AT_NULL && at[1] < 64, "the auxiliary vector follows");
	check((uintptr_t)argv[0] > (uintptr_t)at, "strings lie above them");
}

/* A symbol of the vDSO, found as libc finds it. */
static void *find_symbol(const char *base, const char *want)
{
	const Elf64_Ehdr *ehdr = (void *)base;
	const Elf64_Phdr *phdr = (void *)(base + ehdr->e_phoff);
	const Elf64_Sym *symbols = NULL;
	const char *strings = NULL;
	const uint32_t *hash = NULL;
	uintptr_t slide = 0;
	const Elf64_Dyn *dyn = NULL;

	for (int i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type == PT_LOAD)
			slide = (uintptr_t)base + phdr[i].p_offset - phdr[i].p_vaddr;
		else if (phdr[i].p_type == PT_DYNAMIC)
			dyn = (void *)(base + phdr[i].p_offset);
	}
	for (; dyn && dyn->d_tag; dyn++) {
		void *at = (void *)(slide + dyn->d_un.d_ptr);

		if (dyn->d_tag == DT_STRTAB)
			strings = at;
		else if (dyn->d_tag == DT_SYMTAB)
			symbols = at;
		else if (dyn->d_tag == DT_HASH)
			hash = at;
	}
	for (uint32_t i = 0; hash && symbols && strings && i < hash[1]; i++)
		if (symbols[i].st_shndx && !strcmp(strings + symbols[i].st_name, want))
			return (void *)(slide + symbols[i].st_value);
	return NULL;
}

static int64_t clock_ns(clock_fn *fn, clockid_t id)
{
	struct timespec ts;

	if (fn ? fn(id, &ts) : syscall(SYS_clock_gettime, id, &ts))
		return -1;
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void check_clock(clock_fn *fn, clockid_t id, const char *name)
{
	bool ordered = true, agrees = true;
	int64_t last = 0;
	char line[64];

	for (int i = 0; i < 20000; i++) {
		int64_t now = clock_ns(i % 100 ? fn : NULL, id);

		ordered &= now >= last;
		last = now;
	}
	for (int i = 0; i < 100; i++) {
		int64_t before = clock_ns(NULL, id), now = clock_ns(fn, id);

		agrees &= before <= now && now <= clock_ns(NULL, id);
	}
	snprintf(line, sizeof(line), "vDSO %s never goes back", name);
	check(ordered, line);
	snprintf(line, sizeof(line), "... and agrees with the system call");
	check(agrees, line);
}

static void check_vdso(void)
{
	const char *base = (char *)getauxval(AT_SYSINFO_EHDR);
	clock_fn *fn;

	check(base && !memcmp(base, ELFMAG, SELFMAG), "AT_SYSINFO_EHDR is an ELF file");
	if (!base)
		return;
	fn = (clock_fn *)find_symbol(base, "__vdso_clock_gettime");
	check(fn != NULL, "__vdso_clock_gettime");
	check(find_symbol(base, "__vdso_gettimeofday") != NULL, "__vdso_gettimeofday");
	check(find_symbol(base, "__vdso_time") != NULL, "__vdso_time");
	check(find_symbol(base, "__vdso_getcpu") != NULL, "__vdso_getcpu");
	if (!fn)
		return;
	check_clock(fn, CLOCK_MONOTONIC, "CLOCK_MONOTONIC");
	check_clock(fn, CLOCK_REALTIME, "CLOCK_REALTIME");
	check(clock_ns(fn, CLOCK_MONOTONIC_COARSE) > 0, "CLOCK_MONOTONIC_COARSE");
	check(clock_ns(fn, CLOCK_PROCESS_CPUTIME_ID) >= 0, "CLOCK_PROCESS_CPUTIME_ID falls back");
	check(clock_ns(fn, 9999) == -1, "a bad clock is refused");
}

int main(int argc, char **argv)
{
	check_ids();
	check_program(argv);
	check_random();
	check_stack(argc, argv);
	check_vdso();
	return checks_done();
}
