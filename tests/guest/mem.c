/* SPDX-License-Identifier: Apache-2.0 */
/* mmap, munmap, mprotect, mremap, madvise, brk: what they map, and what they refuse. */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE	4096ul
#define RW	(PROT_READ | PROT_WRITE)
#define ANON	(MAP_PRIVATE | MAP_ANONYMOUS)

static bool all_zero(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (at[i])
			return false;
	return true;
}

/* Whether a range is mapped at all: msync gives ENOMEM where it is not. */
static bool mapped(void *at, size_t len)
{
	return msync(at, len, MS_ASYNC) == 0;
}

static void check_anonymous(void)
{
	char *p = mmap(NULL, 64 * PAGE, RW, ANON, -1, 0);

	check(p != MAP_FAILED && !((uintptr_t)p & (PAGE - 1)), "anonymous mmap");
	check(all_zero(p, 64 * PAGE), "... is zero");
	memset(p, 0x5a, 64 * PAGE);
	check(p[0] == 0x5a && p[64 * PAGE - 1] == 0x5a, "... holds what is written");
	check(munmap(p + 16 * PAGE, 16 * PAGE) == 0, "munmap from the middle");
	check(!mapped(p + 16 * PAGE, PAGE) && mapped(p, 16 * PAGE) &&
	      mapped(p + 32 * PAGE, 32 * PAGE), "... leaves both sides");
	check(mmap(p + 16 * PAGE, 16 * PAGE, RW, ANON | MAP_FIXED, -1, 0) == p + 16 * PAGE,
	      "MAP_FIXED into the hole");
	check(all_zero(p + 16 * PAGE, 16 * PAGE) && p[16 * PAGE - 1] == 0x5a &&
	      p[32 * PAGE] == 0x5a, "... is zero, its neighbours unchanged");
	check_errno((long)mmap(p, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0), EEXIST,
		    "MAP_FIXED_NOREPLACE over a mapping");
	check(madvise(p, PAGE, MADV_DONTNEED) == 0 && all_zero(p, PAGE) && p[PAGE] == 0x5a,
	      "MADV_DONTNEED zeroes");
	check(munmap(p, 64 * PAGE) == 0 && !mapped(p, PAGE), "munmap all");
	check(munmap(p, 64 * PAGE) == 0, "munmap of nothing succeeds");
}

static void check_errors(void)
{
	char *p = mmap(NULL, PAGE, RW, ANON, -1, 0);

	check_errno((long)mmap(NULL, 0, RW, ANON, -1, 0), EINVAL, "mmap of no bytes");
	check_errno((long)mmap(p + 1, PAGE, RW, ANON | MAP_FIXED, -1, 0), EINVAL,
		    "MAP_FIXED unaligned");
	check_errno((long)mmap(NULL, PAGE, RW, MAP_PRIVATE, 99, 0), EBADF, "mmap of a bad fd");
	check_errno((long)mmap(NULL, 1ul << 60, RW, ANON, -1, 0), ENOMEM, "mmap of too much");
	check_errno((long)mmap(NULL, PAGE, RW, MAP_ANONYMOUS, -1, 0), EINVAL,
		    "neither private nor shared");
	check_errno(munmap(p + 1, PAGE), EINVAL, "munmap unaligned");
	check_errno(munmap(p, 0), EINVAL, "munmap of no bytes");
	check_errno(syscall(SYS_mprotect, p + 1, PAGE, PROT_READ), EINVAL, "mprotect unaligned");
	munmap(p, PAGE);
	check_errno(mprotect(p, PAGE, PROT_READ), ENOMEM, "mprotect of nothing");
	check_errno(madvise(p + 1, PAGE, MADV_DONTNEED), EINVAL, "madvise unaligned");
}

/* Whether the kernel may read and write there, which does not need a signal handler. */
static bool readable(const void *p)
{
	int fd = open("/dev/null", O_WRONLY), pipe_fds[2];
	bool good = pipe(pipe_fds) == 0 && write(pipe_fds[1], p, 1) == 1;

	close(fd);
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	return good;
}

static bool writable(void *p)
{
	int fd = open("/dev/zero", O_RDONLY);
	bool good = read(fd, p, 1) == 1;

	close(fd);
	return good;
}

static void check_protection(void)
{
	char *p = mmap(NULL, 3 * PAGE, RW, ANON, -1, 0);

	p[PAGE] = 7;
	check(mprotect(p + PAGE, PAGE, PROT_READ) == 0 && readable(p + PAGE) &&
	      !writable(p + PAGE) && writable(p) && writable(p + 2 * PAGE),
	      "mprotect of the middle page to read-only");
	check(mprotect(p + PAGE, PAGE, PROT_NONE) == 0 && !readable(p + PAGE), "... to nothing");
	check(mprotect(p + PAGE, PAGE, RW) == 0 && writable(p + PAGE) && readable(p + PAGE),
	      "... and back");
	check(p[PAGE] == 0 && !munmap(p, 3 * PAGE), "what was written meanwhile is there");
	p = mmap(NULL, PAGE, RW, ANON, -1, 0);
	memcpy(p, "\xb8\x2a\0\0\0\xc3", 6);	/* mov $42,%eax; ret */
	check(mprotect(p, PAGE, PROT_READ | PROT_EXEC) == 0 && ((int (*)(void))p)() == 42,
	      "code written, then made executable");
	munmap(p, PAGE);
}

static void check_mremap(void)
{
	char *p = mmap(NULL, 4 * PAGE, RW, ANON, -1, 0), *q;

	for (int i = 0; i < 4; i++)
		p[i * PAGE] = i + 1;
	q = mremap(p, 4 * PAGE, 1024 * PAGE, MREMAP_MAYMOVE);
	check(q != MAP_FAILED && q[0] == 1 && q[3 * PAGE] == 4 && all_zero(q + 4 * PAGE, PAGE) &&
	      all_zero(q + 1023 * PAGE, PAGE), "mremap grows");
	check(mremap(q, 1024 * PAGE, 2 * PAGE, 0) == q && mapped(q, 2 * PAGE) &&
	      !mapped(q + 2 * PAGE, PAGE), "mremap shrinks");
	p = mmap(NULL, 2 * PAGE, PROT_NONE, ANON, -1, 0);
	check(mremap(q, 2 * PAGE, 2 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, p) == p && p[0] == 1 &&
	      p[PAGE] == 2 && !mapped(q, PAGE), "mremap to a fixed place");
	check_errno((long)mremap(q, PAGE, 2 * PAGE, MREMAP_MAYMOVE), EFAULT, "mremap of nothing");
	munmap(p, 2 * PAGE);
}

static void check_brk(void)
{
	char *start = (char *)syscall(SYS_brk, 0), *end;

	end = (char *)syscall(SYS_brk, start + 10 * PAGE);
	check(end == start + 10 * PAGE, "brk grows");
	memset(start, 1, 10 * PAGE);
	check((char *)syscall(SYS_brk, start + PAGE) == start + PAGE, "brk shrinks");
	check((char *)syscall(SYS_brk, start + 10 * PAGE) == start + 10 * PAGE &&
	      all_zero(start + 2 * PAGE, 8 * PAGE), "what comes back is zero");
	check((char *)syscall(SYS_brk, 1ul) == start + 10 * PAGE, "an impossible brk changes nothing");
	syscall(SYS_brk, start);
}

static void check_files(void)
{
	char name[] = "/tmp/mem.XXXXXX", buf[8] = "", *p, *q;
	int fd = mkstemp(name);

	check(fd >= 0 && ftruncate(fd, 2 * PAGE) == 0 && pwrite(fd, "file", 4, PAGE) == 4,
	      "a file of two pages");
	p = mmap(NULL, 2 * PAGE, RW, MAP_PRIVATE, fd, 0);
	check(p != MAP_FAILED && !memcmp(p + PAGE, "file", 4) && all_zero(p, PAGE),
	      "a private mapping shows it");
	memcpy(p + PAGE, "mine", 4);
	check(pread(fd, buf, 4, PAGE) == 4 && !memcmp(buf, "file", 4), "... and keeps its writes");
	q = mmap(NULL, PAGE, RW, MAP_SHARED, fd, PAGE);
	check(q != MAP_FAILED && !memcmp(q, "file", 4), "a shared mapping at an offset");
	memcpy(q, "both", 4);
	check(msync(q, PAGE, MS_SYNC) == 0 && pread(fd, buf, 4, PAGE) == 4 &&
	      !memcmp(buf, "both", 4), "... passes writes to the file");
	check_errno((long)mmap(NULL, PAGE, RW, MAP_SHARED, fd, 100), EINVAL, "an odd offset");
	munmap(p, 2 * PAGE);
	munmap(q, PAGE);
	close(fd);
	unlink(name);
	p = mmap(NULL, PAGE, RW, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(p != MAP_FAILED && all_zero(p, PAGE), "shared anonymous memory");
	munmap(p, PAGE);
}

static void check_big(void)
{
	size_t len = 64ul << 20;
	char *p = mmap(NULL, len, RW, ANON, -1, 0);
	bool good = p != MAP_FAILED;

	for (size_t at = 0; good && at < len; at += PAGE)
		*(size_t *)(p + at) = at * 3;
	for (size_t at = 0; good && at < len; at += PAGE)
		good = *(size_t *)(p + at) == at * 3;
	check(good, "64 MiB, every page");
	check(munmap(p, len) == 0, "... given back");
	p = mmap(NULL, 1ul << 40, PROT_NONE, ANON | MAP_NORESERVE, -1, 0);
	check(p != MAP_FAILED && munmap(p, 1ul << 40) == 0, "1 TiB reserved without access");
}

int main(void)
{
	check_anonymous();
	check_errors();
	check_protection();
	check_mremap();
	check_brk();
	check_files();
	check_big();
	return checks_done();
}
