/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memslots, made when the guest first touches them. KVM allocates bookkeeping for a whole slot when
 * it is made (about 0.4 us a MiB on a host with shadow paging, half of that again at the end), so a
 * VM that is allowed gigabytes but uses megabytes would pay for them at every start.
 *
 * RAM is cut into chunks of growing size; only the first is given to KVM at start. An access to
 * another chunk is an MMIO exit at a RAM address: the chunk gets its slot, and that one access is
 * done here. What KVM cannot do as MMIO (fetching code, wide vector moves) comes as an emulation
 * failure with nothing changed; then the next chunk gets its slot and the instruction is run again.
 * A page-table walk into such a chunk finds nothing present, which is true: RAM starts as zeros.
 */
#include <assert.h>
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include "vmm/log.h"
#include "vmm/vm.h"

#define FIRST_CHUNK_BYTES	(32ull << 20)
#define CHUNK_GROWTH		4
#define CHUNK_MAX_BYTES		(4ull << 30)

static int chunk_add(struct vm *vm, unsigned n)
{
	struct mem_chunk *c = &vm->chunk[n];
	struct kvm_userspace_memory_region slot = {
		.slot = n,
		.guest_phys_addr = c->base,
		.memory_size = c->size,
		.userspace_addr = (uintptr_t)c->host,
	};

	if (c->present)
		return 0;
	if (ioctl(vm->vm_fd, KVM_SET_USER_MEMORY_REGION, &slot) < 0)
		return -errno;
	c->present = true;
	atomic_fetch_add(&vm->chunks_present, 1);
	return 0;
}

int memslots_create(struct vm *vm)
{
	struct kvm_enable_cap cap = { .cap = KVM_CAP_EXIT_ON_EMULATION_FAILURE, .args = { 1 } };
	uint64_t size = FIRST_CHUNK_BYTES, total = 0;
	unsigned n = 0;
	int ret;

	for (unsigned i = 0; i < vm->mem.nregions; i++) {
		const struct guest_mem_region *r = &vm->mem.region[i];

		for (uint64_t at = 0; at < r->size; n++) {
			if (size > CHUNK_MAX_BYTES)
				size = CHUNK_MAX_BYTES;
			if (size > r->size - at)
				size = r->size - at;
			assert(n < VM_MAX_CHUNKS);
			vm->chunk[n] = (struct mem_chunk){ r->base + at, size, r->host + at, 0 };
			at += size;
			total += size;
			size = total * (CHUNK_GROWTH - 1);
		}
	}
	vm->nchunks = n;
	ret = chunk_add(vm, 0);
	/*
	 * Without the capability KVM would inject faults that no real machine has. A kernel that is
	 * not ours does more with memory than MMIO exits can stand in for.
	 */
	if (!ret && n > 1 && (vm->cfg->boot || ioctl(vm->vm_fd, KVM_ENABLE_CAP, &cap) < 0))
		do
			ret = memslots_add_next(vm);
		while (ret > 0);
	if (ret)
		husk_err("KVM refuses the guest's memory: %s", strerror(-ret));
	return ret;
}

int memslots_add_next(struct vm *vm)
{
	unsigned n = 0;
	int ret = 0;

	pthread_mutex_lock(&vm->chunk_lock);
	while (n < vm->nchunks && vm->chunk[n].present)
		n++;
	if (n < vm->nchunks)
		ret = chunk_add(vm, n) < 0 ? -errno : 1;
	pthread_mutex_unlock(&vm->chunk_lock);
	return ret;
}

static int chunks_touch(struct vm *vm, uint64_t first, uint64_t last)
{
	int ret = 0;

	pthread_mutex_lock(&vm->chunk_lock);
	for (unsigned n = 0; n < vm->nchunks && !ret; n++) {
		const struct mem_chunk *c = &vm->chunk[n];

		if (first < c->base + c->size && last >= c->base)
			ret = chunk_add(vm, n);
	}
	pthread_mutex_unlock(&vm->chunk_lock);
	return ret;
}

/* One store or load of the access's width where there is one: others may look on. */
static void ram_copy(void *ram, void *data, unsigned len, bool write)
{
	if (len == 8 && write)
		__atomic_store_n((uint64_t *)ram, *(uint64_t *)data, __ATOMIC_RELAXED);
	else if (len == 8)
		*(uint64_t *)data = __atomic_load_n((uint64_t *)ram, __ATOMIC_RELAXED);
	else if (len == 4 && write)
		__atomic_store_n((uint32_t *)ram, *(uint32_t *)data, __ATOMIC_RELAXED);
	else if (len == 4)
		*(uint32_t *)data = __atomic_load_n((uint32_t *)ram, __ATOMIC_RELAXED);
	else if (write)
		memcpy(ram, data, len);
	else
		memcpy(data, ram, len);
}

bool memslots_access(struct vm *vm, uint64_t gpa, void *data, unsigned len, bool write)
{
	void *ram = guest_mem_ptr(&vm->mem, GPA(gpa), len);
	int ret;

	if (!ram)
		return false;
	ret = chunks_touch(vm, gpa, gpa + len - 1);
	if (ret)
		vm_stop(vm, "KVM refuses more memory for the guest: %s", strerror(-ret));
	ram_copy(ram, data, len, write);
	return true;
}
