/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between kernel and program memory; faults on bad addresses end in the fix-up table. */
#include "mm/uaccess.h"
#include <linux/errno.h>

size_t user_copy(void *dst, const void *src, size_t n);	/* nucleus/entry.S: bytes left */
size_t user_clear(void *dst, size_t n);
int user_load8(const u8 *p);

int copy_in(void *dst, const void *buf, size_t len)
{
	return user_copy(dst, buf, len) ? -EFAULT : 0;
}

int copy_out(void *buf, const void *src, size_t len)
{
	return user_copy(buf, src, len) ? -EFAULT : 0;
}

size_t copy_out_some(void *buf, const void *src, size_t len)
{
	return len - user_copy(buf, src, len);
}

int clear_out(void *buf, size_t len)
{
	return user_clear(buf, len) ? -EFAULT : 0;
}

int copy_from_user(void *dst, u64 src, size_t len)
{
	return user_ok(src, len) ? copy_in(dst, (const void *)src, len) : -EFAULT;
}

int copy_to_user(u64 dst, const void *src, size_t len)
{
	return user_ok(dst, len) ? copy_out((void *)dst, src, len) : -EFAULT;
}

int clear_user(u64 dst, size_t len)
{
	return user_ok(dst, len) ? clear_out((void *)dst, len) : -EFAULT;
}

long strncpy_from_user(char *dst, u64 src, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		int c = user_ok(src + i, 1) ? user_load8((const u8 *)src + i) : -1;

		if (c < 0)
			return -EFAULT;
		dst[i] = (char)c;
		if (!c)
			return (long)i;
	}
	return -ENAMETOOLONG;
}
