/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real KVM: tiny guests (tiny.S) in a kernel ELF made here prove the boot state, MMIO, the exit
 * device, a second vCPU, the time limit, stopping from another thread, and a triple fault.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "husk/layout.h"
#include "husk/system.h"
#include "tests/unit/tap.h"
#include "vmm/config.h"
#include "vmm/log.h"
#include "vmm/run.h"
#include "vmm/stdio_kind.h"
#include "vmm/vm.h"

const unsigned char guest_kernel[1], guest_kernel_end[1];

extern const uint8_t tiny_state[], tiny_state_end[], tiny_second[], tiny_second_end[];
extern const uint8_t tiny_spin[], tiny_spin_end[], tiny_wx[], tiny_wx_end[];
extern const uint8_t tiny_memory[], tiny_memory_end[], tiny_tables[], tiny_tables_end[];

#define STRIDE	0x1000
#define CPUS	2

struct image {
	Elf64_Ehdr eh;
	Elf64_Phdr ph[3];
	struct __attribute__((packed)) {	/* a note's parts are aligned to 4 */
		Elf64_Nhdr nh;
		char name[8];
		struct husk_boot_note note;
	} note;
	uint8_t text[512] __attribute__((aligned(16)));
	uint8_t data[CPUS * STRIDE + 0x2000];
};

/* Data segment: GDT at 0x800, IDT at 0x1000 (empty), per-vCPU blocks from 0x2000. */
static void image_make(struct image *im, const uint8_t *code, const uint8_t *end)
{
	memset(im, 0, sizeof(*im));
	memcpy(im->eh.e_ident, ELFMAG "\2\1\1", 7);
	im->eh.e_type = ET_EXEC;
	im->eh.e_machine = EM_X86_64;
	im->eh.e_version = EV_CURRENT;
	im->eh.e_entry = HUSK_KERNEL_VIRT;
	im->eh.e_phoff = offsetof(struct image, ph);
	im->eh.e_phentsize = sizeof(Elf64_Phdr);
	im->eh.e_phnum = 3;
	im->ph[0] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_X, offsetof(struct image, text),
		HUSK_KERNEL_VIRT, HUSK_KERNEL_PHYS, sizeof(im->text), sizeof(im->text), 0x200000 };
	im->ph[1] = (Elf64_Phdr){ PT_LOAD, PF_R | PF_W, offsetof(struct image, data),
		HUSK_KERNEL_DATA, HUSK_KERNEL_DATA_PHYS, sizeof(im->data), sizeof(im->data) + 0x1000,
		0x200000 };
	im->ph[2] = (Elf64_Phdr){ PT_NOTE, PF_R, offsetof(struct image, note), 0, 0,
		sizeof(im->note), sizeof(im->note), 4 };
	im->note.nh = (Elf64_Nhdr){ 5, sizeof(struct husk_boot_note), HUSK_NOTE_BOOT };
	memcpy(im->note.name, "husk", 5);
	im->note.note = (struct husk_boot_note){
		.version = HUSK_BOOT_VERSION, .max_cpus = CPUS,
		.gdt = HUSK_KERNEL_DATA + 0x800, .gdt_limit = HUSK_TSS_SEL + 15,
		.idt = HUSK_KERNEL_DATA + 0x1000, .idt_limit = 0xfff,
		.percpu = HUSK_KERNEL_DATA + 0x2000, .percpu_stride = STRIDE,
		.tss_offset = 0x100, .tss_limit = 0x67,
		.star = 0x0023001000000000, .lstar = HUSK_KERNEL_VIRT, .fmask = 0x700,
	};
	memcpy(im->text, code, end - code);
	for (uint64_t n = 0; n < CPUS; n++) {
		uint64_t mark = 0x1000 + n;

		memcpy(im->data + 0x2000 + n * STRIDE, &mark, sizeof(mark));
	}
}

static char *kernel_file(const uint8_t *code, const uint8_t *end)
{
	static char path[64];
	struct image *im = malloc(sizeof(*im));
	FILE *f = tmpfile();

	image_make(im, code, end);
	if (!f || fwrite(im, sizeof(*im), 1, f) != 1 || fflush(f))
		abort();
	free(im);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(f));
	return path;
}

static char *no_strings[] = { NULL };
static char *argv_test[] = { "prog", NULL };

static struct config config_make(const uint8_t *code, const uint8_t *end)
{
	return (struct config){
		.argv = argv_test, .envp = no_strings, .memory_bytes = 64 << 20, .cpus = 1,
		.kernel_path = kernel_file(code, end), .quiet = true, .no_jail = true,
	};
}

static void *stopper(void *arg)
{
	usleep(20000);
	vm_stop(arg, "by another thread");
	return NULL;
}

/* Run to the end, tear all down, say how it ended. */
static struct vm_end run_once(const struct config *cfg, bool stop)
{
	struct vm *vm = malloc(sizeof(*vm));
	struct vm_end end = { 0 };
	pthread_t t;

	if (vm_create(vm, cfg)) {
		free(vm);
		return end;
	}
	stdio_describe(vm->stdio);
	if (!machine_attach(vm, cfg) && !vm_load(vm)) {
		if (stop)
			pthread_create(&t, NULL, stopper, vm);
		vm_enter(vm);
		if (stop)
			pthread_join(t, NULL);
		end = vm_end_get(vm);
	}
	vm_destroy(vm);
	free(vm);
	return end;
}

/* Exit status of husk for a guest that writes v to the exit register, in a process of its own. */
static int status_of(uint32_t v)
{
	uint64_t at = HUSK_DIRECT_MAP + HUSK_SYSTEM_MMIO + HUSK_SYS_EXIT;
	uint8_t code[] = { 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,	/* movabs $at, %rax */
			   0xc7, 0x00, 0, 0, 0, 0,		/* movl $v, (%rax) */
			   0xf3, 0x90, 0xeb, 0xfc };		/* pause; jmp */
	struct config cfg;
	int st = 0;
	pid_t pid;

	memcpy(code + 2, &at, sizeof(at));
	memcpy(code + 12, &v, sizeof(v));
	cfg = config_make(code, code + sizeof(code));
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(vm_run(&cfg));
	waitpid(pid, &st, 0);
	return WIFEXITED(st) ? WEXITSTATUS(st) : -1;
}

static void test_status(void)
{
	tap_ok(status_of(HUSK_EXIT_CODE << 24 | 0) == 0, "exit code 0");
	tap_ok(status_of(HUSK_EXIT_CODE << 24 | 77) == 77, "exit code 77");
	tap_ok(status_of(HUSK_EXIT_SIGNAL << 24 | 11) == 139, "killed by signal 11");
	tap_ok(status_of(HUSK_EXIT_EXEC << 24 | ENOENT) == EXIT_NOT_FOUND, "program not found");
	tap_ok(status_of(HUSK_EXIT_EXEC << 24 | EACCES) == EXIT_CANNOT, "program not executable");
	tap_ok(status_of(HUSK_EXIT_PANIC << 24) == EXIT_HUSK, "guest panic");
	tap_ok(status_of(HUSK_EXIT_REBOOT << 24) == 0, "reboot");
	tap_ok(status_of(0xee000000) == EXIT_HUSK, "an end that does not exist");
}

int main(void)
{
	struct config cfg;
	struct vm_end end;
	int kvm = open("/dev/kvm", O_RDWR);

	if (kvm < 0) {
		printf("1..0 # SKIP /dev/kvm cannot be opened\n");
		return 77;
	}
	close(kvm);
	log_open(NULL, true);

	cfg = config_make(tiny_state, tiny_state_end);
	end = run_once(&cfg, false);
	tap_ok(end.kind == VM_END_GUEST && end.guest_kind == HUSK_EXIT_CODE && end.value == 0,
	       "boot state, first failed check: %u (kind %d, %s)", end.value, end.kind, end.reason);

	cfg.memory_bytes = 5ull << 30;
	end = run_once(&cfg, false);
	tap_ok(end.kind == VM_END_GUEST && end.value == 0, "the same with memory above 4 GiB");

	cfg = config_make(tiny_memory, tiny_memory_end);
	cfg.memory_bytes = 9ull << 30;
	end = run_once(&cfg, false);
	tap_ok(end.kind == VM_END_GUEST && end.value == 0,
	       "first touches of memory without a slot, first failed check: %u %s", end.value,
	       end.reason);

	cfg = config_make(tiny_tables, tiny_tables_end);
	cfg.memory_bytes = 512 << 20;
	end = run_once(&cfg, false);
	tap_ok(end.kind == VM_END_GUEST && end.value == 0,
	       "page tables in memory without a slot, first failed check: %u %s", end.value,
	       end.reason);

	cfg = config_make(tiny_second, tiny_second_end);
	cfg.cpus = 2;
	end = run_once(&cfg, false);
	tap_ok(end.kind == VM_END_GUEST && end.value == 41, "second vCPU starts at the entry: %u",
	       end.value);

	cfg = config_make(tiny_spin, tiny_spin_end);
	cfg.cpus = 2;
	end = run_once(&cfg, true);
	tap_ok(end.kind == VM_END_STOP && !strcmp(end.reason, "by another thread"),
	       "stopped from another thread");

	cfg = config_make(tiny_spin, tiny_spin_end);
	cfg.timeout_s = 0.05;
	tap_ok(vm_run(&cfg) == EXIT_TIMEOUT, "time limit gives %d", EXIT_TIMEOUT);

	cfg = config_make(tiny_wx, tiny_wx_end);
	end = run_once(&cfg, false);
	tap_ok(end.kind == VM_END_STOP && strstr(end.reason, "triple fault"),
	       "text is not writable: %s", end.reason);
	test_status();
	return tap_done();
}
