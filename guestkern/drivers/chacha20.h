/* SPDX-License-Identifier: Apache-2.0 */
/* The ChaCha20 block function, RFC 8439, section 2.3. */
#pragma once

#include "core/types.h"

#define CHACHA20_KEY	32
#define CHACHA20_BLOCK	64

/* words: constants, key, counter, nonce as in the RFC; the counter is not advanced. */
void chacha20_init(u32 words[16], const u8 key[CHACHA20_KEY], u32 counter, const u8 nonce[12]);
void chacha20_block(const u32 words[16], u8 out[CHACHA20_BLOCK]);
