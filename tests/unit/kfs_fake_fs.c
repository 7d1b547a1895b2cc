/* SPDX-License-Identifier: Apache-2.0 */
/* Memory, inodes, descriptors, console and device tree of the test kernel (kfs_fake.h). */
#define _GNU_SOURCE
#include "kfs_fake.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fdt.h"
#include "core/print.h"
#include "drivers/drivers.h"
#include "fs/kfs.h"
#include "mm/kmalloc.h"
#include "mm/page.h"
#include "mm/uaccess.h"
#include "mm/vm.h"

#define FAKE_FDS 4096

struct files { struct file *file[FAKE_FDS]; bool cloexec[FAKE_FDS]; };
struct fake_page { struct page page; u8 *mem; };

unsigned fake_pages, fake_allocs;
int fake_kmalloc_fail;
char fake_console_out[2][1 << 17];
size_t fake_console_len[2];
bool fake_console_closed;
int (*vfs_fifo_open)(struct inode *inode, struct file *file);
int (*vfs_device_open)(struct inode *inode, struct file *file);
long (*vfs_pipe_size)(struct file *file, u64 size);
void (*vfs_epoll_release)(struct file *file);
struct list mount_list = LIST_INIT(mount_list);
u32 trace_mask;

/* --- memory --------------------------------------------------------------------------------- */

void *kzalloc(size_t size)
{
	if (fake_kmalloc_fail && --fake_kmalloc_fail == 0)
		return NULL;
	fake_allocs++;
	return calloc(1, size ? size : 1);
}

void *kmalloc(size_t size)
{
	void *p = kzalloc(size);

	if (p)
		memset(p, 0xa5, size);
	return p;
}

void kfree(const void *p)
{
	if (p)
		fake_allocs--;
	free((void *)p);
}

struct page *page_alloc(unsigned order, unsigned flags)
{
	struct fake_page *fp;

	if (fake_kmalloc_fail && --fake_kmalloc_fail == 0)
		return NULL;
	fp = calloc(1, sizeof(*fp));
	fp->mem = malloc(PAGE_SIZE << order);
	memset(fp->mem, flags & PAGE_ZEROED ? 0 : 0x5a, PAGE_SIZE << order);
	fp->page.refs = 1;
	fake_pages++;
	return &fp->page;
}

void page_get(struct page *page)
{
	page->refs++;
}

void page_put(struct page *page)
{
	struct fake_page *fp = container_of(page, struct fake_page, page);

	if (--page->refs)
		return;
	free(fp->mem);
	free(fp);
	fake_pages--;
}

void *page_addr(const struct page *page)
{
	return container_of((struct page *)page, struct fake_page, page)->mem;
}

u64 page_free_count(void)
{
	return 100000;
}

u64 page_total_count(void)
{
	return 131072;
}

u64 pagecache_total(void)
{
	return 512;
}

static bool addr_bad(u64 addr, size_t len)
{
	return len && addr < 0x10000;
}

int copy_from_user(void *dst, u64 src, size_t len)
{
	if (addr_bad(src, len))
		return -EFAULT;
	if (len)
		memcpy(dst, (void *)(uintptr_t)src, len);
	return 0;
}

int copy_to_user(u64 dst, const void *src, size_t len)
{
	if (addr_bad(dst, len))
		return -EFAULT;
	if (len)
		memcpy((void *)(uintptr_t)dst, src, len);
	return 0;
}

size_t copy_out_some(void *buf, const void *src, size_t len)
{
	memcpy(buf, src, len);
	return len;
}

int copy_out(void *buf, const void *src, size_t len)
{
	return copy_to_user(U(buf), src, len);
}

int copy_in(void *dst, const void *buf, size_t len)
{
	return copy_from_user(dst, U(buf), len);
}

int clear_out(void *buf, size_t len)
{
	if (addr_bad(U(buf), len))
		return -EFAULT;
	memset(buf, 0, len);
	return 0;
}

long strncpy_from_user(char *dst, u64 src, size_t size)
{
	size_t n = strnlen((char *)(uintptr_t)src, size);

	memcpy(dst, (char *)(uintptr_t)src, MIN(n + 1, size));
	return n == size ? -ENAMETOOLONG : (long)n;
}

int mm_read_remote(struct mm *mm, u64 addr, void *buf, size_t len)
{
	return copy_from_user(buf, addr, len);
}

void random_bytes(void *buf, size_t len)
{
	static u8 next;

	for (size_t i = 0; i < len; i++)
		((u8 *)buf)[i] = next++;
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	printf("Bail out! panic at %s:%d: %s\n", file, line, fmt);
	fflush(stdout);
	abort();
}

/* --- inodes and files ----------------------------------------------------------------------- */

struct inode *inode_new(struct super *sb, u32 mode)
{
	struct inode *inode = calloc(1, sizeof(*inode));

	inode->refs = 1;
	inode->sb = sb;
	inode->mode = mode;
	inode->nlink = 1;
	return inode;
}

void inode_get(struct inode *inode)
{
	inode->refs++;
}

void inode_put(struct inode *inode)
{
	if (--inode->refs)
		return;
	if (inode->ops && inode->ops->evict)
		inode->ops->evict(inode);
	free(inode);
}

struct dentry *dentry_new_anon(struct inode *inode, const char *label)
{
	struct dentry *dentry = calloc(1, sizeof(*dentry) + 64);

	dentry->name = dentry->inline_name;
	snprintf(dentry->name, 64, "%s", label);
	dentry->refs = 1;
	dentry->inode = inode;
	inode_get(inode);
	return dentry;
}

void dentry_get(struct dentry *dentry)
{
	dentry->refs++;
}

void dentry_put(struct dentry *dentry)
{
	if (--dentry->refs)
		return;
	if (dentry->inode)
		inode_put(dentry->inode);
	free(dentry);
}

char *dentry_path(struct dentry *dentry, char *buf, size_t size)
{
	int n = snprintf(buf, size, "/some/where/%s", dentry->name);

	return n < (int)size ? buf : NULL;
}

static struct super anon_super = { .type = "anon" };

struct file *file_new_inode(struct inode *inode, const struct file_ops *ops, const char *label,
			    void *priv, u32 flags)
{
	struct file *file = calloc(1, sizeof(*file));

	file->refs = 1;
	file->ops = ops;
	inode_get(inode);
	file->inode = inode;
	file->label = label;
	file->priv = priv;
	file->flags = flags;
	list_init(&file->epoll);
	return file;
}

struct file *file_new_anon(const struct file_ops *ops, const char *label, void *priv, u32 flags)
{
	struct inode *inode = inode_new(&anon_super, 0600);
	struct file *file = file_new_inode(inode, ops, label, priv, flags);

	inode_put(inode);
	return file;
}

void file_get(struct file *file)
{
	file->refs++;
}

void file_put(struct file *file)
{
	if (--file->refs)
		return;
	epoll_file_gone(file);
	if (file->ops->release)
		file->ops->release(file);
	if (file->inode)
		inode_put(file->inode);
	free(file);
}

int fake_open(struct inode *inode, u32 flags, struct file **out)
{
	struct file *file = file_new_inode(inode, inode->fops, NULL, NULL, flags);
	int err = inode->fops->open ? inode->fops->open(inode, file) : 0;

	if (!err) {
		*out = file;
		return 0;
	}
	inode_put(inode);
	free(file);
	return err;
}

s64 dir_llseek(struct file *file, s64 off, int whence)
{
	return (s64)(file->pos = (u64)off);
}

bool dir_emit_dots(struct file *file, struct dir_context *ctx)
{
	if (file->pos == 0 && ctx->emit(ctx, ".", 1, file->inode->ino, 4, 1))
		return false;
	return file->pos > 1 || !ctx->emit(ctx, "..", 2, file->inode->ino, 4, 2);
}

struct files *files_new(void)
{
	return calloc(1, sizeof(struct files));
}

struct file *fd_file_in(struct files *files, int fd)
{
	struct file *file = fd >= 0 && fd < FAKE_FDS ? files->file[fd] : NULL;

	if (file)
		file_get(file);
	return file;
}

bool fd_cloexec(struct files *files, int fd)
{
	return files->cloexec[fd];
}

unsigned fd_count(struct files *files)
{
	unsigned n = FAKE_FDS;

	while (n && !files->file[n - 1])
		n--;
	return n;
}

struct file *fake_file(int fd)
{
	return current->proc->files->file[fd];
}

struct file *fd_file(int fd)
{
	return fd_file_in(current->proc->files, fd);
}

int fd_install(struct file *file, unsigned cloexec)
{
	struct files *files = current->proc->files;

	for (int fd = 0; fd < FAKE_FDS && (u64)fd < current->proc->rlim[7].cur; fd++) {
		if (files->file[fd])
			continue;
		files->file[fd] = file;
		files->cloexec[fd] = cloexec;
		return fd;
	}
	return -EMFILE;
}

int fd_install_at(struct files *files, int fd, struct file *file)
{
	if (files->file[fd])
		file_put(files->file[fd]);
	files->file[fd] = file;
	return 0;
}

int fd_close(int fd)
{
	struct file *file = fd >= 0 && fd < FAKE_FDS ? fake_file(fd) : NULL;

	if (!file)
		return -EBADF;
	current->proc->files->file[fd] = NULL;
	file_put(file);
	return 0;
}

long fake_close(int fd)
{
	return fd_close(fd);
}

/* --- console and device tree ---------------------------------------------------------------- */

static struct wait_queue console_wq = WAIT_QUEUE_INIT(console_wq);
static u8 console_in[65536];
static size_t console_in_len;
static bool console_eof;
static void (*console_fn)(const u8 *bytes, size_t len, bool eof);

void fake_console_input(const void *bytes, size_t len, bool eof)
{
	if (console_fn) {
		console_fn(bytes, len, eof);
		return;
	}
	memcpy(console_in + console_in_len, bytes, len);
	console_in_len += len;
	console_eof |= eof;
	wake_all(&console_wq);
}

bool console_readable(void)
{
	return console_in_len || console_eof;
}

struct wait_queue *console_read_queue(void)
{
	return &console_wq;
}

long console_read(void *buf, size_t len, bool nonblock)
{
	int err;

	if (!console_readable() && nonblock)
		return -EAGAIN;
	err = wait_event(&console_wq, console_readable(), WAIT_FOREVER);
	if (err)
		return err;
	len = MIN(len, console_in_len);
	memcpy(buf, console_in, len);
	console_in_len -= len;
	memmove(console_in, console_in + len, console_in_len);
	return (long)len;
}

long console_write(unsigned port, const void *buf, size_t len)
{
	if (fake_console_closed)
		return -EPIPE;
	if (len > sizeof(fake_console_out[0]) - fake_console_len[port])
		abort();
	memcpy(fake_console_out[port] + fake_console_len[port], buf, len);
	fake_console_len[port] += len;
	return (long)len;
}

size_t console_write_nowait(unsigned port, const void *buf, size_t len)
{
	return fake_console_closed ? 0 : (size_t)console_write(port, buf, len);
}

void console_on_resize(void (*fn)(u16 rows, u16 cols))
{
}

void console_on_input(void (*fn)(const u8 *bytes, size_t len, bool eof))
{
	console_fn = fn;
}

static struct { const char *name; const void *value; u32 len; } props[8];
static unsigned nprops;
static const struct fdt the_fdt;

void fake_fdt_set(const char *name, const void *value, u32 len)
{
	props[nprops].name = name;
	props[nprops].value = value;
	props[nprops++].len = len;
}

const struct fdt *fake_fdt(void)
{
	return &the_fdt;
}

int fdt_root(const struct fdt *fdt)
{
	return 0;
}

int fdt_find(const struct fdt *fdt, int node, const char *name)
{
	return node + 1;
}

const void *fdt_prop(const struct fdt *fdt, int node, const char *name, u32 *len)
{
	for (unsigned i = 0; i < nprops; i++) {
		if (strcmp(props[i].name, name))
			continue;
		*len = props[i].len;
		return props[i].value;
	}
	*len = 0;
	return NULL;
}

const char *fdt_str(const struct fdt *fdt, int node, const char *name)
{
	u32 len;

	return fdt_prop(fdt, node, name, &len);
}

u64 fdt_u32(const struct fdt *fdt, int node, const char *name, u64 otherwise)
{
	return otherwise;
}

u64 fdt_u64(const struct fdt *fdt, int node, const char *name, u64 otherwise)
{
	return otherwise;
}
