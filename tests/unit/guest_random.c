/* SPDX-License-Identifier: Apache-2.0 */
/* ChaCha20 against RFC 8439, and the generator on it: seeding, reseeding, key erasure. */
#include <stdio.h>
#include <string.h>
#include "drivers/chacha20.c"
#include "drivers/virtio_rng.c"
#include "tests/unit/tap.h"

static u8 fake_seed[32];
static u32 fake_seed_len;
static bool has_device;
static unsigned requests, logs;
static u64 now_ns = 1;
static u8 device_byte;

int fdt_root(const struct fdt *fdt)
{
	return 0;
}

int fdt_find(const struct fdt *fdt, int node, const char *name)
{
	return 4;
}

const void *fdt_prop(const struct fdt *fdt, int node, const char *name, u32 *len)
{
	*len = fake_seed_len;
	return fake_seed_len ? fake_seed : NULL;
}

bool virtio_find(const struct fdt *fdt, u32 id, struct virtio_dev *vd)
{
	vd->bar = has_device ? fake_seed : NULL;
	return has_device;
}

void virtio_start(struct virtio_dev *vd, u32 features_low)
{
}

struct virtq *virtq_setup(struct virtio_dev *vd, u16 index, u16 size)
{
	return (struct virtq *)fake_seed;
}

long virtq_request(struct virtq *vq, const struct io_seg *out, unsigned nout,
		   const struct io_seg *in, unsigned nin)
{
	requests++;
	memset(in[0].p, device_byte, in[0].len);
	return in[0].len;
}

u64 time_monotonic_ns(void)
{
	return now_ns;
}

void klog(const char *fmt, ...)
{
	logs++;
}

static void start(u32 seed_len, bool device)
{
	memset(key, 0, sizeof(key));
	memset(fake_seed, 0x5a, sizeof(fake_seed));
	fake_seed_len = seed_len;
	has_device = device;
	queue = NULL;
	requests = logs = 0;
	random_init(NULL);
}

/* RFC 8439, section 2.3.2 and appendix A.1, vectors 1 and 5. */
static void test_vectors(void)
{
	static const u8 want[64] = {
		0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20,
		0x71, 0xc4, 0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a,
		0xc3, 0xd4, 0x6c, 0x4e, 0xd2, 0x82, 0x64, 0x46, 0x07, 0x9f, 0xaa, 0x09, 0x14, 0xc2,
		0xd7, 0x05, 0xd9, 0x8b, 0x02, 0xa2, 0xb5, 0x12, 0x9c, 0xd1, 0xde, 0x16, 0x4e, 0xb9,
		0xcb, 0xd0, 0x83, 0xe8, 0xa2, 0x50, 0x3c, 0x4e,
	};
	static const u8 zero_want[16] = {
		0x76, 0xb8, 0xe0, 0xad, 0xa0, 0xf1, 0x3d, 0x90, 0x40, 0x5d, 0x6a, 0xe5, 0x53, 0x86,
		0xbd, 0x28,
	};
	static const u8 nonce2_want[16] = {
		0xc2, 0xc6, 0x4d, 0x37, 0x8c, 0xd5, 0x36, 0x37, 0x4a, 0xe2, 0x04, 0xb9, 0xef, 0x93,
		0x3f, 0xcd,
	};
	static const u8 nonce[12] = { 0, 0, 0, 9, 0, 0, 0, 0x4a };
	static const u8 nonce2[12] = { [11] = 2 };
	static const u8 zero[32];
	u8 k[32], out[64];
	u32 words[16];

	for (int i = 0; i < 32; i++)
		k[i] = (u8)i;
	chacha20_init(words, k, 1, nonce);
	chacha20_block(words, out);
	tap_ok(!memcmp(out, want, 64), "RFC 8439 2.3.2");
	chacha20_init(words, zero, 0, zero);
	chacha20_block(words, out);
	tap_ok(!memcmp(out, zero_want, 16), "RFC 8439 A.1 vector 1");
	chacha20_init(words, zero, 0, nonce2);
	chacha20_block(words, out);
	tap_ok(!memcmp(out, nonce2_want, 16), "RFC 8439 A.1 vector 5");
}

static void test_seed(void)
{
	u8 a[300], b[300], before[32];

	start(32, true);
	random_bytes(a, 300);
	tap_ok(!requests, "with a seed the first bytes cost no request");
	memcpy(before, key, 32);
	random_bytes(b, 300);
	tap_ok(memcmp(a, b, 300) && memcmp(before, key, 32), "bytes and key change");
	start(32, true);
	random_bytes(b, 300);
	tap_ok(!memcmp(a, b, 300), "the same seed gives the same bytes");
	start(32, true);
	for (size_t n = 0; n < 300; n++)
		random_bytes(b, n);
	tap_ok(memcmp(a, b, 300), "sizes 0 to 299");
	tap_ok(!memmem(a, 300, before, 16), "the key is not in the output");
}

static void test_reseed(void)
{
	u8 buf[4096];

	start(32, true);
	for (int i = 0; i < 255; i++)
		random_bytes(buf, sizeof(buf));
	tap_ok(!requests, "no reseed before 1 MiB");
	random_bytes(buf, sizeof(buf));
	tap_ok(requests == 1, "reseed at 1 MiB");
	now_ns += 61 * NSEC_PER_SEC;
	random_bytes(buf, 1);
	random_bytes(buf, 1);
	tap_ok(requests == 2, "reseed after a minute");
	start(0, true);
	random_bytes(buf, 1);
	tap_ok(requests == 1 && !logs, "no seed: from the device at once");
	start(0, false);
	random_bytes(buf, 16);
	random_bytes(buf + 16, 16);
	tap_ok(logs == 1 && memcmp(buf, buf + 16, 16), "neither: said once");
	start(16, false);
	random_bytes(buf, 16);
	tap_ok(logs == 1, "half a seed is none");
}

int main(void)
{
	test_vectors();
	test_seed();
	test_reseed();
	return tap_done();
}
