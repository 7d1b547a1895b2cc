/* SPDX-License-Identifier: Apache-2.0 */
/* Names of error numbers. */
#pragma once

#include "core/types.h"

const char *errno_name(int err);	/* "ENOENT"; NULL: no such number */
