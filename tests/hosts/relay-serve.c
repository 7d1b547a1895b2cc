/* SPDX-License-Identifier: Apache-2.0 */
/*
 * relay-serve PORT: process 1 inside a software host, and the inner end of relay-call. Runs one job at a
 * time: the caller holds the port while its job runs, and a job whose caller has gone is killed.
 * Relies on virtio-serial: poll() says POLLHUP while nobody is connected outside.
 */
#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDLE_MS		20	/* how often to look for a caller, and for a job that ended */
#define MAX_STRINGS	16384

struct serve {
	int port;
	uint32_t job;
	pid_t pid;		/* 0: no job */
	int status;		/* of a job that ended, else -1 */
	int in, out, err;	/* our ends of the job's pipes, -1: closed */
	unsigned char chunk[FRAME_CHUNK];	/* stdin that the job has not taken yet */
	size_t chunk_len, chunk_at;
	struct frame_reader reader;
};

static void job_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void job_forget(struct serve *s)
{
	if (s->pid > 0)
		kill(-s->pid, SIGKILL);
	s->pid = 0;
	s->status = -1;
	s->chunk_len = s->chunk_at = 0;
	job_close(&s->in);
	job_close(&s->out);
	job_close(&s->err);
}

/* False: the caller has gone, and what is left of its job with it. */
static bool serve_send(struct serve *s, uint8_t type, const void *data, uint32_t len)
{
	size_t bytes, at = 0;
	unsigned char *buf = frame_encode(type, s->job, data, len, &bytes);

	while (buf && at < bytes) {
		struct pollfd p = { .fd = s->port, .events = POLLOUT };
		ssize_t n = write(s->port, buf + at, bytes - at);

		if (n > 0) {
			at += n;
			continue;
		}
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			break;
		if (poll(&p, 1, 1000) > 0 && (p.revents & POLLHUP))
			break;
	}
	free(buf);
	if (at == bytes)
		return true;
	job_forget(s);
	return false;
}

static void job_exec(char *cwd, char **argv, char **envp, int in, int out, int err)
{
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	if (chdir(cwd) < 0 && chdir("/") < 0)
		_exit(126);
	environ = envp;
	execvp(argv[0], argv);
	dprintf(2, "tcg-svm: %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Splits the payload of FRAME_START; the NUL after every payload ends the last string. */
static bool job_parse(struct frame *f, char **cwd, char **argv, char **envp)
{
	char *at = (char *)f->data, *end = at + f->len;
	int argc, n = 0;

	*cwd = at;
	at += strlen(at) + 1;
	if (at >= end)
		return false;
	argc = atoi(at);
	at += strlen(at) + 1;
	if (argc < 1 || argc >= MAX_STRINGS)
		return false;
	for (; n < argc && at < end; at += strlen(at) + 1)
		argv[n++] = at;
	argv[n] = NULL;
	if (n < argc)
		return false;
	for (n = 0; n < MAX_STRINGS - 1 && at < end; at += strlen(at) + 1)
		envp[n++] = at;
	envp[n] = NULL;
	return true;
}

static void job_start(struct serve *s, struct frame *f)
{
	static char *argv[MAX_STRINGS], *envp[MAX_STRINGS];
	int in[2], out[2], err[2];
	char *cwd;

	job_forget(s);
	s->job = f->job;
	if (!job_parse(f, &cwd, argv, envp) || pipe2(in, O_CLOEXEC) < 0 ||
	    pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
		return;
	if (!serve_send(s, FRAME_READY, NULL, 0) || !serve_send(s, FRAME_WANT, NULL, 0))
		return;
	s->pid = fork();
	if (s->pid == 0)
		job_exec(cwd, argv, envp, in[0], out[1], err[1]);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	s->in = in[1];
	s->out = out[0];
	s->err = err[0];
	fcntl(s->in, F_SETFL, O_NONBLOCK);
	fcntl(s->out, F_SETFL, O_NONBLOCK);
	fcntl(s->err, F_SETFL, O_NONBLOCK);
}

static void serve_frame(struct serve *s, struct frame *f)
{
	if (f->type == FRAME_START) {
		job_start(s, f);
		return;
	}
	if (f->type == FRAME_POWEROFF) {
		sync();
		reboot(RB_AUTOBOOT);	/* QEMU has -no-reboot: its process ends */
	}
	if (f->job != s->job || !s->pid)
		return;
	if (f->type == FRAME_SIGNAL && f->len == 1) {
		kill(-s->pid, f->data[0]);
	} else if (f->type == FRAME_STDIN) {
		if (!f->len)
			job_close(&s->in);
		if (f->len > sizeof(s->chunk) || s->in < 0)
			return;
		memcpy(s->chunk, f->data, f->len);
		s->chunk_len = f->len;
		s->chunk_at = 0;
	}
}

/* False when there was nothing: with nobody connected the port is always readable, and empty. */
static bool serve_read_port(struct serve *s)
{
	unsigned char buf[4096];
	ssize_t n = read(s->port, buf, sizeof(buf));

	for (ssize_t i = 0; i < n; i++)
		if (frame_feed(&s->reader, buf[i]))
			serve_frame(s, &s->reader.frame);
	return n > 0;
}

static void job_feed(struct serve *s)
{
	ssize_t n = write(s->in, s->chunk + s->chunk_at, s->chunk_len - s->chunk_at);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {		/* the job closed its stdin */
		job_close(&s->in);
		s->chunk_len = s->chunk_at = 0;
		return;
	}
	s->chunk_at += n;
	if (s->chunk_at == s->chunk_len) {
		s->chunk_len = s->chunk_at = 0;
		serve_send(s, FRAME_WANT, NULL, 0);
	}
}

/* False when there is nothing more to read now. */
static bool job_drain(struct serve *s, int *fd, uint8_t type)
{
	unsigned char buf[FRAME_CHUNK];
	ssize_t n = *fd < 0 ? -1 : read(*fd, buf, sizeof(buf));

	if (n > 0)
		return serve_send(s, type, buf, n);
	if (n == 0)
		job_close(fd);
	return false;
}

static void job_reap(struct serve *s)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == s->pid)
			s->status = WIFEXITED(status) ? WEXITSTATUS(status) :
							128 + WTERMSIG(status);
}

/* What the job had written when it ended is passed on; its background children may live on. */
static void job_end(struct serve *s)
{
	uint8_t status = s->status;

	while (job_drain(s, &s->out, FRAME_STDOUT))
		;
	while (job_drain(s, &s->err, FRAME_STDERR))
		;
	if (!s->pid)
		return;
	s->pid = -1;
	job_forget(s);
	sync();
	serve_send(s, FRAME_EXIT, &status, 1);
}

static void serve_loop(struct serve *s)
{
	for (;;) {
		struct pollfd p[4] = {
			{ .fd = s->port, .events = POLLIN },
			{ .fd = s->chunk_len ? s->in : -1, .events = POLLOUT },
			{ .fd = s->out, .events = POLLIN },
			{ .fd = s->err, .events = POLLIN },
		};

		poll(p, 4, s->pid ? IDLE_MS : 1000);
		if (!(p[0].revents & POLLIN && serve_read_port(s)) && p[0].revents & POLLHUP) {
			job_forget(s);
			usleep(IDLE_MS * 1000);
		}
		if (p[1].revents && s->in == p[1].fd && s->chunk_len)
			job_feed(s);
		if (p[2].revents)
			job_drain(s, &s->out, FRAME_STDOUT);
		if (p[3].revents)
			job_drain(s, &s->err, FRAME_STDERR);
		job_reap(s);
		if (s->pid && s->status >= 0)
			job_end(s);
	}
}

int main(int argc, char **argv)
{
	static struct serve s = { .in = -1, .out = -1, .err = -1, .status = -1 };

	signal(SIGPIPE, SIG_IGN);
	s.port = argc == 2 ? open(argv[1], O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1;
	if (s.port < 0) {
		perror("relay-serve: port");
		return 1;
	}
	serve_loop(&s);
}
