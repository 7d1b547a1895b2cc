/* SPDX-License-Identifier: Apache-2.0 */
/* /proc/<pid>: the memory map, and the strings that the program was started with. */
#include <linux/auxvec.h>
#include <linux/errno.h>
#include <linux/stat.h>
#include "core/string.h"
#include "fs/procfs.h"
#include "mm/kmalloc.h"
#include "mm/vm.h"

#define MAPS_NAME_COLUMN 73	/* as the kernel pads it */
#define ARGS_CHUNK	4096u
#define ARGS_MAX	(2u << 20)

static u32 dev_major(u64 dev)
{
	return (u32)(dev >> 8 & 0xfff);
}

static u32 dev_minor(u64 dev)
{
	return (u32)((dev & 0xff) | (dev >> 12 & 0xfff00));
}

static void maps_name(struct seq *seq, const struct vma *vma, size_t line_start)
{
	char *buf, *path;

	if (vma->name) {
		seq_pad(seq, line_start, MAPS_NAME_COLUMN);
		seq_puts(seq, vma->name);
		return;
	}
	buf = vma->file && vma->file->dentry ? kmalloc(PAGE_SIZE) : NULL;
	if (!buf)
		return;
	path = dentry_path(vma->file->dentry, buf, PAGE_SIZE);
	seq_pad(seq, line_start, MAPS_NAME_COLUMN);
	seq_escape(seq, path ? path : "?", "\n");
	kfree(buf);
}

static void maps_line(struct seq *seq, const struct vma *vma)
{
	const struct inode *inode = vma->file ? vma->file->inode : NULL;
	u64 dev = inode && inode->sb ? inode->sb->dev : 0;
	size_t line_start = seq->len;

	seq_printf(seq, "%08llx-%08llx %c%c%c%c %08llx %02x:%02x %llu ",
		   (unsigned long long)vma->start, (unsigned long long)vma->end,
		   vma->flags & VM_READ ? 'r' : '-', vma->flags & VM_WRITE ? 'w' : '-',
		   vma->flags & VM_EXEC ? 'x' : '-', vma->flags & VM_SHARED ? 's' : 'p',
		   inode ? (unsigned long long)vma->pgoff << PAGE_SHIFT : 0ull,
		   dev_major(dev), dev_minor(dev), inode ? (unsigned long long)inode->ino : 0ull);
	maps_name(seq, vma, line_start);
	seq_puts(seq, "\n");
}

int proc_pid_maps(struct seq *seq, const struct pseudo *self)
{
	struct mm *mm = proc_process(self)->mm;
	struct vma *vma;

	if (!mm)
		return 0;
	list_for_each(vma, &mm->vmas, link)
		maps_line(seq, vma);
	return 0;
}

/* Sizes and flags; what is resident is counted for the process (statm), not for each mapping. */
int proc_pid_smaps(struct seq *seq, const struct pseudo *self)
{
	struct mm *mm = proc_process(self)->mm;
	struct vma *vma;

	if (!mm)
		return 0;
	list_for_each(vma, &mm->vmas, link) {
		maps_line(seq, vma);
		seq_printf(seq, "Size:           %8llu kB\nKernelPageSize: %8d kB\n"
			   "MMUPageSize:    %8d kB\nVmFlags:%s%s%s%s%s\n",
			   (unsigned long long)(vma->end - vma->start) >> 10, 4, 4,
			   vma->flags & VM_READ ? " rd" : "", vma->flags & VM_WRITE ? " wr" : "",
			   vma->flags & VM_EXEC ? " ex" : "", vma->flags & VM_SHARED ? " sh" : "",
			   vma->flags & VM_GROWSDOWN ? " gd" : "");
	}
	return 0;
}

/* Copying may sleep and the process may change or end meanwhile: look it up for each piece. */
static int args_copy(struct seq *seq, const struct pseudo *self, u64 from, u64 to)
{
	u8 *chunk = kmalloc(ARGS_CHUNK);
	int err = chunk ? 0 : -ENOMEM;

	to = MIN(to, from + ARGS_MAX);
	while (!err && from < to) {
		struct process *proc = proc_process(self);
		size_t n = MIN(to - from, (u64)ARGS_CHUNK);

		if (!proc || !proc->mm || mm_read_remote(proc->mm, from, chunk, n))
			break;
		seq_write(seq, chunk, n);
		from += n;
	}
	kfree(chunk);
	return err;
}

int proc_pid_cmdline(struct seq *seq, const struct pseudo *self)
{
	struct mm *mm = proc_process(self)->mm;

	return mm && mm->arg_end > mm->arg_start
	     ? args_copy(seq, self, mm->arg_start, mm->arg_end) : 0;
}

int proc_pid_environ(struct seq *seq, const struct pseudo *self)
{
	struct mm *mm = proc_process(self)->mm;

	return mm && mm->env_end > mm->env_start
	     ? args_copy(seq, self, mm->env_start, mm->env_end) : 0;
}

int proc_pid_auxv(struct seq *seq, const struct pseudo *self)
{
	struct mm *mm = proc_process(self)->mm;
	size_t n = 0;

	if (!mm)
		return 0;
	while (n + 2 < ARRAY_SIZE(mm->auxv) && mm->auxv[n] != AT_NULL)
		n += 2;
	seq_write(seq, mm->auxv, (n + 2) * sizeof(mm->auxv[0]));
	return 0;
}
