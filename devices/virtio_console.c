/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtio console (VIRTIO 1.1, section 5.3), device id 3: queues 0 and 1 are port 0, 2 and 3
 * control, 4 and 5 port 1. What can be done without blocking is done on the notify exit, on the
 * vCPU thread; the rest goes to the event loop. Both hold vd->lock. Nothing happens before the
 * guest's first notification.
 *
 * Conventions beyond the specification: a receive buffer that comes back empty is the end of
 * input; a port whose reader is gone is closed (PORT_OPEN 0) before the write that found out
 * completes, and swallows what is written afterwards.
 */
#include "devices/virtio_console.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <linux/virtio_ids.h>
#include "devices/console_priv.h"

#define BREATHE_BYTES	(4u << 20)

static struct virtio_console *console_of(struct virtio_device *vd)
{
	return (struct virtio_console *)vd;
}

static unsigned console_tx_queue(unsigned port)
{
	return port == 0 ? Q_TX0 : Q_TX1;
}

static void console_log(struct virtio_console *vc, unsigned port, const char *what, int err)
{
	if (vc->logged[port])
		return;
	vc->logged[port] = true;
	fprintf(stderr, "husk: %s: %s\n", what, strerror(err));
}

/* Nobody reads the port any more: say so before the completion of the write that found out. */
static void console_close(struct virtio_console *vc, unsigned port, int err)
{
	if (err != EPIPE)
		console_log(vc, port, port == 0 ? "cannot write standard output" :
			    "cannot write standard error", err);
	vc->out[port].ended = true;
	vc->error[port] = (uint16_t)err;
	control_owe(vc, port, err == EPIPE ? MSG_OPEN : MSG_ERROR | MSG_OPEN);
	control_flush(vc);
}

static void console_out_ready(struct virtio_console *vc, unsigned port);

static void console_out0_ready(void *arg, uint32_t events)
{
	console_out_ready(arg, 0);
}

static void console_out1_ready(void *arg, uint32_t events)
{
	console_out_ready(arg, 1);
}

/* Write the chain in s->elem. True when it is finished, whatever became of it. */
static bool console_write_elem(struct virtio_console *vc, unsigned port)
{
	struct console_stream *s = &vc->out[port];
	int ret = 0;

	while (!s->ended && (ret = stream_write(s)) == -EAGAIN) {
		ret = stream_watch(s, bus_loop(vc->vd.bus), EPOLLOUT | EPOLLONESHOT,
				   port == 0 ? console_out0_ready : console_out1_ready, vc);
		if (ret == 0)
			return false;
		if (ret != -EPERM)
			break;
	}
	if (!s->ended && ret < 0)
		console_close(vc, port, -ret);
	return true;
}

/*
 * A guest may fill a queue as fast as we empty it. Let others at the lock now and then (mutexes are
 * not fair, so for a moment): the event loop must stay able to end the VM. True: somebody else has
 * taken up the stream.
 */
static bool console_breathe(struct virtio_console *vc, const struct console_stream *s)
{
	static const struct timespec moment = { .tv_nsec = 50000 };

	pthread_mutex_unlock(&vc->vd.lock);
	nanosleep(&moment, NULL);
	pthread_mutex_lock(&vc->vd.lock);
	return s->busy;
}

static void console_transmit(struct virtio_console *vc, unsigned port)
{
	struct virtq *vq = virtio_queue(&vc->vd, console_tx_queue(port));
	struct console_stream *s = &vc->out[port];
	size_t bytes = 0;
	bool any = false;

	for (unsigned n = 0; n < PASS_MAX; n++) {
		if (bytes > BREATHE_BYTES) {
			if (console_breathe(vc, s))
				break;
			bytes = 0;
		}
		if (!s->busy) {
			if (virtq_pop(vq, &s->elem) != 1)
				break;
			s->done = 0;
		}
		s->busy = !console_write_elem(vc, port);
		if (s->busy)
			break;
		virtq_push(vq, &s->elem, 0);
		bytes += s->elem.out_bytes;
		any = true;
	}
	if (any)
		virtq_interrupt(vq);
}

static void console_out_ready(struct virtio_console *vc, unsigned port)
{
	pthread_mutex_lock(&vc->vd.lock);
	if (vc->out[port].busy)		/* else the guest has reset the device meanwhile */
		console_transmit(vc, port);
	pthread_mutex_unlock(&vc->vd.lock);
}

static void console_receive(struct virtio_console *vc);

static void console_in_ready(void *arg, uint32_t events)
{
	struct virtio_console *vc = arg;

	pthread_mutex_lock(&vc->vd.lock);
	if (vc->in.busy)
		console_receive(vc);
	pthread_mutex_unlock(&vc->vd.lock);
}

/* Read once into in.elem: bytes (0: end of input), or -EAGAIN: the event loop will call. */
static ssize_t console_read_elem(struct virtio_console *vc)
{
	struct console_stream *s = &vc->in;
	ssize_t ret;

	if (s->ended)
		return 0;
	while ((ret = stream_read(s)) == -EAGAIN) {
		ret = stream_watch(s, bus_loop(vc->vd.bus), EPOLLIN | EPOLLONESHOT,
				   console_in_ready, vc);
		if (ret == 0)
			return -EAGAIN;
		if (ret != -EPERM)
			break;
	}
	/* EIO: the terminal hung up. */
	if (ret < 0 && ret != -EIO)
		console_log(vc, 0, "cannot read standard input", (int)-ret);
	if (ret <= 0 && s->elem.in_bytes)
		s->ended = true;
	return ret < 0 ? 0 : ret;
}

/* Input is read only when the guest has a buffer for it: what it leaves is the next program's. */
static void console_receive(struct virtio_console *vc)
{
	struct virtq *vq = virtio_queue(&vc->vd, Q_RX0);
	struct console_stream *s = &vc->in;
	bool any = false;

	for (unsigned n = 0; n < PASS_MAX; n++) {
		ssize_t len;

		if (!s->busy && virtq_pop(vq, &s->elem) != 1)
			break;
		len = console_read_elem(vc);
		s->busy = len == -EAGAIN;
		if (s->busy)
			break;
		virtq_push(vq, &s->elem, (uint32_t)len);
		any = true;
	}
	if (any)
		virtq_interrupt(vq);
}

static void console_notify(struct virtio_device *vd, unsigned q)
{
	struct virtio_console *vc = console_of(vd);

	switch (q) {
	case Q_RX0:
		if (!vc->in.busy)
			console_receive(vc);
		break;
	case Q_TX0:
	case Q_TX1:
		if (!vc->out[q == Q_TX1].busy)
			console_transmit(vc, q == Q_TX1);
		break;
	case Q_CTRL_RX:
		control_flush(vc);
		break;
	case Q_CTRL_TX:
		control_receive(vc);
		break;
	case Q_RX1:			/* nothing ever comes from there */
		break;
	}
}

static void console_config_read(struct virtio_device *vd, unsigned off, void *buf, unsigned len)
{
	const struct virtio_console *vc = console_of(vd);
	struct virtio_console_space space = {
		.cols = vc->cols, .rows = vc->rows, .max_nr_ports = PORTS,
	};

	memcpy(buf, (const uint8_t *)&space + off, len);
}

void virtio_console_resize(struct virtio_console *vc, unsigned rows, unsigned cols)
{
	pthread_mutex_lock(&vc->vd.lock);
	vc->rows = (uint16_t)rows;
	vc->cols = (uint16_t)cols;
	if (console_has(vc, VIRTIO_CONSOLE_F_SIZE)) {
		virtio_config_interrupt(&vc->vd);
		control_owe(vc, 0, MSG_RESIZE);
		control_flush(vc);
	}
	pthread_mutex_unlock(&vc->vd.lock);
}

/* Chains in flight are void; the streams keep their ends. */
static void console_reset(struct virtio_device *vd)
{
	struct virtio_console *vc = console_of(vd);

	vc->in.busy = false;
	for (unsigned port = 0; port < PORTS; port++) {
		vc->out[port].busy = false;
		vc->owed[port] = 0;
	}
}

static void console_free(struct virtio_console *vc, struct loop *loop)
{
	stream_close(&vc->in, loop);
	for (unsigned port = 0; port < PORTS; port++)
		stream_close(&vc->out[port], loop);
	free(vc);
}

static void console_release(struct virtio_device *vd)
{
	console_free(console_of(vd), bus_loop(vd->bus));
}

static const struct virtio_ops console_ops = {
	.name = "console",
	.id = VIRTIO_ID_CONSOLE,
	.nqueues = NQUEUES,
	.features = 1ull << VIRTIO_CONSOLE_F_SIZE | 1ull << VIRTIO_CONSOLE_F_MULTIPORT,
	.config_size = offsetof(struct virtio_console_space, emerg_wr),
	.config_read = console_config_read,
	.notify = console_notify,
	.reset = console_reset,
	.release = console_release,
};

static int console_open_streams(struct virtio_console *vc, const struct virtio_console_config *cfg)
{
	struct console_stream earlier[2];
	int ret = stream_open(&vc->in, cfg->in_fd, NULL, 0);

	if (ret == 0)
		ret = stream_open(&vc->out[0], cfg->out_fd, &vc->in, 1);
	earlier[0] = vc->in;
	earlier[1] = vc->out[0];
	if (ret == 0)
		ret = stream_open(&vc->out[1], cfg->err_fd, earlier, 2);
	return ret;
}

int virtio_console_attach(struct pci_host *host, const struct virtio_console_config *cfg,
			  struct virtio_console **out)
{
	struct virtio_console *vc = calloc(1, sizeof(*vc));
	int ret;

	if (!vc)
		return -ENOMEM;
	vc->rows = (uint16_t)cfg->rows;
	vc->cols = (uint16_t)cfg->cols;
	ret = console_open_streams(vc, cfg);
	if (ret == 0)
		ret = virtio_attach(host, &vc->vd, &console_ops);
	if (ret < 0) {
		console_free(vc, NULL);
		return ret;
	}
	*out = vc;
	return 0;
}
