# SPDX-License-Identifier: Apache-2.0
#
# How the guest kernel is made. Its objects have rules and flags of their own, so that no CFLAGS
# of the user's (a stack protector, a profile, SSE) can break it. Objects: guestkern/obj/.
#
#   husk.pass1.elf     linked with an empty symbol table, which is last in the read-only data, so
#                      that no address changes when the real one comes
#   husk.debug.elf     linked with the table made from pass 1; for gdb and --kernel
#   husk.elf           the same, stripped: what husk embeds

GUEST_WARN = $(WARN_CFLAGS)
GUEST_INCLUDES = -I$(srcdir)/guestkern -I$(srcdir)/include -I. \
	-nostdinc -isystem $(GUEST_INCLUDE) -idirafter uapi
GUEST_CPPFLAGS = $(GUEST_INCLUDES) -D__HUSK_GUEST__ -DVDSO_FILE='"guestkern/vdso/vdso.so"'
GUEST_CFLAGS = -O2 -g -ffreestanding -mno-red-zone -mgeneral-regs-only -fno-stack-protector -fPIE \
	-fvisibility=hidden -fno-jump-tables -fno-strict-aliasing -fno-asynchronous-unwind-tables \
	-fcf-protection=none -fno-omit-frame-pointer $(GUEST_WARN)
GUEST_LDFLAGS = -static -no-pie -nostdlib -Wl,--build-id=none -Wl,-z,max-page-size=4096 \
	-Wl,-z,noexecstack -Wl,--no-warn-rwx-segments
VDSO_CFLAGS = -O2 -g -ffreestanding -fno-stack-protector -fPIC -fvisibility=hidden \
	-fno-strict-aliasing -fcf-protection=none $(GUEST_WARN)
VDSO_LDFLAGS = -shared -nostdlib -Wl,-soname=linux-vdso.so.1 -Wl,--hash-style=both \
	-Wl,-z,max-page-size=4096 -Wl,--build-id=none -Wl,-z,noexecstack

guest_ld = $(srcdir)/guestkern/kernel.ld
vdso_ld = $(wildcard $(srcdir)/guestkern/vdso/vdso.ld)
guest_objects = $(patsubst guestkern/%,guestkern/obj/%.o,$(basename $(GUEST_SOURCES)))
vdso_objects = $(patsubst guestkern/%,guestkern/obj/%.o,$(basename $(VDSO_SOURCES)))
guest_c_objects = $(patsubst guestkern/%.c,guestkern/obj/%.o,$(filter %.c,$(GUEST_SOURCES)))
guest_asm_objects = $(filter-out $(guest_c_objects),$(guest_objects))

# Until the tree has a kernel there is nothing to make.
if GUEST_KERNEL
all-local: guestkern/husk.elf
endif

guest_cc_v = $(guest_cc_v_$(V))
guest_cc_v_ = $(guest_cc_v_$(AM_DEFAULT_VERBOSITY))
guest_cc_v_0 = @echo "  GUEST   " $@;

guestkern/obj/%.o: guestkern/%.c
	@$(MKDIR_P) $(@D)
	$(guest_cc_v)$(GUEST_CC) $(GUEST_CPPFLAGS) $(GUEST_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

guestkern/obj/%.o: guestkern/%.S
	@$(MKDIR_P) $(@D)
	$(guest_cc_v)$(GUEST_CC) $(GUEST_CPPFLAGS) -g -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(vdso_objects): guestkern/obj/%.o: guestkern/%.c
	@$(MKDIR_P) $(@D)
	$(guest_cc_v)$(GUEST_CC) $(GUEST_INCLUDES) $(VDSO_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

guestkern/vdso/vdso.so: $(vdso_objects) $(vdso_ld)
	@$(MKDIR_P) $(@D)
	$(guest_cc_v)$(GUEST_CC) $(VDSO_LDFLAGS) $(vdso_ld:%=-Wl,-T,%) -o $@.tmp $(vdso_objects)
	$(AM_V_at)$(STRIP) --strip-all -o $@ $@.tmp && rm -f $@.tmp

# One of them embeds the vDSO.
if GUEST_VDSO
$(guest_asm_objects): guestkern/vdso/vdso.so
endif

# The linker script goes through the preprocessor: it includes husk/layout.h.
guestkern/obj/kernel.ld: $(guest_ld) $(srcdir)/include/husk/layout.h
	@$(MKDIR_P) $(@D)
	$(guest_cc_v)$(GUEST_CC) $(GUEST_CPPFLAGS) -D__ASSEMBLER__ -undef -E -P -x c -o $@ $(guest_ld)

guestkern/obj/symtab0.S: $(srcdir)/guestkern/mksyms
	@$(MKDIR_P) $(@D)
	$(AM_V_GEN)$(SHELL) $(srcdir)/guestkern/mksyms </dev/null >$@.tmp && mv $@.tmp $@

guestkern/obj/symtab.S: guestkern/obj/husk.pass1.elf $(srcdir)/guestkern/mksyms
	$(AM_V_GEN)$(NM) -n guestkern/obj/husk.pass1.elf | $(SHELL) $(srcdir)/guestkern/mksyms >$@.tmp && \
		mv $@.tmp $@

guestkern/obj/symtab0.o guestkern/obj/symtab.o: %.o: %.S
	$(guest_cc_v)$(GUEST_CC) -c -o $@ $<

guest_link = $(GUEST_CC) $(GUEST_LDFLAGS) -Wl,-T,guestkern/obj/kernel.ld

guestkern/obj/husk.pass1.elf: $(guest_objects) guestkern/obj/symtab0.o guestkern/obj/kernel.ld
	$(guest_cc_v)$(guest_link) -o $@ $(guest_objects) guestkern/obj/symtab0.o

# A table that does not fit the code would make backtraces lie: compare both passes.
guestkern/husk.debug.elf: $(guest_objects) guestkern/obj/symtab.o guestkern/obj/husk.pass1.elf
	$(guest_cc_v)$(guest_link) -o $@.tmp $(guest_objects) guestkern/obj/symtab.o
	$(AM_V_at)$(NM) -n $@.tmp | grep -i ' t ' >guestkern/obj/syms.2
	$(AM_V_at)$(NM) -n guestkern/obj/husk.pass1.elf | grep -i ' t ' | cmp - guestkern/obj/syms.2
	$(AM_V_at)mv $@.tmp $@

guestkern/husk.elf: guestkern/husk.debug.elf
	$(AM_V_GEN)$(STRIP) --strip-all -o $@ guestkern/husk.debug.elf

CLEANFILES += guestkern/husk.elf guestkern/husk.debug.elf guestkern/vdso/vdso.so

-include $(guest_objects:.o=.d) $(vdso_objects:.o=.d)
