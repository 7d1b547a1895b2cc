#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shell lines: fork, exec, wait, pipes, redirections, background jobs, as natively.
. "$(dirname "$0")/lib.sh"

line() {	# a shell line, also its name
	same "${1//$'\n'/; }" sh -c "$1"
}

lines() {
	line 'echo a; echo b >&2; exit 3'
	line 'true && echo yes || echo no; false && echo yes || echo no'
	line '(exit 4); echo $?'
	line 'echo one two three | wc -w'
	line 'seq 1000 | grep 7 | sort -r | head -n 3'
	line 'seq 20000 | cat | cat | cat | tail -n 1'
	line 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/echo $i; done'
	line 'x=$(echo inner; exit 2); echo "$x $?"'
	line 'sleep 0.2 & wait $!; echo waited $?'
	line '(sleep 0.3; echo late) & echo early; wait'
	line '(exit 5) & wait $!; echo $?'
	line 'sleep 100 & kill $!; wait $!; echo $?'
	line 'cat <<END
here
END'
	line 'echo text >/tmp/f; cat </tmp/f >>/tmp/g; cat /tmp/g; rm /tmp/f /tmp/g; ls /tmp/f'
	line 'exec 3>/tmp/f; echo to3 >&3; exec 3>&-; cat /tmp/f; rm /tmp/f'
	line 'nosuchcommand; echo $?'
	line 'sh -c "kill -9 \$\$"; echo $?'
	line 'trap "echo bye" EXIT; echo hi'
	line 'yes | head -n 2; echo done'
	line 'mkfifo /tmp/p; (echo through >/tmp/p) & cat /tmp/p; rm /tmp/p; wait'
	line 'cd /usr && pwd && cd - >/dev/null'
	line 'echo $((6 * 7)); printf "%05d\n" 42'
	line 'ls /usr | while read -r x; do echo "<$x>"; done'
	line 'find /etc -maxdepth 1 -name "host*" -exec basename {} \; | sort'
	line 'seq 300 | xargs -n 50 echo | wc -l'
	line 'umask 077; : >/tmp/m; stat -c %a /tmp/m; rm /tmp/m'
	line 'ulimit -n 64; ulimit -n'
	line 'test -t 0; echo $?'
	line 'set -e; false; echo not reached'
	line 'echo $$ >/dev/null; [ $$ -gt 0 ] && [ $PPID -ge 0 ] && echo ids'
	line 'time_out() { timeout 0.3 sleep 100; echo $?; }; time_out'
}

other_shells() {
	same "bash arrays and process substitution" bash -c \
		'a=(1 2 3); diff <(printf "%s\n" "${a[@]}") <(seq 3) && echo same; echo ${#a[@]}'
	same "bash pipefail" bash -c 'set -o pipefail; false | true; echo $? ${PIPESTATUS[@]}'
	same "bash coproc" bash -c 'coproc cat; echo x >&${COPROC[1]}; read -r y <&${COPROC[0]}; echo $y'
	same "busybox sh" busybox sh -c 'echo $(busybox seq 5 | busybox tac)'
	same "busybox ash, functions" busybox sh -c 'f() { return 9; }; f; echo $?'
	same "perl" perl -e 'print `echo from perl`; system("exit 3"); print $? >> 8, "\n"'
	same "python subprocess" "$python" -c '
import subprocess
print(subprocess.run(["sh", "-c", "cat; exit 5"], input=b"in", capture_output=True))'
}

many() {
	[ -z "$slow" ] || { skip "many processes" "a slow host"; return; }
	line 'i=0; while [ $i -lt 300 ]; do /bin/true; i=$((i + 1)); done; echo $i'
	line 'for i in $(seq 40); do (sleep 0.1; exit $i) & done; wait; echo all'
	line 'f() { [ $1 = 0 ] || (f $(($1 - 1))); echo $1; }; f 20'
}

each_mode lines other_shells many
finish
