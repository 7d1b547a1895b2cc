/* SPDX-License-Identifier: Apache-2.0 */
/* `--trace=syscall`: a line a system call, in the manner of strace. */
#include "proc/syscall.h"
#include "proc/task.h"
#include "core/print.h"
#include "core/string.h"
#include "mm/uaccess.h"
#include <linux/errno.h>
#include <linux/fcntl.h>

#define LINE 256
#define STRING_MAX 48

static size_t put_string(char *out, size_t size, u64 addr)
{
	char raw[STRING_MAX + 1];
	long n = strncpy_from_user(raw, addr, sizeof(raw));
	size_t len = 0;

	if (n < 0 && n != -ENAMETOOLONG)
		return (size_t)snprintf(out, size, "0x%lx", addr);
	raw[STRING_MAX] = 0;
	len += (size_t)snprintf(out, size, "\"");
	for (const char *p = raw; *p && len + 8 < size; p++)
		len += (size_t)snprintf(out + len, size - len, *p >= 32 && *p < 127 ? "%c" : "\\x%02x",
					(u8)*p);
	return len + (size_t)snprintf(out + len, size - len, n < 0 ? "\"..." : "\"");
}

static size_t put_arg(char *out, size_t size, char kind, u64 val)
{
	switch (kind) {
	case 's':
		return put_string(out, size, val);
	case 'd':
		return (size_t)snprintf(out, size, "%d", (int)val);
	case 'f':
		if ((int)val == AT_FDCWD)
			return (size_t)snprintf(out, size, "AT_FDCWD");
		return (size_t)snprintf(out, size, "%d", (int)val);
	case 'u': case 'z':
		return (size_t)snprintf(out, size, "%lu", val);
	case 'o':
		return (size_t)snprintf(out, size, "0%o", (u32)val);
	default:
		return val ? (size_t)snprintf(out, size, "0x%lx", val) : (size_t)snprintf(out, size, "NULL");
	}
}

void syscall_trace(const struct syscall *call, const struct regs *r, long ret)
{
	const u64 arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	const char *kinds = call && call->args ? call->args : "xxxxxx";
	char line[LINE];
	size_t n;

	n = (size_t)snprintf(line, sizeof(line), "[%d] ", current->tid);
	if (call && call->name)
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s(", call->name);
	else
		n += (size_t)snprintf(line + n, sizeof(line) - n, "syscall_%lu(", r->orig_rax);
	for (unsigned i = 0; i < 6 && kinds[i] && n + 80 < sizeof(line); i++) {
		if (i)
			n += (size_t)snprintf(line + n, sizeof(line) - n, ", ");
		n += put_arg(line + n, sizeof(line) - n, kinds[i], arg[i]);
	}
	if (ret < 0 && ret > -4096)
		snprintf(line + n, sizeof(line) - n, ") = -1 (errno %ld)", -ret);
	else if (ret > 0xffff)
		snprintf(line + n, sizeof(line) - n, ") = 0x%lx", ret);
	else
		snprintf(line + n, sizeof(line) - n, ") = %ld", ret);
	klog("%s", line);
}
