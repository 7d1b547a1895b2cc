/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flattened devicetree reader (devicetree specification 0.4, chapter 5). Works in place, keeps no
 * state; every offset and length from the blob is checked before use, so that a damaged blob
 * gives "not found" and nothing worse.
 */
#include <linux/errno.h>
#include "core/fdt.h"
#include "core/string.h"

#define FDT_MAGIC	0xd00dfeed
#define FDT_VERSION	17		/* also the oldest we read: it has size_dt_struct */
#define FDT_HEADER	40

#define FDT_BEGIN_NODE	1
#define FDT_END_NODE	2
#define FDT_PROP	3
#define FDT_NOP		4
#define FDT_END		9

struct token {
	u32 kind;		/* FDT_END also for anything malformed */
	u32 at, next;		/* offsets in the structure block */
	const char *name;	/* of a node or property */
	const u8 *data;		/* of a property */
	u32 len;
};

static u32 be32_at(const u8 *p)
{
	return (u32)p[0] << 24 | (u32)p[1] << 16 | (u32)p[2] << 8 | p[3];
}

static bool area_ok(u32 off, u32 len, u32 size)
{
	return off <= size && len <= size - off;
}

int fdt_open(struct fdt *fdt, const void *blob, size_t max)
{
	const u8 *p = blob;

	if (max < FDT_HEADER || be32_at(p) != FDT_MAGIC)
		return -EINVAL;
	fdt->base = p;
	fdt->size = be32_at(p + 4);
	fdt->off_struct = be32_at(p + 8);
	fdt->off_strings = be32_at(p + 12);
	fdt->size_strings = be32_at(p + 32);
	fdt->size_struct = be32_at(p + 36);
	if (fdt->size > max || fdt->size > 0x7fffffff || be32_at(p + 20) < FDT_VERSION ||
	    be32_at(p + 24) > FDT_VERSION || fdt->off_struct % 4 ||
	    !area_ok(fdt->off_struct, fdt->size_struct, fdt->size) ||
	    !area_ok(fdt->off_strings, fdt->size_strings, fdt->size))
		return -EINVAL;
	return fdt_root(fdt) < 0 ? -EINVAL : 0;
}

static bool node_name_read(const struct fdt *fdt, struct token *t)
{
	u32 room = fdt->size_struct - t->next;
	size_t len;

	t->name = (const char *)fdt->base + fdt->off_struct + t->next;
	len = strnlen(t->name, room);
	if (len == room)
		return false;
	t->next += (u32)ALIGN_UP(len + 1, 4);
	return true;
}

static bool prop_read(const struct fdt *fdt, struct token *t)
{
	const u8 *p = fdt->base + fdt->off_struct + t->next;
	u32 name, room;

	if (!area_ok(t->next, 8, fdt->size_struct))
		return false;
	t->len = be32_at(p);
	name = be32_at(p + 4);
	t->next += 8;
	if (!area_ok(t->next, t->len, fdt->size_struct) || name >= fdt->size_strings)
		return false;
	room = fdt->size_strings - name;
	t->name = (const char *)fdt->base + fdt->off_strings + name;
	t->data = p + 8;
	t->next += (u32)ALIGN_UP((u64)t->len, 4);
	return strnlen(t->name, room) < room;
}

/* The first token at or after `off` that is not a NOP. */
static struct token token_read(const struct fdt *fdt, u32 off)
{
	struct token t = { .kind = FDT_NOP, .next = off };
	bool ok = true;

	while (t.kind == FDT_NOP && ok) {
		t.at = t.next;
		if (t.at % 4 || !area_ok(t.at, 4, fdt->size_struct))
			break;
		t.kind = be32_at(fdt->base + fdt->off_struct + t.at);
		t.next = t.at + 4;
		if (t.kind == FDT_BEGIN_NODE)
			ok = node_name_read(fdt, &t);
		else if (t.kind == FDT_PROP)
			ok = prop_read(fdt, &t);
		else
			ok = t.kind == FDT_NOP || t.kind == FDT_END_NODE;
	}
	if (!ok || t.kind == FDT_NOP)
		t.kind = FDT_END;
	return t;
}

static bool node_open(const struct fdt *fdt, int node, struct token *t)
{
	if (node < 0)
		return false;
	*t = token_read(fdt, (u32)node);
	return t->kind == FDT_BEGIN_NODE && t->at == (u32)node;
}

int fdt_root(const struct fdt *fdt)
{
	struct token t = token_read(fdt, 0);

	return t.kind == FDT_BEGIN_NODE ? (int)t.at : -ENOENT;
}

/* The next BEGIN_NODE at this level, from a place inside the parent; the level's end: -ENOENT. */
static int node_scan(const struct fdt *fdt, u32 off, int depth)
{
	for (;;) {
		struct token t = token_read(fdt, off);

		if (t.kind == FDT_BEGIN_NODE && depth++ == 0)
			return (int)t.at;
		if (t.kind == FDT_END_NODE && --depth < 0)
			return -ENOENT;
		if (t.kind == FDT_END)
			return -ENOENT;
		off = t.next;
	}
}

int fdt_child(const struct fdt *fdt, int node)
{
	struct token t;

	return node_open(fdt, node, &t) ? node_scan(fdt, t.next, 0) : -ENOENT;
}

int fdt_next(const struct fdt *fdt, int node)
{
	struct token t;

	return node_open(fdt, node, &t) ? node_scan(fdt, t.next, 1) : -ENOENT;
}

const char *fdt_name(const struct fdt *fdt, int node)
{
	struct token t;

	return node_open(fdt, node, &t) ? t.name : NULL;
}

int fdt_find(const struct fdt *fdt, int node, const char *name)
{
	size_t len = strlen(name);
	int child;

	for (child = fdt_child(fdt, node); child >= 0; child = fdt_next(fdt, child)) {
		const char *have = fdt_name(fdt, child);

		if (!strncmp(have, name, len) && (!have[len] || have[len] == '@'))
			return child;
	}
	return -ENOENT;
}

const void *fdt_prop(const struct fdt *fdt, int node, const char *name, u32 *len)
{
	struct token t;

	if (!node_open(fdt, node, &t))
		return NULL;
	for (;;) {
		t = token_read(fdt, t.next);	/* properties stand before the children */
		if (t.kind != FDT_PROP)
			return NULL;
		if (!strcmp(t.name, name)) {
			if (len)
				*len = t.len;
			return t.data;
		}
	}
}

static bool strings_have(const char *list, u32 len, const char *s)
{
	size_t want = strlen(s) + 1;

	while (len) {
		size_t n = strnlen(list, len);

		if (n == len)
			return false;
		if (n + 1 == want && !memcmp(list, s, want))
			return true;
		list += n + 1;
		len -= (u32)n + 1;
	}
	return false;
}

int fdt_compatible(const struct fdt *fdt, int after, const char *compat)
{
	struct token t = { .next = 0 };

	if (after >= 0 && !node_open(fdt, after, &t))
		return -ENOENT;
	for (;;) {
		const char *list;
		u32 len;

		t = token_read(fdt, t.next);
		if (t.kind == FDT_END)
			return -ENOENT;
		if (t.kind != FDT_BEGIN_NODE)
			continue;
		list = fdt_prop(fdt, (int)t.at, "compatible", &len);
		if (list && strings_have(list, len, compat))
			return (int)t.at;
	}
}

u64 fdt_u32(const struct fdt *fdt, int node, const char *name, u64 otherwise)
{
	u32 len;
	const u8 *p = fdt_prop(fdt, node, name, &len);

	return p && len == 4 ? be32_at(p) : otherwise;
}

u64 fdt_u64(const struct fdt *fdt, int node, const char *name, u64 otherwise)
{
	u32 len;
	const u8 *p = fdt_prop(fdt, node, name, &len);

	return p && len == 8 ? (u64)be32_at(p) << 32 | be32_at(p + 4) : otherwise;
}

const char *fdt_str(const struct fdt *fdt, int node, const char *name)
{
	u32 len;
	const char *p = fdt_prop(fdt, node, name, &len);

	return p && strnlen(p, len) < len ? p : NULL;
}
