#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Signals to husk reach the program; whatever ends husk, nothing of it is left.
. "$(dirname "$0")/lib.sh"

# start HUSK-ARGUMENTS...: in the background, until its output has "ready"; sets $pid. A shell's
# background commands have INT and QUIT ignored: that is undone.
start() {
	: >.out
	env --default-signal=INT,QUIT "$HUSK" run $mode "$@" >.out 2>.err </dev/null &
	pid=$!
	wait_for .out ready
}

# ended: waits for $pid, up to the limit; sets $status and $out.
ended() {
	local i stat
	for ((i = 0; i < limit * 20; i++)); do
		{ stat=$(<"/proc/$pid/stat"); } 2>/dev/null || break
		[[ $stat == *') Z '* ]] && break
		sleep 0.05
	done
	kill -KILL $pid 2>/dev/null
	wait $pid 2>/dev/null
	status=$?
	out=$(<.out)
}

forwarded() {
	local name number
	for name in TERM:15 INT:2 HUP:1 QUIT:3 USR1:10 USR2:12; do
		number=${name#*:} name=${name%:*}
		start -- sh -c "trap 'echo got; exit 3' $name; echo ready; while :; do sleep 0.1; done"
		kill -$name $pid
		ended
		is "SIG$name reaches a handler" "$status ${out##*$'\n'}" "3 got"
		start -- sh -c 'echo ready; exec sleep 1000'
		kill -$name $pid
		ended
		is "SIG$name without a handler" "$status" $((128 + number))
	done
	start -- "$python" -c '
import signal, sys, time
hits = []
signal.signal(signal.SIGTERM, lambda *a: hits.append(1))
print("ready", flush=True)
while len(hits) < 3: time.sleep(0.02)
print("three"); sys.exit(4)'
	for _ in 1 2 3; do
		kill -TERM $pid
		sleep 0.5
	done
	ended
	is "three in a row" "$status ${out##*$'\n'}" "4 three"
	start -- sh -c 'trap "" TERM; echo ready; while :; do :; done'
	kill -TERM $pid
	sleep 1
	ok "a program that ignores SIGTERM goes on" kill -0 $pid
	kill -KILL $pid
	ended
	is "... and SIGKILL ends husk" "$status" 137
}

stopped() {
	start -- sh -c 'echo ready; for i in 1 2 3 4 5 6; do sleep 0.2; done; echo end'
	kill -STOP $pid
	sleep 0.5
	is "SIGSTOP stops the VM" "$(awk '{ print $3 }' /proc/$pid/stat)" T
	kill -CONT $pid
	ended
	is "SIGCONT continues it" "$status ${out##*$'\n'}" "0 end"
}

# What a husk may leave behind: processes of its session, files, mounts, memory segments.
traces() {
	findmnt -rno TARGET | sort
	find "${TMPDIR:-/tmp}" /dev/shm /run -maxdepth 1 -name '*husk*' ! -name 'husk-cli.*' \
		! -name 'husk-host*' 2>/dev/null | sort
	ipcs -m 2>/dev/null
}

nothing_left() {
	local before family one left=
	before=$(traces)
	start -- sh -c 'echo ready; exec sleep 1000'
	family=$(pgrep -P $pid; echo $pid)
	kill -KILL $pid
	ended
	sleep 0.3
	for one in $family; do
		[ -s /proc/$one/cmdline ] && left="$left $one"
	done
	is "after SIGKILL no process is left" "$left" ""
	is "... no mount, file or segment" "$(traces)" "$before"
	start -- sh -c 'echo ready; exec sleep 1000'
	kill -TERM $pid
	ended
	is "after SIGTERM likewise" "$(traces)" "$before"
	gives "after a good end" 0 husk -- true
	is "... likewise" "$(traces)" "$before"
	ls -A >.before
	husk -- sh -c 'echo x >new; mkdir d' 2>/dev/null
	ls -A >.after
	is "the current directory is as it was" "$(grep -v '^\.' .after)" "$(grep -v '^\.' .before)"
}

many_at_once() {
	local i n=8
	[ -z "$slow" ] || n=3
	for ((i = 0; i < n; i++)); do
		husk -- sh -c "sleep 0.2; exit $i" </dev/null &
	done >/dev/null 2>&1
	local good=0 job
	i=0
	for job in $(jobs -p); do
		wait "$job"
		[ $? = $i ] && good=$((good + 1))
		i=$((i + 1))
	done
	is "$n VMs at once" $good $n
}

each_mode forwarded stopped nothing_left many_at_once
finish
