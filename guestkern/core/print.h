/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing: formatted output into buffers, the kernel log (serial port; the VMM sends it to
 * stderr or --log), trace lines, panic.
 *
 * Formats: %d %i %u %x %X %o %c %s %p %% with flags 0 - + # space, width and precision (also *),
 * lengths hh h l ll z. Nothing else.
 */
#pragma once

#include <stdarg.h>
#include "core/types.h"

/* As in C: the length the whole text would have; always terminated if size > 0. */
int snprintf(char *buf, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap);

/* One line of the kernel log; "husk: " is put in front and a newline behind. */
void klog(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Registers, symbolised backtrace, then the end of the VM with status 125. */
#define panic(...) panic_at(__FILE__, __LINE__, __VA_ARGS__)
void panic_at(const char *file, int line, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 3, 4)));

/* Our own bug when it fails: always compiled in, no side effects in cond. */
#define kassert(cond) do { if (unlikely(!(cond))) panic("assertion failed: %s", #cond); } while (0)

extern u32 trace_mask;			/* HUSK_TRACE_*, from the FDT */
#define trace(what, ...) do { if (unlikely(trace_mask & (what))) klog(__VA_ARGS__); } while (0)
