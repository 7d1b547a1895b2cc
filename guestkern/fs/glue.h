/* SPDX-License-Identifier: Apache-2.0 */
/* Once at boot: gives the VFS its hooks into pipes, devices, epoll and mm. */
#pragma once

void vfs_glue_init(void);
