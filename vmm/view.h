/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the guest sees of the host: turns struct config into the exports of the FUSE server and the
 * mounts of /chosen/husk,init.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "vmm/config.h"

struct fuse_server;

/* One mount@N of the FDT (include/husk/fdt.h), in mount order; the root is the first. */
struct init_mount {
	char *source;		/* path in the FUSE tree */
	char *target;		/* path in the guest; made by the guest where it is missing */
	bool rw;
	bool overlay;
};

struct view {
	struct fuse_server *server;
	struct init_mount *mounts;
	size_t nmounts;
	char *workdir;		/* where the program starts */
};

/* What a view depends on besides the configuration; view_env_get() fills it from the process. */
struct view_env {
	char *cwd;		/* physical; NULL: unknown */
	char *home;		/* $HOME or NULL */
	const char *passwd;	/* path of the user database */
	uint32_t uid;
};

int view_env_get(struct view_env *env);
void view_env_free(struct view_env *env);

/*
 * Build everything. 0 or -errno after one line on stderr. cfg->quiet silences the note about a
 * current directory that is not shown.
 */
int view_build(struct view *view, const struct config *cfg, const struct view_env *env);
void view_free(struct view *view);
