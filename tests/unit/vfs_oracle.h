/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host as oracle: a child process that has chrooted to an empty directory (on a tmpfs) makes
 * the same system calls with the same arguments, in memory shared with us. Results and what the
 * calls wrote must be equal. Descriptor numbers are equal too.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#ifndef SYS_fchmodat2		/* newer than the C library */
#define SYS_fchmodat2 452
#endif

/* Starts the child; false where the host does not let us chroot (then skip). */
bool oracle_start(void);
void oracle_stop(void);

/* Host and guest calls alone, on arguments that are numbers or user-window addresses. */
long host_call(long nr, const long a[6]);
long guest_call(long nr, const long a[6]);

/* A string or bytes in the user window: valid until some 60 more were made. */
long U(const char *s);
long U_bytes(const void *p, unsigned long n);
long U_out(void);		/* the output area, 64 KiB */

/* Both; true if equal. The result is in *ret (may be NULL). A difference is printed. */
bool both(long *ret, long nr, long a0, long a1, long a2, long a3, long a4, long a5);
#define B0(nr)			both(NULL, nr, 0, 0, 0, 0, 0, 0)
#define B1(nr, a)		both(NULL, nr, (long)(a), 0, 0, 0, 0, 0)
#define B2(nr, a, b)		both(NULL, nr, (long)(a), (long)(b), 0, 0, 0, 0)
#define B3(nr, a, b, c)		both(NULL, nr, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define B4(nr, a, b, c, d)	both(NULL, nr, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define B5(nr, a, b, c, d, e) \
	both(NULL, nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)
#define B6(nr, a, b, c, d, e, f) \
	both(NULL, nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

/* open, read all of a directory and close: names and types as sets. */
bool both_readdir(const char *path);
/* Every object below path: lstat, contents, link texts, directories. */
bool both_tree(const char *path);
bool both_ids(unsigned uid, unsigned gid);	/* who makes the calls from now on */

extern bool oracle_overlay;	/* directories' link counts and sizes are not compared */
extern unsigned long oracle_calls;
