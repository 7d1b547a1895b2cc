#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# stdin, stdout, stderr: binary-clean, apart, in order, shared with the caller byte by byte, closed.
. "$(dirname "$0")/lib.sh"

binary() {
	local size=$((16 << 20)) want
	[ -z "$slow" ] || size=$((1 << 20))
	[ "$(stat -c %s random 2>/dev/null)" = $size ] || head -c $size /dev/urandom >random
	want=$(sha256sum <random)
	is "random data, file to pipe" "$(husk -- cat <random | sha256sum)" "$want"
	is "random data, pipe to pipe" "$(cat random | husk -- cat | sha256sum)" "$want"
	cat random | husk -- cat >copy
	ok "random data, pipe to file" cmp random copy
	is "random data on stderr" "$(husk -- sh -c 'cat >&2' <random 2>&1 >/dev/null | sha256sum)" \
		"$want"
	is "a slow reader" "$(husk -- cat random | (sleep 1; sha256sum))" "$want"
	is "odd pieces" "$(head -c 1000003 random | husk -- dd bs=999 status=none | sha256sum)" \
		"$(head -c 1000003 random | sha256sum)"
	is "a program that appends to its output" "$(rm -f log; husk -- echo one >>log
		husk -- echo two >>log; cat log)" "$(printf 'one\ntwo')"
}

apart() {
	capture husk -- sh -c 'echo out; echo err >&2; echo out2; echo err2 >&2'
	is "stdout alone" "$out" "$(printf 'out\nout2')"
	is "stderr alone" "$err" "$(printf 'err\nerr2')"
	"$act" order >.want 2>&1
	with_bin -- "$act" order >.got 2>&1
	ok "both to one file, in order" cmp .want .got
	is "both to one pipe, in order" "$(with_bin -- "$act" order 2>&1 | sha256sum)" \
		"$(sha256sum <.want)"
	is "stdout to /dev/null" "$(husk -- sh -c 'echo out; echo err >&2' 2>&1 >/dev/null)" err
}

shared_input() {
	local i
	seq 1000 >lines
	(husk -- dd bs=1 count=5 status=none; cat) <lines >.got
	ok "a file: what the program left is there for the next" cmp lines .got
	cat lines | (husk -- dd bs=1 count=5 status=none; cat) >.got
	ok "a pipe: likewise" cmp lines .got
	(for i in 1 2 3; do husk -- sh -c 'read -r line; echo "$line"'; done; head -n 1) <lines >.got
	(for i in 1 2 3; do sh -c 'read -r line; echo "$line"'; done; head -n 1) <lines >.want
	ok "shells that read a line each from a file" cmp .want .got
	cat lines | (husk -- true; head -n 1) >.got
	is "a program that reads nothing" "$(<.got)" 1
	is "sequential positions: dd skips in a file" \
		"$(husk -- dd bs=10 skip=3 count=1 status=none <lines | od -c)" \
		"$(dd bs=10 skip=3 count=1 status=none <lines | od -c)"
}

ends() {
	gives "end of file at once" 0 husk -- cat
	is "... nothing read" "$out" ""
	is "end of file after data" "$(printf 'no newline' | husk -- cat)" "no newline"
	is "end of file seen late" "$( (echo one; sleep 1; echo two) | husk -- cat)" \
		"$(printf 'one\ntwo')"
	is "input that comes while it waits" "$( (sleep 1; echo late) |
		husk -- sh -c 'read -r x; echo "got $x"')" "got late"
	is "output comes before the program ends" "$(husk -- sh -c 'echo first; sleep 2' |
		(read -t "$((limit / 2))" -r line; echo "$line"))" first
	rm -f idle
	mkfifo idle
	exec {writer}<>idle
	is "an idle input does not hold the end" "$(husk -- echo done <idle)" done
	exec {writer}>&-
}

closed() {
	gives "stdin closed" 0 bash -c 'exec "$HUSK" run '"$mode"' -v "$1:$1" -- "$2" closed <&-' \
		- "$BIN" "$act"
	like "... read gives the end, or an error" "$err" 'stdin (end|closed)'
	timeout -s KILL "$limit" "$HUSK" run $mode -v "$BIN:$BIN" -- "$act" closed 2>.err >&- </dev/null
	is "stdout closed" "$?" 0
	like "... the write is told" "$(<.err)" 'stdout (closed|taken)'
	gives "stderr closed" 6 bash -c 'exec "$HUSK" run '"$mode"' -- sh -c "exit 6" 2>&-'
	gives "all closed" 6 bash -c 'exec "$HUSK" run '"$mode"' -- sh -c "exit 6" <&- >&- 2>&-'
	timeout -s KILL "$limit" "$HUSK" run $mode -- echo text >/dev/full 2>.err
	like "a full device is not taken for success" "$?" '^(1|125|141)$'
	like "... somebody says so" "$(<.err)" 'No space left'
}

nothing_of_its_own() {
	capture husk -- true
	is "stdout of true" "$out" ""
	is "stderr of true" "$err" ""
	capture husk --no-such-option -- true
	is "stdout of a wrong call" "$out" ""
	capture husk -- no-such-program
	is "stdout when there is no program" "$out" ""
	capture with_bin -- "$act" unknown
	is "stdout of a program with an unknown call" "$out" ENOSYS
}

each_mode binary apart shared_input ends closed nothing_of_its_own
finish
