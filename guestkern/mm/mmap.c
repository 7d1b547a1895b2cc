/* SPDX-License-Identifier: Apache-2.0 */
/* System calls on address spaces: mmap(2), munmap, mprotect, brk, mremap, madvise and relatives. */
#include "mm/syscalls.h"
#include "mm/kmalloc.h"
#include "mm/pgtable.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "core/string.h"
#include "fs/shmem.h"
#include "fs/vfs.h"
#include "proc/task.h"
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include <linux/resource.h>

#define PROT_ALL (PROT_READ | PROT_WRITE | PROT_EXEC)

static u32 prot_flags(int prot)
{
	return (prot & PROT_READ ? VM_READ : 0) | (prot & PROT_WRITE ? VM_WRITE : 0) |
	       (prot & PROT_EXEC ? VM_EXEC : 0);
}

static int mmap_check_file(const struct file *file, int prot, bool shared)
{
	int mode = (int)(file->flags & O_ACCMODE);

	if (mode == O_WRONLY)
		return -EACCES;
	if (shared && (prot & PROT_WRITE) && mode != O_RDWR)
		return -EACCES;
	return file->ops->mmap ? 0 : -ENODEV;
}

/* Where the mapping goes; the old ones there are gone afterwards for MAP_FIXED. */
static s64 mmap_place(struct mm *mm, u64 addr, u64 len, int flags, bool anon)
{
	u64 at;
	int ret;

	if (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) {
		struct vma *vma;

		if (addr & ~PAGE_MASK)
			return -EINVAL;
		if (!user_ok(addr, len))
			return -ENOMEM;
		vma = vma_find_from(mm, addr);
		if ((flags & MAP_FIXED_NOREPLACE) && vma && vma->start < addr + len)
			return -EEXIST;
		ret = mm_unmap(mm, addr, len);
		return ret ? ret : (s64)addr;
	}
	addr = ALIGN_DOWN(addr, PAGE_SIZE);
	if (addr && user_ok(addr, len)) {
		struct vma *vma = vma_find_from(mm, addr);

		if (!vma || vma->start >= addr + len)
			return (s64)addr;
	}
	at = mm_find_gap(mm, len, anon && len >= HUGE_SIZE ? HUGE_SIZE : PAGE_SIZE, mm->mmap_top);
	return at ? (s64)at : -ENOMEM;
}

s64 mm_mmap(struct mm *mm, u64 addr, u64 len, int prot, int flags, struct file *file, u64 off)
{
	bool shared = (flags & MAP_TYPE) != MAP_PRIVATE;
	u32 vm_flags = prot_flags(prot) | (shared ? VM_SHARED : 0);
	struct vma *vma;
	s64 at;
	int ret;

	if (!len || (off & ~PAGE_MASK) || (prot & ~(PROT_ALL | PROT_GROWSDOWN | PROT_GROWSUP)))
		return -EINVAL;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (!len || len > USER_TOP)
		return -ENOMEM;
	if (file) {
		ret = mmap_check_file(file, prot, shared);
		if (ret)
			return ret;
	}
	/* Linux's heuristic overcommit: refuse what can never be there. */
	if (!file && (prot & PROT_WRITE) && !(flags & MAP_NORESERVE) &&
	    len >> PAGE_SHIFT > page_total_count())
		return -ENOMEM;
	if (flags & (MAP_STACK | MAP_GROWSDOWN))
		vm_flags |= VM_NOHUGE;
	at = mmap_place(mm, addr, len, flags, !file);
	if (at < 0)
		return at;
	vma = vma_map(mm, (u64)at, len, vm_flags, file, off >> PAGE_SHIFT);
	if (!vma)
		return -ENOMEM;
	ret = file ? file->ops->mmap(file, vma) : 0;
	if (ret) {
		mm_unmap(mm, (u64)at, len);
		return ret;
	}
	return at;
}

long sys_mmap(u64 addr, u64 len, int prot, int flags, int fd, u64 off)
{
	struct file *file = NULL;
	s64 at;

	if ((flags & MAP_TYPE) == 0 || (flags & MAP_TYPE) > MAP_SHARED_VALIDATE)
		return -EINVAL;
	if (!(flags & MAP_ANONYMOUS)) {
		file = fd_file(fd);
		if (!file)
			return -EBADF;
	} else if ((flags & MAP_TYPE) != MAP_PRIVATE) {
		/* Shared between relatives: pages of a nameless tmpfs file. */
		file = shmem_file(ALIGN_UP(len, PAGE_SIZE));
		if (!file)
			return -ENOMEM;
		off = 0;
	}
	at = mm_mmap(current->proc->mm, addr, len, prot, flags, file, off);
	if (file)
		file_put(file);
	if (at > 0 && (flags & (MAP_POPULATE | MAP_LOCKED)))
		sys_madvise((u64)at, len, MADV_POPULATE_READ);
	return at;
}

static bool range_bad(u64 addr, u64 len)
{
	return (addr & ~PAGE_MASK) || !len || !user_ok(addr, ALIGN_UP(len, PAGE_SIZE)) ||
	       len > USER_TOP;
}

long sys_munmap(u64 addr, u64 len)
{
	if (range_bad(addr, len))
		return -EINVAL;
	return mm_unmap(current->proc->mm, addr, ALIGN_UP(len, PAGE_SIZE));
}

long sys_mprotect(u64 addr, u64 len, int prot)
{
	struct mm *mm = current->proc->mm;

	if (prot & ~(PROT_ALL | PROT_GROWSDOWN | PROT_GROWSUP | PROT_SEM))
		return -EINVAL;
	if (addr & ~PAGE_MASK)
		return -EINVAL;
	if (!len)
		return 0;
	if (range_bad(addr, len))
		return -ENOMEM;
	len = ALIGN_UP(len, PAGE_SIZE);
	if (prot & PROT_WRITE) {
		for (struct vma *v = vma_find_from(mm, addr); v && v->start < addr + len;
		     v = vma_find_from(mm, v->end))
			if ((v->flags & VM_SHARED) && v->file && (v->file->flags & O_ACCMODE) != O_RDWR)
				return -EACCES;
	}
	return mm_protect(mm, addr, len, prot_flags(prot));
}

long sys_brk(u64 brk)
{
	struct mm *mm = current->proc->mm;
	u64 old = ALIGN_UP(mm->brk, PAGE_SIZE), new = ALIGN_UP(brk, PAGE_SIZE);
	struct vma *vma;

	if (brk < mm->brk_start || brk > USER_TOP ||
	    brk - mm->brk_start > current->proc->rlim[RLIMIT_DATA].cur ||
	    (brk - mm->brk_start) >> PAGE_SHIFT > page_total_count())
		return (long)mm->brk;
	if (new < old) {
		mm_unmap(mm, new, old - new);
	} else if (new > old) {
		vma = vma_find_from(mm, old);
		if (vma && vma->start < new)
			return (long)mm->brk;
		vma = vma_map(mm, old, new - old, VM_READ | VM_WRITE, NULL, 0);
		if (!vma)
			return (long)mm->brk;
		vma->name = "[heap]";
		mm_protect(mm, old, new - old, VM_READ | VM_WRITE);	/* merges with the heap so far */
	}
	mm->brk = brk;
	return (long)brk;
}

/* Grow in place if the room behind is free. */
static bool mremap_grow(struct mm *mm, struct vma *vma, u64 addr, u64 old_len, u64 new_len)
{
	struct vma *next = vma_find_from(mm, addr + old_len);

	if (vma->end != addr + old_len || !user_ok(addr, new_len))
		return false;
	if (next && next->start < addr + new_len)
		return false;
	mm->total_pages += (new_len - old_len) >> PAGE_SHIFT;
	vma->end = addr + new_len;
	return true;
}

static s64 mremap_move(struct mm *mm, struct vma *vma, u64 addr, u64 old_len, u64 new_len, u64 to)
{
	u64 pgoff = vma->pgoff + ((addr - vma->start) >> PAGE_SHIFT);
	struct vma *new = vma_map(mm, to, new_len, vma->flags, vma->file, pgoff);
	int ret;

	if (!new)
		return -ENOMEM;
	new->inode = vma->inode;
	new->name = vma->name;
	ret = pgtable_move(mm, addr, to, MIN(old_len, new_len));
	if (ret) {
		mm_unmap(mm, to, new_len);
		return ret;
	}
	mm_unmap(mm, addr, old_len);
	return (s64)to;
}

long sys_mremap(u64 addr, u64 old_len, u64 new_len, u64 flags, u64 new_addr)
{
	struct mm *mm = current->proc->mm;
	struct vma *vma = vma_find(mm, addr);
	u64 to;
	int ret;

	if ((flags & ~(u64)(MREMAP_MAYMOVE | MREMAP_FIXED)) || (addr & ~PAGE_MASK) || !new_len ||
	    ((flags & MREMAP_FIXED) && !(flags & MREMAP_MAYMOVE)))
		return -EINVAL;
	old_len = ALIGN_UP(old_len, PAGE_SIZE);
	new_len = ALIGN_UP(new_len, PAGE_SIZE);
	if (!vma || !old_len || vma->end - addr < old_len || new_len > USER_TOP)
		return -EFAULT;
	if (flags & MREMAP_FIXED) {
		if (range_bad(new_addr, new_len) ||
		    (new_addr < addr + old_len && addr < new_addr + new_len))
			return -EINVAL;
		ret = mm_unmap(mm, new_addr, new_len);
		vma = vma_find(mm, addr);
		return ret ? ret : mremap_move(mm, vma, addr, old_len, new_len, new_addr);
	}
	if (new_len <= old_len) {
		ret = new_len < old_len ? mm_unmap(mm, addr + new_len, old_len - new_len) : 0;
		return ret ? ret : (long)addr;
	}
	if (mremap_grow(mm, vma, addr, old_len, new_len))
		return (long)addr;
	if (!(flags & MREMAP_MAYMOVE))
		return -ENOMEM;
	to = mm_find_gap(mm, new_len, new_len >= HUGE_SIZE ? HUGE_SIZE : PAGE_SIZE, mm->mmap_top);
	return to ? mremap_move(mm, vma, addr, old_len, new_len, to) : -ENOMEM;
}

static int madvise_populate(u64 addr, u64 end, bool write)
{
	int code, ret;

	for (; addr < end; addr += PAGE_SIZE) {
		bool huge;
		u64 *pte = pte_find(current->proc->mm, addr, &huge);

		if (pte && (*pte & PTE_P) && (!write || (*pte & PTE_W)))
			continue;
		ret = mm_fault(current->proc->mm, addr, write ? FAULT_WRITE : 0, &code);
		if (ret)
			return -EFAULT;
	}
	return 0;
}

long sys_madvise(u64 addr, u64 len, int advice)
{
	struct mm *mm = current->proc->mm;
	u64 end = addr + ALIGN_UP(len, PAGE_SIZE);

	if ((addr & ~PAGE_MASK) || (len && range_bad(addr, len)))
		return -EINVAL;
	for (u64 at = addr; at < end;) {
		struct vma *vma = vma_find_from(mm, at);

		if (!vma || vma->start > at)
			return -ENOMEM;
		at = vma->end;
	}
	switch (advice) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
		pgtable_unmap(mm, addr, end);
		return 0;
	case MADV_FREE:			/* the pages may stay as they are */
	case MADV_NORMAL: case MADV_RANDOM: case MADV_SEQUENTIAL: case MADV_WILLNEED:
	case MADV_HUGEPAGE: case MADV_NOHUGEPAGE: case MADV_DONTDUMP: case MADV_DODUMP:
	case MADV_COLD: case MADV_PAGEOUT: case MADV_MERGEABLE: case MADV_UNMERGEABLE:
		return 0;
	case MADV_POPULATE_READ:
		return madvise_populate(addr, end, false);
	case MADV_POPULATE_WRITE:
		return madvise_populate(addr, end, true);
	default:
		return -EINVAL;
	}
}

long sys_msync(u64 addr, u64 len, int flags)
{
	struct mm *mm = current->proc->mm;
	u64 end = addr + ALIGN_UP(len, PAGE_SIZE);

	if ((addr & ~PAGE_MASK) || (flags & ~(MS_ASYNC | MS_SYNC | MS_INVALIDATE)) ||
	    (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC))
		return -EINVAL;
	while (addr < end) {
		struct vma *vma = vma_find_from(mm, addr);
		struct file *file;
		int ret = 0;

		if (!vma || vma->start > addr)
			return -ENOMEM;
		addr = vma->end;
		file = vma->file;
		if (!file || !(vma->flags & VM_SHARED) || !(flags & MS_SYNC) || !file->ops->fsync)
			continue;
		file_get(file);
		ret = file->ops->fsync(file, true);
		file_put(file);
		if (ret)
			return ret;
	}
	return 0;
}

long sys_mincore(u64 addr, u64 len, u64 vec)
{
	struct mm *mm = current->proc->mm;

	if (addr & ~PAGE_MASK)
		return -EINVAL;
	for (u64 end = addr + ALIGN_UP(len, PAGE_SIZE); addr < end; addr += PAGE_SIZE, vec++) {
		bool huge;
		u64 *pte;
		u8 in;

		if (!vma_find(mm, addr))
			return -ENOMEM;
		pte = pte_find(mm, addr, &huge);
		in = pte && (*pte & PTE_P);
		if (copy_to_user(vec, &in, 1))
			return -EFAULT;
	}
	return 0;
}

/* There is no swap: everything is locked. */
long sys_mlock(u64 addr, u64 len)
{
	return len && !vma_find(current->proc->mm, addr) ? -ENOMEM : 0;
}

long sys_mlock2(u64 addr, u64 len, int flags)
{
	return flags & ~MLOCK_ONFAULT ? -EINVAL : sys_mlock(addr, len);
}

long sys_munlock(u64 addr, u64 len)
{
	return sys_mlock(addr, len);
}

long sys_mlockall(int flags)
{
	return !flags || (flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) ? -EINVAL : 0;
}

long sys_munlockall(void)
{
	return 0;
}
