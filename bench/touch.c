/* SPDX-License-Identifier: Apache-2.0 */
/* touch MIB: writes a word in every page of MIB MiB, says "ready", sleeps until its stdin ends. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t bytes = (argc > 1 ? strtoul(argv[1], NULL, 10) : 0) << 20;
	char byte, *mem = "";

	if (bytes)
		mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (mem == MAP_FAILED) {
		perror("touch: mmap");
		return 1;
	}
	for (size_t at = 0; at < bytes; at += 4096)
		*(volatile size_t *)(mem + at) = at + 1;
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while (read(0, &byte, 1) > 0)
		;
	return 0;
}
