/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fakes of what the VFS uses: pages, heap, user copies, waiting, time, signals, the log. A wait
 * that nobody could end is an error of the test, or -ERESTARTSYS where a signal could end it.
 */
#include "core/fdt.h"
#include "fs/vfs_internal.h"

#include "vfs_fake.h"

/* No libc headers here: they clash with the UAPI ones. */
void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void free(void *p);
void *aligned_alloc(size_t align, size_t size);
void abort(void) __attribute__((noreturn));
int printf(const char *fmt, ...);
int vprintf(const char *fmt, va_list ap);
void *mmap(void *addr, size_t len, int prot, int flags, int fd, long off);
int clock_gettime(int id, struct timespec64 *ts);

struct fake_page {
	struct page page;
	void *mem;
};

#define PROCESSES 3

u32 trace_mask;
struct list process_list;
static struct process proc[PROCESSES];
static struct task task[PROCESSES];
static unsigned running;
static u64 pages_now, clock_skew;
static long fail_after = -1;
static struct dentry *roots[2];

struct task *current_task(void)
{
	return &task[running];
}

/* --- memory --- */

void *kmalloc(size_t size)
{
	return malloc(size ? size : 1);
}

void *kzalloc(size_t size)
{
	return calloc(1, size ? size : 1);
}

void kfree(const void *p)
{
	free((void *)(uintptr_t)p);
}

char *kstrdup(const char *s)
{
	size_t n = strlen(s) + 1;
	char *d = malloc(n);

	return d ? memcpy(d, s, n) : NULL;
}

struct page *page_alloc(unsigned order, unsigned flags)
{
	struct fake_page *f;

	if (fail_after >= 0 && fail_after-- == 0) {
		fail_after = 0;
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	f->mem = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);
	memset(f->mem, flags & PAGE_ZEROED ? 0 : 0xa5, PAGE_SIZE << order);
	f->page.refs = 1;
	pages_now++;
	return &f->page;
}

void page_get(struct page *page)
{
	kassert(page->refs);
	page->refs++;
}

void page_put(struct page *page)
{
	struct fake_page *f = container_of(page, struct fake_page, page);

	kassert(page->refs);
	if (--page->refs)
		return;
	pages_now--;
	free(f->mem);
	free(f);
}

void *page_addr(const struct page *page)
{
	return container_of(page, const struct fake_page, page)->mem;
}

u64 page_total_count(void)
{
	return 131072;		/* 512 MiB */
}

unsigned long fake_pages(void)
{
	return pages_now;
}

void fake_fail_pages(long after)
{
	fail_after = after;
}

/* --- user memory --- */

static bool user_window(u64 addr, size_t len)
{
	return addr >= USER_BASE && addr <= USER_BASE + USER_SIZE &&
	       len <= USER_BASE + USER_SIZE - addr;
}

static bool access_ok(u64 addr, size_t len)
{
	return addr > USER_TOP / 4 || user_window(addr, len);	/* kernel memory is high */
}

int copy_from_user(void *dst, u64 src, size_t len)
{
	if (len && !user_window(src, len))
		return -EFAULT;
	memcpy(dst, (void *)(uintptr_t)src, len);
	return 0;
}

int copy_to_user(u64 dst, const void *src, size_t len)
{
	if (len && !user_window(dst, len))
		return -EFAULT;
	memcpy((void *)(uintptr_t)dst, src, len);
	return 0;
}

long strncpy_from_user(char *dst, u64 src, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!user_window(src + i, 1))
			return -EFAULT;
		dst[i] = *(char *)(uintptr_t)(src + i);
		if (!dst[i])
			return (long)i;
	}
	return -ENAMETOOLONG;
}

int copy_in(void *dst, const void *buf, size_t len)
{
	if (!access_ok((u64)(uintptr_t)buf, len))
		return -EFAULT;
	memcpy(dst, buf, len);
	return 0;
}

int copy_out(void *buf, const void *src, size_t len)
{
	if (!access_ok((u64)(uintptr_t)buf, len))
		return -EFAULT;
	memcpy(buf, src, len);
	return 0;
}

int clear_out(void *buf, size_t len)
{
	if (!access_ok((u64)(uintptr_t)buf, len))
		return -EFAULT;
	memset(buf, 0, len);
	return 0;
}

/* --- waiting: one thread --- */

void wake_all(struct wait_queue *wq) { }
void waiter_add(struct wait_queue *wq, struct waiter *w) { }
void waiter_del(struct waiter *w) { }

int wait_sleep(bool interruptible, u64 deadline_ns)
{
	if (!interruptible)
		panic("a wait that nobody ends");
	return -ERESTARTSYS;
}

void mutex_init(struct mutex *m)
{
	m->owner = NULL;
	wait_queue_init(&m->wq);
}

void mutex_lock(struct mutex *m)
{
	if (m->owner)
		panic("mutex locked twice");
	m->owner = current;
}

void mutex_unlock(struct mutex *m)
{
	if (!m->owner)
		panic("mutex not locked");
	m->owner = NULL;
}

/* --- the rest --- */

u64 time_realtime_ns(void)
{
	struct timespec64 ts;

	clock_gettime(0, &ts);
	return (u64)ts.sec * NSEC_PER_SEC + (u64)ts.nsec;
}

u64 time_monotonic_ns(void)
{
	struct timespec64 ts;

	clock_gettime(1, &ts);
	return (u64)ts.sec * NSEC_PER_SEC + (u64)ts.nsec + clock_skew;
}

void fake_clock_add(uint64_t ns)
{
	clock_skew += ns;
}

void signal_send_current(int sig) { }

bool signal_pending(void)
{
	return false;
}

void klog(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

void panic_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	printf("# panic at %s:%d: ", file, line);
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
	abort();
}

void fake_ids(unsigned uid, unsigned gid)
{
	for (unsigned i = 0; i < PROCESSES; i++) {
		struct cred *c = &proc[i].cred;

		c->uid = c->euid = c->suid = c->fsuid = uid;
		c->gid = c->egid = c->sgid = c->fsgid = gid;
	}
}

void fake_nofile(unsigned long limit)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		proc[i].rlim[7] = (struct rlim){ limit, limit };
}

void fake_pid(int pid)
{
	proc[running].pid = pid;
}

void fake_process(unsigned n)
{
	if (n && !proc[n].files)
		proc[n].files = files_fork(proc[0].files);
	running = n;
}

static long null_rw(struct file *file, void *buf, size_t len, u64 *pos)
{
	return 0;
}

static const struct file_ops null_ops = { .read = null_rw };

void fake_init(void)
{
	void *win = mmap((void *)USER_BASE, USER_SIZE, 3, 0x21 | 0x100000, -1, 0);

	if (win != (void *)USER_BASE)
		panic("no window for user memory");
	list_init(&process_list);
	vfs_init();
	for (unsigned i = 0; i < PROCESSES; i++) {
		task[i].proc = &proc[i];
		proc[i].pid = 100 + (s32)i;
		for (unsigned j = 0; j < RLIM_COUNT; j++)
			proc[i].rlim[j] = (struct rlim){ ~0ull, ~0ull };
	}
	fake_nofile(600);
	proc[0].files = files_new();
	for (int fd = 0; fd < 3; fd++)
		fd_install(file_new_anon(&null_ops, "[null]", NULL, O_RDWR), 0);
}

static void set_root(struct dentry *d)
{
	mount_set_root(d);
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (proc[i].fs)
			fs_put(proc[i].fs);
		proc[i].fs = fs_new();
	}
}

void fake_reroot(void)
{
	set_root(root_dentry());
}

int fake_root_tmpfs(void)
{
	struct super *sb;
	struct mount *m;
	int err = tmpfs_mount(0, 0755, &sb);

	if (!err)
		err = vfs_mount(sb, NULL, 0, "tmpfs", &m);
	if (err)
		return err;
	list_add_tail(&mount_list, &m->link);
	roots[0] = m->root;
	set_root(m->root);
	return 0;
}

int fake_root_overlay(void)
{
	struct dentry *old = root_dentry();
	struct super *sb;
	struct mount *m;
	int err = overlay_new(old->mount->sb, &sb);

	if (!err)
		err = vfs_mount(sb, NULL, 0, "overlay", &m);
	if (err)
		return err;
	list_add_tail(&mount_list, &m->link);
	roots[1] = m->root;
	set_root(m->root);
	return 0;
}

void fake_root_swap(void)
{
	set_root(root_dentry() == roots[0] ? roots[1] : roots[0]);
}

void fake_fini(void)
{
	running = 0;
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (proc[i].files)
			files_put(proc[i].files);
		if (proc[i].fs)
			fs_put(proc[i].fs);
		proc[i].files = NULL;
		proc[i].fs = NULL;
	}
	dcache_reclaim(~0ull);
}

/* Other authors' file systems, not in these tests unless a test brings its own. */
__attribute__((weak)) int fusefs_mount(const char *source, bool readonly, struct super **out)
{
	return -ENODEV;
}

__attribute__((weak)) int devfs_mount(struct super **out)
{
	return tmpfs_mount(0, 0755, out);
}

__attribute__((weak)) int procfs_mount(struct super **out)
{
	return tmpfs_mount(0, 0555, out);
}

/* --- a devicetree as a table: node n is line n; a property is a line too --- */

const struct fake_fdt_line *fake_fdt;

static int fdt_line(int parent, int after, const char *name, bool prop)
{
	for (int i = after + 1; fake_fdt && fake_fdt[i].name; i++) {
		const struct fake_fdt_line *l = &fake_fdt[i];

		if (l->parent == parent && (l->value != NULL) == prop &&
		    (!name || !strcmp(l->name, name)))
			return i;
	}
	return -1;
}

int fdt_root(const struct fdt *fdt)
{
	return 0;
}

int fdt_child(const struct fdt *fdt, int node)
{
	return fdt_line(node, 0, NULL, false);
}

int fdt_next(const struct fdt *fdt, int node)
{
	return fdt_line(fake_fdt[node].parent, node, NULL, false);
}

const char *fdt_name(const struct fdt *fdt, int node)
{
	return fake_fdt[node].name;
}

int fdt_find(const struct fdt *fdt, int node, const char *name)
{
	return fdt_line(node, 0, name, false);
}

const void *fdt_prop(const struct fdt *fdt, int node, const char *name, u32 *len)
{
	int i = fdt_line(node, 0, name, true);

	if (i < 0)
		return NULL;
	if (len)
		*len = (u32)fake_fdt[i].len;
	return fake_fdt[i].value;
}

const char *fdt_str(const struct fdt *fdt, int node, const char *name)
{
	return fdt_prop(fdt, node, name, NULL);
}

u64 fdt_u32(const struct fdt *fdt, int node, const char *name, u64 otherwise)
{
	const u32 *v = fdt_prop(fdt, node, name, NULL);

	return v ? *v : otherwise;
}
