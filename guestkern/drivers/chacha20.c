/* SPDX-License-Identifier: Apache-2.0 */
/* ChaCha20, RFC 8439, on little-endian machines. */
#include "core/string.h"
#include "drivers/chacha20.h"

static inline u32 rotl(u32 v, int n)
{
	return v << n | v >> (32 - n);
}

/* RFC 8439, section 2.1 */
static inline void quarter_round(u32 *x, int a, int b, int c, int d)
{
	x[a] += x[b];
	x[d] = rotl(x[d] ^ x[a], 16);
	x[c] += x[d];
	x[b] = rotl(x[b] ^ x[c], 12);
	x[a] += x[b];
	x[d] = rotl(x[d] ^ x[a], 8);
	x[c] += x[d];
	x[b] = rotl(x[b] ^ x[c], 7);
}

void chacha20_init(u32 words[16], const u8 key[CHACHA20_KEY], u32 counter, const u8 nonce[12])
{
	static const u32 constants[4] = { 0x61707865, 0x3320646e, 0x79622d32, 0x6b206574 };

	memcpy(words, constants, sizeof(constants));
	memcpy(words + 4, key, CHACHA20_KEY);
	words[12] = counter;
	memcpy(words + 13, nonce, 12);
}

void chacha20_block(const u32 words[16], u8 out[CHACHA20_BLOCK])
{
	u32 x[16];

	memcpy(x, words, sizeof(x));
	for (int i = 0; i < 10; i++) {
		quarter_round(x, 0, 4, 8, 12);
		quarter_round(x, 1, 5, 9, 13);
		quarter_round(x, 2, 6, 10, 14);
		quarter_round(x, 3, 7, 11, 15);
		quarter_round(x, 0, 5, 10, 15);
		quarter_round(x, 1, 6, 11, 12);
		quarter_round(x, 2, 7, 8, 13);
		quarter_round(x, 3, 4, 9, 14);
	}
	for (int i = 0; i < 16; i++)
		x[i] += words[i];
	memcpy(out, x, CHACHA20_BLOCK);
}
