/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the current directory is shown to the guest without being asked for: vmm/view.c's own. */
#pragma once

#include <stdbool.h>
#include "vmm/view.h"

/* Is path dir itself or beneath it? Both absolute and normal. */
bool path_within(const char *path, const char *dir);

/* May every user of the host list it and what is above it? */
bool cwd_is_public(const char *cwd);

/* Not a home directory, nothing above one, no directory of the system's. */
bool cwd_may_be_shown(const struct view_env *env);
