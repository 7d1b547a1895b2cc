/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interrupt controllers of `husk boot`: all of a PC's, in KVM, wired as PCs are: ISA lines go
 * to PIC and IOAPIC alike, the timer to the IOAPIC's input 2. Not for our own guest: making them
 * costs milliseconds on some hosts.
 */
#include <errno.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include "vmm/log.h"
#include "vmm/vm.h"

#define IOAPIC_PINS	24
#define PIC_PINS	8
#define TSS_ADDR	0xfffbd000	/* three pages that real mode needs on older VMX */
#define IDENTITY_ADDR	0xfffbc000

static void route_add(struct kvm_irq_routing *r, unsigned gsi, unsigned chip, unsigned pin)
{
	r->entries[r->nr++] = (struct kvm_irq_routing_entry){
		.gsi = gsi, .type = KVM_IRQ_ROUTING_IRQCHIP,
		.u.irqchip = { .irqchip = chip, .pin = pin },
	};
}

static int routes_set(struct vm *vm)
{
	union {
		struct kvm_irq_routing head;
		uint8_t room[sizeof(struct kvm_irq_routing) +
			     (IOAPIC_PINS + 2 * PIC_PINS) * sizeof(struct kvm_irq_routing_entry)];
	} r;

	memset(&r, 0, sizeof(r));
	for (unsigned i = 0; i < PIC_PINS; i++) {
		if (i != 2)
			route_add(&r.head, i, KVM_IRQCHIP_PIC_MASTER, i);
		route_add(&r.head, PIC_PINS + i, KVM_IRQCHIP_PIC_SLAVE, i);
	}
	for (unsigned i = 0; i < IOAPIC_PINS; i++)
		if (i != 2)
			route_add(&r.head, i, KVM_IRQCHIP_IOAPIC, i ? i : 2);
	return ioctl(vm->vm_fd, KVM_SET_GSI_ROUTING, &r.head) < 0 ? -errno : 0;
}

int irqchip_create(struct vm *vm)
{
	struct kvm_pit_config pit = { .flags = KVM_PIT_SPEAKER_DUMMY };
	uint64_t identity = IDENTITY_ADDR;
	int ret = 0;

	/* Only VMX knows these two. */
	ioctl(vm->vm_fd, KVM_SET_IDENTITY_MAP_ADDR, &identity);
	ioctl(vm->vm_fd, KVM_SET_TSS_ADDR, (unsigned long)TSS_ADDR);
	if (ioctl(vm->vm_fd, KVM_CREATE_IRQCHIP, 0) < 0 ||
	    ioctl(vm->vm_fd, KVM_CREATE_PIT2, &pit) < 0)
		ret = -errno;
	if (!ret)
		ret = routes_set(vm);
	if (ret)
		husk_err("KVM has no interrupt controllers for a PC: %s", strerror(-ret));
	vm->irqchip = !ret;
	return ret;
}
