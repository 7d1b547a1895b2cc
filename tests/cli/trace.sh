#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What husk itself says: --trace, unknown system calls, --log, --quiet; and never on stdout.
. "$(dirname "$0")/lib.sh"

trace() {
	gives "--trace" 0 husk --trace -- cat /etc/hostname
	is "stdout is the program's" "$out" "$(cat /etc/hostname)"
	like "execve or the first calls" "$err" '(execve|brk|mmap)\('
	like "openat with its path" "$err" 'openat\(.*"/etc/hostname".*\) += +[0-9]+'
	like "read with its result" "$err" 'read\([0-9]+, .*\) += +[0-9]+'
	like "write" "$err" 'write\(1, .*\) += +[0-9]+'
	like "the end" "$err" 'exit_group\(0\)'
	capture husk --trace -- cat /no/such/file
	like "errors" "$err" 'openat\(.*"/no/such/file".*\) += +-1 (ENOENT|.errno 2.)'
	gives "--trace to a file" 0 husk --trace --log trace.log -- cat /etc/hostname
	is "... nothing on stderr" "$err" ""
	like "... all in the file" "$(<trace.log)" 'exit_group\(0\)'
	rm -f trace.log
	gives "--trace of children" 0 husk --trace -- sh -c '/bin/true; /bin/true & wait'
	like "... their exec" "$err" 'execve\("/bin/true"'
	like "... fork and wait" "$err" '(clone|vfork|fork).*|wait4'
	gives "--trace=exit" 0 husk --trace=exit -- true
	gives "--trace of nonsense" 125 husk --trace=nonsense -- true
}

unknown_call() {
	gives "an unknown call is ENOSYS" 0 with_bin -- "$act" unknown
	is "... to the program" "$out" ENOSYS
	is "named once" "$(grep -c kexec_load "$T/.err")" 1
	gives "... with --log" 0 with_bin --log calls.log -- "$act" unknown
	is "... nothing on stderr" "$err" ""
	is "... in the file, once" "$(grep -c kexec_load calls.log)" 1
	rm -f calls.log
	gives "--quiet" 0 with_bin --quiet -- "$act" unknown
	is "... nothing on stderr" "$err" ""
	gives "--quiet leaves the program's stderr alone" 0 husk --quiet -- sh -c 'echo mine >&2'
	is "... mine" "$err" mine
	gives "--quiet still tells of errors" 127 husk --quiet -- no-such-program
	like "... named" "$err" no-such-program
	gives "--log is appended to" 0 bash -c '
		"$HUSK" run --log a.log -v "$1:$1" -- "$2" unknown &&
		"$HUSK" run --log a.log -v "$1:$1" -- "$2" unknown' - "$BIN" "$act"
	is "... twice" "$(grep -c kexec_load a.log)" 2
	rm -f a.log
}

each_mode trace unknown_call
finish
