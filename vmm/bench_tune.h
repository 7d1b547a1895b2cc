/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host settings changed for the time of a run. A guard process restores them when this one ends, in
 * whatever way: nothing else does, so that there is one path.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TUNE_MAX	72	/* a few parameters, and a governor for each CPU */
#define TUNE_VALUE	64

struct tune {
	struct { char path[160], old[TUNE_VALUE]; } item[TUNE_MAX];
	unsigned n;
	pid_t guard;		/* 0: none */
	int guard_fd;
};

struct tune_toggle {
	char name[128];			/* module.parameter */
	char path[160];
	char value[2][TUNE_VALUE];
};

/* "module.parameter=A,B" below root ("/sys"). 0, or -EINVAL with a message. */
int tune_toggle_parse(struct tune_toggle *t, const char *root, const char *text, char *error,
		      size_t size);
/* The value of a file without its newline. 0 or -errno. */
int tune_read(const char *path, char *value, size_t size);
/* Remember path's value for the guard; -ENOENT absent, -EACCES read-only, -ENOSPC. Before tune_guard(). */
int tune_add(struct tune *t, const char *path);
int tune_guard(struct tune *t);
/* Write, and read back: -EINVAL when the kernel did not take the value. */
int tune_write(const char *path, const char *value);
/* Have the guard restore everything, and wait. 0, or -EIO when a value could not be restored. */
int tune_restore(struct tune *t);
