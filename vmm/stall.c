/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at the vCPUs' exit counts every half second, on the event loop. It ends with the first
 * byte on the serial port: from then on a guest may be as quiet as it likes.
 */
#include "vmm/stall.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "vmm/vm.h"

#define PERIOD_S	0.5

struct stall {
	struct vm *vm;
	int fd;
	uint64_t exits;
	double limit_s, quiet_s;
};

static void stall_tick(void *arg, uint32_t events)
{
	struct stall *s = arg;
	uint64_t n = 0;

	if (read(s->fd, &n, sizeof(n)) != sizeof(n))
		return;
	if (atomic_load_explicit(&s->vm->spoke, memory_order_relaxed)) {
		loop_del(s->vm->loop, s->fd);
		return;
	}
	n = 0;
	for (unsigned i = 0; i < s->vm->ncpus; i++)
		n += atomic_load_explicit(&s->vm->vcpus[i].exits, memory_order_relaxed);
	s->quiet_s = n == s->exits ? s->quiet_s + PERIOD_S : 0;
	s->exits = n;
	if (s->quiet_s >= s->limit_s)
		vm_stop(s->vm, "the kernel printed nothing and touched no device for %g s (--stall); a "
			"host that emulates guest ring 0 cannot run every kernel", s->limit_s);
}

int stall_start(struct vm *vm, double seconds)
{
	const struct itimerspec its = { { 0, 500000000 }, { 0, 500000000 } };
	struct stall *s;
	int ret;

	if (seconds <= 0)
		return 0;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	*s = (struct stall){ .vm = vm, .limit_s = seconds };
	s->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	ret = s->fd < 0 || timerfd_settime(s->fd, 0, &its, NULL) < 0 ? -errno : 0;
	if (!ret)
		ret = loop_add(vm->loop, s->fd, EPOLLIN, stall_tick, s);
	if (ret) {
		if (s->fd >= 0)
			close(s->fd);
		free(s);
	}
	return ret;
}
