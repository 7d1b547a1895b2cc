/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random numbers: a generator by ChaCha20 with fast key erasure, keyed by the seed that the VMM
 * put into the FDT, so that the first bytes cost no exit. Every request replaces the key by the
 * first block of its own stream, so that what was handed out cannot be computed from a later
 * state. Fresh bytes of the host's come in by the virtio entropy device (VIRTIO 1.1, section 5.4)
 * now and then, and at once where there is no seed.
 */
#include <linux/errno.h>
#include "core/fdt.h"
#include "core/print.h"
#include "core/string.h"
#include "core/time.h"
#include "core/vvar.h"
#include "drivers/chacha20.h"
#include "drivers/virtio.h"

#define RESEED_BYTES	(1u << 20)
#define RESEED_NS	(60 * NSEC_PER_SEC)
#define RETRY_BYTES	(1u << 16)	/* after a failure */

static struct virtio_dev dev;
static struct virtq *queue;
static u8 key[CHACHA20_KEY];
static bool seeded;
static u64 left;		/* bytes until the next reseed */
static u64 reseed_at_ns;

void random_init(const struct fdt *fdt)
{
	int chosen = fdt_find(fdt, fdt_root(fdt), "chosen");
	u32 len = 0;
	const u8 *seed = fdt_prop(fdt, chosen, "rng-seed", &len);

	virtio_find(fdt, VIRTIO_ID_RNG_DEV, &dev);
	for (u32 i = 0; seed && i < len; i++)
		key[i % CHACHA20_KEY] ^= seed[i];
	seeded = seed && len >= CHACHA20_KEY;
	left = RESEED_BYTES;
	reseed_at_ns = time_monotonic_ns() + RESEED_NS;
}

/* Bytes from the host: how many, or -errno. */
static long host_bytes(u8 *buf, u32 len)
{
	struct io_seg seg = { buf, len };

	if (!dev.bar)
		return -ENODEV;
	if (!queue) {
		virtio_start(&dev, 0);
		queue = virtq_setup(&dev, 0, 8);
		if (!queue)
			return -ENOMEM;
	}
	return virtq_request(queue, NULL, 0, &seg, 1);
}

/* Mix 32 bytes of the host's into the key: a stream of both, so neither alone decides it. */
static bool random_reseed(void)
{
	u8 fresh[CHACHA20_KEY], block[CHACHA20_BLOCK];
	const u8 nonce[12] = "husk reseed";
	u32 words[16];
	long n = host_bytes(fresh, sizeof(fresh));

	if (n != sizeof(fresh))
		return false;
	chacha20_init(words, key, 0, nonce);
	chacha20_block(words, block);
	for (unsigned i = 0; i < CHACHA20_KEY; i++)
		key[i] = block[i] ^ fresh[i];
	memset(fresh, 0, sizeof(fresh));
	memset(block, 0, sizeof(block));
	return true;
}

/* Neither seed nor device: times are all there is. Said once; not fit for secrets. */
static void random_seed_poor(void)
{
	for (unsigned i = 0; i < 4; i++) {
		u64 tsc = rdtsc_ordered() * 0x9e3779b97f4a7c15ull;

		for (unsigned j = 0; j < 8; j++)
			key[i * 8 + j] ^= (u8)(tsc >> 8 * j);
	}
	klog("no random seed and no entropy device: random numbers are weak");
}

static void random_check(size_t len)
{
	if (seeded && left > len && time_monotonic_ns() < reseed_at_ns) {
		left -= len;
		return;
	}
	left = RETRY_BYTES;
	if (random_reseed())
		left = RESEED_BYTES;
	else if (!seeded)
		random_seed_poor();
	seeded = true;
	reseed_at_ns = time_monotonic_ns() + RESEED_NS;
}

void random_bytes(void *buf, size_t len)
{
	const u8 nonce[12] = { 0 };
	u8 block[CHACHA20_BLOCK], *p = buf;
	u32 words[16];

	random_check(len);
	chacha20_init(words, key, 0, nonce);
	chacha20_block(words, block);
	memcpy(key, block, CHACHA20_KEY);	/* this stream's key is gone from here on */
	for (size_t have = CHACHA20_BLOCK - CHACHA20_KEY; len;) {
		size_t n = MIN(len, have);

		memcpy(p, block + CHACHA20_BLOCK - have, n);
		p += n;
		len -= n;
		have = CHACHA20_BLOCK;
		if (!len)
			break;
		if (!++words[12])
			words[13]++;
		chacha20_block(words, block);
	}
	memset(block, 0, sizeof(block));
	memset(words, 0, sizeof(words));
	__asm__ volatile("" : : "r"(block), "r"(words) : "memory");	/* the wiping counts */
}
