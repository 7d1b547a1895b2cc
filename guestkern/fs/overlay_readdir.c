/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading overlay directories. One with a lower part alone passes the lower one's entries on. A
 * merged one is read whole at the first call after open or rewind, upper names first, so that
 * positions stay valid however the directory changes meanwhile.
 */
#include "fs/overlay.h"

struct overlay_list {		/* file->priv of an open directory */
	bool merged, filled;
	struct nametab names;
	struct file *lower;	/* on the lower directory, while passing through */
};

bool overlay_merged(const struct inode *dir)
{
	struct overlay_inode *oi = overlay_i(dir);

	return oi->upper && oi->lower;
}

static int list_open_lower(struct inode *dir, struct file **out)
{
	return file_open_dentry(overlay_i(dir)->lower, O_RDONLY | O_DIRECTORY, out);
}

struct collect {
	struct dir_context ctx;
	struct nametab *names;
	u64 last_pos;
	bool any, oom;
};

static bool is_dots(const char *name, size_t len)
{
	return name_is(name, len, ".") || name_is(name, len, "..");
}

static int collect_emit(struct dir_context *ctx, const char *name, size_t len, u64 ino,
			unsigned type, u64 next_pos)
{
	struct collect *c = container_of(ctx, struct collect, ctx);
	struct nament *e;

	c->any = true;
	c->last_pos = next_pos;
	if (is_dots(name, len))
		return 0;
	e = nametab_find(c->names, name, len);
	if (e) {
		if (e->merged && type == DT_DIR)
			e->ino = ino;
		return 0;
	}
	e = nametab_add(c->names, name, len);
	if (!e) {
		c->oom = true;
		return 1;
	}
	e->ino = ino;
	e->type = (u8)type;
	return 0;
}

/* All entries of the lower directory into names, which has the upper ones already. */
static int collect_lower(struct inode *dir, struct nametab *names)
{
	struct collect c = { .ctx.emit = collect_emit, .names = names };
	struct file *file;
	int err = list_open_lower(dir, &file);

	if (err)
		return err;
	do {
		c.any = false;
		err = file->ops->iterate(file, &c.ctx);
		if (c.any)
			file->pos = c.last_pos;
	} while (!err && c.any && !c.oom);
	file_put(file);
	return err ? err : c.oom ? -ENOMEM : 0;
}

static int collect_upper(struct inode *upper, struct nametab *names)
{
	struct nametab *t = tmpfs_names(upper);
	struct nament *e, *copy;

	for (e = nametab_from(t, 0); e; e = nametab_next(t, e)) {
		copy = nametab_add(names, e->name, e->len);
		if (!copy)
			return -ENOMEM;
		if (!e->inode) {
			copy->type = DT_WHT;
			continue;
		}
		copy->ino = e->inode->ino;
		copy->type = e->type;
		copy->merged = inode_is_dir(e->inode) && !tmpfs_opaque(e->inode);
	}
	return 0;
}

static int list_fill(struct inode *dir, struct nametab *names)
{
	struct overlay_inode *oi = overlay_i(dir);
	int err = oi->upper ? collect_upper(oi->upper, names) : 0;

	if (!err && oi->lower)
		err = collect_lower(dir, names);
	return err;
}

int overlay_dir_empty(struct inode *dir)
{
	struct nametab names;
	struct nament *e;
	int r;

	nametab_init(&names);
	r = list_fill(dir, &names);
	if (!r) {
		r = 1;
		for (e = nametab_from(&names, 0); e && r; e = nametab_next(&names, e))
			r = e->type == DT_WHT;
	}
	nametab_free(&names);
	return r;
}

static void list_reset(struct overlay_list *l)
{
	nametab_free(&l->names);
	l->filled = false;
	if (l->lower)
		file_put(l->lower);
	l->lower = NULL;
}

static int list_start(struct file *file, struct overlay_list *l)
{
	struct inode *dir = file->inode;
	int err;

	list_reset(l);
	l->merged = overlay_i(dir)->upper != NULL;
	err = l->merged ? list_fill(dir, &l->names) : list_open_lower(dir, &l->lower);
	l->filled = !err;
	return err;
}

static int list_emit(struct file *file, struct dir_context *ctx, struct nametab *t)
{
	struct nament *e;

	if (!dir_emit_dots(file, ctx))
		return 0;
	for (e = nametab_from(t, file->pos); e; e = nametab_next(t, e)) {
		if (e->type == DT_WHT)
			continue;
		if (ctx->emit(ctx, e->name, e->len, e->ino, e->type, e->cookie + 1))
			break;
		file->pos = e->cookie + 1;
	}
	return 0;
}

static int overlay_iterate(struct file *file, struct dir_context *ctx)
{
	struct overlay_list *l = file->priv;
	int err = 0;

	if (!l->filled || !file->pos)
		err = list_start(file, l);
	if (err)
		return err;
	if (l->merged)
		return list_emit(file, ctx, &l->names);
	l->lower->pos = file->pos;
	err = l->lower->ops->iterate(l->lower, ctx);
	file->pos = l->lower->pos;
	return err;
}

static int overlay_dir_open(struct inode *inode, struct file *file)
{
	struct overlay_list *l = kzalloc(sizeof(*l));

	if (!l)
		return -ENOMEM;
	nametab_init(&l->names);
	file->priv = l;
	return 0;
}

static void overlay_dir_release(struct file *file)
{
	struct overlay_list *l = file->priv;

	list_reset(l);
	kfree(l);
}

const struct file_ops overlay_dir_ops = {
	.open = overlay_dir_open,
	.release = overlay_dir_release,
	.llseek = dir_llseek,
	.iterate = overlay_iterate,
};
