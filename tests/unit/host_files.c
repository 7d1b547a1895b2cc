/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/unit/host_files.h says; apart, since libc's headers and the guest's do not mix. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tests/unit/host_files.h"

static char base[64];			/* of the host's files */

const char *host_path(const char *fmt, ...)
{
	static char path[4][400];
	static unsigned turn;
	char *p = path[turn++ % 4];
	size_t n = (size_t)sprintf(p, "%s/", base);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p + n, 400 - n, fmt, ap);
	va_end(ap);
	return p;
}

void host_write(const char *path, const void *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, data, len) != (ssize_t)len) {
		printf("Bail out! cannot write %s: %s\n", path, strerror(errno));
		exit(1);
	}
	close(fd);
}

bool host_has(const char *path, const void *data, size_t len)
{
	char *buf = malloc(len + 2);
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, len + 1);
	bool same = n == (ssize_t)len && !memcmp(buf, data, len);

	close(fd);
	free(buf);
	return same;
}

bool host_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

int host_mode(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

void host_chmod(const char *path, unsigned mode)
{
	if (chmod(path, mode))
		exit(1);
}

char big[BIG_SIZE];

void host_tree(void)
{
	char long_link[3000];

	strcpy(base, "/tmp/husk-fusefs-XXXXXX");
	if (!mkdtemp(base)) {
		printf("Bail out! no temporary directory\n");
		exit(1);
	}
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 31 + (i >> 12));
	mkdir(host_path("ro"), 0755);
	mkdir(host_path("rw"), 0755);
	mkdir(host_path("ro/usr"), 0755);
	mkdir(host_path("ro/usr/bin"), 0755);
	mkdir(host_path("ro/many"), 0755);
	host_write(host_path("ro/usr/bin/true"), big, 800000);
	host_write(host_path("ro/usr/bin/small"), "small file", 10);
	host_write(host_path("ro/big"), big, sizeof(big));
	if (symlink("usr/bin", host_path("ro/bin")))
		exit(1);
	memset(long_link, 'l', sizeof(long_link));
	long_link[sizeof(long_link) - 1] = '\0';
	if (symlink(long_link, host_path("ro/long")))
		exit(1);
	for (int i = 0; i < 1500; i++)
		host_write(host_path("ro/many/file-with-a-longish-name-%04d", i), "x", 1);
}

void host_tree_remove(void)
{
	char command[100];

	sprintf(command, "rm -rf %s", base);
	if (system(command))
		exit(1);
}
