/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--trace=syscall`: a line a system call, in the manner of strace. Arguments are formatted before
 * the call, since execve(2) takes the memory that they point to.
 */
#include "proc/syscall.h"
#include "proc/errno_name.h"
#include "proc/task.h"
#include "core/print.h"
#include "core/string.h"
#include "mm/uaccess.h"
#include <linux/errno.h>
#include <linux/fcntl.h>

#define NR_EXIT 60
#define NR_EXIT_GROUP 231
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

static size_t put_call(char *line, size_t size, const struct syscall *call, const struct regs *r)
{
	const u64 arg[6] = { r->rdi, r->rsi, r->rdx, r->r10, r->r8, r->r9 };
	const char *kinds = call && call->args ? call->args : "xxxxxx";
	size_t n = (size_t)snprintf(line, size, "[%d] ", current->tid);

	if (call && call->name)
		n += (size_t)snprintf(line + n, size - n, "%s(", call->name);
	else
		n += (size_t)snprintf(line + n, size - n, "syscall_%lu(", r->orig_rax);
	for (unsigned i = 0; i < 6 && kinds[i] && n + 80 < size; i++) {
		if (i)
			n += (size_t)snprintf(line + n, size - n, ", ");
		n += put_arg(line + n, size - n, kinds[i], arg[i]);
	}
	return n;
}

static void put_result(char *out, size_t size, long ret)
{
	const char *name = ret < 0 && ret > -4096 ? errno_name((int)-ret) : NULL;

	if (name)
		snprintf(out, size, ") = -1 %s", name);
	else if (ret < 0 && ret > -4096)
		snprintf(out, size, ") = ? (interrupted)");
	else if (ret > 0xffff)
		snprintf(out, size, ") = 0x%lx", ret);
	else
		snprintf(out, size, ") = %ld", ret);
}

void syscall_trace_enter(const struct syscall *call, const struct regs *regs, struct trace_line *line)
{
	line->len = put_call(line->text, sizeof(line->text), call, regs);
	if (regs->orig_rax == NR_EXIT || regs->orig_rax == NR_EXIT_GROUP)
		klog("%s) = ?", line->text);
}

void syscall_trace_leave(struct trace_line *line, long ret)
{
	put_result(line->text + line->len, sizeof(line->text) - line->len, ret);
	klog("%s", line->text);
}
