/* SPDX-License-Identifier: Apache-2.0 */
/* What drivers offer to the rest of the guest kernel, and what they need from its core. */
#pragma once

#include "core/types.h"

struct fdt;

/* Core services for drivers (core/irq.c, core/mmio.h). */
#define MSI_ADDRESS 0xfee00000u				/* vCPU 0, fixed */
int irq_request(void (*fn)(void *arg), void *arg);	/* a vector (MSI data) or -ENOSPC; fn runs with the kernel lock */
void *mmio_map(u64 gpa, u64 size);			/* direct-map address of device registers */

/* serial.c: the kernel log's bottom half; usable from the first instruction of C. */
void serial_write(const char *s, size_t len);

/* A piece of memory for a device: in the direct map or the kernel's image. */
struct io_seg { void *p; u32 len; };

/*
 * virtio_fs.c: one FUSE request and its reply. `in` (the request) and `out` (the reply, with its
 * fuse_out_header at the start of the first piece; no pieces for FORGET) are gathered and
 * scattered over up to 256 pieces in all, of which neighbours in memory count once. Returns the
 * reply's length, or -errno of transport or of the reply's header. Sleeps only if the device does
 * not finish on the notify exit.
 */
int virtio_fs_init(const struct fdt *fdt);
long virtio_fs_request(const struct io_seg *in, unsigned nin, const struct io_seg *out, unsigned nout);

/* virtio_console.c: byte streams to husk's stdin, stdout and stderr; initialised at first use. */
#define CONSOLE_STDOUT	0
#define CONSOLE_STDERR	1
void console_init(const struct fdt *fdt);
/* Bytes read (0: end of input), -EAGAIN if nonblock and nothing there, -ERESTARTSYS. Kernel buffer. */
long console_read(void *buf, size_t len, bool nonblock);
bool console_readable(void);		/* data or end of input at hand; asks the host if unknown */
struct wait_queue *console_read_queue(void);
/* Bytes written, -EPIPE when the host's end is closed. Returns when the host has taken the bytes. */
long console_write(unsigned port, const void *buf, size_t len);
/* Never sleeps (terminal echo, from an interrupt): bytes queued for the host, 0 if no buffer is free. */
size_t console_write_nowait(unsigned port, const void *buf, size_t len);
/* The terminal's size changed; called with the kernel lock from the control queue. */
void console_on_resize(void (*fn)(u16 rows, u16 cols));
/* Bytes arriving while a tty is attached (line discipline); NULL: back to console_read(). */
void console_on_input(void (*fn)(const u8 *bytes, size_t len, bool eof));

/* virtio_rng.c: fills buf from the host; falls back to the FDT's seed expanded by ChaCha20. */
void random_init(const struct fdt *fdt);
void random_bytes(void *buf, size_t len);
