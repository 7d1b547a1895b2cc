#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A terminal on stdin: its size, raw mode while the program runs, keys that become signals
# inside, and settings that are restored however husk ends.
. "$(dirname "$0")/lib.sh"
[ -x "$python" ] || skip_all "$python is missing"
export HUSK_TEST_LIMIT=$limit

on_tty() {	# STEPS... -- [OPTIONS --] PROGRAM...
	local steps=()
	while [ "$1" != -- ]; do
		steps+=("$1")
		shift
	done
	shift
	case $1 in
	-*) ;;
	*) set -- -- "$@" ;;
	esac
	report=$("$python" "$here/on-pty.py" "${steps[@]}" -- "$HUSK" run $mode "$@" 2>&1)
}

sizes() {
	on_tty size=33x77 -- stty size
	like "the window's size" "$report" '33 77'
	on_tty size=33x77 -- sh -c 'test -t 0 && test -t 1 && test -t 2 && echo all three'
	like "stdin, stdout and stderr are terminals" "$report" 'all three'
	on_tty size=24x80 -- sh -c 'tty </dev/null; tty; exit 3'
	like "the status" "$report" 'status 3'
	on_tty size=24x80 -- sh -c 'printf "a\nb\n"'
	like "newlines are as on any terminal" "$report" "output 'a.r.nb.r.n'"
	on_tty size=24x80 -- "$python" -c 'import os; print(os.get_terminal_size())'
	like "python sees the size" "$report" 'columns=80, lines=24'
}

raw_mode() {
	on_tty expect=ready raw 'send=go\n' -- sh -c 'echo ready; read -r x; echo "got $x"'
	like "raw while it runs" "$report" 'raw yes'
	like "a line typed arrives" "$report" 'got go'
	like "the guest's terminal echoes it, and only that" "$report" 'ready.r.ngo.r.ngot go.r.n'
	like "restored at the end" "$report" 'restored yes'
	on_tty expect=ready 'send=one\ntwo\n\x04' -- sh -c 'echo ready; cat | tr a-z A-Z'
	like "control-D is the end of input" "$report" 'ONE.*TWO'
	like "... status" "$report" 'status 0'
	on_tty expect=ready 'send=abX\x7fc\n' -- sh -c 'echo ready; read -r x; echo "[$x]"'
	like "the erase key edits the line" "$report" '\[abc\]'
}

keys() {
	on_tty expect=ready 'send=\x03' -- sh -c 'echo ready; sleep 1000'
	like "control-C ends the program with 130" "$report" 'status 130'
	like "... the terminal is restored" "$report" 'restored yes'
	on_tty expect=ready 'send=\x03' expect=caught -- \
		sh -c 'trap "echo caught; exit 9" INT; echo ready; while :; do sleep 0.1; done'
	like "control-C reaches a handler" "$report" 'status 9'
	on_tty expect=ready 'send=\x1c' -- sh -c 'echo ready; exec sleep 1000'
	like "control-\\ ends it with 131" "$report" 'status 131'
	on_tty expect=ready 'send=\x03' -- "$python" -c '
import time
try:
    print("ready", flush=True)
    time.sleep(1000)
except KeyboardInterrupt:
    print("interrupted")'
	like "python's KeyboardInterrupt" "$report" 'interrupted'
}

killed() {
	on_tty expect=ready kill=TERM -- sh -c 'echo ready; exec sleep 1000'
	like "SIGTERM: status 143" "$report" 'status 143'
	like "... the terminal is restored" "$report" 'restored yes'
	on_tty expect=ready kill=HUP -- sh -c 'echo ready; exec sleep 1000'
	like "SIGHUP: status 129" "$report" 'status 129'
	like "... the terminal is restored" "$report" 'restored yes'
	on_tty -- --timeout 1 -- sleep 1000
	like "a timeout: status 124" "$report" 'status 124'
	like "... the terminal is restored" "$report" 'restored yes'
	on_tty -- --memory 1K -- true
	like "a wrong option: restored" "$report" 'restored yes'
	on_tty -- -v "$BIN:$BIN" -- "$act" segv
	like "a crash of the program: restored" "$report" 'restored yes'
}

mixed() {
	local report
	report=$("$python" "$here/on-pty.py" -- bash -c '"$HUSK" run '"$mode"' -- sh -c "test -t 0; echo in \$?
		test -t 1; echo out \$?" | cat; echo end')
	like "stdin a terminal, stdout a pipe" "$report" 'in 0.*out 1.*end'
	report=$("$python" "$here/on-pty.py" -- bash -c '"$HUSK" run '"$mode"' -- sh -c "test -t 0; echo in \$?
		test -t 1; echo out \$?" </dev/null; echo end')
	like "stdin /dev/null, stdout a terminal" "$report" 'in 1.*out 0.*end'
	report=$(script -qec "$HUSK run $mode -- sh -c 'exit 7'" /dev/null </dev/null; echo "status $?")
	like "under script(1)" "$report" 'status 7'
}

each_mode sizes raw_mode keys killed mixed
finish
