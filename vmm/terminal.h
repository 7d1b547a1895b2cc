/* SPDX-License-Identifier: Apache-2.0 */
/* The caller's terminal, while the guest's tty stands in for it. */
#pragma once

#include <stdbool.h>

/*
 * If stdin is a terminal and husk is in its foreground, set raw mode: every key goes to the guest,
 * whose own line discipline echoes, edits and sends signals. Restored by terminal_close(), by
 * exit() and by a fatal signal. 0 (also when there is nothing to do) or -errno.
 */
int terminal_open(void);
/* Idempotent; async-signal-safe. */
void terminal_close(void);
/* While true, a line of husk's own needs \r\n. */
bool terminal_is_raw(void);

/* Size of the terminal on stdin, stdout or stderr. false: none of them is one. */
bool terminal_size(unsigned *rows, unsigned *cols);
