/* SPDX-License-Identifier: Apache-2.0 */
/* One run of a VM from start to end, as the subcommands see it. */
#pragma once

struct config;

/* Runs the program of cfg in a VM. husk's exit code, after a message if it is not the program's. */
int vm_run(const struct config *cfg);
