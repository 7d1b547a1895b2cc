/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop (epoll). One thread runs it; callbacks run there. loop_add() and friends may be
 * called from any thread. Implemented by vmm/loop.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct loop;

typedef void loop_fn(void *arg, uint32_t events);

struct loop *loop_new(void);			/* NULL: errno says why */
void loop_free(struct loop *loop);

/* Watch fd for EPOLL* events (level-triggered; EPOLLONESHOT allowed). -EPERM: a regular file. */
int loop_add(struct loop *loop, int fd, uint32_t events, loop_fn *fn, void *arg);
int loop_mod(struct loop *loop, int fd, uint32_t events);
void loop_del(struct loop *loop, int fd);	/* fn does not run after this returns on the loop's thread */

/* Run until loop_quit(). 0 or -errno. */
int loop_run(struct loop *loop);
void loop_quit(struct loop *loop);		/* any thread */
