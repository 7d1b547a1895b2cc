/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guest sees of the host: a list of places is collected (the system's public directories
 * or --root, the current directory, the shares), sorted so that parents come first, and given to
 * the FUSE server; the mounts of the init node follow from it. See husk(1), "Files".
 */
#include "vmm/view.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "devices/fuse/fuse_server.h"
#include "vmm/view_cwd.h"

/* Something to be shown. Strings are its own. */
struct place {
	char *host, *guest;
	bool rw, public_only, symlink, share;
	int64_t mtime_s;	/* of a symlink */
};

struct places {
	struct place *at;
	size_t n;
};

static const char *const system_dirs[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc",
};

/* The guest mounts file systems of its own here: what is shown beneath needs its own mount. */
static const char *const guest_dirs[] = {
	"/proc", "/dev", "/sys", "/tmp", "/run", "/var/tmp", "/root",
};

bool path_within(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	if (len == 1)
		return true;
	return strncmp(path, dir, len) == 0 && (path[len] == 0 || path[len] == '/');
}

/* Without double and trailing slashes and "."; NULL for a relative path, "..", and no memory. */
static char *path_normal(const char *path)
{
	char *out = malloc(strlen(path) + 2), *to = out;

	if (!out || *path != '/') {
		free(out);
		return NULL;
	}
	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len && !(len == 1 && *path == '.')) {
			*to++ = '/';
			memcpy(to, path, len);
			to += len;
		}
		path += len;
	}
	if (to == out)
		*to++ = '/';
	*to = 0;
	if (!fuse_path_valid(out)) {
		free(out);
		return NULL;
	}
	return out;
}

/* Takes over host and guest; also when it fails. */
static int place_add(struct places *p, struct place place)
{
	struct place *at = NULL;

	if (place.host && place.guest)
		at = realloc(p->at, (p->n + 1) * sizeof(*at));
	if (!at) {
		free(place.host);
		free(place.guest);
		return -ENOMEM;
	}
	at[p->n++] = place;
	p->at = at;
	return 0;
}

static void places_free(struct places *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->at[i].host);
		free(p->at[i].guest);
	}
	free(p->at);
}

static int places_system(struct places *p)
{
	int err = 0;

	for (size_t i = 0; i < sizeof(system_dirs) / sizeof(system_dirs[0]) && err == 0; i++) {
		const char *dir = system_dirs[i];
		char text[4096];
		struct stat st;
		ssize_t n;

		if (lstat(dir, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode)) {
			err = place_add(p, (struct place){
				.host = strdup(dir), .guest = strdup(dir), .public_only = true });
			continue;
		}
		n = S_ISLNK(st.st_mode) ? readlink(dir, text, sizeof(text) - 1) : -1;
		if (n <= 0)
			continue;
		text[n] = 0;
		err = place_add(p, (struct place){
			.host = strdup(text), .guest = strdup(dir), .symlink = true,
			.mtime_s = st.st_mtime });
	}
	return err;
}

static int share_error(const struct share *s, const char *why)
{
	fprintf(stderr, "husk: share %s:%s: %s\n", s->host, s->guest, why);
	return -EINVAL;
}

static int places_share(struct places *p, const struct share *s)
{
	char *guest = path_normal(s->guest), *host;

	if (!guest)
		return share_error(s, "the path in the guest must be absolute, without \"..\"");
	if (!guest[1]) {
		free(guest);
		return share_error(s, "cannot replace the guest's /; use --root");
	}
	for (size_t i = 0; i < p->n; i++) {
		if (p->at[i].share && strcmp(p->at[i].guest, guest) == 0) {
			free(guest);
			return share_error(s, "there is another share at this path");
		}
	}
	host = realpath(s->host, NULL);
	if (!host) {
		int err = -errno;

		free(guest);
		share_error(s, strerror(-err));
		return err;
	}
	return place_add(p, (struct place){
		.host = host, .guest = guest, .rw = s->rw, .share = true });
}

/* A share takes the place of what would be shown there by itself. */
static void places_drop_replaced(struct places *p)
{
	for (size_t i = 0; i < p->n;) {
		struct place *at = &p->at[i];
		bool replaced = false;

		for (size_t j = 0; j < p->n && !at->share; j++)
			replaced |= p->at[j].share && strcmp(p->at[j].guest, at->guest) == 0;
		if (!replaced) {
			i++;
			continue;
		}
		free(at->host);
		free(at->guest);
		*at = p->at[--p->n];
	}
}

/* Parents before what is beneath them: a path sorts after each of its prefixes. */
static int place_compare(const void *a, const void *b)
{
	return strcmp(((const struct place *)a)->guest, ((const struct place *)b)->guest);
}

static int place_error(const struct place *at, int err)
{
	const char *why = strerror(-err);

	if (err == -EINVAL)
		why = "not a directory or a regular file";
	else if (err == -EXDEV)
		why = "on a file system of the kernel's (proc, sysfs, devices)";
	else if (err == -ELOOP)
		why = "the path in the guest goes through a symbolic link";
	else if (err == -ENOTDIR && !at->guest[1])
		why = "not a directory";
	else if (err == -ENOTDIR)
		why = "the path in the guest goes through a file";
	fprintf(stderr, "husk: cannot show %s at %s: %s\n", at->host, at->guest, why);
	return err;
}

static int places_export(const struct places *p, struct fuse_server *srv)
{
	for (size_t i = 0; i < p->n; i++) {
		const struct place *at = &p->at[i];
		const struct fuse_export ex = {
			.host = at->host, .guest = at->guest, .rw = at->rw,
			.public_only = at->public_only, .symlink = at->symlink,
			.mtime_s = at->mtime_s,
		};
		int err = fuse_server_add(srv, &ex);

		/* A part of the system that is not public is just not there. */
		if (err < 0 && err != -ENOMEM && at->public_only)
			continue;
		if (err < 0)
			return place_error(at, err);
	}
	return 0;
}

static int mount_add(struct view *view, const char *path, bool rw)
{
	struct init_mount *m = realloc(view->mounts, (view->nmounts + 1) * sizeof(*m));

	if (!m)
		return -ENOMEM;
	view->mounts = m;
	m += view->nmounts;
	*m = (struct init_mount){ strdup(path), strdup(path), rw, !rw };
	view->nmounts++;
	return m->source && m->target ? 0 : -ENOMEM;
}

static int places_mount(const struct places *p, struct view *view)
{
	int err = mount_add(view, "/", false);

	for (size_t i = 0; i < p->n && err == 0; i++) {
		const struct place *at = &p->at[i];
		bool own = at->rw;

		for (size_t j = 0; j < sizeof(guest_dirs) / sizeof(guest_dirs[0]); j++)
			own |= path_within(at->guest, guest_dirs[j]);
		if (own && at->guest[1])
			err = mount_add(view, at->guest, at->rw);
	}
	return err;
}

/* A share that shows the current directory under its own name does as well as we could. */
static bool cwd_shared(const struct places *p, const char *cwd)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->at[i].share && strcmp(p->at[i].host, p->at[i].guest) == 0 &&
		    path_within(cwd, p->at[i].guest))
			return true;
	return false;
}

/* Show the current directory, where that is wise. 1: the program can start in it, 0: it cannot. */
static int places_cwd(struct places *p, const struct config *cfg, const struct view_env *env)
{
	int err;

	if (!env->cwd || !fuse_path_valid(env->cwd))
		return 0;
	if (cwd_shared(p, env->cwd))
		return 1;
	if (cfg->root)
		return strcmp(cfg->root, "/") == 0;
	for (size_t i = 0; i < sizeof(system_dirs) / sizeof(system_dirs[0]); i++)
		if (path_within(env->cwd, system_dirs[i]) && cwd_is_public(env->cwd))
			return 1;
	if (!cwd_may_be_shown(env)) {
		if (!cfg->quiet)
			fprintf(stderr, "husk: note: the program does not see the current "
				"directory, %s; -v \"$PWD:$PWD\" shows it\n", env->cwd);
		return 0;
	}
	err = place_add(p, (struct place){ .host = strdup(env->cwd), .guest = strdup(env->cwd) });
	return err < 0 ? err : 1;
}

static int places_root(struct places *p, const char *root)
{
	char *host = realpath(root, NULL);
	int err = -errno;

	if (host)
		return place_add(p, (struct place){ .host = host, .guest = strdup("/") });
	fprintf(stderr, "husk: --root %s: %s\n", root, strerror(-err));
	return err;
}

static int places_collect(struct places *p, const struct config *cfg, const struct view_env *env,
			  bool *start_in_cwd)
{
	int err = cfg->root ? places_root(p, cfg->root) : places_system(p);

	for (size_t i = 0; i < cfg->nshares && err == 0; i++)
		err = places_share(p, &cfg->shares[i]);
	if (err < 0)
		return err;
	err = places_cwd(p, cfg, env);
	if (err < 0)
		return err;
	*start_in_cwd = err;
	places_drop_replaced(p);
	qsort(p->at, p->n, sizeof(*p->at), place_compare);
	return 0;
}

int view_build(struct view *view, const struct config *cfg, const struct view_env *env)
{
	struct places places = { 0 };
	bool start_in_cwd = false;
	int err = places_collect(&places, cfg, env, &start_in_cwd);

	*view = (struct view){ 0 };
	if (err < 0)
		goto out;
	view->server = fuse_server_new();
	view->workdir = strdup(cfg->workdir ? cfg->workdir : start_in_cwd ? env->cwd : "/");
	if (!view->server || !view->workdir)
		err = -ENOMEM;
	if (err == 0)
		err = places_export(&places, view->server);
	if (err == 0)
		err = places_mount(&places, view);
out:
	places_free(&places);
	if (err == -ENOMEM)
		fprintf(stderr, "husk: out of memory while collecting what the guest sees\n");
	if (err < 0)
		view_free(view);
	return err;
}

void view_free(struct view *view)
{
	fuse_server_free(view->server);
	for (size_t i = 0; i < view->nmounts; i++) {
		free(view->mounts[i].source);
		free(view->mounts[i].target);
	}
	free(view->mounts);
	free(view->workdir);
	*view = (struct view){ 0 };
}
