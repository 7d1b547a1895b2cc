/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of system calls as programs make them: sysloop [CALLS-PER-BATCH [BATCHES]].
 * Prints a line a row: name, minimum and median ns a call over the batches. Linked statically with
 * glibc and with musl by bench/syscall, since their call sites differ; the "raw" rows are sites
 * of our own, `mov $nr,%eax; syscall` (rewritable) and the number loaded from a register (not).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAX_BATCHES	1000

static int zero_fd, null_fd;
static volatile long sink;

static void call_getppid(void)
{
	sink = getppid();
}

static void call_raw_immediate(void)
{
	long ret;

	__asm__ volatile("movl %1, %%eax; syscall"
			 : "=&a"(ret) : "i"(SYS_getppid) : "rcx", "r11", "memory");
	sink = ret;
}

static void call_raw_register(void)
{
	static volatile long nr = SYS_getppid;
	long ret = nr;

	__asm__ volatile("nop; syscall" : "+a"(ret) : : "rcx", "r11", "memory");
	sink = ret;
}

static void call_syscall_function(void)
{
	sink = syscall(SYS_getppid);
}

static void call_clock(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	sink = ts.tv_nsec;
}

static void call_read(void)
{
	char c;

	sink = read(zero_fd, &c, 1);
}

static void call_write(void)
{
	sink = write(null_fd, "", 1);
}

static const struct row {
	const char *name;
	void (*call)(void);
} rows[] = {
	{ "getppid", call_getppid },
	{ "getppid-raw-immediate", call_raw_immediate },
	{ "getppid-raw-register", call_raw_register },
	{ "getppid-syscall()", call_syscall_function },
	{ "clock_gettime", call_clock },
	{ "read-zero-1", call_read },
	{ "write-null-1", call_write },
};

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const struct row *row, long calls, int batches)
{
	static double per_call[MAX_BATCHES];

	for (long i = 0; i < calls / 10 + 1; i++)
		row->call();
	for (int b = 0; b < batches; b++) {
		double start = now_ns();

		for (long i = 0; i < calls; i++)
			row->call();
		per_call[b] = (now_ns() - start) / calls;
	}
	qsort(per_call, batches, sizeof(*per_call), compare);
	printf("%s %.2f %.2f\n", row->name, per_call[0], per_call[batches / 2]);
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? atol(argv[1]) : 20000;
	int batches = argc > 2 ? atoi(argv[2]) : 15;

	if (calls < 1 || batches < 1 || batches > MAX_BATCHES) {
		fprintf(stderr, "usage: sysloop [CALLS-PER-BATCH [BATCHES (1 to 1000)]]\n");
		return 2;
	}
	zero_fd = open("/dev/zero", O_RDONLY);
	null_fd = open("/dev/null", O_WRONLY);
	if (zero_fd < 0 || null_fd < 0) {
		perror("sysloop: /dev/zero, /dev/null");
		return 1;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		measure(&rows[i], calls, batches);
	return 0;
}
