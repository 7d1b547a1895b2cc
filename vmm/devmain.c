/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devhusk KERNEL PROG [ARGS...]: run a guest kernel from a file, its log on stderr. For work on
 * the guest kernel before the real command line exists; not installed.
 * Environment: HUSK_CPUS, HUSK_MEMORY_MB, HUSK_TRACE (mask), HUSK_QUIET, HUSK_TIMEOUT (s).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/vm.h"

/* No kernel is linked in. */
const unsigned char guest_kernel[1], guest_kernel_end[1];

static unsigned long env_number(const char *name, unsigned long otherwise)
{
	const char *s = getenv(name);

	return s ? strtoul(s, NULL, 0) : otherwise;
}

int main(int argc, char **argv, char **envp)
{
	struct config cfg = { 0 };

	if (argc < 3) {
		fprintf(stderr, "usage: devhusk KERNEL PROG [ARGS...]\n");
		return EXIT_HUSK;
	}
	cfg.kernel_path = argv[1];
	cfg.argv = argv + 2;
	cfg.envp = envp;
	cfg.cpus = env_number("HUSK_CPUS", 1);
	cfg.memory_bytes = env_number("HUSK_MEMORY_MB", 256) << 20;
	cfg.trace = env_number("HUSK_TRACE", 0);
	cfg.quiet = env_number("HUSK_QUIET", 0);
	cfg.timeout_s = env_number("HUSK_TIMEOUT", 0);
	cfg.uid = getuid();
	cfg.gid = getgid();
	if (log_open(NULL, cfg.quiet))
		return EXIT_HUSK;
	_exit(vm_run(&cfg));
}
