/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's FDT reader: blobs made by libfdt are read right, damaged ones do no harm. */
#include <errno.h>
#include <libfdt.h>
#include <stdlib.h>
#include <string.h>
#include "core/fdt.h"
#include "tests/unit/tap.h"

#define BLOB_MAX 4096

static char blob[BLOB_MAX];

static void node_compatible(const char *name, const char *compat, size_t len)
{
	fdt_begin_node(blob, name);
	if (compat)
		fdt_property(blob, "compatible", compat, (int)len);
}

static void make_blob(void)
{
	fdt_create(blob, BLOB_MAX);
	fdt_add_reservemap_entry(blob, 0x1000, 0x2000);
	fdt_finish_reservemap(blob);
	node_compatible("", "husk,vm", 8);
	fdt_property_u32(blob, "#address-cells", 2);
	node_compatible("memory@0", NULL, 0);
	fdt_property_u64(blob, "reg", 0x123456789abcdef0);
	fdt_end_node(blob);
	node_compatible("pci@d0000000", "pci-host-ecam-generic", 22);
	node_compatible("fs@1,0", "pci1af4,105a\0husk,virtio", 25);
	fdt_property_u32(blob, "husk,virtio-id", 26);
	fdt_end_node(blob);
	node_compatible("rng@2,0", "husk,virtio", 12);
	fdt_property_u32(blob, "husk,virtio-id", 4);
	fdt_property(blob, "empty", NULL, 0);
	fdt_property(blob, "unterminated", "abc", 3);
	fdt_end_node(blob);
	fdt_end_node(blob);
	node_compatible("chosen", NULL, 0);
	fdt_property_string(blob, "bootargs", "quiet");
	fdt_end_node(blob);
	fdt_end_node(blob);
	fdt_finish(blob);
}

static void test_tree(const struct fdt *fdt)
{
	int root = fdt_root(fdt), mem = fdt_child(fdt, root), pci = fdt_next(fdt, mem);
	int chosen = fdt_next(fdt, pci);

	tap_ok(!strcmp(fdt_name(fdt, root), ""), "root has an empty name");
	tap_ok(!strcmp(fdt_name(fdt, mem), "memory@0"), "first child");
	tap_ok(!strcmp(fdt_name(fdt, pci), "pci@d0000000"), "sibling");
	tap_ok(!strcmp(fdt_name(fdt, chosen), "chosen"), "sibling after a subtree");
	tap_ok(fdt_next(fdt, chosen) < 0, "no more siblings");
	tap_ok(fdt_child(fdt, chosen) < 0, "no children");
	tap_ok(fdt_next(fdt, root) < 0, "the root has no sibling");
	tap_ok(fdt_find(fdt, root, "pci") == pci && fdt_find(fdt, root, "pci@d0000000") == pci,
	       "find with and without unit");
	tap_ok(fdt_find(fdt, root, "pc") < 0 && fdt_find(fdt, root, "rng") < 0,
	       "find takes no prefix and no grandchild");
}

static void test_compatible(const struct fdt *fdt)
{
	int pci = fdt_find(fdt, fdt_root(fdt), "pci");
	int fs = fdt_find(fdt, pci, "fs"), rng = fdt_find(fdt, pci, "rng");

	tap_ok(fdt_compatible(fdt, -1, "husk,vm") == fdt_root(fdt), "compatible: the root");
	tap_ok(fdt_compatible(fdt, -1, "husk,virtio") == fs, "compatible: second string of a list");
	tap_ok(fdt_compatible(fdt, fs, "husk,virtio") == rng, "compatible: the next one");
	tap_ok(fdt_compatible(fdt, rng, "husk,virtio") < 0, "compatible: no more");
	tap_ok(fdt_compatible(fdt, -1, "husk,virt") < 0, "compatible: whole strings only");
	tap_ok(fdt_compatible(fdt, rng + 4, "husk,virtio") < 0, "compatible: not from a non-node");
}

static void test_props(const struct fdt *fdt)
{
	int root = fdt_root(fdt), rng = fdt_compatible(fdt, -1, "husk,virtio");
	u32 len = 99;

	rng = fdt_compatible(fdt, rng, "husk,virtio");
	tap_ok(fdt_u32(fdt, rng, "husk,virtio-id", 0) == 4, "u32");
	tap_ok(fdt_u32(fdt, rng, "nothing", 77) == 77, "u32: default");
	tap_ok(fdt_u32(fdt, fdt_find(fdt, root, "memory"), "reg", 5) == 5, "u32: wrong size");
	tap_ok(fdt_u64(fdt, fdt_find(fdt, root, "memory"), "reg", 0) == 0x123456789abcdef0, "u64");
	tap_ok(fdt_prop(fdt, rng, "empty", &len) && len == 0, "empty property");
	tap_ok(!fdt_prop(fdt, root, "bootargs", NULL), "a child's property is not the parent's");
	tap_ok(!strcmp(fdt_str(fdt, fdt_find(fdt, root, "chosen"), "bootargs"), "quiet"), "string");
	tap_ok(!fdt_str(fdt, rng, "unterminated"), "string that does not end");
	tap_ok(!fdt_str(fdt, rng, "empty"), "string of no bytes");
	tap_ok(!fdt_prop(fdt, -1, "reg", &len) && !fdt_name(fdt, -1) && !fdt_prop(fdt, 3, "reg", &len) &&
	       !fdt_prop(fdt, 0x7ffffffc, "reg", &len), "no node: no property");
}

/* Visits all there is, reading every byte that the reader hands out. */
static unsigned walk(const struct fdt *fdt, int node, unsigned depth)
{
	unsigned sum = 0;
	u32 len;

	for (int c = fdt_child(fdt, node); c >= 0 && depth < 40; c = fdt_next(fdt, c)) {
		const u8 *p = fdt_prop(fdt, c, "reg", &len);

		sum += (unsigned)strlen(fdt_name(fdt, c));
		for (u32 i = 0; p && i < len; i++)
			sum += p[i];
		p = (const u8 *)fdt_str(fdt, c, "bootargs");
		sum += p ? (unsigned)strlen((const char *)p) : 0;
		sum += (unsigned)fdt_u32(fdt, c, "husk,virtio-id", 1);
		sum += walk(fdt, c, depth + 1);
	}
	return sum;
}

/* Each try on a heap copy of exact size, so that the sanitizer sees a byte too far. */
static void try_damaged(size_t size, unsigned changes)
{
	char *copy = malloc(size ? size : 1);
	struct fdt fdt;

	memcpy(copy, blob, size);
	while (changes-- && size) {
		size_t at = (size_t)rand() % (rand() % 4 ? size : (size < 64 ? size : 64));

		copy[at] = (char)(rand() % 3 ? rand() : rand() % 10);
	}
	if (!fdt_open(&fdt, copy, size)) {
		walk(&fdt, fdt_root(&fdt), 0);
		for (int n = -1; (n = fdt_compatible(&fdt, n, "husk,virtio")) >= 0;)
			;
	}
	free(copy);
}

static void test_damage(size_t size)
{
	struct fdt fdt;

	for (size_t n = 0; n < size; n++) {
		if (!fdt_open(&fdt, blob, n))
			break;
		try_damaged(n, 0);
	}
	tap_ok(fdt_open(&fdt, blob, size - 1) == -EINVAL, "a cut blob is refused");
	for (int i = 0; i < 30000; i++)
		try_damaged(size, 1 + (unsigned)rand() % 8);
	tap_ok(true, "damaged blobs read no byte outside");
}

int main(void)
{
	struct fdt fdt;

	srand(1);
	make_blob();
	tap_ok(!fdt_open(&fdt, blob, BLOB_MAX), "open");
	tap_ok(fdt_open(&fdt, "no tree here, but forty bytes at least, yes", 43) == -EINVAL, "no magic");
	test_tree(&fdt);
	test_compatible(&fdt);
	test_props(&fdt);
	test_damage(fdt_totalsize(blob));
	return tap_done();
}
