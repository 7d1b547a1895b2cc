/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks and sleeping: sane values, sleeps that are not shorter than asked, absurd arguments. */
#define _GNU_SOURCE
#include "check.h"

#include <poll.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	return clock_gettime(id, &ts) ? -1 : ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void check_values(void)
{
	int64_t mono = now_ns(CLOCK_MONOTONIC), boot = now_ns(CLOCK_BOOTTIME);
	int64_t raw = now_ns(CLOCK_MONOTONIC_RAW), real = now_ns(CLOCK_REALTIME);
	struct timespec res;
	struct timeval tv;

	check(mono > 0 && boot >= mono && raw > 0, "monotonic clocks");
	check(real > 1600000000ll * 1000000000, "the date is after 2020");
	check(gettimeofday(&tv, NULL) == 0 && tv.tv_sec - real / 1000000000 < 2 &&
	      tv.tv_sec >= real / 1000000000, "gettimeofday agrees");
	check(time(NULL) - tv.tv_sec < 2 && time(NULL) >= tv.tv_sec - 1, "time agrees");
	check(clock_getres(CLOCK_MONOTONIC, &res) == 0 && res.tv_sec == 0 && res.tv_nsec > 0,
	      "clock_getres");
	check_errno(clock_gettime(1234, &res), EINVAL, "a bad clock");
	check(now_ns(CLOCK_PROCESS_CPUTIME_ID) >= 0 && now_ns(CLOCK_THREAD_CPUTIME_ID) >= 0,
	      "CPU clocks");
}

static void check_sleep(void)
{
	struct timespec ts = { 0, 30000000 };
	struct timeval tv = { 0, 30000 };
	int64_t start = now_ns(CLOCK_MONOTONIC);

	check(nanosleep(&ts, NULL) == 0 && now_ns(CLOCK_MONOTONIC) - start >= 30000000,
	      "nanosleep of 30 ms");
	start = now_ns(CLOCK_MONOTONIC);
	check(poll(NULL, 0, 30) == 0 && now_ns(CLOCK_MONOTONIC) - start >= 30000000,
	      "poll of 30 ms");
	start = now_ns(CLOCK_MONOTONIC);
	check(select(0, NULL, NULL, NULL, &tv) == 0 &&
	      now_ns(CLOCK_MONOTONIC) - start >= 30000000, "select of 30 ms");
	start = now_ns(CLOCK_MONOTONIC) + 30000000;
	ts = (struct timespec){ start / 1000000000, start % 1000000000 };
	check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == 0 &&
	      now_ns(CLOCK_MONOTONIC) >= start, "clock_nanosleep to a time");
	check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == 0, "... in the past");
	ts.tv_nsec = 1000000000;
	check_errno(syscall(SYS_nanosleep, &ts, NULL), EINVAL, "nanosleep of 10^9 ns");
	ts = (struct timespec){ -1, 0 };
	check_errno(syscall(SYS_nanosleep, &ts, NULL), EINVAL, "nanosleep of -1 s");
}

static void check_cpu_time(void)
{
	int64_t start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	volatile unsigned spin = 0;
	struct timespec ts = { 0, 50000000 };
	struct rusage usage;
	struct tms tms;

	nanosleep(&ts, NULL);
	check(now_ns(CLOCK_PROCESS_CPUTIME_ID) - start < 50000000, "sleeping takes no CPU time");
	while (now_ns(CLOCK_PROCESS_CPUTIME_ID) - start < 60000000)
		spin++;
	check(spin > 0, "computing does");
	check(getrusage(RUSAGE_SELF, &usage) == 0 &&
	      usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
	      (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) > 20000, "getrusage shows it");
	check(times(&tms) != (clock_t)-1, "times");
}

static void check_timerfd(void)
{
	struct itimerspec spec = { { 0, 10000000 }, { 0, 10000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t ticks = 0, total = 0;

	check(fd >= 0 && timerfd_settime(fd, 0, &spec, NULL) == 0, "timerfd");
	while (total < 3) {
		if (poll(&p, 1, 10000) != 1 || read(fd, &ticks, 8) != 8)
			break;
		total += ticks;
	}
	check(total >= 3, "... ticks");
	close(fd);
}

int main(void)
{
	check_values();
	check_sleep();
	check_cpu_time();
	check_timerfd();
	return checks_done();
}
