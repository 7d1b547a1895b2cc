/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's firmware configuration device, by its ports (QEMU, docs/specs/fw_cfg). */
#pragma once

#include "devices/bus.h"

#define FW_CFG_PORT		0x510

enum {			/* keys */
	FW_CFG_SIGNATURE = 0x00, FW_CFG_ID = 0x01, FW_CFG_RAM_SIZE = 0x03, FW_CFG_NOGRAPHIC = 0x04,
	FW_CFG_NB_CPUS = 0x05, FW_CFG_KERNEL_ADDR = 0x07, FW_CFG_KERNEL_SIZE = 0x08,
	FW_CFG_INITRD_ADDR = 0x0a, FW_CFG_INITRD_SIZE = 0x0b, FW_CFG_MAX_CPUS = 0x0f,
	FW_CFG_KERNEL_DATA = 0x11, FW_CFG_INITRD_DATA = 0x12, FW_CFG_CMDLINE_ADDR = 0x13,
	FW_CFG_CMDLINE_SIZE = 0x14, FW_CFG_CMDLINE_DATA = 0x15, FW_CFG_FILE_DIR = 0x19,
	FW_CFG_FILE_FIRST = 0x20, FW_CFG_IRQ0_OVERRIDE = 0x8002,
};

struct fw_cfg;

/* Holds signature, id and an empty directory. NULL with errno. */
struct fw_cfg *fw_cfg_new(struct bus *bus);
struct device *fw_cfg_device(struct fw_cfg *fw);

/*
 * Before the guest runs. fw_cfg_add(): data stays the caller's and is read from there;
 * fw_cfg_add_number(): little-endian, 2, 4 or 8 bytes. 0 or -ENOSPC.
 */
int fw_cfg_add(struct fw_cfg *fw, uint16_t key, const void *data, uint32_t size);
int fw_cfg_add_number(struct fw_cfg *fw, uint16_t key, uint64_t v, unsigned bytes);
/* A copy of data under a name in the directory. 0, -ENOSPC or -ENOMEM. */
int fw_cfg_add_file(struct fw_cfg *fw, const char *name, const void *data, uint32_t size);
