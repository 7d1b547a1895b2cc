/* SPDX-License-Identifier: Apache-2.0 */
/* What the subcommands have in common with main.c. */
#pragma once

#include <stdio.h>

/* `husk run`: argv[0] is "run". husk's exit code. */
int cli_run(int argc, char **argv);
/* The page of `husk help run`. */
void cli_run_help(FILE *out);

/* `husk boot`, a kernel that is not ours: the same two. */
int cli_boot(int argc, char **argv);
void cli_boot_help(FILE *out);
