/* SPDX-License-Identifier: Apache-2.0 */
/* What virtio_console.c (streams) and console_control.c (control queues) share. */
#pragma once

/* The UAPI header calls the configuration space what we call our parameters. */
#define virtio_console_config virtio_console_space
#include <linux/virtio_console.h>
#undef virtio_console_config
#include "devices/console_stream.h"
#include "devices/virtio_console.h"

enum { Q_RX0, Q_TX0, Q_CTRL_RX, Q_CTRL_TX, Q_RX1, Q_TX1, NQUEUES };

#define PORTS		2

/* Control messages that a port owes the guest, in the order they are sent. */
#define MSG_ADD		0x01
#define MSG_CONSOLE	0x02
#define MSG_NAME	0x04
#define MSG_RESIZE	0x08
#define MSG_ERROR	0x10		/* HUSK_CONSOLE_ERROR */
#define MSG_OPEN	0x20

/* Chains to take in one pass: no more can wait when it begins, and later ones notify. */
#define PASS_MAX	(VIRTQ_MAX_SIZE + 1)

struct virtio_console {
	struct virtio_device vd;	/* first: the ops get it; its lock guards what follows */
	struct console_stream in, out[PORTS];
	uint8_t owed[PORTS];		/* MSG_* */
	bool logged[PORTS];
	uint16_t error[PORTS];		/* errno that ended the output */
	uint16_t rows, cols;
};

static inline bool console_has(const struct virtio_console *vc, unsigned feature)
{
	return vc->vd.features & 1ull << feature;
}

/* Send what is owed, as far as the guest has posted buffers for it; the rest stays owed. */
void control_flush(struct virtio_console *vc);
/* Owe the guest a message, if it knows of messages at all. */
void control_owe(struct virtio_console *vc, unsigned port, uint8_t what);
/* The guest has sent messages. */
void control_receive(struct virtio_console *vc);
