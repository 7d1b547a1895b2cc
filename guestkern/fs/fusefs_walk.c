/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths of the FUSE client: HUSK_FUSE_WALK looks up all components in one request, and brings the
 * first pages of a file at its end along, since most files that are looked up are read next.
 */
#include "fs/fusefs.h"

#include "fs/vfs_internal.h"

#define DATA_PAGES	4		/* read along with a walk */
#define LINK_ROOM	256		/* for a symlink's text; a longer one is asked for when needed */

struct walk {
	struct fuse_out_header *reply;	/* its memory, `room` bytes */
	struct husk_fuse_walk_out *out;
	struct fuse_entry_out *entries;
	size_t room;
	char *path;			/* components joined by single slashes */
	size_t path_len;
	unsigned ncomponents;
	struct page *pages[DATA_PAGES];
	unsigned npages;
};

static size_t name_len(const char *s)
{
	size_t n = 0;

	while (s[n] && s[n] != '/')
		n++;
	return n;
}

/* Copy what can be walked of `rest`: up to "." or "..", or what the protocol takes at a time. */
static int walk_path(struct walk *w, const char *rest)
{
	size_t room = MIN(strlen(rest), (size_t)HUSK_FUSE_PATH_MAX);

	w->path = kmalloc(room + 1);
	if (!w->path)
		return -ENOMEM;
	while (*rest && w->ncomponents < HUSK_FUSE_WALK_MAX) {
		size_t len = name_len(rest), sep = w->path_len ? 1 : 0;

		if (!len) {
			rest++;
			continue;
		}
		if ((len == 1 && rest[0] == '.') || (len == 2 && rest[0] == '.' && rest[1] == '.') ||
		    len > HUSK_FUSE_NAME_MAX || w->path_len + sep + len > room)
			break;
		if (sep)
			w->path[w->path_len++] = '/';
		memcpy(w->path + w->path_len, rest, len);
		w->path_len += len;
		w->ncomponents++;
		rest += len;
	}
	w->path[w->path_len] = '\0';
	return w->ncomponents ? 0 : -EINVAL;
}

static void walk_free(struct walk *w)
{
	for (unsigned i = 0; i < w->npages; i++)
		page_put(w->pages[i]);
	kfree(w->reply);
	kfree(w->path);
}

static int walk_send(struct walk *w, u64 nodeid, bool with_data)
{
	struct husk_fuse_walk_in in = { .path_len = (u32)w->path_len };
	struct io_seg out[1 + DATA_PAGES], req[3];
	struct fuse_in_header h = { .opcode = HUSK_FUSE_WALK, .nodeid = nodeid };
	long len;

	w->room = ALIGN_UP(sizeof(*w->reply) + sizeof(*w->out) +
			   w->ncomponents * sizeof(*w->entries) + LINK_ROOM, 64);
	w->reply = kmalloc(w->room);
	if (!w->reply)
		return -ENOMEM;
	w->out = (struct husk_fuse_walk_out *)(w->reply + 1);
	w->entries = (struct fuse_entry_out *)(w->out + 1);
	out[0] = (struct io_seg){ w->reply, (u32)w->room };
	while (with_data && w->npages < DATA_PAGES) {
		struct page *page = page_alloc(0, 0);

		if (!page)
			break;
		w->pages[w->npages++] = page;
		out[w->npages] = (struct io_seg){ page_addr(page), PAGE_SIZE };
	}
	if (w->npages) {
		in.flags = HUSK_FUSE_WALK_READ;
		in.read_len = w->npages * PAGE_SIZE;
		in.data_off = (u32)w->room;
	}
	h.len = (u32)(sizeof(h) + sizeof(in) + w->path_len);
	req[0] = (struct io_seg){ &h, sizeof(h) };
	req[1] = (struct io_seg){ &in, sizeof(in) };
	req[2] = (struct io_seg){ w->path, (u32)w->path_len };
	len = virtio_fs_request(req, 3, out, 1 + w->npages);
	if (len < 0)
		return (int)len;
	if (len < (long)(sizeof(*w->reply) + sizeof(*w->out)) || w->out->count > w->ncomponents ||
	    w->out->target_len > LINK_ROOM || w->out->data_len > w->npages * PAGE_SIZE)
		return -EIO;
	return 0;
}

/* Put what was read along into the cache, whole pages or up to the file's end. */
static void walk_data(struct walk *w, struct inode *inode)
{
	u32 len = w->out->data_len;

	if (!S_ISREG(inode->mode) || len > inode->size)
		return;
	for (unsigned i = 0; i < w->npages && i * PAGE_SIZE < len; i++) {
		u32 in_page = len - i * PAGE_SIZE;

		if (in_page < PAGE_SIZE && len != inode->size)
			return;
		if (in_page < PAGE_SIZE)
			memset((u8 *)page_addr(w->pages[i]) + in_page, 0, PAGE_SIZE - in_page);
		page_get(w->pages[i]);
		if (pagecache_insert(inode, i, w->pages[i], false))
			page_put(w->pages[i]);
	}
}

static void walk_link(struct walk *w, struct inode *inode)
{
	u32 len = w->out->target_len;

	if (!S_ISLNK(inode->mode) || !len || inode->link)
		return;
	inode->link = kmalloc(len + 1);
	if (!inode->link)
		return;
	memcpy(inode->link, w->entries + w->out->count, len);
	inode->link[len] = '\0';
}

/* The inode of entry i with what the reply says besides, if it is the last; NULL: no memory. */
static struct inode *walk_inode(struct walk *w, struct super *sb, u32 i)
{
	struct inode *inode = fuse_iget(sb, &w->entries[i]);

	if (inode && i + 1 == w->out->count) {
		walk_link(w, inode);
		walk_data(w, inode);
	}
	return inode;
}

static void walk_forget(struct walk *w, u32 from)
{
	for (u32 i = from; i < w->out->count; i++) {
		if (w->entries[i].nodeid)
			fuse_forget(w->entries[i].nodeid, 1);
	}
}

/* Enter the entries of the reply, each below the one before. */
static void walk_enter(struct walk *w, struct dentry *at)
{
	struct super *sb = at->inode->sb;
	const char *name = w->path;
	u32 i;

	dentry_get(at);
	for (i = 0; i < w->out->count; i++) {
		const struct fuse_entry_out *e = &w->entries[i];
		size_t len = name_len(name);
		struct inode *inode = e->nodeid ? walk_inode(w, sb, i) : NULL;
		struct dentry *next = NULL;

		if (inode || !e->nodeid)
			next = dcache_add(at, name, len, inode,
					  fuse_expiry(e->entry_valid, e->entry_valid_nsec));
		dentry_put(at);
		at = next;
		name += len + 1;
		if (!next || !e->nodeid)
			break;
	}
	walk_forget(w, i + 1);
	if (at)
		dentry_put(at);
}

int fusefs_walk(struct dentry *start, const char *rest)
{
	struct walk w = { 0 };
	int err;

	if (fuse_dir_bulk(start))
		return 0;
	err = walk_path(&w, rest);
	if (!err)
		err = walk_send(&w, fuse_node_of(start->inode)->nodeid, true);
	if (!err)
		walk_enter(&w, start);
	walk_free(&w);
	return err;
}

int fuse_walk_inode(struct super *sb, u64 nodeid, const char *path, struct inode **out)
{
	struct walk w = { 0 };
	int err = walk_path(&w, path);
	u32 last;

	if (!err)
		err = walk_send(&w, nodeid, false);
	if (err)
		goto out_free;
	last = w.out->count - 1;
	if (w.out->error)
		err = w.out->error;
	else if (!w.out->count || w.out->count < w.ncomponents)
		err = -ENOTDIR;
	else if (!w.entries[last].nodeid)
		err = -ENOENT;
	if (err) {
		walk_forget(&w, 0);
		goto out_free;
	}
	*out = walk_inode(&w, sb, last);
	err = *out ? 0 : -ENOMEM;
	w.out->count = last;
	walk_forget(&w, 0);
out_free:
	walk_free(&w);
	return err;
}
