/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel for unit tests: tasks are threads of which one runs at a time, and only wait_sleep()
 * hands over. The clock is virtual: it moves to the next deadline when every task sleeps, so
 * tests of time-outs neither wait nor depend on the machine.
 */
#pragma once

#include "fs/vfs.h"
#include "proc/task.h"

void fake_init(void);				/* the calling thread becomes the first task */

struct fake_task;
struct fake_task *fake_spawn(long (*fn)(void *arg), void *arg);	/* same process */
long fake_join(struct fake_task *ft);		/* its result */
struct task *fake_task_of(struct fake_task *ft);
void fake_settle(void);				/* until every other task sleeps; time stands still */
void fake_signal(struct task *task);		/* a signal that would be delivered becomes pending */
void fake_signal_done(struct task *task);

struct process *fake_process(s32 pid, s32 pgid, s32 sid, struct process *parent);
struct process *fake_enter(struct process *proc);	/* current task acts for it; the old one */
void fake_advance(u64 ns);
struct file *fake_file(int fd);			/* not referenced */
int fake_open(struct inode *inode, u32 flags, struct file **out);	/* calls fops->open */
long fake_close(int fd);

struct fake_sent { s32 pgid; int sig; };	/* signals sent; pgid 0: to the current task */
extern struct fake_sent fake_sent[64];
extern unsigned fake_nsent;

/* The console: what the kernel wrote, what it will read. */
extern char fake_console_out[2][1 << 17];
extern size_t fake_console_len[2];
extern bool fake_console_closed;
void fake_console_input(const void *bytes, size_t len, bool eof);

/* The device tree: properties of husk,init that the test supplies. */
void fake_fdt_set(const char *name, const void *value, u32 len);
const struct fdt *fake_fdt(void);

extern unsigned fake_pages;			/* pages allocated and not freed */
extern unsigned fake_allocs;			/* kmalloc blocks not freed */
extern int fake_kmalloc_fail;			/* countdown to a failing allocation; 0: never */

/* User memory: addresses below 64 KiB fault. */
#define FAKE_BAD_ADDR 0x1000ull
#define U(p) ((u64)(uintptr_t)(p))
