/* SPDX-License-Identifier: Apache-2.0 */
/* What tests/unit/guest_host.h says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include "core/percpu.h"
#include "husk/fuse.h"
#include "tests/unit/guest_host.h"

static struct process host_process;
static struct task host_task = { .proc = &host_process };
unsigned requests, forgets_seen;
u64 later_ns;
u32 trace_mask;
static struct fuse_server *server;

/* The caches keep what they have until the end. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

struct task *current_task(void)
{
	return &host_task;
}

void host_server_start(const char *ro, const char *rw)
{
	struct fuse_export e = { .host = ro, .guest = "/ro" };

	for (int i = 0; i < RLIM_COUNT; i++)
		host_process.rlim[i].cur = host_process.rlim[i].max = ~0ull;
	server = fuse_server_new();
	if (!server || fuse_server_add(server, &e))
		abort();
	e = (struct fuse_export){ .host = rw, .guest = "/rw", .rw = true };
	if (fuse_server_add(server, &e))
		abort();
}

long virtio_fs_request(const struct io_seg *in, unsigned nin, const struct io_seg *out, unsigned nout)
{
	struct iovec riov[272] = { 0 }, wiov[272] = { 0 };
	const struct fuse_in_header *h = in[0].p;
	const struct fuse_out_header *reply;
	size_t len;

	for (unsigned i = 0; i < nin; i++)
		riov[i] = (struct iovec){ in[i].p, in[i].len };
	for (unsigned i = 0; i < nout; i++)
		wiov[i] = (struct iovec){ out[i].p, out[i].len };
	requests++;
	forgets_seen += h->opcode == FUSE_BATCH_FORGET;
	len = fuse_handle(server, riov, nin, wiov, nout);
	if (!nout)
		return 0;
	reply = out[0].p;
	return len < sizeof(*reply) ? -EIO : reply->error ? reply->error : (long)reply->len;
}

void *kmalloc(size_t size)
{
	return malloc(size);
}

void *kzalloc(size_t size)
{
	return calloc(1, size);
}

void kfree(const void *p)
{
	free((void *)p);
}

char *kstrdup(const char *s)
{
	return strdup(s);
}

/* A struct page with its memory behind a pointer. */
struct host_page {
	struct page page;
	void *mem;
};

struct page *page_alloc(unsigned order, unsigned flags)
{
	struct host_page *p = calloc(1, sizeof(*p));

	p->page.refs = 1;
	p->mem = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
	memset(p->mem, flags & PAGE_ZEROED ? 0 : 0xa5, PAGE_SIZE << order);
	return &p->page;
}

void page_get(struct page *page)
{
	page->refs++;
}

void page_put(struct page *page)
{
	if (--page->refs)
		return;
	free(container_of(page, struct host_page, page)->mem);
	free(page);
}

void *page_addr(const struct page *page)
{
	return container_of(page, struct host_page, page)->mem;
}

u64 page_total_count(void)
{
	return 1 << 18;
}

u64 time_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec + later_ns;
}

u64 time_realtime_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (u64)ts.tv_sec * NSEC_PER_SEC + (u64)ts.tv_nsec;
}

void klog(const char *fmt, ...)
{
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	printf("Bail out! panic at %s:%d\n", file, line);
	abort();
}

void mutex_init(struct mutex *m)
{
	m->owner = NULL;
}

void mutex_lock(struct mutex *m)
{
	if (m->owner)
		panic_at(__FILE__, __LINE__, "locked");
	m->owner = &host_task;
}

void mutex_unlock(struct mutex *m)
{
	m->owner = NULL;
}

void waiter_add(struct wait_queue *wq, struct waiter *w)
{
	panic_at(__FILE__, __LINE__, "would sleep");
}

void waiter_del(struct waiter *w)
{
}

int wait_sleep(bool interruptible, u64 deadline_ns)
{
	return 0;
}

void wake_all(struct wait_queue *wq)
{
}

size_t copy_out_some(void *buf, const void *src, size_t len)
{
	memcpy(buf, src, len);
	return len;
}

int copy_out(void *buf, const void *src, size_t len)
{
	memcpy(buf, src, len);
	return 0;
}

int copy_in(void *dst, const void *buf, size_t len)
{
	memcpy(dst, buf, len);
	return 0;
}

int clear_out(void *buf, size_t len)
{
	memset(buf, 0, len);
	return 0;
}

void signal_send_current(int sig)
{
}

/* --- parts of the VFS that the file systems only point at --- */

void (*vfs_unmap)(struct inode *inode, u64 index, u64 n);

void locks_free(struct inode *inode)
{
}

s64 generic_llseek(struct file *file, s64 off, int whence)
{
	s64 from = whence == SEEK_CUR ? (s64)file->pos : whence == SEEK_END ? (s64)file->inode->size : 0;

	file->pos = (u64)(from + off);
	return from + off;
}
