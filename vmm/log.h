/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What husk says: errors, warnings, and the guest kernel's log. Never on stdout, which belongs to
 * the program. One write(2) a line, so that lines of several sources do not mix.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Where messages go: notes, warnings and kernel lines to the file at path (NULL: stderr), errors
 * to stderr and, if there is one, the file. quiet silences all but errors. 0 or -errno after a
 * message. The one process-wide state of husk.
 */
int log_open(const char *path, bool quiet);

/* While on, lines that go to a terminal end in CR LF: it is raw. */
void log_crlf(bool on);

/* "husk: ..." and a newline. */
__attribute__((format(printf, 1, 2))) void husk_err(const char *fmt, ...);
__attribute__((format(printf, 1, 2))) void husk_warn(const char *fmt, ...);
/* Like husk_warn, but only for those who asked for detail; goes where kernel lines go. */
__attribute__((format(printf, 1, 2))) void husk_note(const char *fmt, ...);

/* Bytes of the guest kernel's log (serial port); arg is unused. Lines are put together here. */
void log_kernel_bytes(void *arg, const char *bytes, size_t len);
/* What is left of a line; with `failed`, also the last lines that quiet held back. */
void log_kernel_flush(bool failed);
