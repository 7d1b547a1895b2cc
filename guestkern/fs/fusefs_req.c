/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FUSE requests: building the pieces of one, sending it, and giving lookup references back. The
 * headers live on the caller's stack, since a request is over when fuse_send() returns.
 */
#include "fs/fusefs.h"

#include "proc/task.h"

#define FORGET_BATCH	64
#define FOREVER_SEC	(1ull << 31)	/* a validity beyond this never ends */

static struct fuse_forget_one forgets[FORGET_BATCH];
static u32 nforgets;

void fuse_args_init(struct fuse_args *args, u32 opcode, u64 nodeid)
{
	static u64 unique;

	args->in_header = (struct fuse_in_header){
		.len = sizeof(args->in_header), .opcode = opcode, .unique = ++unique, .nodeid = nodeid,
	};
	if (current && current->proc) {
		args->in_header.uid = current->proc->cred.fsuid;
		args->in_header.gid = current->proc->cred.fsgid;
		args->in_header.pid = (u32)current->proc->pid;
	}
	args->nin = args->nout = 1;
	fuse_args_more_in(args, args->in_few, FUSE_ARGS_IN);
	fuse_args_more_out(args, args->out_few, FUSE_ARGS_OUT);
}

void fuse_args_more_in(struct fuse_args *args, struct io_seg *in, unsigned max)
{
	args->in = in;
	args->in_max = max;
	in[0] = (struct io_seg){ &args->in_header, sizeof(args->in_header) };
}

void fuse_args_more_out(struct fuse_args *args, struct io_seg *out, unsigned max)
{
	args->out = out;
	args->out_max = max;
	out[0] = (struct io_seg){ &args->out_header, sizeof(args->out_header) };
}

static bool seg_append(struct io_seg *seg, unsigned *n, unsigned max, void *p, size_t len)
{
	struct io_seg *last = &seg[*n - 1];

	if (*n > 1 && (u8 *)last->p + last->len == (u8 *)p) {
		last->len += (u32)len;
		return true;
	}
	if (*n == max)
		return false;
	seg[(*n)++] = (struct io_seg){ p, (u32)len };
	return true;
}

bool fuse_in(struct fuse_args *args, const void *p, size_t len)
{
	if (!seg_append(args->in, &args->nin, args->in_max, (void *)p, len))
		return false;
	args->in_header.len += (u32)len;
	return true;
}

bool fuse_out(struct fuse_args *args, void *p, size_t len)
{
	return seg_append(args->out, &args->nout, args->out_max, p, len);
}

long fuse_send(struct fuse_args *args)
{
	long len = virtio_fs_request(args->in, args->nin, args->out, args->nout);

	return len < 0 ? len : len - (long)sizeof(args->out_header);
}

int fuse_simple(u32 opcode, u64 nodeid, const void *arg, size_t arg_len, const char *name,
		void *reply, size_t reply_len)
{
	struct fuse_args args;
	long len;

	fuse_args_init(&args, opcode, nodeid);
	if (arg_len)
		fuse_in(&args, arg, arg_len);
	if (name)
		fuse_in(&args, name, strlen(name) + 1);
	if (reply_len)
		fuse_out(&args, reply, reply_len);
	len = fuse_send(&args);
	if (len < 0)
		return (int)len;
	return len >= (long)reply_len ? 0 : -EIO;
}

/* No reply is awaited: the device has read the request when the notify exit is over. */
static void forget_flush(void)
{
	struct fuse_batch_forget_in batch = { .count = nforgets };
	struct fuse_args args;

	fuse_args_init(&args, FUSE_BATCH_FORGET, 0);
	fuse_in(&args, &batch, sizeof(batch));
	fuse_in(&args, forgets, nforgets * sizeof(forgets[0]));
	nforgets = 0;
	virtio_fs_request(args.in, args.nin, NULL, 0);
}

void fuse_forget(u64 nodeid, u64 nlookup)
{
	if (!nlookup || nodeid == FUSE_ROOT_ID)
		return;
	forgets[nforgets].nodeid = nodeid;
	forgets[nforgets].nlookup = nlookup;
	if (++nforgets == FORGET_BATCH)
		forget_flush();
}

u64 fuse_expiry(u64 sec, u32 nsec)
{
	if (sec >= FOREVER_SEC)
		return ~0ull;
	return time_monotonic_ns() + sec * NSEC_PER_SEC + nsec;
}
