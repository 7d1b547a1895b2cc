/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Standard input to the serial port. The guest takes bytes when it likes, so at most one small
 * buffer is read ahead: the descriptor is watched only while the buffer is empty. A file that
 * epoll refuses is read whenever the guest has room. On a terminal (raw mode) Ctrl-A x ends the
 * VM and Ctrl-A Ctrl-A is Ctrl-A.
 */
#include "vmm/serial_input.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "devices/serial.h"
#include "husk/system.h"
#include "vmm/log.h"
#include "vmm/terminal.h"
#include "vmm/vm.h"

#define ESCAPE	1		/* Ctrl-A */

struct serial_input {
	struct vm *vm;
	struct device *serial;
	pthread_mutex_t lock;	/* of all below; taken outside the serial port's */
	bool direct, ended;	/* read at any time; nothing more will come */
	bool escaped;		/* the last key was Ctrl-A */
	char buf[64];
	size_t at, len;
};

/* What Ctrl-A means, in place. */
static size_t keys_filter(struct serial_input *in, char *keys, size_t len)
{
	size_t kept = 0;

	for (size_t i = 0; i < len; i++) {
		char c = keys[i];

		if (in->escaped && (c == 'x' || c == 'X'))
			vm_end_guest(in->vm, HUSK_EXIT_SIGNAL, SIGINT);
		if (c == ESCAPE && !in->escaped) {
			in->escaped = true;
			continue;
		}
		in->escaped = false;
		keys[kept++] = c;
	}
	return kept;
}

/* Read once if the buffer is empty; pass on what the port takes. Under the lock. */
static void input_move(struct serial_input *in, bool readable)
{
	ssize_t n;

	if (in->at == in->len && readable && !in->ended) {
		n = read(STDIN_FILENO, in->buf, sizeof(in->buf));
		in->at = in->len = 0;
		if (n > 0)
			in->len = terminal_is_raw() ? keys_filter(in, in->buf, n) : (size_t)n;
		else if (n == 0 || (errno != EAGAIN && errno != EINTR))
			in->ended = true;
	}
	in->at += serial_receive(in->serial, in->buf + in->at, in->len - in->at);
}

static void input_watch(struct serial_input *in)
{
	if (in->direct)
		return;
	if (in->ended)
		loop_del(in->vm->loop, STDIN_FILENO);
	else
		loop_mod(in->vm->loop, STDIN_FILENO, in->at == in->len ? EPOLLIN : 0);
}

static void input_ready(void *arg, uint32_t events)
{
	struct serial_input *in = arg;

	pthread_mutex_lock(&in->lock);
	if (in->at < in->len && (events & (EPOLLHUP | EPOLLERR)))
		loop_del(in->vm->loop, STDIN_FILENO);	/* no mask silences these two */
	else
		input_move(in, true);
	if (in->at < in->len && (events & (EPOLLHUP | EPOLLERR)))
		in->direct = true;
	input_watch(in);
	pthread_mutex_unlock(&in->lock);
}

/* On a vCPU thread. */
static void input_room(void *arg)
{
	struct serial_input *in = arg;

	pthread_mutex_lock(&in->lock);
	input_move(in, in->direct);
	input_watch(in);
	pthread_mutex_unlock(&in->lock);
}

int serial_input_start(struct vm *vm, struct device *serial)
{
	struct serial_input *in = calloc(1, sizeof(*in));
	int ret;

	if (!in)
		return -ENOMEM;
	in->vm = vm;
	in->serial = serial;
	pthread_mutex_init(&in->lock, NULL);
	serial_on_room(serial, input_room, in);
	ret = loop_add(vm->loop, STDIN_FILENO, EPOLLIN, input_ready, in);
	if (ret == -EPERM) {
		in->direct = true;
		ret = 0;
	}
	return ret;
}
