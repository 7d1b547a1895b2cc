/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest kernel around its file systems, for tests on the host: memory by malloc, one task that
 * never has to sleep, a clock that the test can put forward, and the file server in the same
 * process instead of a device.
 */
#pragma once

#include "core/print.h"
#include "core/time.h"
#include "devices/fuse/fuse_server.h"
#include "drivers/drivers.h"
#include "fs/vfs_internal.h"

extern unsigned requests;		/* sent to the file server */
extern unsigned forgets_seen;
extern u64 later_ns;			/* added to the clock */

/* Exports: `ro` as /ro, read-only, and `rw` as /rw. */
void host_server_start(const char *ro, const char *rw);
