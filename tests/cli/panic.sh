#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A panic of the guest kernel: status 125, registers, a backtrace with names, nothing on stdout of
# husk's own. The program jumps to a hlt instruction in the kernel's text, on a stack in the
# kernel's window (tests/guest/act.c), so that the fault is the kernel's by both addresses.
. "$(dirname "$0")/lib.sh"

panic() {
	gives "a panic is 125" 125 with_bin -- "$act" panic
	is "nothing on stdout" "$out" ""
	like "it says so" "$err" '[Pp]anic'
	like "the registers: rip, in the kernel" "$err" '(rip|RIP)[^0-9a-f]*(0x)?0*7fc0[0-9a-f]+'
	like "... rsp" "$err" '(rsp|RSP)[^0-9a-f]*(0x)?[0-9a-f]+'
	like "... rax" "$err" '(rax|RAX)[^0-9a-f]*(0x)?[0-9a-f]+'
	like "a name from the kernel" "$err" '[a-z][a-z0-9_]+\+0x[0-9a-f]+'
	gives "--quiet does not hide it" 125 with_bin --quiet -- "$act" panic
	like "... it says so" "$err" '[Pp]anic'
	gives "--log takes it" 125 with_bin --log panic.log -- "$act" panic
	like "... in the file" "$(<panic.log)" '[Pp]anic'
	rm -f panic.log
	gives "from a child" 125 with_bin -- sh -c "'$act' panic; exit 3"
	gives "with two CPUs" 125 with_bin --cpus 2 -- "$act" panic
}

# A program may write anywhere in its own VM. Whatever comes of it, husk survives and ends.
scribbles() {
	local at status_ok=1
	# kernel data, twice, and as RAM; its text as RAM; the system device; a BAR; page tables
	for at in 0x7fc000280000 0x7fc000281000 0x7fc000290000 0x7f8000280000 0x7f8000200000 \
		0x7f80fe002000 0x7f80d0003000 0x7f8000001000; do
		capture husk --timeout 5 -- "$python" -c "
import ctypes
print('start', flush=True)
ctypes.memset($at, 0x41, 4096)
open('/etc/hostname').read()"
		case $status in
		0|1|124|125|13[0-9]|14[0-9]) [ "$status" != 137 ] ;;
		*) false ;;
		esac || { status_ok=; echo "# writing at $at: status $status"; }
	done
	ok "writes to the kernel and to devices leave husk in order" test -n "$status_ok"
	gives "... and the next VM starts" 0 husk -- true
}

each_mode panic scribbles
finish
