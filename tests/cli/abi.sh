#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The programs of tests/guest, linked with glibc and with musl: every check must hold on the host
# (the oracle), and the output in husk must be the same.
. "$(dirname "$0")/lib.sh"

abi() {
	local source name libc
	for source in "$tree"/tests/guest/*.c; do
		name=$(basename "$source" .c)
		[ "$name" = act ] && continue
		for libc in glibc musl; do
			[ -n "$slow" ] && [ $libc = glibc ] && [ -x "$BIN/$name-musl" ] && continue
			compare "$name" $libc
		done
	done
}

compare() {	# NAME LIBC
	local program=$BIN/$1-$2 want
	[ -x "$program" ] || { skip "$1, $2" "not built here"; return; }
	if ! "${native_env[@]}" "$program" >"$T/.want" 2>"$T/.want-err" </dev/null; then
		result 1 "$1, $2: natively"
		grep '^not' "$T/.want" | sed 's/^/# /'
		return
	fi
	capture with_bin --cpus 2 -- "$program"
	want=$(grep -c . "$T/.want")
	[ "$status" = 0 ] && cmp -s "$T/.want" "$T/.out"
	result $? "$1, $2 ($want checks)" && return
	echo "# status $status"
	diff -a "$T/.want" "$T/.out" | head -n 40 | sed 's/^/# /'
	note "$T/.err" "stderr: "
}

each_mode abi
finish
