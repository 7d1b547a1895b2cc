/* SPDX-License-Identifier: Apache-2.0 */
/* Changing host settings, and the guard that restores them. */
#include "vmm/bench_tune.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool name_ok(const char *s, size_t len)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	return len && strspn(s, allowed) >= len;
}

static int toggle_error(char *error, size_t size, const char *what)
{
	snprintf(error, size, "%s; write module.parameter=A,B, such as kvm.halt_poll_ns=0,200000",
		 what);
	return -EINVAL;
}

int tune_toggle_parse(struct tune_toggle *t, const char *root, const char *text, char *error,
		      size_t size)
{
	const char *dot = strchr(text, '.'), *eq = strchr(text, '=');
	const char *comma = eq ? strchr(eq, ',') : NULL;
	size_t a, b;

	if (!dot || !eq || !comma || dot > eq)
		return toggle_error(error, size, "not two values of a module's parameter");
	if (!name_ok(text, (size_t)(dot - text)) || !name_ok(dot + 1, (size_t)(eq - dot - 1)))
		return toggle_error(error, size, "not the name of a module's parameter");
	a = (size_t)(comma - eq - 1);
	b = strlen(comma + 1);
	if (!a || !b || a >= TUNE_VALUE || b >= TUNE_VALUE || strchr(comma + 1, ','))
		return toggle_error(error, size, "there must be two values");
	if ((size_t)(eq - text) >= sizeof(t->name))
		return toggle_error(error, size, "the name is too long");
	snprintf(t->name, sizeof(t->name), "%.*s", (int)(eq - text), text);
	snprintf(t->value[0], TUNE_VALUE, "%.*s", (int)a, eq + 1);
	snprintf(t->value[1], TUNE_VALUE, "%s", comma + 1);
	if (snprintf(t->path, sizeof(t->path), "%s/module/%.*s/parameters/%.*s", root,
		     (int)(dot - text), text, (int)(eq - dot - 1), dot + 1) >= (int)sizeof(t->path))
		return toggle_error(error, size, "the name is too long");
	return 0;
}

int tune_read(const char *path, char *value, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, value, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	value[n] = 0;
	value[strcspn(value, "\n")] = 0;
	return 0;
}

static int value_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), ret = 0;
	size_t len = strlen(value);

	if (fd < 0)
		return -errno;
	if (write(fd, value, len) != (ssize_t)len)
		ret = errno ? -errno : -EIO;
	close(fd);
	return ret;
}

int tune_add(struct tune *t, const char *path)
{
	struct stat st;
	int ret;

	if (t->n == TUNE_MAX || strlen(path) >= sizeof(t->item[0].path))
		return -ENOSPC;
	if (stat(path, &st))
		return -errno;
	/* Root may open what nobody may write; sysfs then refuses, so ask the mode first. */
	if (!(st.st_mode & 0222) || access(path, W_OK))
		return -EACCES;
	ret = tune_read(path, t->item[t->n].old, TUNE_VALUE);
	if (ret)
		return ret;
	strcpy(t->item[t->n].path, path);
	t->n++;
	return 0;
}

/* Kernel booleans are written 0 or 1 and read N or Y. */
static bool value_same(const char *want, const char *got)
{
	static const char *const boolean[][2] = { { "0", "N" }, { "1", "Y" }, { "n", "N" }, { "y", "Y" } };

	if (!strcmp(want, got))
		return true;
	for (size_t i = 0; i < 4; i++)
		if (!strcmp(want, boolean[i][0]) && !strcmp(got, boolean[i][1]))
			return true;
	return false;
}

int tune_write(const char *path, const char *value)
{
	char got[TUNE_VALUE];
	int ret = value_write(path, value);

	if (!ret)
		ret = tune_read(path, got, sizeof(got));
	return ret ? ret : value_same(value, got) ? 0 : -EINVAL;
}

/* Waits for the end of the other side, then restores; the exit status tells how that went. */
static void guard_main(const struct tune *t, int fd)
{
	static const int ignored[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	char byte;
	int status = 0;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	while (read(fd, &byte, 1) < 0 && errno == EINTR)
		;
	for (unsigned i = t->n; i-- > 0;)
		if (value_write(t->item[i].path, t->item[i].old)) {
			fprintf(stderr, "husk: %s could not be set back to %s: %s\n",
				t->item[i].path, t->item[i].old, strerror(errno));
			status = 1;
		}
	_exit(status);
}

int tune_guard(struct tune *t)
{
	int fd[2];

	if (!t->n)
		return 0;
	if (pipe(fd))
		return -errno;
	fflush(NULL);
	t->guard = fork();
	if (t->guard < 0) {
		t->guard = 0;
		return -errno;
	}
	if (!t->guard) {
		setsid();	/* a signal to our group is not for the guard */
		close(fd[1]);
		guard_main(t, fd[0]);
	}
	close(fd[0]);
	t->guard_fd = fd[1];
	return 0;
}

int tune_restore(struct tune *t)
{
	int status = 0;

	if (!t->guard)
		return 0;
	close(t->guard_fd);
	while (waitpid(t->guard, &status, 0) < 0 && errno == EINTR)
		;
	t->guard = 0;
	return status ? -EIO : 0;
}
