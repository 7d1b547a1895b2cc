/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What husk gives up before the first guest instruction: capabilities, new privileges, the file
 * system outside the shares (Landlock), and most system calls (seccomp).
 */
#pragma once

#include <stddef.h>

struct config;

/*
 * Decide what is kept and make the Landlock rules. The descriptors are roots of shares or single
 * files, and may be O_PATH; they are not kept. No effect yet. 0 or -errno.
 */
int jail_prepare(const struct config *cfg, const int *ro_fds, size_t n_ro, const int *rw_fds, size_t n_rw);

/*
 * Enter the jail: the calling thread, and every thread that it makes afterwards. So the main
 * thread calls it before it makes vCPU threads. There is no way out. 0 or -errno (seccomp failed).
 */
int jail_enter_process(void);
/* A vCPU thread asks whether it may run its guest: 0, or -EPERM outside of a jail that should be. */
int jail_enter_vcpu(void);

/* What this host could not do ("no Landlock"), for the log; "" if nothing, or with --no-jail. */
const char *jail_notes(void);
