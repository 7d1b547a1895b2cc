/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A FUSE client for tests: one call a request, in pieces of odd sizes so that nothing depends on
 * how the transport cuts it up. Also a scratch directory that is removed at the end.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "devices/fuse/fuse_server.h"
#include "husk/fuse.h"
#include "tests/unit/tap.h"

#define CLIENT_BUF (HUSK_FUSE_MAX_WRITE + 8192)

struct client {
	struct fuse_server *srv;
	unsigned piece;			/* size of the pieces; 0: one piece */
	char *in, *out;
	size_t in_len, out_size;	/* out_size: room offered for the reply's body */
};

__attribute__((unused))
static void client_init(struct client *c, struct fuse_server *srv)
{
	*c = (struct client){ .srv = srv, .in = malloc(CLIENT_BUF), .out = malloc(CLIENT_BUF) };
	c->piece = 0;
}

__attribute__((unused))
static void client_free(struct client *c)
{
	free(c->in);
	free(c->out);
}

static unsigned client_cut(struct iovec *iov, char *buf, size_t len, unsigned piece)
{
	unsigned n = 0;

	if (!piece || len / piece > 200)
		piece = (unsigned)(len / 200 + 1) < 4096 && piece ? (unsigned)(len / 200 + 1) : ~0u;
	for (size_t at = 0; at < len; n++) {
		size_t part = len - at < piece ? len - at : piece;

		iov[n] = (struct iovec){ buf + at, part };
		at += part;
	}
	return n;
}

/* Start a request, then add its parts. */
__attribute__((unused))
static void req_start(struct client *c, uint32_t opcode, uint64_t nodeid)
{
	struct fuse_in_header h = { .opcode = opcode, .nodeid = nodeid, .unique = 77 };

	memcpy(c->in, &h, sizeof(h));
	c->in_len = sizeof(h);
	c->out_size = 4096;
}

__attribute__((unused))
static void req_add(struct client *c, const void *part, size_t len)
{
	memcpy(c->in + c->in_len, part, len);
	c->in_len += len;
}

__attribute__((unused))
static void req_add_str(struct client *c, const char *s)
{
	req_add(c, s, strlen(s) + 1);
}

/* Length of the reply's body at c->out + 16, or its error. -1000: a malformed reply. */
__attribute__((unused))
static long req_send(struct client *c)
{
	struct iovec in[HUSK_FUSE_MAX_IOV], out[HUSK_FUSE_MAX_IOV];
	struct fuse_out_header h;
	uint32_t len = (uint32_t)c->in_len;
	unsigned nin, nout;
	size_t n;

	memcpy(c->in, &len, sizeof(len));
	nin = client_cut(in, c->in, c->in_len, c->piece);
	nout = client_cut(out, c->out, c->out_size + sizeof(h), c->piece);
	n = fuse_handle(c->srv, in, nin, out, nout);
	if (n == 0)
		return 0;
	if (n < sizeof(h) || n > c->out_size + sizeof(h))
		return -1000;
	memcpy(&h, c->out, sizeof(h));
	if (h.len != n || h.unique != 77 || h.error > 0 || (h.error && n != sizeof(h)))
		return -1000;
	return h.error ? h.error : (long)(n - sizeof(h));
}

#define REPLY(c, type)                                                                             \
	({                                                                                         \
		type r_;                                                                           \
		memcpy(&r_, (c)->out + sizeof(struct fuse_out_header), sizeof(r_));                \
		r_;                                                                                \
	})

/* Requests with a body and up to two names; NULL: none. */
__attribute__((unused))
static long client_call(struct client *c, uint32_t opcode, uint64_t nodeid, const void *body,
			size_t len, const char *name, const char *name2)
{
	req_start(c, opcode, nodeid);
	if (len)
		req_add(c, body, len);
	if (name)
		req_add_str(c, name);
	if (name2)
		req_add_str(c, name2);
	return req_send(c);
}

__attribute__((unused)) static long client_lookup(struct client *c, uint64_t dir, const char *name,
						  struct fuse_entry_out *e)
{
	long n = client_call(c, FUSE_LOOKUP, dir, NULL, 0, name, NULL);

	if (n >= 0)
		*e = REPLY(c, struct fuse_entry_out);
	return n < 0 ? n : e->nodeid ? 0 : -ENOENT;
}

/* Down a path, one LOOKUP a component. 0 or -errno; *e is the last entry. */
__attribute__((unused))
static long client_path(struct client *c, const char *path, struct fuse_entry_out *e)
{
	char copy[4096], *save = NULL;
	long err = 0;

	snprintf(copy, sizeof(copy), "%s", path);
	*e = (struct fuse_entry_out){ .nodeid = FUSE_ROOT_ID };
	for (char *name = strtok_r(copy, "/", &save); name && err == 0;
	     name = strtok_r(NULL, "/", &save))
		err = client_lookup(c, e->nodeid, name, e);
	return err;
}

__attribute__((unused)) static long client_open(struct client *c, uint32_t opcode, uint64_t node,
						uint32_t flags, uint64_t *fh)
{
	struct fuse_open_in in = { .flags = flags };
	long n = client_call(c, opcode, node, &in, sizeof(in), NULL, NULL);

	if (n >= 0)
		*fh = REPLY(c, struct fuse_open_out).fh;
	return n < 0 ? n : 0;
}

__attribute__((unused))
static long client_create(struct client *c, uint64_t dir, const char *name, uint32_t flags,
			  uint32_t mode, struct fuse_entry_out *e, uint64_t *fh)
{
	struct fuse_create_in in = { .flags = flags, .mode = mode };
	struct { struct fuse_entry_out e; struct fuse_open_out o; } out;
	long n = client_call(c, FUSE_CREATE, dir, &in, sizeof(in), name, NULL);

	if (n < 0)
		return n;
	memcpy(&out, c->out + sizeof(struct fuse_out_header), sizeof(out));
	*e = out.e;
	*fh = out.o.fh;
	return 0;
}

/* Bytes at c->out + 16. */
__attribute__((unused))
static long client_read(struct client *c, uint64_t node, uint64_t fh, uint64_t off, uint32_t size)
{
	struct fuse_read_in in = { .fh = fh, .offset = off, .size = size };

	req_start(c, FUSE_READ, node);
	req_add(c, &in, sizeof(in));
	c->out_size = size < CLIENT_BUF - 16 ? size : CLIENT_BUF - 16;
	return req_send(c);
}

__attribute__((unused)) static long client_write(struct client *c, uint64_t node, uint64_t fh,
						 uint64_t off, const void *data, uint32_t size)
{
	struct fuse_write_in in = { .fh = fh, .offset = off, .size = size };
	long n;

	req_start(c, FUSE_WRITE, node);
	req_add(c, &in, sizeof(in));
	req_add(c, data, size);
	n = req_send(c);
	return n < 0 ? n : (long)REPLY(c, struct fuse_write_out).size;
}

__attribute__((unused))
static long client_release(struct client *c, uint32_t opcode, uint64_t node, uint64_t fh)
{
	struct fuse_release_in in = { .fh = fh };

	return client_call(c, opcode, node, &in, sizeof(in), NULL, NULL);
}

__attribute__((unused))
static long client_getattr(struct client *c, uint64_t node, struct fuse_attr *attr)
{
	struct fuse_getattr_in in = { 0 };
	long n = client_call(c, FUSE_GETATTR, node, &in, sizeof(in), NULL, NULL);

	if (n >= 0)
		*attr = REPLY(c, struct fuse_attr_out).attr;
	return n < 0 ? n : 0;
}

__attribute__((unused))
static void client_forget(struct client *c, uint64_t node, uint64_t n)
{
	struct fuse_forget_in in = { .nlookup = n };

	client_call(c, FUSE_FORGET, node, &in, sizeof(in), NULL, NULL);
}

/* --- a scratch directory */

static char scratch[64];

static int scratch_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

__attribute__((unused))
static void scratch_remove(void)
{
	nftw(scratch, scratch_remove_one, 32, FTW_DEPTH | FTW_PHYS);
}

/* Made, and the current directory. */
__attribute__((unused))
static void scratch_make(void)
{
	strcpy(scratch, "/tmp/husk-test-XXXXXX");
	if (!mkdtemp(scratch) || chdir(scratch) < 0 || chmod(scratch, 0755) < 0) {
		perror("scratch directory");
		exit(1);
	}
	atexit(scratch_remove);
}

__attribute__((unused))
static void file_put(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, mode) < 0) {
		perror(path);
		exit(1);
	}
	close(fd);
}

__attribute__((unused))
static void dir_put(const char *path, mode_t mode)
{
	if (mkdir(path, 0700) < 0 || chmod(path, mode) < 0) {
		perror(path);
		exit(1);
	}
}

__attribute__((unused))
static struct fuse_server *server_with(const struct fuse_export *ex, unsigned n)
{
	struct fuse_server *srv = fuse_server_new();

	for (unsigned i = 0; srv && i < n; i++) {
		int err = fuse_server_add(srv, &ex[i]);

		if (err < 0) {
			fprintf(stderr, "export %s: %s\n", ex[i].guest, strerror(-err));
			exit(1);
		}
	}
	return srv;
}
