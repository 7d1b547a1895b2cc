/* SPDX-License-Identifier: Apache-2.0 */
/* Boot: from the entry point to the first program. */
#include "core/fdt.h"
#include "core/print.h"
#include "core/sched.h"
#include "core/stamp.h"
#include "core/time.h"
#include "core/init.h"
#include "bench/bench.h"
#include "drivers/drivers.h"
#include "fs/glue.h"
#include "fs/vfs.h"
#include "husk/fdt.h"
#include "husk/layout.h"
#include "mm/page_init.h"
#include "nucleus/nucleus.h"
#include "nucleus/percpu.h"
#include "proc/fpu.h"
#include "proc/process.h"


static struct fdt boot_fdt;
static bool boot_done;
extern const u8 kernel_end[];

void kmain(void *fdt_blob, u64 id);
void switch_stacks(u64 *save, u64 load);

static u64 cell64(const u8 *p)
{
	u64 v = 0;

	for (unsigned i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* RAM ranges: the reg property of the memory node(s), at most two. */
static void memory_init(const struct fdt *fdt)
{
	struct ram ram[2];
	unsigned n = 0;

	for (int node = fdt_child(fdt, fdt_root(fdt)); node >= 0; node = fdt_next(fdt, node)) {
		const char *name = fdt_name(fdt, node);
		const u8 *reg;
		u32 len;

		if (!name || name[0] != 'm' || name[1] != 'e' || name[2] != 'm')
			continue;
		reg = fdt_prop(fdt, node, "reg", &len);
		for (u32 at = 0; reg && at + 16 <= len && n < ARRAY_SIZE(ram); at += 16, n++)
			ram[n] = (struct ram){ cell64(reg + at), cell64(reg + at + 8) };
	}
	if (!n)
		panic("the device tree names no memory");
	page_init(ram, n, (u64)kernel_end - HUSK_KERNEL_DATA + HUSK_KERNEL_DATA_PHYS);
}

/* The second half of boot, as the first task: from here on the kernel may sleep. */
static void boot_task(void)
{
	const struct fdt *fdt = &boot_fdt;

	cpu_this()->prev = NULL;
	vfs_init();			/* dentry and inode caches */
	boot_stamp("vfs_init");
	vfs_glue_init();		/* pipes, devices, epoll */
	virtio_fs_init(fdt);		/* finds it in the device tree */
	boot_stamp("virtio_fs_init");
	console_init(fdt);		/* remembers where it is; touched at first use */
	init_run(fdt);			/* mounts, stdio, exec: leaves for the program */
}

static void boot_task_start(void)
{
	static u64 boot_sp;
	struct process *proc = process_new(&kernel_process);
	struct task *task = proc ? task_new(proc, proc->pid) : NULL;
	struct percpu *cpu = cpu_this();
	u64 *sp;

	if (!task)
		panic("no memory for the first task");
	task->run_since_ns = time_monotonic_ns();
	cpu->task = task;
	cpu->kstack = (u64)task->kstack + KSTACK_SIZE - 8;
	sp = (u64 *)task_regs(task);
	*--sp = 0;
	*--sp = (u64)boot_task;
	for (unsigned i = 0; i < 6; i++)
		*--sp = 0;
	switch_stacks(&boot_sp, (u64)sp);
}

/* A further vCPU: nothing runs on it yet (docs/guest-kernel.md), so it sleeps. */
static void secondary_park(unsigned id)
{
	while (!__atomic_load_n(&boot_done, __ATOMIC_ACQUIRE))
		__builtin_ia32_pause();
	if (init_node(&boot_fdt) < 0)
		bench_secondary(id);		/* `husk bench`: does not return */
	for (;;)
		nucleus_call(nc_idle, 0, 0);
}

void kmain(void *fdt_blob, u64 id)
{
	percpu_init(cpu_this(), (unsigned)id);
	if (id)
		secondary_park((unsigned)id);
	cpu_this()->loaded_cr3 = HUSK_BOOT_TABLES;
	descriptors_init();		/* traps work from here */
	if (fdt_open(&boot_fdt, fdt_blob, HUSK_BOOT_END))
		panic("no device tree at %p", fdt_blob);
	trace_mask = (u32)fdt_u32(&boot_fdt, init_node(&boot_fdt), HUSK_FDT_TRACE, 0);
	boot_stamp("start");
	memory_init(&boot_fdt);		/* page_alloc(), kmalloc() */
	boot_stamp("memory_init");
	time_init(&boot_fdt);
	boot_stamp("time_init");
	fpu_init(&boot_fdt);
	boot_stamp("fpu_init");
	random_init(&boot_fdt);
	boot_stamp("random_init");
	timers_init(&boot_fdt);
	irq_init();			/* LAPIC on */
	boot_stamp("irq_init");
	process_init();
	boot_stamp("process_init");
	__atomic_store_n(&boot_done, true, __ATOMIC_RELEASE);
	boot_task_start();		/* does not return */
}
