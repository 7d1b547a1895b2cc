/* SPDX-License-Identifier: Apache-2.0 */
/* Console: streams over pipes, sockets, ttys and files, what blocks and what ends; control queue. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <poll.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>
#include "devices/virtio_console.h"
#include "husk/fdt.h"
#include "tests/unit/fake_bus.h"
#include "tests/unit/tap.h"

enum { RX0, TX0, CTRL_RX, CTRL_TX, RX1, TX1 };
enum { EV_READY, EV_ADD, EV_REMOVE, EV_PORT_READY, EV_CONSOLE, EV_RESIZE, EV_OPEN, EV_NAME };

#define F_SIZE		(1ull << 0)
#define F_MULTIPORT	(1ull << 1)
#define QSIZE		16
#define MSG_BUFS	8

static struct bus *bus;
static struct fake_driver drv;
static struct virtio_console *console;
static uint64_t data, msgs;		/* guest buffers */

static void post_message_buffers(void)
{
	for (unsigned i = 0; i < MSG_BUFS; i++) {
		struct fake_buf b = { msgs + 64 * i, 64 };

		fake_queue_add(&drv, CTRL_RX, &b, 0, 1);
	}
	fake_queue_kick(&drv, CTRL_RX);
}

/* A fresh machine with these descriptors, its driver running. */
static void setup(int in, int out, int err, uint64_t features)
{
	struct virtio_console_config cfg = {
		.in_fd = in, .out_fd = out, .err_fd = err, .rows = 25, .cols = 80,
	};
	struct pci_host *host;

	bus = fake_bus_new(0x200000);
	if (pci_host_attach(bus, &host) < 0 || virtio_console_attach(host, &cfg, &console) < 0 ||
	    !fake_driver_init(&drv, bus, 1, features))
		exit(1);
	for (unsigned q = 0; q < 6; q++)
		fake_queue_setup(&drv, q, QSIZE);
	fake_driver_ok(&drv);
	data = fake_alloc(bus, 0x100000, 4096);
	msgs = fake_alloc(bus, 64 * MSG_BUFS, 64);
	if (features & F_MULTIPORT)
		post_message_buffers();
}

static void send_text(unsigned q, const char *text)
{
	static unsigned turn;
	struct fake_buf b = { data + 0x80000 + 256 * (turn++ % 64), (uint32_t)strlen(text) };

	memcpy(fake_ptr(bus, b.gpa, b.len), text, b.len);
	fake_queue_add(&drv, q, &b, 1, 0);
	fake_queue_kick(&drv, q);
}

/* The host's end gets this, and no more for now. (A tty passes bytes on a little later.) */
static bool host_reads(int fd, const char *text)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	size_t want = strlen(text), n = 0;
	char buf[256];

	while (n < want && poll(&pfd, 1, 10000) > 0) {
		ssize_t got = read(fd, buf + n, sizeof(buf) - n);

		if (got <= 0)
			break;
		n += (size_t)got;
	}
	return n == want && !memcmp(buf, text, n) && poll(&pfd, 1, 0) == 0;
}

static void post_input(uint32_t len)
{
	struct fake_buf b = { data, len };

	fake_queue_add(&drv, RX0, &b, 0, 1);
	fake_queue_kick(&drv, RX0);
}

static bool input_is(const char *text)
{
	uint32_t len;

	return fake_queue_used(&drv, RX0, NULL, &len) && len == strlen(text) &&
	       (len == 0 || !memcmp(fake_ptr(bus, data, len), text, len));
}

static void send_control(uint32_t id, uint16_t event, uint16_t value)
{
	struct { uint32_t id; uint16_t event, value; } m = { id, event, value };
	struct fake_buf b = { data + 0xf0000, sizeof(m) };

	memcpy(fake_ptr(bus, b.gpa, sizeof(m)), &m, sizeof(m));
	fake_queue_add(&drv, CTRL_TX, &b, 1, 0);
	fake_queue_kick(&drv, CTRL_TX);
}

/* The next control message is this one (and its length, 0: not looked at). */
static bool control_is(uint32_t id, uint16_t event, uint16_t value, uint32_t want_len)
{
	struct { uint32_t id; uint16_t event, value; } m;
	uint32_t head, len;

	if (!fake_queue_used(&drv, CTRL_RX, &head, &len) || len < sizeof(m))
		return false;
	memcpy(&m, fake_ptr(bus, fake_desc(&drv, CTRL_RX, head)->addr, sizeof(m)), sizeof(m));
	return m.id == id && m.event == event && m.value == value &&
	       (want_len == 0 || want_len == len);
}

static void test_output(void)
{
	int out[2], err[2];
	struct fake_buf b[3];

	if (pipe(out) < 0 || pipe(err) < 0)
		exit(1);
	setup(-1, out[1], err[1], F_MULTIPORT | F_SIZE);
	tap_ok(fake_config_read(bus, 1, 0, 4) == 0x10431af4, "ids");
	send_text(TX0, "to stdout");
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL), "completed on the notify exit");
	tap_ok(host_reads(out[0], "to stdout"), "bytes arrived");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(TX0)) == 1, "interrupt");
	send_text(TX1, "to stderr");
	tap_ok(host_reads(err[0], "to stderr"), "port 1 is stderr");
	b[0] = (struct fake_buf){ data, 1 };
	b[1] = (struct fake_buf){ data + 0x1000, 2 };
	b[2] = (struct fake_buf){ data + 0x2000, 3 };
	memcpy(fake_ptr(bus, data, 1), "a", 1);
	memcpy(fake_ptr(bus, data + 0x1000, 2), "bc", 2);
	memcpy(fake_ptr(bus, data + 0x2000, 3), "def", 3);
	fake_queue_add(&drv, TX0, b, 3, 0);
	fake_queue_kick(&drv, TX0);
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL) && host_reads(out[0], "abcdef"), "gathered");
	tap_ok(!(fcntl(out[1], F_GETFL) & O_NONBLOCK), "no O_NONBLOCK on our descriptor");
	fake_bus_free(bus);
	close(out[0]);
	close(out[1]);
	close(err[0]);
	close(err[1]);
}

/*
 * More than the stream holds: the rest goes out as the reader takes it, in order, and a second
 * chain waits its turn. fds: write end, read end.
 */
static void test_blocking_output(const char *what, int wr, int rd)
{
	enum { BIG = 0x60000 };
	struct fake_buf b = { data, BIG };
	uint8_t *p, got[4096];
	unsigned done = 0;
	bool early, same = true;

	setup(-1, wr, -1, F_MULTIPORT);
	b.gpa = data;
	p = fake_ptr(bus, data, BIG);
	for (unsigned i = 0; i < BIG; i++)
		p[i] = (uint8_t)(i * 7 + (i >> 8));
	fake_queue_add(&drv, TX0, &b, 1, 0);
	fake_queue_kick(&drv, TX0);
	early = fake_queue_used(&drv, TX0, NULL, NULL);
	send_text(TX0, "tail");
	tap_ok(!early && !fake_queue_used(&drv, TX0, NULL, NULL), "%s: full, not complete", what);
	fake_msi_clear(bus);
	fcntl(rd, F_SETFL, O_NONBLOCK);
	while (done < BIG + 4) {
		ssize_t n = read(rd, got, sizeof(got));

		if (n <= 0 && fake_loop_run(bus, 1000) <= 0)
			break;
		for (ssize_t i = 0; i < n; i++, done++)
			same &= done < BIG ? got[i] == p[done] : got[i] == "tail"[done - BIG];
	}
	tap_ok(done == BIG + 4 && same, "%s: all bytes in order", what);
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL) && fake_queue_used(&drv, TX0, NULL, NULL),
	       "%s: both complete", what);
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(TX0)) > 0, "%s: interrupt from the event loop", what);
	fake_bus_free(bus);
	close(wr);
	close(rd);
}

static void test_broken_pipe(void)
{
	int out[2];
	uint32_t head;

	if (pipe(out) < 0)
		exit(1);
	setup(-1, out[1], -1, F_MULTIPORT);
	close(out[0]);
	send_text(TX0, "nobody reads");
	tap_ok(fake_queue_used(&drv, TX0, &head, NULL), "EPIPE: completes");
	tap_ok(control_is(0, EV_OPEN, 0, 8), "EPIPE: port closed");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR(CTRL_RX)) == 1, "EPIPE: control interrupt");
	tap_ok(bus->nmsis == 2 && bus->msi[0].data == FAKE_VECTOR(CTRL_RX), "EPIPE: message first");
	send_text(TX0, "again");
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL), "EPIPE: later writes complete");
	tap_ok(!fake_queue_used(&drv, CTRL_RX, NULL, NULL), "EPIPE: said once");
	send_text(TX1, "other port");
	tap_ok(fake_queue_used(&drv, TX1, NULL, NULL), "EPIPE: the other port goes on");
	fake_bus_free(bus);
	close(out[1]);

	/* The reader goes while a chain waits for room. */
	if (pipe(out) < 0)
		exit(1);
	setup(-1, out[1], -1, F_MULTIPORT);
	fake_queue_add(&drv, TX0, &(struct fake_buf){ data, 0x40000 }, 1, 0);
	fake_queue_kick(&drv, TX0);
	close(out[0]);
	tap_ok(!fake_queue_used(&drv, TX0, NULL, NULL), "EPIPE later: waits");
	fake_loop_run(bus, 1000);
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL) && control_is(0, EV_OPEN, 0, 8),
	       "EPIPE later: closed and complete");
	fake_bus_free(bus);
	close(out[1]);
}

static void test_write_error(void)
{
	int full = open("/dev/full", O_WRONLY), saved = dup(2), hush = open("/dev/null", O_WRONLY);

	setup(-1, full, -1, F_MULTIPORT);
	dup2(hush, 2);		/* the one line that is logged */
	send_text(TX0, "x");
	dup2(saved, 2);
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL) && control_is(0, EV_OPEN, 0, 8),
	       "ENOSPC: complete and closed");
	fake_bus_free(bus);
	close(full);
	close(saved);
	close(hush);
}

static void test_input_pipe(void)
{
	int in[2];
	char rest[8];

	if (pipe(in) < 0)
		exit(1);
	setup(in[0], -1, -1, F_MULTIPORT);
	if (write(in[1], "hello, next", 11) != 11)
		exit(1);
	tap_ok(fake_loop_run(bus, 0) == 0, "input: nothing is watched before a buffer is there");
	post_input(5);
	tap_ok(input_is("hello"), "input: synchronous, no more than the buffer");
	tap_ok(read(in[0], rest, 6) == 6 && !memcmp(rest, ", next", 6), "input: the rest is left");
	post_input(64);
	tap_ok(!fake_queue_used(&drv, RX0, NULL, NULL), "input: nothing there, waits");
	fake_msi_clear(bus);
	if (write(in[1], "late", 4) != 4)
		exit(1);
	fake_loop_run(bus, 1000);
	tap_ok(input_is("late") && fake_msi_count(bus, FAKE_VECTOR(RX0)) == 1, "input: late bytes");
	if (write(in[1], "more", 4) != 4)
		exit(1);
	tap_ok(fake_loop_run(bus, 0) == 0, "input: not watched without a buffer");
	post_input(64);
	tap_ok(input_is("more"), "input: more");
	post_input(64);
	close(in[1]);
	fake_loop_run(bus, 1000);
	tap_ok(input_is(""), "input: end of file while waiting");
	post_input(64);
	tap_ok(input_is(""), "input: and again at once");
	fake_bus_free(bus);
	close(in[0]);
}

static void test_input_stolen(void)
{
	int in[2];
	char c;

	if (pipe(in) < 0)
		exit(1);
	setup(in[0], -1, -1, F_MULTIPORT);
	post_input(8);
	/* Somebody else takes the byte between the event and our read. */
	if (write(in[1], "x", 1) != 1 || read(in[0], &c, 1) != 1)
		exit(1);
	tap_ok(fake_loop_run(bus, 0) == 0 && !fake_queue_used(&drv, RX0, NULL, NULL), "stolen: waits");
	if (write(in[1], "y", 1) != 1)
		exit(1);
	fake_loop_run(bus, 1000);
	tap_ok(input_is("y"), "stolen: the next byte comes");
	fake_bus_free(bus);
	close(in[0]);
	close(in[1]);
}

static void test_files(void)
{
	char name[] = "/tmp/console-test-XXXXXX", back[16];
	int file = mkstemp(name), null = open("/dev/null", O_RDWR);

	if (file < 0 || write(file, "in file", 7) != 7 || lseek(file, 0, SEEK_SET) < 0)
		exit(1);
	unlink(name);
	setup(file, file, null, F_MULTIPORT);
	post_input(3);
	tap_ok(input_is("in "), "file: read at once");
	post_input(64);
	tap_ok(input_is("file"), "file: rest");
	post_input(64);
	tap_ok(input_is(""), "file: end");
	send_text(TX0, "written");
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL) && pread(file, back, 16, 0) == 14 &&
	       !memcmp(back, "in filewritten", 14), "file: written at the shared offset");
	send_text(TX1, "gone");
	tap_ok(fake_queue_used(&drv, TX1, NULL, NULL), "/dev/null swallows");
	fake_bus_free(bus);

	setup(null, -1, -1, F_MULTIPORT);
	post_input(4);
	tap_ok(input_is(""), "/dev/null reads as end");
	send_text(TX0, "closed");
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL) &&
	       !fake_queue_used(&drv, CTRL_RX, NULL, NULL), "closed descriptor swallows");
	fake_bus_free(bus);
	setup(-1, -1, -1, F_MULTIPORT);
	post_input(4);
	tap_ok(input_is(""), "closed descriptor reads as end");
	fake_bus_free(bus);
	close(file);
	close(null);
}

static void test_tty(void)
{
	struct termios raw;
	int master, slave;

	if (openpty(&master, &slave, NULL, NULL, NULL) < 0) {
		tap_ok(true, "tty # SKIP no pseudo-terminals here");
		return;
	}
	tcgetattr(slave, &raw);
	cfmakeraw(&raw);
	tcsetattr(slave, TCSANOW, &raw);
	setup(slave, slave, slave, F_MULTIPORT | F_SIZE);	/* one descriptor for all three */
	send_text(TX0, "out ");
	send_text(TX1, "err");
	tap_ok(host_reads(master, "out err"), "tty: output");
	post_input(16);
	tap_ok(!fake_queue_used(&drv, RX0, NULL, NULL), "tty: waits for a key");
	if (write(master, "k", 1) != 1)
		exit(1);
	fake_loop_run(bus, 1000);
	tap_ok(input_is("k"), "tty: key");
	post_input(16);
	close(master);
	fake_loop_run(bus, 1000);
	tap_ok(input_is(""), "tty: hang-up is the end");
	fake_bus_free(bus);
	close(slave);
}

static void test_control(void)
{
	int out[2];
	uint16_t *size;

	if (pipe(out) < 0)
		exit(1);
	setup(-1, out[1], out[1], F_MULTIPORT | F_SIZE);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE, 8) == (80 | 25 << 16 | 2ull << 32),
	       "configuration: cols, rows, ports");
	tap_ok(!fake_queue_used(&drv, CTRL_RX, NULL, NULL), "control: silent before DEVICE_READY");
	send_control(0, EV_READY, 1);
	tap_ok(fake_queue_used(&drv, CTRL_TX, NULL, NULL), "control: message taken");
	tap_ok(control_is(0, EV_ADD, 1, 8) && control_is(1, EV_ADD, 1, 8), "control: ports added");
	send_control(0, EV_PORT_READY, 1);
	tap_ok(control_is(0, EV_CONSOLE, 1, 8), "control: port 0 is the console");
	tap_ok(control_is(0, EV_RESIZE, 1, 12), "control: its size");
	size = fake_ptr(bus, msgs + 3 * 64 + 8, 4);
	tap_ok(size[0] == 80 && size[1] == 25, "control: cols, rows");
	tap_ok(control_is(0, EV_OPEN, 1, 8), "control: it is open");
	send_control(1, EV_PORT_READY, 1);
	tap_ok(control_is(1, EV_NAME, 1, 8 + 11), "control: port 1 has a name");
	tap_ok(control_is(1, EV_OPEN, 1, 8), "control: it is open");
	send_control(7, EV_PORT_READY, 1);
	send_control(0xffffffff, EV_PORT_READY, 1);
	send_control(0, 99, 1);
	send_control(0, EV_PORT_READY, 0);
	fake_queue_add(&drv, CTRL_TX, &(struct fake_buf){ data, 3 }, 1, 0);
	fake_queue_kick(&drv, CTRL_TX);
	tap_ok(!fake_queue_used(&drv, CTRL_RX, NULL, NULL), "control: nonsense is ignored");

	fake_msi_clear(bus);
	virtio_console_resize(console, 50, 132);
	tap_ok(fake_reg(&drv, HUSK_VIRTIO_DEVICE, 4) == (132 | 50 << 16), "resize: configuration");
	tap_ok(fake_msi_count(bus, FAKE_VECTOR_CONFIG) == 1, "resize: configuration interrupt");
	tap_ok(control_is(0, EV_RESIZE, 1, 12), "resize: message");
	virtio_console_resize(console, 51, 100);
	virtio_console_resize(console, 52, 101);
	post_message_buffers();
	size = fake_ptr(bus, msgs + 8, 4);
	tap_ok(control_is(0, EV_RESIZE, 1, 12) && size[0] == 101 && size[1] == 52,
	       "resize: what found no buffer is sent later, the last of it");
	tap_ok(!fake_queue_used(&drv, CTRL_RX, NULL, NULL), "resize: once");
	fake_bus_free(bus);
	close(out[0]);
	close(out[1]);
}

static void test_without_driver(void)
{
	struct virtio_console_config cfg = { .in_fd = 0, .out_fd = 1, .err_fd = 2 };
	struct pci_host *host;

	bus = fake_bus_new(0x10000);
	pci_host_attach(bus, &host);
	virtio_console_attach(host, &cfg, &console);
	virtio_console_resize(console, 1, 2);
	tap_ok(bus->nmsis == 0 && fake_loop_run(bus, 0) == 0, "no driver: nothing happens");
	fake_bus_free(bus);

	setup(-1, -1, -1, 0);
	tap_ok(true, "no multiport");
	send_text(TX0, "plain");
	tap_ok(fake_queue_used(&drv, TX0, NULL, NULL), "no multiport: output");
	virtio_console_resize(console, 1, 2);
	tap_ok(!fake_queue_used(&drv, CTRL_RX, NULL, NULL), "no multiport: no messages");
	fake_bus_free(bus);
}

/* Reset with chains in flight on both sides, then life goes on. */
static void test_reset(void)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		exit(1);
	setup(in[0], out[1], -1, F_MULTIPORT);
	post_input(16);
	fake_queue_add(&drv, TX0, &(struct fake_buf){ data, 0x40000 }, 1, 0);
	fake_queue_kick(&drv, TX0);
	fake_driver_init(&drv, bus, 1, F_MULTIPORT);
	if (write(in[1], "z", 1) != 1)
		exit(1);
	close(out[0]);
	while (fake_loop_run(bus, 0) > 0)
		;
	for (unsigned q = 0; q < 6; q++)
		fake_queue_setup(&drv, q, QSIZE);
	fake_driver_ok(&drv);
	tap_ok(!fake_queue_used(&drv, RX0, NULL, NULL) && !fake_queue_used(&drv, TX0, NULL, NULL),
	       "reset: old chains are void");
	post_input(16);
	tap_ok(input_is("z"), "reset: input goes on");
	fake_bus_free(bus);
	close(in[0]);
	close(in[1]);
	close(out[1]);
}

static void test_fuzz(void)
{
	int null = open("/dev/null", O_RDWR);
	unsigned seed = 11;

	setup(null, null, null, F_MULTIPORT | F_SIZE);
	for (unsigned i = 0; i < 100000; i++) {
		unsigned q = rand_r(&seed) % 6, n = rand_r(&seed) % 3, m = rand_r(&seed) % 3;
		struct fake_buf b[4];

		for (unsigned j = 0; j < 4; j++) {
			b[j].gpa = data + rand_r(&seed) % 0x1000;
			b[j].len = rand_r(&seed) % 20;
			*(uint32_t *)fake_ptr(bus, data + 4 * (rand_r(&seed) % 0x400), 4) =
				(unsigned)rand_r(&seed) % 9 | (rand_r(&seed) & 1 ? 0x10000 : 0);
		}
		if (n + m)
			fake_queue_add(&drv, q, b, n, m);
		fake_queue_kick(&drv, q);
		if (!(rand_r(&seed) & 0x3ff))
			virtio_console_resize(console, i & 0xffff, 80);
		if (fake_status(&drv) & VIRTIO_CONFIG_S_NEEDS_RESET || !(rand_r(&seed) & 0xfff)) {
			bus->next = msgs + 0x1000;
			fake_driver_init(&drv, bus, 1, F_MULTIPORT);
			for (unsigned k = 0; k < 6; k++)
				fake_queue_setup(&drv, k, QSIZE);
			fake_driver_ok(&drv);
		}
	}
	tap_ok(!bus->stopped[0], "alive after 100000 random chains");
	fake_bus_free(bus);
	close(null);
}

/* A vCPU thread writes and resets, the event loop and a reader run beside it. */
struct race {
	pthread_t vcpu;
	int rd;
	unsigned bytes, completed;
	bool done;
};

static void *race_vcpu(void *arg)
{
	struct race *race = arg;

	for (unsigned i = 0; i < 4000; i++) {
		struct fake_buf b = { data, 1000 };

		fake_queue_add(&drv, TX0, &b, 1, 0);
		fake_queue_kick(&drv, TX0);
		while (!fake_queue_used(&drv, TX0, NULL, NULL))
			sched_yield();
		race->completed++;
	}
	__atomic_store_n(&race->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void test_threads(void)
{
	struct race race = { 0 };
	char buf[8192];
	int out[2];
	bool last;

	if (pipe(out) < 0)
		exit(1);
	fcntl(out[1], F_SETPIPE_SZ, 4096);
	setup(-1, out[1], -1, F_MULTIPORT | F_SIZE);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	pthread_create(&race.vcpu, NULL, race_vcpu, &race);
	do {
		ssize_t n;

		last = __atomic_load_n(&race.done, __ATOMIC_ACQUIRE);
		fake_loop_run(bus, 0);
		virtio_console_resize(console, 25, 80);
		while ((n = read(out[0], buf, sizeof(buf))) > 0)
			race.bytes += (unsigned)n;
	} while (!last);
	pthread_join(race.vcpu, NULL);
	tap_ok(race.completed == 4000 && race.bytes == 4000000, "threads: every byte, every chain");
	fake_bus_free(bus);
	close(out[0]);
	close(out[1]);
}

/* From here on preadv2 and pwritev2 do not exist, as on an old kernel. */
static bool forbid_nowait(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_preadv2, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) == 0;
}

static void test_streams(void)
{
	int fd[2];

	test_output();
	if (pipe(fd) < 0)
		exit(1);
	test_blocking_output("pipe", fd[1], fd[0]);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
		exit(1);
	test_blocking_output("socket", fd[1], fd[0]);
	test_broken_pipe();
	test_write_error();
	test_input_pipe();
	test_input_stolen();
	test_files();
	test_tty();
	test_threads();
}

int main(void)
{

	signal(SIGPIPE, SIG_IGN);
	test_streams();
	test_control();
	test_without_driver();
	test_reset();
	test_fuzz();
	if (forbid_nowait())
		test_streams();
	else
		tap_ok(true, "streams without RWF_NOWAIT # SKIP no seccomp filters here");
	return tap_done();
}
