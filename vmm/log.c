/* SPDX-License-Identifier: Apache-2.0 */
/*
 * husk's own voice. A quiet run keeps the tail of the guest kernel's log in memory, so that a
 * panic still explains itself.
 */
#include "vmm/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES	512
#define TAIL_BYTES	8192

/* Lock l: line and tail. */
static struct {
	int fd;			/* 0: stderr */
	bool quiet;
	atomic_bool crlf;
	pthread_mutex_t lock;
	char line[LINE_MAX_BYTES];	/* l */
	size_t len;			/* l */
	char tail[TAIL_BYTES];		/* l: ring of quiet kernel lines */
	size_t tail_len;		/* l: bytes ever put in */
} log_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void bytes_write(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;		/* nobody listens: nothing to be done about it */
		p += n;
		len -= n;
	}
}

/* One line, whose last byte is the newline, in one write. */
static void line_write(int fd, const char *p, size_t len)
{
	char buf[1100];

	if (!atomic_load(&log_state.crlf) || fd != STDERR_FILENO || len + 1 > sizeof(buf) || !len) {
		bytes_write(fd, p, len);
		return;
	}
	memcpy(buf, p, len - 1);
	memcpy(buf + len - 1, "\r\n", 2);
	bytes_write(fd, buf, len + 1);
}

void log_crlf(bool on)
{
	atomic_store(&log_state.crlf, on);
}

static int log_fd(void)
{
	return log_state.fd ? log_state.fd : STDERR_FILENO;
}

int log_open(const char *path, bool quiet)
{
	log_state.quiet = quiet;
	if (path) {
		int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

		if (fd < 0) {
			int err = errno;

			husk_err("cannot open log file %s: %s", path, strerror(err));
			return -err;
		}
		log_state.fd = fd;
	}
	return 0;
}

static size_t message_format(char *buf, size_t size, const char *fmt, va_list ap)
{
	size_t len = 6;
	int n;

	memcpy(buf, "husk: ", len);
	n = vsnprintf(buf + len, size - len - 1, fmt, ap);
	if (n > 0)
		len += (size_t)n < size - len - 1 ? (size_t)n : size - len - 2;
	buf[len++] = '\n';
	return len;
}

void husk_err(const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	size_t len;

	va_start(ap, fmt);
	len = message_format(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	line_write(STDERR_FILENO, buf, len);
	if (log_state.fd)
		line_write(log_state.fd, buf, len);
}

static void log_message(const char *fmt, va_list ap)
{
	char buf[1024];
	size_t len = message_format(buf, sizeof(buf), fmt, ap);

	if (!log_state.quiet)
		line_write(log_fd(), buf, len);
}

void husk_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_message(fmt, ap);
	va_end(ap);
}

void husk_note(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_message(fmt, ap);
	va_end(ap);
}

/* The line is complete or full. Under the lock. */
static void line_end(void)
{
	if (!log_state.len)
		return;
	if (!log_state.quiet) {
		line_write(log_fd(), log_state.line, log_state.len);
	} else {
		for (size_t i = 0; i < log_state.len; i++)
			log_state.tail[log_state.tail_len++ % TAIL_BYTES] = log_state.line[i];
	}
	log_state.len = 0;
}

void log_kernel_bytes(void *arg, const char *bytes, size_t len)
{
	pthread_mutex_lock(&log_state.lock);
	for (size_t i = 0; i < len; i++) {
		char c = bytes[i];

		if (c == '\r')
			continue;
		/* The log may be a terminal: a guest must not send it control sequences. */
		if ((unsigned char)c < ' ' && c != '\n' && c != '\t')
			c = '?';
		log_state.line[log_state.len++] = c;
		if (c == '\n' || log_state.len == LINE_MAX_BYTES)
			line_end();
	}
	pthread_mutex_unlock(&log_state.lock);
}

/* What quiet held back, oldest first, line by line. Under the lock. */
static void tail_write(void)
{
	size_t at = log_state.tail_len > TAIL_BYTES ? log_state.tail_len - TAIL_BYTES : 0;
	char line[LINE_MAX_BYTES];
	size_t len = 0;

	for (; at < log_state.tail_len; at++) {
		line[len++] = log_state.tail[at % TAIL_BYTES];
		if (line[len - 1] == '\n' || len == sizeof(line)) {
			line_write(log_fd(), line, len);
			len = 0;
		}
	}
	bytes_write(log_fd(), line, len);
	log_state.tail_len = 0;
}

void log_kernel_flush(bool failed)
{
	pthread_mutex_lock(&log_state.lock);
	if (log_state.len && log_state.len < LINE_MAX_BYTES)
		log_state.line[log_state.len++] = '\n';
	line_end();
	if (failed)
		tail_write();
	pthread_mutex_unlock(&log_state.lock);
}
