/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jail. All threads of husk share its memory, so that who owns one owns all of them: there is
 * one filter for all threads, and it is installed once, before they are made. The filter is
 * written by mkseccomp.c at build time; installing it is one system call. State is static: a
 * process has one jail.
 *
 * Root keeps the four capabilities that a file server for other users' files needs, if and only
 * if there is a writable share; Landlock keeps them beneath the shares.
 */
#include "vmm/jail.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vmm/config.h"
#include "vmm/landlock_abi.h"
#include "vmm/seccomp_filter.h"

#define CAP_FILES	(1ull << CAP_CHOWN | 1ull << CAP_DAC_OVERRIDE | \
			 1ull << CAP_FOWNER | 1ull << CAP_FSETID)

#define SECURE_BITS_LOCKED	(SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | \
				 SECBIT_NO_SETUID_FIXUP | SECBIT_NO_SETUID_FIXUP_LOCKED | \
				 SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE | \
				 SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED)

/* Written by jail_prepare(), read by the others. */
static struct {
	bool off, entered;
	int landlock_fd;	/* -1: none */
	uint64_t caps;		/* kept */
	char notes[160];
} jail = { .landlock_fd = -1 };

static void note_add(const char *what)
{
	size_t len = strlen(jail.notes);

	snprintf(jail.notes + len, sizeof(jail.notes) - len, "%s%s", len ? ", " : "", what);
}

const char *jail_notes(void)
{
	return jail.notes;
}

/* --- Landlock ------------------------------------------------------------------------------ */

/* Every right that this kernel's Landlock can take away. */
static void landlock_handled(int abi, struct landlock_ruleset *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->fs = LANDLOCK_FS_1;
	if (abi >= 2)
		attr->fs |= LANDLOCK_FS_REFER;
	if (abi >= 3)
		attr->fs |= LANDLOCK_FS_TRUNCATE;
	if (abi >= 4)
		attr->net = LANDLOCK_NET_ALL;
	if (abi >= 5)
		attr->fs |= LANDLOCK_FS_IOCTL_DEV;
	if (abi >= 6)
		attr->scoped = LANDLOCK_SCOPE_ALL;
}

/* Older kernels refuse a structure with a part they do not know, even if it is zero-filled. */
static size_t landlock_attr_size(int abi)
{
	if (abi >= 6)
		return sizeof(struct landlock_ruleset);
	return abi >= 4 ? offsetof(struct landlock_ruleset, scoped) :
	       offsetof(struct landlock_ruleset, net);
}

static int landlock_allow(int ruleset, int fd, uint64_t rights)
{
	struct landlock_path_beneath_attr beneath = { .allowed_access = rights, .parent_fd = fd };
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		beneath.allowed_access &= LANDLOCK_FS_FILE;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0))
		return -errno;
	return 0;
}

static int landlock_prepare(const int *ro_fds, size_t n_ro, const int *rw_fds, size_t n_rw)
{
	struct landlock_ruleset attr;
	int abi, fd, ret = 0;

	abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
	if (abi < 1) {
		note_add("no Landlock on this host");
		return 0;
	}
	landlock_handled(abi, &attr);
	fd = syscall(SYS_landlock_create_ruleset, &attr, landlock_attr_size(abi), 0);
	if (fd < 0) {
		note_add("Landlock refused its rules");
		return 0;
	}
	for (size_t i = 0; i < n_ro && !ret; i++)
		ret = landlock_allow(fd, ro_fds[i], attr.fs & LANDLOCK_FS_READ);
	for (size_t i = 0; i < n_rw && !ret; i++)
		ret = landlock_allow(fd, rw_fds[i], attr.fs & LANDLOCK_FS_WRITE);
	if (ret) {
		close(fd);
		return ret;
	}
	jail.landlock_fd = fd;
	return 0;
}

int jail_prepare(const struct config *cfg, const int *ro_fds, size_t n_ro, const int *rw_fds, size_t n_rw)
{
	jail.off = cfg->no_jail;
	if (jail.off)
		return 0;
#ifdef __SANITIZE_ADDRESS__
	/* The sanitizer's own files and system calls are none of ours to allow. */
	jail.off = true;
	note_add("no jail around a sanitized husk");
	return 0;
#endif
	jail.caps = geteuid() == 0 && n_rw ? CAP_FILES : 0;
	return landlock_prepare(ro_fds, n_ro, rw_fds, n_rw);
}

/* --- entering ------------------------------------------------------------------------------ */

/*
 * Permitted, effective, inheritable and ambient sets. The bounding set is left: it matters at
 * execve(2) only, which the filter kills, for which no_new_privs gains nothing, and where the
 * securebits take root's special treatment away; dropping it costs 41 calls (15 us).
 */
static void caps_drop(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct have[2], want[2];

	if (syscall(SYS_capget, &head, have))
		return;
	if (have[0].permitted >> CAP_SETPCAP & 1)
		prctl(PR_SET_SECUREBITS, SECURE_BITS_LOCKED, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int i = 0; i < 2; i++) {
		uint32_t mask = have[i].permitted & (uint32_t)(keep >> 32 * i);

		want[i] = (struct __user_cap_data_struct){ .effective = mask, .permitted = mask };
	}
	if (syscall(SYS_capset, &head, want))
		note_add("capabilities could not be dropped");
}

static int thread_enter(void)
{
	long ret;
	const struct sock_fprog prog = {
		.len = sizeof(seccomp_filter) / sizeof(seccomp_filter[0]),
		.filter = (struct sock_filter *)seccomp_filter,
	};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	caps_drop(jail.caps);
	if (jail.landlock_fd >= 0 && syscall(SYS_landlock_restrict_self, jail.landlock_fd, 0))
		note_add("Landlock refused its rules");
	/* TSYNC: should a thread exist already, it is held to the filter too. */
	ret = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &prog);
	if (ret)
		return ret < 0 ? -errno : -EBUSY;
	return 0;
}

int jail_enter_process(void)
{
	int ret;

	if (jail.off || jail.entered)
		return 0;
	ret = thread_enter();
	jail.entered = !ret;
	return ret;
}

int jail_enter_vcpu(void)
{
	/* Born inside. A thread that was not would run the guest unconfined: refuse. */
	return jail.off || jail.entered ? 0 : -EPERM;
}
