/* SPDX-License-Identifier: Apache-2.0 */
/* Signals sent to the husk process, handed to the program in the guest. */
#pragma once

#include <stdbool.h>

struct loop;
struct signals;

/* Where signals go; all run on the loop's thread. */
struct signals_ops {
	void (*raise)(void *arg, int sig);	/* give sig to the guest's program */
	bool (*taken)(void *arg, int sig);	/* the guest's kernel has fetched it */
	void (*stop)(void *arg, int sig);	/* the guest does not answer: end the VM for sig */
	void (*resize)(void *arg, unsigned rows, unsigned cols);	/* the terminal's; may be NULL */
};

/*
 * Block the forwarded signals, ignore SIGPIPE. Before the first thread is made, so that all of
 * them inherit it. 0 or -errno.
 */
int signals_block(void);

/* Watch for them on the loop. NULL: errno says why. The caller keeps arg alive. */
struct signals *signals_new(struct loop *loop, const struct signals_ops *ops, void *arg);
void signals_free(struct signals *s);
