/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the programs in tests/guest: each checks Linux ABI behaviour and prints one line a check.
 * They run on the host first (the oracle: all must pass there), then in husk, with equal output.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int checks_failed;

static inline void check(bool good, const char *name)
{
	printf("%s - %s\n", good ? "ok" : "not ok", name);
	fflush(stdout);
	checks_failed += !good;
}

/* A call that must fail with this errno. */
static inline void check_errno(long ret, int want, const char *name)
{
	int got = errno;

	check(ret == -1 && got == want, name);
	if (ret != -1)
		fprintf(stderr, "# %s: returned %ld\n", name, ret);
	else if (got != want)
		fprintf(stderr, "# %s: errno %d, not %d\n", name, got, want);
}

static inline int checks_done(void)
{
	return checks_failed ? 1 : 0;
}
