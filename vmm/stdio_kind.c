/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program will be told when it asks fstat() and isatty() of its standard descriptors:
 * they are streams over virtio, but buffering and colours depend on what is behind.
 */
#include "vmm/stdio_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "husk/fdt.h"
#include "vmm/log.h"

int stdio_fill(void)
{
	for (int fd = 0; fd < 3; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		/* The lowest free number is fd, since those below are open. */
		if (open("/dev/null", O_RDWR) != fd) {
			int err = errno;

			husk_err("cannot open /dev/null for a closed descriptor");
			return err ? -err : -EBADF;
		}
	}
	return 0;
}

static const char *stdio_kind(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return HUSK_STDIO_NULL;
	if (S_ISREG(st.st_mode))
		return HUSK_STDIO_FILE;
	if (S_ISCHR(st.st_mode)) {
		if (st.st_rdev == makedev(1, 3))	/* /dev/null */
			return HUSK_STDIO_NULL;
		if (isatty(fd))
			return HUSK_STDIO_TTY;
	}
	return HUSK_STDIO_PIPE;
}

void stdio_describe(const char *kind[3])
{
	for (int fd = 0; fd < 3; fd++)
		kind[fd] = stdio_kind(fd);
}
