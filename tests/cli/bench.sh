#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# TAP: husk bench on a real KVM. What is checked is structure, exit counts and ends; never a time.
n=0 failed=0
check() {	# STATUS NAME
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		failed=1
	fi
}
skip() {	# NAME REASON
	n=$((n + 1))
	echo "ok $n - $1 # SKIP $2"
}
dir=$(mktemp -d "${TMPDIR:-/tmp}/husk-bench.XXXXXX") || exit 99
trap 'rm -rf "$dir"' EXIT
quick='--rounds 2 --time 20'

# Field 11 of a CSV line: exits an operation; field 3: status.
field() {	# ROW NUMBER
	sed -n "s/\r\$//;s/^$1,\"\",/&/p" "$dir/r.csv" | cut -d, -f"$2"
}
about() {	# VALUE EXPECTED TOLERANCE
	awk -v v="$1" -v e="$2" -v t="$3" 'BEGIN { exit !(v != "" && v >= e - t && v <= e + t) }'
}

rows='cpuid mov_to_cr8 inl_from_pmtimer inl_from_qemu mmio-no-eventfd:pci-mem
	mmio-datamatch-eventfd:pci-mem portio-no-eventfd:pci-io self_ipi_sti_nop self_ipi_sti_hlt
	ipi ple_round_robin page_fault cr3_switch nucleus_call syscall_trap syscall_patched ctx_2 ctx_20'
"$HUSK" bench $quick --json "$dir/r.json" --csv "$dir/r.csv" $rows >"$dir/out" 2>"$dir/err"
status=$?
[ $status = 0 ]
check $? "all of these rows are measured: status $status"
[ $status = 0 ] || sed 's/^/# /' "$dir/out" "$dir/err"
grep -q '^host ' "$dir/out" && grep -q '^KVM ' "$dir/out" && grep -q '^ring 0 ' "$dir/out"
check $? "conditions are printed"
for r in $rows; do
	[ "$(field "$r" 3)" = ok ] && awk -v v="$(field "$r" 5)" 'BEGIN { exit !(v > 0) }'
	check $? "$r has cycles"
done
[ "$(wc -l <"$dir/r.csv")" = 19 ]
check $? "a CSV line a row, and a head"

ring0_emulated=no
grep -q 'ring 0 *EMULATED' "$dir/out" && ring0_emulated=yes
if [ -n "$(field inl_from_qemu 11)" ]; then
	for r in inl_from_qemu inl_from_pmtimer mmio-no-eventfd:pci-mem portio-no-eventfd:pci-io; do
		about "$(field $r 11)" 1 0.3
		check $? "$r: one exit an operation ($(field $r 11))"
	done
	about "$(field syscall_patched 11)" 0 0.1
	check $? "syscall_patched: no exit ($(field syscall_patched 11))"
	if [ $ring0_emulated = no ]; then
		about "$(field cpuid 11)" 1 0.3
		check $? "cpuid: one exit an operation ($(field cpuid 11))"
	else
		skip "cpuid: one exit an operation" "ring 0 is emulated: CPUID does not exit"
	fi
else
	skip "exits" "this host counts none"
fi

"$HUSK" bench $quick --baseline "$dir/r.json" cpuid mov_to_cr8 >"$dir/out"
[ $? = 0 ] && grep -q '^Test  *Before  *After  *Change' "$dir/out" &&
	grep -q '^cpuid  *[0-9.]*  *[0-9.]*  *[+-][0-9.]*%' "$dir/out"
check $? "--baseline compares"
if command -v python3 >/dev/null; then
	python3 - "$dir/r.json" <<-'END'
	import json, sys
	r = json.load(open(sys.argv[1]))
	assert r['format'] == 'husk-bench-1' and len(r['rows']) == 18
	for row in r['rows']:
	    assert len(row['samples']) == 2 and all(len(s) == 9 for s in row['samples'])
	    assert row['min_cycles'] <= row['median_cycles']
	END
	check $? "the JSON file is what docs/bench-format.md says"
	for files in "$dir/r.json" "$dir/r.json $dir/r.json"; do
		python3 "${abs_srcdir:-$(dirname "$0")/../..}/bench/plot" $files -o "$dir/r.svg" &&
			python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$dir/r.svg" &&
			grep -q '>ctx_20<' "$dir/r.svg"
		check $? "bench/plot draws $(echo $files | wc -w) of them"
	done
fi

"$HUSK" bench $quick hang cpuid >"$dir/out" 2>&1
[ $? = 1 ] && grep -q '^hang  *no answer' "$dir/out" && grep -q '^cpuid  *[0-9]' "$dir/out"
check $? "a row that hangs: no answer, the next one runs, status 1"

# At least one of these is missing everywhere: no CPU has Intel's TSX control and AMD's lack of it.
"$HUSK" bench --rounds 1 --time 10 --json - 'wr_*' ipi >"$dir/all.json"
status=$?
if grep -q unsupported "$dir/all.json"; then
	[ $status = 1 ] && grep -q '"reason"' "$dir/all.json"
	check $? "unsupported rows have a reason, and status 1"
else
	[ $status = 0 ]
	check $? "no unsupported row, and status 0"
fi
"$HUSK" bench --rounds 1 --time 10 --cpus 2 --pin cpuid ple_round_robin >"$dir/out"
check $? "--cpus 2 --pin"

refused() {	# ARGS...
	message=$("$HUSK" bench "$@" 2>&1 >/dev/null)
	[ $? = 125 ] && [ "$(echo "$message" | wc -l)" = 1 ] && [ "${message#husk: }" != "$message" ]
	check $? "refused in one line, 125: husk bench $*"
}
refused no_such_row
refused --time 0 cpuid
refused --cpus many cpuid
refused --toggle kvm.halt_poll_ns cpuid
refused --toggle kvm.no_such_parameter=0,1 cpuid
refused --baseline "$dir/out" cpuid
refused --baseline "$dir/r.json" --toggle kvm.halt_poll_ns=0,1 cpuid
refused --json /nowhere/at/all cpuid

poll=/sys/module/kvm/parameters/halt_poll_ns
if [ -w $poll ] && [ "$(stat -c %a $poll)" != 444 ]; then
	old=$(cat $poll)
	"$HUSK" bench $quick --toggle kvm.halt_poll_ns=0,100000 cpuid mov_to_cr8 >"$dir/out"
	[ $? = 0 ] && grep -q '^cpuid  *[0-9.]*  *[0-9.]*  *[+-]' "$dir/out"
	check $? "--toggle compares"
	[ "$(cat $poll)" = "$old" ]
	check $? "the parameter is restored"
	"$HUSK" bench --rounds 50 --toggle kvm.halt_poll_ns=0,100000 hang >/dev/null 2>&1 &
	pid=$!
	sleep 2
	kill -KILL $pid
	wait $pid 2>/dev/null
	for i in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(cat $poll)" = "$old" ] && break
		sleep 0.5
	done
	[ "$(cat $poll)" = "$old" ]
	check $? "... and after SIGKILL"
	"$HUSK" bench $quick --quiet-host cpuid >"$dir/out" 2>&1
	[ $? = 0 ] && [ "$(cat $poll)" = "$old" ]
	check $? "--quiet-host restores"
else
	refused --toggle kvm.halt_poll_ns=0,100000 cpuid
	"$HUSK" bench $quick --quiet-host cpuid >"$dir/out" 2>&1
	[ $? = 0 ] && grep -q 'read-only here' "$dir/out"
	check $? "--quiet-host says what cannot be changed, and measures"
fi

echo "1..$n"
exit $failed
