/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of our own kernel: faults, address spaces, system calls, context switches. */
#include "bench/bench.h"
#include "core/math.h"
#include "core/sched.h"
#include "core/string.h"
#include "husk/layout.h"
#include "mm/uaccess.h"
#include "mm/vm.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"
#include "proc/process.h"
#include "proc/task.h"
#include <linux/mman.h>

#define NOWHERE		0x10000000ul	/* in a process without memory */
#define STACK_BYTES	(16 * PAGE_SIZE)

void task_enter(struct regs *regs) __attribute__((noreturn));	/* nucleus/entry.S */
extern const char bench_nop[], bench_user_loop_end[];
u64 bench_user_loop(u64 n);
int user_load8(const u8 *p);

/* A #PF into ring 3, the look-up, and back: nothing gets mapped, so each one is like the last. */
u64 bench_batch_fault(struct bench *b, u64 n)
{
	u64 start = bench_tsc();

	for (; n; n--)
		user_load8((const u8 *)NOWHERE);
	return bench_tsc() - start;
}

u64 bench_batch_nucleus(struct bench *b, u64 n)
{
	u64 start = bench_tsc();

	for (; n; n--)
		nucleus_call(bench_nop, 0, 0);
	return bench_tsc() - start;
}

unsigned bench_prepare_cr3(struct bench *b)
{
	struct mm *mm = mm_new();

	if (!mm)
		return HUSK_BENCH_S_MEMORY;
	b->arg = mm->cr3;
	return HUSK_BENCH_S_OK;
}

/* There and back are two operations: n may be odd, then one is left out on the way back. */
u64 bench_batch_cr3(struct bench *b, u64 n)
{
	u64 home = cpu_this()->loaded_cr3, start = bench_tsc(), cycles;

	for (u64 i = 0; i < n; i++)
		nucleus_call(nc_cr3, i & 1 ? home : b->arg, 0);
	cycles = bench_tsc() - start;
	nucleus_call(nc_cr3, home, 0);
	return cycles;
}

/* --- processes in a ring -------------------------------------------------------------------- */

static void ring_task(void)
{
	schedule_tail();
	for (;;)
		sched_yield_current();
}

static struct task *ring_task_new(void)
{
	struct process *proc = process_new(current->proc);
	struct task *task = proc ? task_new(proc, proc->pid) : NULL;
	u64 *sp;

	if (!task)
		return NULL;
	proc->mm = mm_new();
	if (!proc->mm)
		return NULL;
	/* As switch_stacks() left it: six registers, and where to go on. */
	sp = (u64 *)task_regs(task);
	*--sp = 0;
	*--sp = (u64)ring_task;
	for (unsigned i = 0; i < 6; i++)
		*--sp = 0;
	task->ksp = (u64)sp;
	return task;
}

unsigned bench_prepare_tasks(struct bench *b)
{
	current->proc->mm = mm_new();
	if (!current->proc->mm)
		return HUSK_BENCH_S_MEMORY;
	mm_activate(current->proc->mm);
	for (u64 i = 1; i < b->arg; i++) {
		struct task *task = ring_task_new();

		if (!task)
			return HUSK_BENCH_S_MEMORY;
		task_enqueue(task);
	}
	return HUSK_BENCH_S_OK;
}

/* One operation is one switch; a yield comes back after all the others had their turn. */
u64 bench_batch_tasks(struct bench *b, u64 n)
{
	u64 turns = (n + b->arg - 1) / b->arg, start = bench_tsc(), cycles;

	for (u64 i = 0; i < turns; i++)
		sched_yield_current();
	cycles = bench_tsc() - start;
	/* Whole turns were made: count what was asked for. */
	return turns ? mul_div_u64(cycles, n, turns * b->arg) : cycles;
}

/* --- system calls of a program -------------------------------------------------------------- */

static u64 batch_user(struct bench *b, u64 n)
{
	return b->loop(n);
}

/* Runs as the program, on its stack: kernel code, but outside of the kernel as traps see it. */
static void program_main(struct bench *b)
{
	bench_measure(b, batch_user);
	bench_done(HUSK_BENCH_S_OK);
}

static u64 user_map(struct mm *mm, u64 len, int prot)
{
	s64 at = mm_mmap(mm, 0, len, prot, MAP_PRIVATE | MAP_ANONYMOUS, NULL, 0);

	return at < 0 ? 0 : (u64)at;
}

void bench_program(struct bench *b)
{
	struct process *proc = current->proc;
	size_t len = (size_t)(bench_user_loop_end - (const char *)bench_user_loop);
	struct regs *regs = task_regs(current);
	u64 code, stack;

	proc->mm = mm_new();
	if (!proc->mm)
		bench_done(HUSK_BENCH_S_MEMORY);
	mm_activate(proc->mm);
	proc->patch = b->arg;
	code = user_map(proc->mm, PAGE_SIZE, PROT_READ | PROT_WRITE | PROT_EXEC);
	stack = user_map(proc->mm, STACK_BYTES, PROT_READ | PROT_WRITE);
	if (!code || !stack || copy_to_user(code, (const void *)bench_user_loop, len))
		bench_done(HUSK_BENCH_S_MEMORY);
	b->loop = (u64 (*)(u64))code;
	memset(regs, 0, sizeof(*regs));
	regs->rip = (u64)program_main;
	regs->rdi = (u64)b;
	regs->rsp = stack + STACK_BYTES - 8;
	regs->cs = HUSK_USER_CS;
	regs->ss = HUSK_USER_DS;
	regs->rflags = 0x202;
	regs->orig_rax = ~0ull;
	task_enter(regs);
}
