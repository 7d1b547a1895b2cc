/* SPDX-License-Identifier: Apache-2.0 */
/* What the virtio console's control queue says beyond the specification (VIRTIO 1.1, 5.3.6). */
#pragma once

/*
 * Device to driver, before PORT_OPEN 0: the host could not write the port's output; value is the
 * errno (ENOSPC, EIO ...). Without it, a port that closes has lost its reader (EPIPE). Drivers that
 * do not know the event ignore it.
 */
#define HUSK_CONSOLE_ERROR	0x4855
