/* SPDX-License-Identifier: Apache-2.0 */
/* The program: subcommands by name. Only this file decides the exit status. */
#include <stdio.h>
#include <string.h>

#include "vmm/config.h"

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("husk " HUSK_VERSION);
		return 0;
	}
	fputs("husk: no such command\n", stderr);
	return EXIT_HUSK;
}
