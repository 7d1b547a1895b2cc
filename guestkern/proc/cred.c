/* SPDX-License-Identifier: Apache-2.0 */
/* User and group identities (credentials(7)): one set a process; the ID -1 means "leave it". */
#include <linux/errno.h>
#include "core/string.h"
#include "mm/uaccess.h"
#include "proc/misc.h"
#include "proc/syscalls_misc.h"
#include "proc/task.h"

#define KEEP 0xffffffffu

long sys_getuid(void)
{
	return current->proc->cred.uid;
}

long sys_geteuid(void)
{
	return current->proc->cred.euid;
}

long sys_getgid(void)
{
	return current->proc->cred.gid;
}

long sys_getegid(void)
{
	return current->proc->cred.egid;
}

static long put_three(u64 a, u32 x, u64 b, u32 y, u64 c, u32 z)
{
	if (copy_to_user(a, &x, sizeof(x)) || copy_to_user(b, &y, sizeof(y)))
		return -EFAULT;
	return copy_to_user(c, &z, sizeof(z));
}

long sys_getresuid(u64 ruid, u64 euid, u64 suid)
{
	const struct cred *c = &current->proc->cred;

	return put_three(ruid, c->uid, euid, c->euid, suid, c->suid);
}

long sys_getresgid(u64 rgid, u64 egid, u64 sgid)
{
	const struct cred *c = &current->proc->cred;

	return put_three(rgid, c->gid, egid, c->egid, sgid, c->sgid);
}

/*
 * The effects of a change of user on capabilities (capabilities(7)): none left when no ID is
 * root's any more, unless PR_SET_KEEPCAPS asked to keep the permitted ones.
 */
static void uid_changed(struct process *proc, const struct cred *old)
{
	const struct cred *c = &proc->cred;
	bool was_root = !old->uid || !old->euid || !old->suid;
	bool is_root = !c->uid || !c->euid || !c->suid;

	if (c->euid != old->euid || c->fsuid != old->fsuid)
		proc->dumpable = false;
	if (is_root)
		proc->cap_kept = 0;
	else if (was_root)
		proc->cap_kept = proc->keepcaps ? CAP_ALL & ~proc->cap_dropped : 0;
	if (!old->euid && c->euid)
		proc->cap_ineffective = proc->cap_kept;
	else if (old->euid && !c->euid)
		proc->cap_ineffective = 0;
}

static bool may_set(u32 id, u32 a, u32 b, u32 c)
{
	return id == KEEP || id == a || id == b || id == c;
}

long sys_setuid(u32 uid)
{
	struct process *proc = current->proc;
	struct cred old = proc->cred, *c = &proc->cred;

	if (uid == KEEP)
		return -EINVAL;
	if (capable_root())
		c->uid = c->suid = uid;
	else if (uid != c->uid && uid != c->suid)
		return -EPERM;
	c->euid = c->fsuid = uid;
	uid_changed(proc, &old);
	return 0;
}

long sys_setgid(u32 gid)
{
	struct cred *c = &current->proc->cred;

	if (gid == KEEP)
		return -EINVAL;
	if (capable_root())
		c->gid = c->sgid = gid;
	else if (gid != c->gid && gid != c->sgid)
		return -EPERM;
	c->egid = c->fsgid = gid;
	return 0;
}

long sys_setreuid(u32 ruid, u32 euid)
{
	struct process *proc = current->proc;
	struct cred old = proc->cred, *c = &proc->cred;

	if (!capable_root() && (!may_set(ruid, c->uid, c->euid, c->uid) ||
				!may_set(euid, c->uid, c->euid, c->suid)))
		return -EPERM;
	if (ruid != KEEP)
		c->uid = ruid;
	if (euid != KEEP)
		c->euid = euid;
	if (ruid != KEEP || (euid != KEEP && euid != old.uid))
		c->suid = c->euid;
	c->fsuid = c->euid;
	uid_changed(proc, &old);
	return 0;
}

long sys_setregid(u32 rgid, u32 egid)
{
	struct cred old = current->proc->cred, *c = &current->proc->cred;

	if (!capable_root() && (!may_set(rgid, c->gid, c->egid, c->gid) ||
				!may_set(egid, c->gid, c->egid, c->sgid)))
		return -EPERM;
	if (rgid != KEEP)
		c->gid = rgid;
	if (egid != KEEP)
		c->egid = egid;
	if (rgid != KEEP || (egid != KEEP && egid != old.gid))
		c->sgid = c->egid;
	c->fsgid = c->egid;
	return 0;
}

long sys_setresuid(u32 ruid, u32 euid, u32 suid)
{
	struct process *proc = current->proc;
	struct cred old = proc->cred, *c = &proc->cred;

	if (!capable_root() && (!may_set(ruid, c->uid, c->euid, c->suid) ||
				!may_set(euid, c->uid, c->euid, c->suid) ||
				!may_set(suid, c->uid, c->euid, c->suid)))
		return -EPERM;
	c->uid = ruid == KEEP ? c->uid : ruid;
	c->euid = euid == KEEP ? c->euid : euid;
	c->suid = suid == KEEP ? c->suid : suid;
	c->fsuid = c->euid;
	uid_changed(proc, &old);
	return 0;
}

long sys_setresgid(u32 rgid, u32 egid, u32 sgid)
{
	struct cred *c = &current->proc->cred;

	if (!capable_root() && (!may_set(rgid, c->gid, c->egid, c->sgid) ||
				!may_set(egid, c->gid, c->egid, c->sgid) ||
				!may_set(sgid, c->gid, c->egid, c->sgid)))
		return -EPERM;
	c->gid = rgid == KEEP ? c->gid : rgid;
	c->egid = egid == KEEP ? c->egid : egid;
	c->sgid = sgid == KEEP ? c->sgid : sgid;
	c->fsgid = c->egid;
	return 0;
}

/* Both return the old ID and never an error. */
long sys_setfsuid(u32 uid)
{
	struct process *proc = current->proc;
	struct cred old = proc->cred;

	if (uid != KEEP && (capable_root() || may_set(uid, old.uid, old.euid, old.suid) ||
			    uid == old.fsuid)) {
		proc->cred.fsuid = uid;
		uid_changed(proc, &old);
	}
	return old.fsuid;
}

long sys_setfsgid(u32 gid)
{
	struct cred *c = &current->proc->cred;
	u32 old = c->fsgid;

	if (gid != KEEP && (capable_root() || may_set(gid, c->gid, c->egid, c->sgid) ||
			    gid == old))
		c->fsgid = gid;
	return old;
}

long sys_getgroups(int size, u64 list)
{
	const struct cred *c = &current->proc->cred;

	if (size < 0 || (size && (u32)size < c->ngroups))
		return -EINVAL;
	if (size && copy_to_user(list, c->groups, c->ngroups * sizeof(c->groups[0])))
		return -EFAULT;
	return c->ngroups;
}

long sys_setgroups(int size, u64 list)
{
	struct cred *c = &current->proc->cred;
	u32 groups[ARRAY_SIZE(c->groups)];

	if (!capable_root())
		return -EPERM;
	if (size < 0 || (size_t)size > ARRAY_SIZE(groups))
		return -EINVAL;
	if (copy_from_user(groups, list, (size_t)size * sizeof(groups[0])))
		return -EFAULT;
	memcpy(c->groups, groups, (size_t)size * sizeof(groups[0]));
	c->ngroups = (u32)size;
	return 0;
}
