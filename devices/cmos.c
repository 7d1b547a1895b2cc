/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MC146818 real-time clock and 128 bytes of CMOS at ports 0x70 and 0x71. Time is the host's, UTC,
 * and cannot be set; no alarm or periodic interrupt comes. Memory sizes stand where PC firmware
 * leaves them.
 */
#include "devices/cmos.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CMOS_PORT	0x70
#define CMOS_BYTES	128

enum {			/* registers; the first ten are the clock's */
	RTC_SECONDS = 0, RTC_MINUTES = 2, RTC_HOURS = 4, RTC_WEEKDAY = 6, RTC_DAY = 7,
	RTC_MONTH = 8, RTC_YEAR = 9, RTC_A = 10, RTC_B = 11, RTC_C = 12, RTC_D = 13,
	CMOS_EXT_LOW = 0x30, RTC_CENTURY = 0x32, CMOS_EXT2_LOW = 0x34, CMOS_HIGH_LOW = 0x5b,
};

#define A_DIVIDER	0x26	/* 32.768 kHz, 1024 Hz */
#define A_UIP		0x80
#define B_BINARY	0x04
#define B_24H		0x02
#define D_VALID		0x80
#define UIP_NS		999000000	/* an update shows for the last 1 ms of a second */

struct cmos {
	struct device dev;
	pthread_mutex_t lock;
	uint8_t index;		/* lock */
	uint8_t ram[CMOS_BYTES];	/* lock */
};

static uint8_t clock_value(const struct cmos *c, unsigned v)
{
	return c->ram[RTC_B] & B_BINARY ? v : v / 10 << 4 | v % 10;
}

static uint8_t hours_value(const struct cmos *c, unsigned hour)
{
	if (c->ram[RTC_B] & B_24H)
		return clock_value(c, hour);
	return clock_value(c, hour % 12 ? hour % 12 : 12) | (hour >= 12 ? 0x80 : 0);
}

static uint8_t cmos_get(struct cmos *c, unsigned reg)
{
	struct timespec now;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	switch (reg) {
	case RTC_SECONDS:
		return clock_value(c, tm.tm_sec);
	case RTC_MINUTES:
		return clock_value(c, tm.tm_min);
	case RTC_HOURS:
		return hours_value(c, tm.tm_hour);
	case RTC_WEEKDAY:
		return clock_value(c, tm.tm_wday + 1);
	case RTC_DAY:
		return clock_value(c, tm.tm_mday);
	case RTC_MONTH:
		return clock_value(c, tm.tm_mon + 1);
	case RTC_YEAR:
		return clock_value(c, tm.tm_year % 100);
	case RTC_CENTURY:
		return clock_value(c, (tm.tm_year + 1900) / 100);
	case RTC_A:
		return c->ram[RTC_A] | (now.tv_nsec >= UIP_NS ? A_UIP : 0);
	case RTC_C:
		return 0;
	case RTC_D:
		return D_VALID;
	default:
		return c->ram[reg];
	}
}

static void cmos_set(struct cmos *c, unsigned reg, uint8_t v)
{
	bool time = reg == RTC_SECONDS || reg == RTC_MINUTES || reg == RTC_HOURS ||
		    (reg >= RTC_WEEKDAY && reg <= RTC_YEAR) || reg == RTC_CENTURY;

	if (!time && reg != RTC_C && reg != RTC_D)
		c->ram[reg] = reg == RTC_A ? v & ~A_UIP : v;
}

static void cmos_read(struct device *dev, struct access *acc)
{
	struct cmos *c = (struct cmos *)dev;

	if (acc->len != 1 || acc->off != 1)
		return;
	pthread_mutex_lock(&c->lock);
	acc->val = cmos_get(c, c->index);
	pthread_mutex_unlock(&c->lock);
}

static void cmos_write(struct device *dev, struct access *acc)
{
	struct cmos *c = (struct cmos *)dev;

	if (acc->len != 1)
		return;
	pthread_mutex_lock(&c->lock);
	if (acc->off == 0)
		c->index = acc->val & (CMOS_BYTES - 1);		/* bit 7 masks NMIs */
	else
		cmos_set(c, c->index, (uint8_t)acc->val);
	pthread_mutex_unlock(&c->lock);
}

static void cmos_release(struct device *dev)
{
	pthread_mutex_destroy(&((struct cmos *)dev)->lock);
	free(dev);
}

static const struct device_ops cmos_ops = {
	.name = "cmos",
	.read = cmos_read,
	.write = cmos_write,
	.release = cmos_release,
};

static void size_put(struct cmos *c, unsigned reg, uint64_t v, unsigned bytes, uint64_t max)
{
	if (v > max)
		v = max;
	for (unsigned i = 0; i < bytes; i++)
		c->ram[reg + i] = v >> 8 * i;
}

struct device *cmos_new(struct bus *bus, uint64_t low, uint64_t high)
{
	struct cmos *c = calloc(1, sizeof(*c));
	int ret;

	if (!c)
		return NULL;
	c->dev = (struct device){ &cmos_ops, bus };
	c->ram[RTC_A] = A_DIVIDER;
	c->ram[RTC_B] = B_24H;
	size_put(c, 0x15, 640, 2, 640);
	size_put(c, 0x17, (low - (1 << 20)) >> 10, 2, 0xffff);
	size_put(c, CMOS_EXT_LOW, (low - (1 << 20)) >> 10, 2, 0xffff);
	size_put(c, CMOS_EXT2_LOW, (low - (16 << 20)) >> 16, 2, 0xffff);
	size_put(c, CMOS_HIGH_LOW, high >> 16, 3, 0xffffff);
	pthread_mutex_init(&c->lock, NULL);
	ret = bus_map(bus, &c->dev, BUS_PIO, CMOS_PORT, 2, 0);
	if (!ret)
		return &c->dev;
	cmos_release(&c->dev);
	errno = -ret;
	return NULL;
}
