/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MSI-X (PCI Local Bus 3.0, section 6.8.2). A message goes out when MSI-X is enabled, the function
 * may master the bus, and neither the function nor the vector is masked; otherwise its pending bit
 * is set and it goes out when the last obstacle falls. Called from vCPU threads (table accesses)
 * and any thread (msix_notify).
 */
#include "devices/msix.h"

#include <assert.h>
#include <string.h>

#define ENTRY_MASKED	1u	/* vector control, 6.8.2.9 */

void msix_init(struct msix *msix, unsigned nvectors, unsigned cap, uint32_t table, uint32_t pba)
{
	assert(nvectors >= 1 && nvectors <= MSIX_MAX_VECTORS);
	assert(pba >= table + nvectors * MSIX_ENTRY_SIZE);
	msix->nvectors = nvectors;
	msix->cap = cap;
	msix->table = table;
	msix->pba = pba;
	pthread_mutex_init(&msix->lock, NULL);
	msix_reset(msix);
}

void msix_fini(struct msix *msix)
{
	pthread_mutex_destroy(&msix->lock);
}

void msix_reset(struct msix *msix)
{
	pthread_mutex_lock(&msix->lock);
	msix->pending = 0;
	for (unsigned v = 0; v < msix->nvectors; v++)
		msix->entry[v] = (struct msix_entry){ .ctrl = ENTRY_MASKED };
	pthread_mutex_unlock(&msix->lock);
}

/* With msix->lock held. */
static bool msix_may_send(const struct msix *msix, unsigned v)
{
	return msix->enabled && !msix->function_mask && msix->bus_master &&
	       !(msix->entry[v].ctrl & ENTRY_MASKED);
}

/* With msix->lock held. */
static void msix_send_pending(struct msix *msix)
{
	for (unsigned v = 0; msix->pending && v < msix->nvectors; v++) {
		if (!(msix->pending & 1ull << v) || !msix_may_send(msix, v))
			continue;
		msix->pending &= ~(1ull << v);
		bus_msi(msix->bus, msix->entry[v].addr, msix->entry[v].data);
	}
}

void msix_set_state(struct msix *msix, bool enabled, bool function_mask, bool bus_master)
{
	pthread_mutex_lock(&msix->lock);
	msix->enabled = enabled;
	msix->function_mask = function_mask;
	msix->bus_master = bus_master;
	if (!enabled)
		msix->pending = 0;
	msix_send_pending(msix);
	pthread_mutex_unlock(&msix->lock);
}

bool msix_notify(struct msix *msix, unsigned v)
{
	bool on;

	assert(v < msix->nvectors);
	pthread_mutex_lock(&msix->lock);
	on = msix->enabled;
	if (msix_may_send(msix, v))
		bus_msi(msix->bus, msix->entry[v].addr, msix->entry[v].data);
	else if (on)
		msix->pending |= 1ull << v;
	pthread_mutex_unlock(&msix->lock);
	return on;
}

/* Offset of acc from base when it is an aligned 4 or 8 byte access (the only ones defined), else -1. */
static int64_t msix_offset(const struct access *acc, uint32_t base)
{
	if ((acc->len != 4 && acc->len != 8) || (acc->off - base) % acc->len)
		return -1;
	return (int64_t)(acc->off - base);
}

static bool msix_in_table(const struct msix *msix, uint64_t off)
{
	return off >= msix->table && off - msix->table < msix->nvectors * MSIX_ENTRY_SIZE;
}

static bool msix_in_pba(const struct msix *msix, uint64_t off)
{
	return off >= msix->pba && off - msix->pba < sizeof(msix->pending);
}

bool msix_read(struct msix *msix, struct access *acc)
{
	int64_t off;

	if (!msix_in_table(msix, acc->off) && !msix_in_pba(msix, acc->off))
		return false;
	pthread_mutex_lock(&msix->lock);
	acc->val = 0;
	if (msix_in_table(msix, acc->off)) {
		off = msix_offset(acc, msix->table);
		if (off >= 0)
			memcpy(&acc->val, (uint8_t *)msix->entry + off, acc->len);
	} else {
		off = msix_offset(acc, msix->pba);
		if (off >= 0)
			memcpy(&acc->val, (uint8_t *)&msix->pending + off, acc->len);
	}
	pthread_mutex_unlock(&msix->lock);
	return true;
}

bool msix_write(struct msix *msix, struct access *acc)
{
	int64_t off;

	if (!msix_in_table(msix, acc->off))
		return msix_in_pba(msix, acc->off);	/* read-only */
	pthread_mutex_lock(&msix->lock);
	off = msix_offset(acc, msix->table);
	if (off >= 0) {
		struct msix_entry *e = &msix->entry[off / MSIX_ENTRY_SIZE];

		memcpy((uint8_t *)msix->entry + off, &acc->val, acc->len);
		e->addr &= ~3ull;
		e->ctrl &= ENTRY_MASKED;
		msix_send_pending(msix);
	}
	pthread_mutex_unlock(&msix->lock);
	return true;
}
