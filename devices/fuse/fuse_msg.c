/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One request's bytes: reading its body piece by piece out of guest memory, building its reply.
 * Every byte is copied once and only the copy is looked at; the pieces themselves are the
 * transport's and checked by it.
 */
#include "devices/fuse/fuse_impl.h"

#include <errno.h>
#include <string.h>

size_t iov_bytes(const struct iovec *iov, unsigned n)
{
	size_t sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += iov[i].iov_len;
	return sum;
}

unsigned iov_slice(const struct iovec *src, unsigned n, size_t skip, size_t len,
		   struct iovec *dst, unsigned max)
{
	unsigned out = 0;

	for (unsigned i = 0; i < n && len && out < max; i++) {
		size_t part = src[i].iov_len;

		if (skip >= part) {
			skip -= part;
			continue;
		}
		part -= skip;
		if (part > len)
			part = len;
		dst[out].iov_base = (char *)src[i].iov_base + skip;
		dst[out++].iov_len = part;
		skip = 0;
		len -= part;
	}
	return out;
}

/* Copy between a flat buffer and [skip, skip + len) of the pieces; bytes done. */
static size_t iov_copy(const struct iovec *iov, unsigned n, size_t skip, void *flat, size_t len,
		       bool gather)
{
	size_t done = 0;

	for (unsigned i = 0; i < n && done < len; i++) {
		size_t part = iov[i].iov_len;
		char *at;

		if (skip >= part) {
			skip -= part;
			continue;
		}
		at = (char *)iov[i].iov_base + skip;
		part -= skip;
		skip = 0;
		if (part > len - done)
			part = len - done;
		if (gather)
			memcpy((char *)flat + done, at, part);
		else
			memcpy(at, (char *)flat + done, part);
		done += part;
	}
	return done;
}

size_t iov_gather(const struct iovec *iov, unsigned n, size_t skip, void *dst, size_t len)
{
	return iov_copy(iov, n, skip, dst, len, true);
}

size_t iov_scatter(const struct iovec *iov, unsigned n, size_t skip, const void *src, size_t len)
{
	return iov_copy(iov, n, skip, (void *)(uintptr_t)src, len, false);
}

int req_pull(struct fuse_req *req, void *dst, size_t len)
{
	if (len > req->in_end - req->in_pos)
		return -EINVAL;
	if (iov_gather(req->in, req->nin, req->in_pos, dst, len) != len)
		return -EINVAL;
	req->in_pos += len;
	return 0;
}

int req_string(struct fuse_req *req, char *buf, size_t size)
{
	size_t len = req->in_end - req->in_pos;
	const char *nul;

	if (len > size)
		len = size;
	if (iov_gather(req->in, req->nin, req->in_pos, buf, len) != len)
		return -EINVAL;
	nul = memchr(buf, 0, len);
	if (!nul)
		return len == size ? -ENAMETOOLONG : -EINVAL;
	req->in_pos += (size_t)(nul - buf) + 1;
	return 0;
}

bool name_valid(const char *name, size_t len)
{
	if (len == 0 || len > HUSK_FUSE_NAME_MAX)
		return false;
	if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
		return false;
	return !memchr(name, '/', len) && !memchr(name, 0, len);
}

int req_name(struct fuse_req *req, char name[HUSK_FUSE_NAME_MAX + 1])
{
	int err = req_string(req, name, HUSK_FUSE_NAME_MAX + 1);

	if (err < 0)
		return err;
	return name_valid(name, strlen(name)) ? 0 : -EINVAL;
}

size_t req_room(const struct fuse_req *req)
{
	return req->out_end - req->out_pos;
}

int req_put(struct fuse_req *req, const void *src, size_t len)
{
	if (len > req_room(req))
		return -EINVAL;
	if (iov_scatter(req->out, req->nout, req->out_pos, src, len) != len)
		return -EINVAL;
	req->out_pos += len;
	return 0;
}
