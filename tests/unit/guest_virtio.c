/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's virtio drivers against a small device model in this file: bring-up and its number of
 * register accesses, chains, merging, wrapping, interrupts when the device is late; the console's
 * and virtio-fs' conventions.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "tests/unit/tap.h"

#include "drivers/mmio.h"
#include "proc/task.h"
#undef current
#define current fake_current
static struct task *fake_current;

#define mmio_read8 fake_read8
#define mmio_read16 fake_read16
#define mmio_read32 fake_read32
#define mmio_write16 fake_write16
#define mmio_write32 fake_write32
#define mmio_write64 fake_write64
static u64 fake_read(const void *p, unsigned len);
static void fake_write(void *p, u64 v, unsigned len);

static u8 fake_read8(const void *p) { return (u8)fake_read(p, 1); }
static u16 fake_read16(const void *p) { return (u16)fake_read(p, 2); }
static u32 fake_read32(const void *p) { return (u32)fake_read(p, 4); }
static void fake_write16(void *p, u16 v) { fake_write(p, v, 2); }
static void fake_write32(void *p, u32 v) { fake_write(p, v, 4); }
static void fake_write64(void *p, u64 v) { fake_write(p, v, 8); }

#include "drivers/virtio.c"
#include "drivers/virtq.c"
#include "drivers/virtio_fs.c"
#define dev console_dev
#define started console_started
#include "drivers/virtio_console.c"

/* Queues live as long as the kernel does. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

#define QUEUES 6
#define BAR ((u8 *)0x10000000)
#define CONFIG ((u8 *)0x20000000)

/* --- the device --- */

static struct device_queue {
	u16 size, vector, enable, avail_idx, used_idx;
	u64 desc, avail, used;
} dq[QUEUES];

static struct {
	u32 select, word[2];
	u8 status;
	u16 queue, config_vector, command, msix_flags;
	u64 msix[2][2];
	unsigned accesses, kicks;
	u32 console_size;
} d;

static bool late;			/* do nothing on a notification */
static int owed_queue;			/* for when it is late */
static void (*serve)(unsigned q);	/* what the device does with a queue */

static void *host(u64 gpa)
{
	return (void *)(gpa + HUSK_DIRECT_MAP);
}

static void reset(void)
{
	memset(&d, 0, sizeof(d));
	memset(dq, 0, sizeof(dq));
	d.config_vector = 0xffff;
	for (unsigned i = 0; i < QUEUES; i++)
		dq[i] = (struct device_queue){ .size = 256, .vector = 0xffff };
	late = false;
	owed_queue = -1;
}

static void common_write(u64 off, u64 v, unsigned len)
{
	struct device_queue *q = &dq[d.queue];
	struct virtio_pci_common_cfg c = {
		.guest_feature_select = d.select, .guest_feature = d.word[d.select & 1],
		.msix_config = d.config_vector, .device_status = d.status, .queue_select = d.queue,
		.queue_size = q->size, .queue_msix_vector = q->vector, .queue_enable = q->enable,
	};
	u8 before = d.status;

	if (off >= VIRTIO_PCI_COMMON_Q_DESCLO) {
		*(off == VIRTIO_PCI_COMMON_Q_DESCLO ? &q->desc :
		  off == VIRTIO_PCI_COMMON_Q_AVAILLO ? &q->avail : &q->used) = v;
		return;
	}
	memcpy((u8 *)&c + off, &v, len);
	d.select = c.guest_feature_select;
	if (off <= VIRTIO_PCI_COMMON_GF && off + len > VIRTIO_PCI_COMMON_GF && !(before & 8))
		d.word[d.select & 1] = c.guest_feature;
	d.config_vector = c.msix_config;
	d.status |= c.device_status;
	if (c.queue_select != d.queue) {
		d.queue = c.queue_select;
		return;
	}
	q->size = c.queue_size;
	q->vector = c.queue_msix_vector;
	q->enable = c.queue_enable;
}

static void fake_write(void *p, u64 v, unsigned len)
{
	u64 off = (u64)((u8 *)p - BAR);

	d.accesses++;
	if ((u8 *)p == CONFIG + PCI_COMMAND) {
		d.command = (u16)v;
	} else if ((u8 *)p == CONFIG + 0x40 + PCI_MSIX_FLAGS) {
		d.msix_flags = (u16)v;
	} else if (off < HUSK_VIRTIO_ISR) {
		common_write(off, v, len);
	} else if (off >= HUSK_VIRTIO_MSIX && len == 8) {
		d.msix[(off - HUSK_VIRTIO_MSIX) / 16][(off / 8) & 1] = v;
	} else if (off >= HUSK_VIRTIO_NOTIFY) {
		d.kicks++;
		if (late)
			owed_queue = (int)(off - HUSK_VIRTIO_NOTIFY) / 4;
		else if (serve)
			serve((unsigned)(off - HUSK_VIRTIO_NOTIFY) / 4);
	}
}

static u64 fake_read(const void *p, unsigned len)
{
	const u8 *at = p;

	d.accesses++;
	if (at == CONFIG + PCI_CAPABILITY_LIST)
		return 0x60;
	if (at == CONFIG + 0x60)
		return PCI_CAP_ID_VNDR | 0x40 << 8;
	if (at == CONFIG + 0x40)
		return PCI_CAP_ID_MSIX;
	if (at == BAR + HUSK_VIRTIO_DEVICE)
		return d.console_size;
	return at == BAR + VIRTIO_PCI_COMMON_STATUS ? d.status : 0;
}

void *mmio_map(u64 gpa, u64 size)
{
	return gpa == 0xd0000000 ? (void *)BAR : gpa == HUSK_ECAM_BASE + (3 << 15) ? (void *)CONFIG : NULL;
}

/* The next chain of a queue: its head, pieces in seg (readable first), *nout of n are readable. */
static int pop(unsigned qi, struct io_seg *seg, unsigned *n, unsigned *nout)
{
	struct device_queue *q = &dq[qi];
	struct vring_avail *avail = host(q->avail);
	struct vring_desc *desc = host(q->desc);
	u16 head, i;

	if (!q->enable || avail->idx == q->avail_idx)
		return -1;
	i = head = avail->ring[q->avail_idx++ & (q->size - 1)];
	*n = *nout = 0;
	for (;;) {
		seg[(*n)++] = (struct io_seg){ host(desc[i].addr), desc[i].len };
		*nout += !(desc[i].flags & VRING_DESC_F_WRITE);
		if (!(desc[i].flags & VRING_DESC_F_NEXT))
			return head;
		i = desc[i].next;
	}
}

static void (*irq_fn[8])(void *arg);
static void *irq_arg[8];
static unsigned nirqs, interrupts;

static void push(unsigned qi, u16 head, u32 len)
{
	struct device_queue *q = &dq[qi];
	struct vring_avail *avail = host(q->avail);
	struct vring_used *used = host(q->used);

	used->ring[q->used_idx & (q->size - 1)].id = head;
	used->ring[q->used_idx & (q->size - 1)].len = len;
	used->idx = ++q->used_idx;
	if (!(avail->flags & VRING_AVAIL_F_NO_INTERRUPT) && q->vector != 0xffff &&
	    (d.msix_flags & PCI_MSIX_FLAGS_ENABLE) && (d.command & PCI_COMMAND_MASTER)) {
		interrupts++;
		irq_fn[(u32)d.msix[q->vector][1] - 0x30](irq_arg[(u32)d.msix[q->vector][1] - 0x30]);
	}
}

/* --- the kernel around the drivers --- */

int irq_request(void (*fn)(void *arg), void *arg)
{
	irq_fn[nirqs] = fn;
	irq_arg[nirqs] = arg;
	return 0x30 + (int)nirqs++;
}

void *kmalloc(size_t size) { return malloc(size); }
void *kzalloc(size_t size) { return calloc(1, size); }
void kfree(const void *p) { free((void *)p); }

/* The block itself stands for its struct page; the real one would not be this big. */
struct page *page_alloc(unsigned order, unsigned flags)
{
	void *p = aligned_alloc(PAGE_SIZE, PAGE_SIZE << order);

	memset(p, 0, PAGE_SIZE << order);
	return p;
}

void *page_addr(const struct page *page) { return (void *)page; }
struct page *page_of(const void *addr) { return (void *)addr; }
void page_put(struct page *page) { free(page); }
void wake_all(struct wait_queue *wq) { }
void waiter_add(struct wait_queue *wq, struct waiter *w) { }
void waiter_del(struct waiter *w) { }
void klog(const char *fmt, ...) { }

void panic_at(const char *file, int line, const char *fmt, ...)
{
	printf("Bail out! panic at %s:%d\n", file, line);
	exit(1);
}

static int (*sleeping)(void);		/* what happens while the driver sleeps */

int wait_sleep(bool interruptible, u64 deadline_ns)
{
	if (sleeping)
		return sleeping();
	printf("Bail out! would sleep for ever\n");
	exit(1);
}

/* FDT: one device, with the id the test wants. */
static u32 fdt_id;
static const u8 fdt_reg[20] = { 0, 0, 3 << 3, 0 };
static const char *fdt_stdio = "pipe\0pipe\0file";

int fdt_root(const struct fdt *fdt) { return 0; }
int fdt_find(const struct fdt *fdt, int node, const char *name) { return 4; }
int fdt_compatible(const struct fdt *fdt, int after, const char *compat) { return after < 0 ? 8 : -ENOENT; }
u64 fdt_u32(const struct fdt *fdt, int node, const char *name, u64 otherwise) { return fdt_id; }
u64 fdt_u64(const struct fdt *fdt, int node, const char *name, u64 otherwise) { return strcmp(name, HUSK_FDT_VIRTIO_READY) ? 0xd0000000 : otherwise; }

const void *fdt_prop(const struct fdt *fdt, int node, const char *name, u32 *len)
{
	*len = strcmp(name, "reg") ? 15 : sizeof(fdt_reg);
	return strcmp(name, "reg") ? (const void *)fdt_stdio : fdt_reg;
}

/* --- virtqueues --- */

static struct io_seg got[300];
static unsigned got_n, got_out;

/* Take each chain, and answer with as many bytes as the readable part has. */
static void serve_count(unsigned qi)
{
	int head;

	while ((head = pop(qi, got, &got_n, &got_out)) >= 0) {
		u32 len = 0;

		for (unsigned i = 0; i < got_out; i++)
			len += got[i].len;
		push(qi, (u16)head, len);
	}
}

static int serve_late(void)
{
	serve_count((unsigned)owed_queue);
	return 0;
}

static struct virtq *queue_up(struct virtio_dev *vd, u16 size)
{
	reset();
	fdt_id = 26;
	virtio_find(NULL, 26, vd);
	virtio_start(vd, 0);
	serve = serve_count;
	return virtq_setup(vd, 1, size);
}

static void test_bring_up(void)
{
	struct virtio_dev vd;
	struct virtq *vq;

	fdt_id = 4;
	tap_ok(!virtio_find(NULL, 26, &vd) && !vd.bar, "a device that is not there");
	vq = queue_up(&vd, 64);
	tap_ok(vq && d.accesses == 6, "bring-up with one queue: %u accesses", d.accesses);
	tap_ok(d.status == 0xf && d.word[0] == 0 && d.word[1] == 1, "status and features");
	tap_ok(dq[1].enable == 1 && dq[1].size == 64 && dq[1].vector == 0xffff, "queue enabled, no vector");
	tap_ok(dq[1].desc % 16 == 0 && dq[1].avail % 2 == 0 && dq[1].used % 4 == 0, "alignment");
	tap_ok(vd.ecam == 3 << 15, "place in the ECAM");
}

static void test_chains(void)
{
	struct virtio_dev vd;
	struct virtq *vq = queue_up(&vd, 16);
	char mem[400];
	struct io_seg out[] = { { mem, 10 }, { mem + 10, 20 }, { mem + 50, 5 }, { mem + 60, 0 } };
	struct io_seg in[] = { { mem + 55, 7 }, { mem + 100, 9 }, { mem + 109, 1 } };
	struct io_seg many[20];
	bool right = true;

	tap_ok(virtq_request(vq, out, 4, in, 3) == 35, "reply length");
	tap_ok(got_n == 4 && got_out == 2 && got[0].p == mem && got[0].len == 30 && got[1].len == 5 &&
	       got[2].p == mem + 55 && got[2].len == 7 && got[3].p == mem + 100 && got[3].len == 10,
	       "neighbours share a descriptor, not across directions; empty pieces go");
	for (unsigned i = 0; i < 20; i++)
		many[i] = (struct io_seg){ mem + 2 * i, 1 };
	tap_ok(virtq_request(vq, many, 20, NULL, 0) == -E2BIG, "more pieces than the queue holds");
	tap_ok(virtq_request(vq, NULL, 0, NULL, 0) == -EINVAL, "nothing at all");
	d.accesses = 0;
	for (unsigned i = 0; i < 200000; i++)
		right &= virtq_request(vq, many, 1 + i % 16, NULL, 0) == (long)(1 + i % 16);
	tap_ok(right && vq->nfree == 16, "200000 requests: indexes wrap, no descriptor is lost");
	tap_ok(d.accesses == 200000, "one access a request");
}

static void test_many_in_flight(void)
{
	struct virtio_dev vd;
	struct virtq *vq = queue_up(&vd, 16);
	char mem[64];
	struct io_seg seg[4];
	unsigned tokens = 0;
	int n = 0;
	u32 len;

	for (unsigned i = 0; i < 4; i++)
		seg[i] = (struct io_seg){ mem + 8 * i, 1 };
	while (virtq_add(vq, seg, 4, NULL, 0, &seg[n % 4]) == 0)
		n++;
	tap_ok(n == 4 && virtq_add(vq, seg, 1, NULL, 0, seg) == -ENOSPC, "full of descriptors");
	serve_count(1);
	while (virtq_get(vq, &len))
		tokens++;
	tap_ok(tokens == 4 && vq->nfree == 16, "all come back");
	for (n = 0; virtq_add(vq, seg, 1, NULL, 0, seg) == 0; n++)
		;
	tap_ok(n == VIRTQ_INFLIGHT, "full of chains");
	serve_count(1);
}

static int reverse_heads[16];

/* A device may finish in any order. */
static void serve_reversed(unsigned qi)
{
	unsigned n, nout;
	int count = 0;

	while ((reverse_heads[count] = pop(qi, got, &n, &nout)) >= 0)
		count++;
	while (count--)
		push(qi, (u16)reverse_heads[count], (u32)count);
}

static void test_order(void)
{
	struct virtio_dev vd;
	struct virtq *vq = queue_up(&vd, 16);
	char mem[64];
	struct io_seg seg[3];
	char *token;
	u32 len;
	bool right = true;

	for (unsigned i = 0; i < 3; i++)
		seg[i] = (struct io_seg){ mem + 8 * i, 1 };
	for (unsigned round = 0; round < 100; round++) {
		for (unsigned i = 0; i < 4; i++)
			virtq_add(vq, seg, 1 + i % 3, NULL, 0, mem + i);
		serve_reversed(1);
		for (unsigned i = 4; i--;) {
			token = virtq_get(vq, &len);
			right &= token == mem + i && len == i;
		}
		right &= vq->nfree == 16;
	}
	tap_ok(right, "chains done in another order");
}

static void test_late(void)
{
	struct virtio_dev vd;
	struct virtq *vq = queue_up(&vd, 16);
	struct task task;
	char mem[16];
	struct io_seg seg = { mem, 5 };

	late = true;
	fake_current = &task;
	sleeping = serve_late;
	nirqs = interrupts = 0;
	tap_ok(virtq_request(vq, &seg, 1, NULL, 0) == 5 && interrupts == 1, "the device is late: an interrupt");
	tap_ok(d.msix[0][0] == MSI_ADDRESS && d.msix[0][1] == 0x30 && dq[1].vector == 0, "MSI-X set up");
	tap_ok((((struct vring_avail *)host(dq[1].avail))->flags & 1) == 1, "interrupts off again");
	d.accesses = 0;
	tap_ok(virtq_request(vq, &seg, 1, NULL, 0) == 5 && d.accesses == 2, "late again: status and kick only");
	late = false;
	tap_ok(virtq_request(vq, &seg, 1, NULL, 0) == 5 && interrupts == 2, "in time again: no interrupt");
	late = true;
	d.status |= VIRTIO_CONFIG_S_NEEDS_RESET;
	tap_ok(virtq_request(vq, &seg, 1, NULL, 0) == -EIO, "a broken device is an error, not a hang");
	fake_current = NULL;
	sleeping = NULL;
}

/* --- virtio-fs --- */

static struct fuse_out_header fs_reply;
static u32 fs_used;

static void serve_fs(unsigned qi)
{
	int head = pop(qi, got, &got_n, &got_out);

	if (head < 0)
		return;
	if (got_n > got_out)
		memcpy(got[got_out].p, &fs_reply, sizeof(fs_reply));
	push(qi, (u16)head, fs_used);
}

static long fs_send(u32 len, s32 error, u32 used)
{
	struct fuse_in_header h = { .len = sizeof(h) };
	struct { struct fuse_out_header h; char pad[100]; } r;
	struct io_seg in = { &h, sizeof(h) }, out = { &r, sizeof(r) };

	fs_reply = (struct fuse_out_header){ .len = len, .error = error };
	fs_used = used;
	return virtio_fs_request(&in, 1, &out, 1);
}

static void test_fs(void)
{
	struct io_seg in = { got, 40 };

	reset();
	fdt_id = 4;
	tap_ok(virtio_fs_init(NULL) == -ENODEV && fs_send(16, 0, 16) == -ENODEV, "no virtio-fs device");
	fdt_id = 26;
	serve = serve_fs;
	tap_ok(virtio_fs_init(NULL) == 0 && d.accesses == 0, "virtio-fs: nothing touched by init");
	tap_ok(fs_send(50, 0, 50) == 50 && d.accesses == 7, "first request: 6 + 1 accesses");
	tap_ok(dq[1].size == 256, "the request queue");
	tap_ok(fs_send(16, -ENOENT, 16) == -ENOENT, "error of the reply");
	tap_ok(fs_send(16, 5, 16) == -EIO && fs_send(16, -9999, 16) == -EIO, "no errno: EIO");
	tap_ok(fs_send(60, 0, 50) == -EIO && fs_send(3, 0, 50) == -EIO && fs_send(16, 0, 3) == -EIO,
	       "lengths that do not fit");
	tap_ok(virtio_fs_request(&in, 1, NULL, 0) >= 0, "a request without reply");
}

/* --- console --- */

static char console_text[300000];
static size_t console_len;
static const char *console_in;		/* NULL: nothing yet */
static bool reader_gone;
static u32 console_asked;

static void serve_console(unsigned qi)
{
	struct virtio_console_control msg = { .id = qi == Q_TX1, .event = VIRTIO_CONSOLE_PORT_OPEN };
	struct io_seg cseg[4];
	unsigned n, nout;
	int head, chead;

	if (qi == Q_RX0) {
		if (!console_in || (head = pop(qi, got, &got_n, &got_out)) < 0)
			return;
		console_asked = got[0].len;
		n = (unsigned)strnlen(console_in, got[0].len);
		memcpy(got[0].p, console_in, n);
		console_in += n;
		push(qi, (u16)head, n);
		return;
	}
	while ((head = pop(qi, got, &got_n, &got_out)) >= 0) {
		if (reader_gone) {
			chead = pop(Q_CONTROL_RX, cseg, &n, &nout);
			if (chead >= 0) {
				memcpy(cseg[0].p, &msg, sizeof(msg));
				push(Q_CONTROL_RX, (u16)chead, sizeof(msg));
			}
		} else {
			memcpy(console_text + console_len, got[0].p, got[0].len);
			console_len += got[0].len;
		}
		push(qi, (u16)head, 0);
	}
}

static int serve_console_late(void)
{
	late = false;
	serve_console((unsigned)owed_queue);
	return 0;
}

static int signal_comes(void)
{
	return -ERESTARTSYS;
}

static void test_console_out(void)
{
	static char big[200000];
	struct task task;

	reset();
	fdt_id = 3;
	serve = serve_console;
	fake_current = &task;
	console_init(NULL);
	tap_ok(d.accesses == 0, "console: nothing touched by init");
	tap_ok(console_write(CONSOLE_STDERR, "err", 3) == 3 && d.accesses == 8, "stderr to a file: 2 + 5 + 1 accesses");
	d.accesses = 0;
	tap_ok(console_write(CONSOLE_STDOUT, "out\n", 4) == 4 && d.accesses == 11,
	       "stdout to a pipe: two queues more");
	tap_ok(!strcmp(console_text, "errout\n") && d.word[0] == 3, "the bytes, in order");
	d.accesses = 0;
	tap_ok(console_write(CONSOLE_STDOUT, "x", 1) == 1 && d.accesses == 1, "then one access a write");
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7);
	console_len = 0;
	d.kicks = 0;
	tap_ok(console_write(CONSOLE_STDOUT, big, sizeof(big)) == sizeof(big) &&
	       !memcmp(big, console_text, sizeof(big)) && d.kicks == 4, "200000 bytes in pieces of 64 KiB");
	late = true;
	sleeping = signal_comes;
	tap_ok(console_write(CONSOLE_STDOUT, "ab", 2) == 2, "a signal: the bytes are on their way");
	tap_ok(console_write(CONSOLE_STDOUT, "cd", 2) == -ERESTARTSYS, "and the next write has to wait");
	console_len = 0;
	sleeping = serve_console_late;
	tap_ok(console_write(CONSOLE_STDOUT, "ef", 2) == 2 && !memcmp(console_text, "abef", 4), "until it may go on");
	reader_gone = true;
	tap_ok(console_write(CONSOLE_STDOUT, "lost", 4) == -EPIPE, "the reader is gone: EPIPE");
	d.accesses = 0;
	tap_ok(console_write(CONSOLE_STDOUT, "lost", 4) == -EPIPE && !d.accesses, "and stays so, without asking");
	reader_gone = false;
	tap_ok(console_write(CONSOLE_STDERR, "err", 3) == 3, "the other port goes on");
	tap_ok(console_write(7, "err", 3) == -ENODEV, "no such port");
}

static char tty_text[100];
static bool tty_eof;

static void tty_input(const u8 *bytes, size_t len, bool eof)
{
	strncat(tty_text, (const char *)bytes, len);
	tty_eof |= eof;
	if (console_in && !*console_in && !eof)
		console_in = NULL;
}

static void test_console_in(void)
{
	char buf[100];

	console_in = NULL;
	d.kicks = 0;
	tap_ok(console_read(buf, 10, true) == -EAGAIN && d.kicks == 1, "nothing there: EAGAIN");
	tap_ok(console_read(buf, 10, true) == -EAGAIN && d.kicks == 1, "asked for once");
	tap_ok(!console_readable() && d.kicks == 1, "not readable");
	console_in = "hello world";
	interrupts = 0;
	serve_console(Q_RX0);
	tap_ok(interrupts == 1 && console_readable(), "input comes: an interrupt for whoever polls");
	tap_ok(console_asked == 10 && console_read(buf, 4, false) == 4 && !memcmp(buf, "hell", 4), "a part of it");
	tap_ok(console_read(buf, 100, false) == 6 && !memcmp(buf, "o worl", 6), "what was asked for, no more");
	tap_ok(console_read(buf, 100, false) == 1 && *buf == 'd' && console_asked == 100, "the rest");
	tap_ok(console_read(buf, 100, false) == 0, "end of input");
	tap_ok(console_readable() && console_read(buf, 100, true) == 0, "readable at the end, and again the end");
	console_in = NULL;
	tap_ok(console_read(buf, 0, false) == 0, "nothing asked for");
	sleeping = serve_console_late;
	owed_queue = Q_RX0;
	console_in = "later";
	late = true;
	tap_ok(console_read(buf, 100, false) == 5, "a blocking read sleeps until there is something");
	late = false;
	console_in = "typed";
	console_on_input(tty_input);
	tap_ok(!strcmp(tty_text, "typed"), "a terminal gets input without reading");
	console_in = " more";
	serve_console(Q_RX0);
	tap_ok(!strcmp(tty_text, "typed more"), "and later input by interrupt");
	console_in = "";
	serve_console(Q_RX0);
	tap_ok(tty_eof, "and the end");
	console_on_input(NULL);
}

static u16 seen_rows, seen_cols;

static void resized(u16 rows, u16 cols)
{
	seen_rows = rows;
	seen_cols = cols;
}

static void test_console_resize(void)
{
	unsigned v;

	console_on_resize(resized);
	tap_ok(d.config_vector == 1 && d.msix[1][0] == MSI_ADDRESS, "a vector for the window size");
	d.console_size = 24 << 16 | 80;
	v = (u32)d.msix[1][1] - 0x30;
	irq_fn[v](irq_arg[v]);
	tap_ok(seen_rows == 24 && seen_cols == 80, "rows and columns");
}

int main(void)
{
	test_bring_up();
	test_chains();
	test_many_in_flight();
	test_order();
	test_late();
	test_fs();
	test_console_out();
	test_console_in();
	test_console_resize();
	return tap_done();
}
