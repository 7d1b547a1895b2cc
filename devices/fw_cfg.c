/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selector at port 0x510 (16 bits), data at 0x511 (a byte each). What no key has reads as zero, as
 * does everything behind an item's end. No DMA interface, and nothing can be written.
 */
#include "devices/fw_cfg.h"

#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS_MAX	32
#define FILES_MAX	4
#define FILE_NAME_BYTES	56

struct fw_item {
	uint16_t key;
	uint32_t size;
	const uint8_t *data;	/* NULL: number */
	uint64_t number;	/* little-endian */
};

struct fw_dir {			/* big-endian */
	uint32_t count;
	struct fw_file {
		uint32_t size;
		uint16_t select, reserved;
		char name[FILE_NAME_BYTES];
	} file[FILES_MAX];
};

_Static_assert(sizeof(struct fw_dir) == 4 + FILES_MAX * 64, "no padding");

struct fw_cfg {
	struct device dev;
	unsigned nitems, nfiles;
	struct fw_item item[ITEMS_MAX];
	struct fw_dir dir;
	void *copy[FILES_MAX];
	pthread_mutex_t lock;
	const struct fw_item *selected;	/* lock */
	uint32_t pos;			/* lock */
};

static const struct fw_item *item_find(const struct fw_cfg *fw, uint16_t key)
{
	for (unsigned i = 0; i < fw->nitems; i++)
		if (fw->item[i].key == key)
			return &fw->item[i];
	return NULL;
}

static struct fw_item *item_new(struct fw_cfg *fw, uint16_t key)
{
	if (fw->nitems == ITEMS_MAX || item_find(fw, key))
		return NULL;
	fw->item[fw->nitems].key = key;
	return &fw->item[fw->nitems++];
}

int fw_cfg_add(struct fw_cfg *fw, uint16_t key, const void *data, uint32_t size)
{
	struct fw_item *it = item_new(fw, key);

	if (!it)
		return -ENOSPC;
	it->data = data;
	it->size = data ? size : 0;
	return 0;
}

int fw_cfg_add_number(struct fw_cfg *fw, uint16_t key, uint64_t v, unsigned bytes)
{
	struct fw_item *it = item_new(fw, key);

	if (!it)
		return -ENOSPC;
	it->number = htole64(v);
	it->size = bytes;
	return 0;
}

int fw_cfg_add_file(struct fw_cfg *fw, const char *name, const void *data, uint32_t size)
{
	struct fw_file *f = &fw->dir.file[fw->nfiles];
	void *copy;
	int ret;

	if (fw->nfiles == FILES_MAX || strlen(name) >= FILE_NAME_BYTES)
		return -ENOSPC;
	copy = malloc(size ? size : 1);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, data, size);
	ret = fw_cfg_add(fw, FW_CFG_FILE_FIRST + fw->nfiles, copy, size);
	if (ret) {
		free(copy);
		return ret;
	}
	f->size = htobe32(size);
	f->select = htobe16(FW_CFG_FILE_FIRST + fw->nfiles);
	strcpy(f->name, name);
	fw->copy[fw->nfiles++] = copy;
	fw->dir.count = htobe32(fw->nfiles);
	return 0;
}

static uint8_t byte_next(struct fw_cfg *fw)
{
	const struct fw_item *it = fw->selected;

	if (!it || fw->pos >= it->size)
		return 0;
	return (it->data ? it->data : (const uint8_t *)&it->number)[fw->pos++];
}

static void fw_cfg_read(struct device *dev, struct access *acc)
{
	struct fw_cfg *fw = (struct fw_cfg *)dev;

	if (acc->off != 1 || acc->len != 1)
		return;
	pthread_mutex_lock(&fw->lock);
	acc->val = byte_next(fw);
	pthread_mutex_unlock(&fw->lock);
}

static void fw_cfg_write(struct device *dev, struct access *acc)
{
	struct fw_cfg *fw = (struct fw_cfg *)dev;

	if (acc->off || acc->len != 2)
		return;
	pthread_mutex_lock(&fw->lock);
	fw->selected = item_find(fw, (uint16_t)acc->val);
	fw->pos = 0;
	pthread_mutex_unlock(&fw->lock);
}

static void fw_cfg_release(struct device *dev)
{
	struct fw_cfg *fw = (struct fw_cfg *)dev;

	for (unsigned i = 0; i < fw->nfiles; i++)
		free(fw->copy[i]);
	pthread_mutex_destroy(&fw->lock);
	free(fw);
}

static const struct device_ops fw_cfg_ops = {
	.name = "fw-cfg",
	.read = fw_cfg_read,
	.write = fw_cfg_write,
	.release = fw_cfg_release,
};

struct device *fw_cfg_device(struct fw_cfg *fw)
{
	return fw ? &fw->dev : NULL;
}

struct fw_cfg *fw_cfg_new(struct bus *bus)
{
	struct fw_cfg *fw = calloc(1, sizeof(*fw));
	int ret;

	if (!fw)
		return NULL;
	fw->dev = (struct device){ &fw_cfg_ops, bus };
	pthread_mutex_init(&fw->lock, NULL);
	fw_cfg_add(fw, FW_CFG_SIGNATURE, "QEMU", 4);
	fw_cfg_add_number(fw, FW_CFG_ID, 1, 4);		/* ports only */
	fw_cfg_add(fw, FW_CFG_FILE_DIR, &fw->dir, sizeof(fw->dir));
	/* Selector and data overlap: port 0x511 is data, whatever a wide access means. */
	ret = bus_map(bus, &fw->dev, BUS_PIO, FW_CFG_PORT, 2, 0);
	if (!ret)
		return fw;
	fw_cfg_release(&fw->dev);
	errno = -ret;
	return NULL;
}
