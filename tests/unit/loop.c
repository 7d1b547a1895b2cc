/* SPDX-License-Identifier: Apache-2.0 */
/* The event loop: delivery, removal while an event is queued, other threads, quitting. */
#include "devices/loop.h"
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "tests/unit/tap.h"

struct watch_test {
	struct loop *loop;
	int a[2], b[2];
	unsigned calls_a, calls_b, cycles;
};

static void drain(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		abort();
}

static void poke(int fd)
{
	if (write(fd, "x", 1) != 1)
		abort();
}

/* Whichever runs first removes the other one, whose event is queued already. */
static void on_a(void *arg, uint32_t events)
{
	struct watch_test *t = arg;

	t->calls_a++;
	drain(t->a[0]);
	loop_del(t->loop, t->b[0]);
	loop_quit(t->loop);
}

static void on_b(void *arg, uint32_t events)
{
	struct watch_test *t = arg;

	t->calls_b++;
	drain(t->b[0]);
	loop_del(t->loop, t->a[0]);
	loop_quit(t->loop);
}

static void test_delete_queued(void)
{
	struct watch_test t = { .loop = loop_new() };

	if (pipe(t.a) || pipe(t.b))
		abort();
	tap_ok(!loop_add(t.loop, t.a[0], EPOLLIN, on_a, &t) &&
	       !loop_add(t.loop, t.b[0], EPOLLIN, on_b, &t), "two watches");
	tap_ok(loop_add(t.loop, t.a[0], EPOLLIN, on_a, &t) == -EEXIST, "not twice");
	poke(t.a[1]);
	poke(t.b[1]);
	loop_run(t.loop);
	tap_ok(t.calls_a + t.calls_b == 1, "what one callback removes does not run");
	loop_free(t.loop);
	close(t.a[0]); close(t.a[1]); close(t.b[0]); close(t.b[1]);
}

static void on_cycle(void *arg, uint32_t events)
{
	struct watch_test *t = arg;

	drain(t->a[0]);
	if (++t->cycles == 1000)
		loop_quit(t->loop);
	else
		loop_mod(t->loop, t->a[0], EPOLLIN | EPOLLONESHOT);
}

static void *other_thread(void *arg)
{
	struct watch_test *t = arg;

	loop_add(t->loop, t->a[0], EPOLLIN | EPOLLONESHOT, on_cycle, t);
	for (unsigned i = 0; i < 1000; i++)
		poke(t->a[1]);
	return NULL;
}

static void test_threads(void)
{
	struct watch_test t = { .loop = loop_new() };
	pthread_t th;

	if (pipe(t.a))
		abort();
	pthread_create(&th, NULL, other_thread, &t);
	tap_ok(loop_run(t.loop) == 0 && t.cycles == 1000, "one-shot, fed by another thread");
	pthread_join(th, NULL);
	loop_free(t.loop);
	close(t.a[0]); close(t.a[1]);
}

int main(void)
{
	struct loop *loop = loop_new();
	FILE *f = tmpfile();

	tap_ok(loop_add(loop, fileno(f), EPOLLIN, on_a, NULL) == -EPERM, "a regular file");
	tap_ok(loop_add(loop, -1, EPOLLIN, on_a, NULL) == -EBADF, "no descriptor");
	tap_ok(loop_add(loop, 500, EPOLLIN, on_a, NULL) == -EBADF, "a closed one");
	tap_ok(loop_mod(loop, fileno(f), EPOLLIN) == -ENOENT, "change of what is not watched");
	loop_del(loop, -1);
	loop_del(loop, 12345);
	loop_quit(loop);
	tap_ok(loop_run(loop) == 0, "quit before it runs");
	loop_free(loop);
	fclose(f);
	test_delete_queued();
	test_threads();
	return tap_done();
}
