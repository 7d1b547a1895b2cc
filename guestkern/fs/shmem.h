/* SPDX-License-Identifier: Apache-2.0 */
/* Memory shared between relatives: a nameless tmpfs file behind MAP_SHARED | MAP_ANONYMOUS. */
#pragma once

#include "core/types.h"

struct file;

struct file *shmem_file(u64 size);		/* referenced, open read-write; NULL: no memory */
