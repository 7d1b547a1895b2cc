/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel heap: size classes up to 2 KiB, whole pages above. Never sleeps; NULL when out. */
#pragma once

#include "core/types.h"

void *kmalloc(size_t size);
void *kzalloc(size_t size);
void kfree(const void *p);		/* NULL allowed */
char *kstrdup(const char *s);
