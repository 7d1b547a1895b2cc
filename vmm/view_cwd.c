/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The current directory is shown because programs expect their files there, not because somebody
 * said so: so never a place that holds more than one project, such as a home directory, or what is
 * above one, or a directory of the system's.
 */
#include "vmm/view_cwd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UID_FIRST_USER	1000
#define UID_NOBODY	65534

/* Never themselves; what is beneath them may be a project. */
static const char *const shared_places[] = {
	"/", "/home", "/root", "/var", "/tmp", "/var/tmp", "/run", "/mnt", "/media", "/srv",
};

/* Never they, nor anything beneath: the public part is shown anyway, the rest is nobody's. */
static const char *const system_places[] = {
	"/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/boot",
	"/proc", "/sys", "/dev",
};

int view_env_get(struct view_env *env)
{
	char *cwd = getcwd(NULL, 0);
	const char *home = getenv("HOME");

	*env = (struct view_env){ .passwd = "/etc/passwd", .uid = getuid() };
	/* A directory that was deleted, or is outside our root, has no path to show it at. */
	if (cwd && *cwd == '/')
		env->cwd = cwd;
	else
		free(cwd);
	env->home = home ? strdup(home) : NULL;
	if (!home || env->home)
		return 0;
	view_env_free(env);
	return -ENOMEM;
}

void view_env_free(struct view_env *env)
{
	free(env->cwd);
	free(env->home);
	env->cwd = env->home = NULL;
}

bool cwd_is_public(const char *cwd)
{
	size_t len = strlen(cwd);
	char *path = strdup(cwd);
	bool ok = path != NULL;

	for (size_t i = 1; ok && i <= len; i++) {
		struct stat st;
		char c = path[i];

		if (c && c != '/')
			continue;
		path[i] = 0;
		ok = stat(path, &st) == 0 && !(~st.st_mode & (S_IROTH | S_IXOTH));
		path[i] = c;
	}
	free(path);
	return ok;
}

/* Is cwd that home, or above it? By real path and by identity. "/" and the like are no homes. */
static bool cwd_holds_home(const char *cwd, const char *home)
{
	struct stat a, b;
	char *real;
	bool holds;

	if (home[0] != '/' || !home[1])
		return false;
	real = realpath(home, NULL);
	holds = path_within(home, cwd) || (real && real[1] && path_within(real, cwd));
	free(real);
	return holds || (stat(home, &a) == 0 && stat(cwd, &b) == 0 &&
			 a.st_dev == b.st_dev && a.st_ino == b.st_ino);
}

/* The same for the homes of people in the user database; daemons have theirs in odd places. */
static bool cwd_holds_any_home(const struct view_env *env)
{
	FILE *f = fopen(env->passwd, "re");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	/* Without the database only $HOME is known. */
	while (f && !found && getline(&line, &size, f) > 0) {
		char *field[6] = { NULL }, *at = line;
		unsigned long uid;

		for (unsigned i = 0; i < 6 && at; i++)
			field[i] = strsep(&at, ":\n");
		if (!field[5])
			continue;
		uid = strtoul(field[2], NULL, 10);
		if (uid == 0 || uid == env->uid || (uid >= UID_FIRST_USER && uid != UID_NOBODY))
			found = cwd_holds_home(env->cwd, field[5]);
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

static bool path_has_component(const char *path, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = path; (at = strstr(at, name)); at += len)
		if (at > path && at[-1] == '/' && (at[len] == 0 || at[len] == '/'))
			return true;
	return false;
}

bool cwd_may_be_shown(const struct view_env *env)
{
	for (size_t i = 0; i < sizeof(shared_places) / sizeof(shared_places[0]); i++)
		if (strcmp(env->cwd, shared_places[i]) == 0)
			return false;
	for (size_t i = 0; i < sizeof(system_places) / sizeof(system_places[0]); i++)
		if (path_within(env->cwd, system_places[i]))
			return false;
	if (path_has_component(env->cwd, ".ssh") || path_has_component(env->cwd, ".gnupg"))
		return false;
	if (env->home && cwd_holds_home(env->cwd, env->home))
		return false;
	return !cwd_holds_any_home(env);
}
