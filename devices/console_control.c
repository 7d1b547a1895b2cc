/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The console's control queues (VIRTIO 1.1, section 5.3.6.2). Messages to the guest are not queued
 * but owed, one bit for each kind and port, and built when the guest has a buffer for them: so they
 * need no memory, and say what is true when they are sent. Called with vd->lock held.
 */
#include "devices/console_priv.h"
#include "husk/console.h"

#include <string.h>

#define STDERR_NAME	"husk.stderr"

struct console_message {
	struct virtio_console_control head;
	uint8_t tail[16];
} __attribute__((packed));

_Static_assert(sizeof(STDERR_NAME) - 1 <= 16, "fits a message");

/* Build one message; its length. */
static size_t message_build(const struct virtio_console *vc, struct console_message *m,
			    unsigned port, uint8_t what)
{
	/* 5.3.6.2: cols before rows (Linux before 6.15 had them swapped). */
	uint16_t size[2] = { vc->cols, vc->rows };

	memset(m, 0, sizeof(*m));
	m->head.id = port;
	m->head.value = 1;
	switch (what) {
	case MSG_ADD:
		m->head.event = VIRTIO_CONSOLE_PORT_ADD;
		break;
	case MSG_CONSOLE:
		m->head.event = VIRTIO_CONSOLE_CONSOLE_PORT;
		break;
	case MSG_NAME:
		m->head.event = VIRTIO_CONSOLE_PORT_NAME;
		memcpy(m->tail, STDERR_NAME, sizeof(STDERR_NAME) - 1);
		return sizeof(m->head) + sizeof(STDERR_NAME) - 1;
	case MSG_RESIZE:
		m->head.event = VIRTIO_CONSOLE_RESIZE;
		memcpy(m->tail, size, sizeof(size));
		return sizeof(m->head) + sizeof(size);
	case MSG_ERROR:
		m->head.event = HUSK_CONSOLE_ERROR;
		m->head.value = vc->error[port];
		break;
	case MSG_OPEN:
		m->head.event = VIRTIO_CONSOLE_PORT_OPEN;
		m->head.value = !vc->out[port].ended;
		break;
	}
	return sizeof(m->head);
}

static uint32_t elem_fill(const struct virtq_elem *elem, const void *src, size_t len)
{
	size_t done = 0;

	for (unsigned i = elem->nout; i < elem->nout + elem->nin && done < len; i++) {
		size_t n = elem->iov[i].iov_len < len - done ? elem->iov[i].iov_len : len - done;

		memcpy(elem->iov[i].iov_base, (const uint8_t *)src + done, n);
		done += n;
	}
	return (uint32_t)done;
}

static size_t elem_fetch(const struct virtq_elem *elem, void *dst, size_t len)
{
	size_t done = 0;

	for (unsigned i = 0; i < elem->nout && done < len; i++) {
		size_t n = elem->iov[i].iov_len < len - done ? elem->iov[i].iov_len : len - done;

		memcpy((uint8_t *)dst + done, elem->iov[i].iov_base, n);
		done += n;
	}
	return done;
}

void control_flush(struct virtio_console *vc)
{
	struct virtq *vq = virtio_queue(&vc->vd, Q_CTRL_RX);
	struct console_message m;
	struct virtq_elem elem;
	bool sent = false;

	for (unsigned port = 0; port < PORTS; port++) {
		while (vc->owed[port]) {
			uint8_t what = vc->owed[port] & -vc->owed[port];

			if (virtq_pop(vq, &elem) != 1)
				goto out;
			vc->owed[port] &= ~what;
			virtq_push(vq, &elem, elem_fill(&elem, &m,
							message_build(vc, &m, port, what)));
			sent = true;
		}
	}
out:
	if (sent)
		virtq_interrupt(vq);
}

void control_owe(struct virtio_console *vc, unsigned port, uint8_t what)
{
	if (console_has(vc, VIRTIO_CONSOLE_F_MULTIPORT))
		vc->owed[port] |= what;
}

/* 5.3.6.2: what the driver tells us, and what we answer. */
static void control_message(struct virtio_console *vc, const struct virtio_console_control *c)
{
	if (c->value != 1)
		return;
	if (c->event == VIRTIO_CONSOLE_DEVICE_READY) {
		for (unsigned port = 0; port < PORTS; port++)
			control_owe(vc, port, MSG_ADD);
	} else if (c->event == VIRTIO_CONSOLE_PORT_READY && c->id < PORTS) {
		control_owe(vc, c->id, MSG_OPEN | (c->id == 0 ? MSG_CONSOLE : MSG_NAME));
		if (c->id == 0 && console_has(vc, VIRTIO_CONSOLE_F_SIZE) && vc->rows && vc->cols)
			control_owe(vc, 0, MSG_RESIZE);
	}
}

void control_receive(struct virtio_console *vc)
{
	struct virtq *vq = virtio_queue(&vc->vd, Q_CTRL_TX);
	struct virtq_elem elem;
	bool any = false;

	for (unsigned n = 0; n < PASS_MAX && virtq_pop(vq, &elem) == 1; n++) {
		struct virtio_console_control c;

		if (elem_fetch(&elem, &c, sizeof(c)) == sizeof(c))
			control_message(vc, &c);
		virtq_push(vq, &elem, 0);
		any = true;
	}
	if (any)
		virtq_interrupt(vq);
	control_flush(vc);
}
