/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio console (VIRTIO 1.1, section 5.3): port 0 is husk's stdin and stdout, port 1 its stderr.
 * Nothing is set up before somebody reads or writes, and then only the queues he needs.
 *
 * Conventions with husk's device: ports work without the control handshake; an empty receive
 * completion is the end of input; PORT_OPEN 0 for a port comes on the control queue before the
 * completion of the write that found the reader gone. Receive buffers are posted only when
 * somebody asks for input, no larger than he asked, so that what the program leaves unread is
 * still there for the next one on the host.
 */
#include <linux/errno.h>
#include <linux/virtio_console.h>
#include "core/fdt.h"
#include "core/string.h"
#include "drivers/mmio.h"
#include "drivers/virtio.h"
#include "husk/console.h"
#include "husk/fdt.h"
#include "mm/page.h"
#include "proc/task.h"

#define PORTS		2
#define PIECE_ORDER	4
#define PIECE_MAX	(PAGE_SIZE << PIECE_ORDER)	/* 64 KiB in one chain */
#define POLL_READ	PAGE_SIZE	/* asked for when somebody polls, or a terminal is attached */
#define SMALL_QUEUE	16
#define CONTROL_BUFS	4
#define CONTROL_LEN	32

enum { Q_RX0, Q_TX0, Q_CONTROL_RX, Q_CONTROL_TX, Q_RX1, Q_TX1 };

struct buffer {			/* page block that grows to what is asked for */
	u8 *p;
	size_t size;
};

static struct virtio_dev dev;
static bool started;

static struct out_port {
	struct virtq *vq;
	struct buffer buf;
	bool busy;		/* the device has buf */
	bool can_close;		/* a pipe, socket or file: writing it may fail */
	bool closed;
	int error;		/* -errno for writes to a closed port */
	struct wait_queue wq;	/* busy has ended */
} out_port[PORTS];

static struct {
	struct virtq *vq;
	struct buffer buf;
	size_t at, len;		/* what is not handed out yet */
	bool posted, eof, irq;
	struct wait_queue wq;
	void (*fn)(const u8 *bytes, size_t len, bool eof);
} in_port;

static struct {
	struct virtq *vq;
	u8 *bufs;
} control;

static void (*resize_fn)(u16 rows, u16 cols);

/* Whether fd's end on the host can go away; unknown counts as yes. */
static bool stdio_can_fail(const struct fdt *fdt, unsigned fd)
{
	int node = fdt_find(fdt, fdt_find(fdt, fdt_root(fdt), "chosen"), HUSK_FDT_INIT);
	u32 len = 0;
	const char *s = fdt_prop(fdt, node, HUSK_FDT_STDIO, &len);

	while (s && len) {
		size_t n = strnlen(s, len);

		if (n == len)
			break;
		if (!fd--)
			return !strcmp(s, HUSK_STDIO_PIPE) || !strcmp(s, HUSK_STDIO_FILE);
		s += n + 1;
		len -= (u32)n + 1;
	}
	return true;
}

void console_init(const struct fdt *fdt)
{
	virtio_find(fdt, VIRTIO_ID_CONSOLE_DEV, &dev);
	for (unsigned i = 0; i < PORTS; i++) {
		out_port[i].can_close = stdio_can_fail(fdt, i + 1);
		wait_queue_init(&out_port[i].wq);
	}
	wait_queue_init(&in_port.wq);
}

static int console_start(void)
{
	if (!dev.bar)
		return -ENODEV;
	if (!started)
		virtio_start(&dev, 1u << VIRTIO_CONSOLE_F_SIZE | 1u << VIRTIO_CONSOLE_F_MULTIPORT);
	started = true;
	return 0;
}

static int queue_ensure(struct virtq **vq, u16 index)
{
	int ret = *vq ? 0 : console_start();

	if (ret < 0)
		return ret;
	if (!*vq)
		*vq = virtq_setup(&dev, index, SMALL_QUEUE);
	return *vq ? 0 : -ENOMEM;
}

/* A block for `want` bytes, or what there is memory for. */
static int buffer_ensure(struct buffer *b, size_t want)
{
	struct page *page = NULL;
	unsigned order = 0;

	if (b->size >= want)
		return 0;
	while (order < PIECE_ORDER && (PAGE_SIZE << order) < want)
		order++;
	for (;; order--) {
		page = (PAGE_SIZE << order) > b->size ? page_alloc(order, 0) : NULL;
		if (page || !order)
			break;
	}
	if (!page)
		return b->p ? 0 : -ENOMEM;
	if (b->p)
		page_put(page_of(b->p));
	b->p = page_addr(page);
	b->size = PAGE_SIZE << order;
	return 0;
}

/* --- control messages --- */

static void control_post(u8 *buf)
{
	struct io_seg seg = { buf, CONTROL_LEN };

	virtq_add(control.vq, NULL, 0, &seg, 1, buf);
}

/* Buffers for PORT_OPEN; the device looks for them when it has something to say: no notification. */
static int control_ensure(void)
{
	struct page *page;
	int ret;

	if (control.bufs)
		return 0;
	ret = queue_ensure(&control.vq, Q_CONTROL_RX);
	page = ret < 0 ? NULL : page_alloc(0, 0);
	if (!page)
		return ret < 0 ? ret : -ENOMEM;
	control.bufs = page_addr(page);
	for (unsigned i = 0; i < CONTROL_BUFS; i++)
		control_post(control.bufs + i * CONTROL_LEN);
	return 0;
}

static void control_message(struct out_port *port, const struct virtio_console_control *msg)
{
	if (msg->event == HUSK_CONSOLE_ERROR)
		port->error = -(int)msg->value;
	else if (msg->event == VIRTIO_CONSOLE_PORT_OPEN)
		port->closed = !msg->value;
}

static void control_reap(void)
{
	struct virtio_console_control *msg;
	u32 len;

	while (control.bufs && (msg = virtq_get(control.vq, &len))) {
		if (len >= sizeof(*msg) && msg->id < PORTS)
			control_message(&out_port[msg->id], msg);
		control_post((u8 *)msg);
	}
}

/* --- output --- */

static bool out_reap(struct out_port *port)
{
	u32 len;

	if (port->busy && virtq_get(port->vq, &len)) {
		port->busy = false;
		control_reap();
		wake_all(&port->wq);
	}
	return !port->busy;
}

static void out_interrupt(struct virtq *vq)
{
	out_reap(&out_port[vq->index == Q_TX1]);
}

/* Wait until the device has given the buffer back: 0, or -ERESTARTSYS with it still there. */
static int out_wait(struct out_port *port)
{
	int ret;

	if (out_reap(port))
		return 0;
	if (virtio_broken(&dev))
		return -EIO;
	if (!current) {		/* while booting nobody can sleep */
		while (!out_reap(port))
			__asm__ volatile("pause");
		return 0;
	}
	ret = virtq_irq_on(port->vq);
	if (ret < 0)
		return ret;
	ret = wait_event(&port->wq, out_reap(port), WAIT_FOREVER);
	virtq_irq_off(port->vq);
	return ret;
}

static int out_ensure(unsigned n, size_t len)
{
	struct out_port *port = &out_port[n];
	int ret = queue_ensure(&port->vq, n ? Q_TX1 : Q_TX0);

	if (ret < 0)
		return ret;
	port->vq->on_interrupt = out_interrupt;
	ret = port->can_close ? control_ensure() : 0;
	return ret < 0 ? ret : buffer_ensure(&port->buf, MIN(len, PIECE_MAX));
}

/* Why a closed port takes no more. */
static int out_error(const struct out_port *port)
{
	return port->error ? port->error : -EPIPE;
}

/*
 * One piece, by way of a buffer of ours, so that a signal can end the wait: the bytes are then on
 * their way, as in a pipe's buffer. Bytes taken or -errno.
 */
static long out_piece(struct out_port *port, const void *buf, size_t len)
{
	struct io_seg seg;
	int ret = out_wait(port);	/* a piece that a signal left behind */

	if (ret < 0)
		return ret;
	if (port->closed)
		return out_error(port);
	len = MIN(len, port->buf.size);
	memcpy(port->buf.p, buf, len);
	seg = (struct io_seg){ port->buf.p, (u32)len };
	ret = virtq_add(port->vq, &seg, 1, NULL, 0, port);
	if (ret < 0)
		return ret;
	port->busy = true;
	virtq_kick(port->vq);
	ret = out_wait(port);
	if (ret < 0 && ret != -ERESTARTSYS)
		return ret;
	return !ret && port->closed ? out_error(port) : (long)len;
}

long console_write(unsigned n, const void *buf, size_t len)
{
	struct out_port *port;
	size_t done = 0;
	long ret = 0;

	if (n >= PORTS)
		return -ENODEV;
	port = &out_port[n];
	while (done < len) {
		if (!port->busy) {
			ret = out_ensure(n, len - done);
			if (ret < 0)
				break;
		}
		ret = out_piece(port, (const u8 *)buf + done, len - done);
		if (ret < 0)
			break;
		done += (size_t)ret;
		if (port->busy)		/* a signal */
			break;
	}
	return done ? (long)done : ret;
}

size_t console_write_nowait(unsigned n, const void *buf, size_t len)
{
	struct out_port *port = n < PORTS ? &out_port[n] : NULL;
	struct io_seg seg;

	if (!port || !out_reap(port) || port->closed || !len || out_ensure(n, len) < 0)
		return 0;
	len = MIN(len, port->buf.size);
	memcpy(port->buf.p, buf, len);
	seg = (struct io_seg){ port->buf.p, (u32)len };
	if (virtq_add(port->vq, &seg, 1, NULL, 0, port) < 0)
		return 0;
	port->busy = true;
	virtq_kick(port->vq);
	out_interrupt(port->vq);	/* as a rule the host has taken it by now */
	return len;
}

/* --- input --- */

static void in_irq(bool on)
{
	if (on && !in_port.irq)
		in_port.irq = !virtq_irq_on(in_port.vq);
	else if (!on && in_port.irq && !in_port.fn) {
		virtq_irq_off(in_port.vq);
		in_port.irq = false;
	}
}

/* True: bytes or the end of input are at hand. */
static bool in_reap(void)
{
	u32 len;

	if (in_port.posted && virtq_get(in_port.vq, &len)) {
		in_port.posted = false;
		in_port.at = 0;
		in_port.len = MIN(len, in_port.buf.size);
		in_port.eof = !len;
		in_irq(false);
	}
	return in_port.at < in_port.len || in_port.eof;
}

static void in_deliver(void);

static void in_interrupt(struct virtq *vq)
{
	if (in_port.fn)
		in_deliver();
	else
		wake_all(&in_port.wq);
}

/* Ask the host for up to `want` bytes, unless that is done or there are some. */
static int in_ask(size_t want)
{
	struct io_seg seg;
	int ret;

	if (in_port.posted || in_reap())
		return 0;
	ret = queue_ensure(&in_port.vq, Q_RX0);
	if (ret < 0)
		return ret;
	in_port.vq->on_interrupt = in_interrupt;
	want = MIN(want, PIECE_MAX);
	ret = buffer_ensure(&in_port.buf, want);
	if (ret < 0)
		return ret;
	seg = (struct io_seg){ in_port.buf.p, (u32)MIN(want, in_port.buf.size) };
	ret = virtq_add(in_port.vq, NULL, 0, &seg, 1, &in_port);
	if (ret < 0)
		return ret;
	in_port.posted = true;
	virtq_kick(in_port.vq);
	return 0;
}

/* Hand what there is to the terminal and ask for more, until the host has no more now. */
static void in_deliver(void)
{
	while (in_reap()) {
		size_t at = in_port.at, len = in_port.len;
		bool eof = in_port.eof;

		in_port.at = in_port.len = 0;
		in_port.fn(in_port.buf.p + at, len - at, eof);
		/* The end stays the end; a terminal that is gone does not come back. */
		if (eof || !in_port.fn || in_ask(POLL_READ) < 0)
			break;
	}
}

long console_read(void *buf, size_t len, bool nonblock)
{
	size_t n;
	int ret;

	if (!len)
		return 0;
	for (;;) {
		ret = in_ask(len);
		if (ret < 0)
			return ret;
		if (in_reap())
			break;
		if (nonblock)
			return -EAGAIN;
		in_irq(true);
		ret = wait_event(&in_port.wq, in_reap() || !in_port.posted, WAIT_FOREVER);
		if (ret < 0)
			return ret;
	}
	n = MIN(len, in_port.len - in_port.at);
	if (n) {
		memcpy(buf, in_port.buf.p + in_port.at, n);
		in_port.at += n;
	} else {
		in_port.eof = false;	/* told once; the next read asks again */
	}
	return (long)n;
}

bool console_readable(void)
{
	if (in_ask(POLL_READ) < 0)
		return true;		/* read() says why */
	if (in_reap())
		return true;
	in_irq(true);			/* whoever polls now is woken */
	return in_reap();
}

struct wait_queue *console_read_queue(void)
{
	return &in_port.wq;
}

void console_on_input(void (*fn)(const u8 *bytes, size_t len, bool eof))
{
	in_port.fn = fn;
	if (!fn || in_ask(POLL_READ) < 0)
		return;
	in_irq(true);
	in_deliver();
}

/* --- window size --- */

static void console_config_changed(struct virtio_dev *vd)
{
	/* struct virtio_console_config: cols, rows */
	u32 size = mmio_read32(vd->bar + HUSK_VIRTIO_DEVICE);

	if (resize_fn)
		resize_fn((u16)(size >> 16), (u16)size);
}

void console_on_resize(void (*fn)(u16 rows, u16 cols))
{
	resize_fn = fn;
	if (fn && console_start() == 0)
		virtio_config_irq(&dev, console_config_changed);
}
