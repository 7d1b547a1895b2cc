/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/<pid>/mounts and mountinfo: the mount list in the formats of fstab(5) and proc(5). */
#include <linux/mount.h>
#include "core/string.h"
#include "fs/kfs.h"
#include "fs/procfs.h"

#define MOUNT_FIRST_ID	20
#define MOUNT_SPECIAL	" \t\n"		/* written as octal */

int mount_id(const struct mount *mount)
{
	struct mount *m;
	int id = MOUNT_FIRST_ID;

	list_for_each(m, &mount_list, link) {
		if (m == mount)
			return id;
		id++;
	}
	return 0;
}

static void mount_options(struct seq *seq, const struct mount *mount)
{
	static const struct { unsigned flag; const char *name; } names[] = {
		{ MS_NOSUID, ",nosuid" }, { MS_NODEV, ",nodev" }, { MS_NOEXEC, ",noexec" },
		{ MS_NOATIME, ",noatime" }, { MS_NODIRATIME, ",nodiratime" },
	};

	seq_puts(seq, mount->flags & MS_RDONLY || mount->sb->readonly ? "ro" : "rw");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (mount->flags & names[i].flag)
			seq_puts(seq, names[i].name);
	if (!(mount->flags & MS_NOATIME))
		seq_puts(seq, ",relatime");
}

static const char *mount_source(const struct mount *mount)
{
	return mount->source && *mount->source ? mount->source : "none";
}

int proc_mounts(struct seq *seq, const struct pseudo *self)
{
	struct mount *mount;

	list_for_each(mount, &mount_list, link) {
		seq_escape(seq, mount_source(mount), MOUNT_SPECIAL);
		seq_puts(seq, " ");
		seq_escape(seq, mount->target, MOUNT_SPECIAL);
		seq_printf(seq, " %s ", mount->sb->type);
		mount_options(seq, mount);
		seq_puts(seq, " 0 0\n");
	}
	return 0;
}

int proc_mountinfo(struct seq *seq, const struct pseudo *self)
{
	struct mount *mount;

	list_for_each(mount, &mount_list, link) {
		u64 dev = mount->sb->dev;
		int parent = mount->mountpoint ? mount_id(mount->mountpoint->mount) : 1;

		seq_printf(seq, "%d %d %u:%u / ", mount_id(mount), parent,
			   (unsigned)(dev >> 8 & 0xfff),
			   (unsigned)((dev & 0xff) | (dev >> 12 & 0xfff00)));
		seq_escape(seq, mount->target, MOUNT_SPECIAL);
		seq_puts(seq, " ");
		mount_options(seq, mount);
		seq_printf(seq, " - %s ", mount->sb->type);
		seq_escape(seq, mount_source(mount), MOUNT_SPECIAL);
		seq_puts(seq, mount->sb->readonly ? " ro\n" : " rw\n");
	}
	return 0;
}
