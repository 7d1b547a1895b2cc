#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ordinary programs behave in husk as they do on the host whose files they use.
. "$(dirname "$0")/lib.sh"

system_programs() {
	same "true" /bin/true
	same "false" /bin/false
	same "echo" /bin/echo -n 'some  words' ''
	same "ls -l /usr" /bin/ls -l /usr
	same "ls -la of a big directory" /bin/ls -la /usr/bin
	same "ls of nothing" /bin/ls /no/such/directory
	same "python3" python3 -c 'import json, hashlib, sys; print(sys.version)'
	same "python3, an exception" python3 -c 'raise SystemExit("gone wrong")'
	same "busybox sha256sum" /bin/busybox sha256sum "$(realpath /usr/bin/python3)"
	same "md5sum of several files" md5sum /bin/sh /bin/ls /etc/passwd
	same "cat of a system file" cat /etc/passwd
	same "wc" wc /usr/bin/env
	same "id" id
	same "pwd" pwd
	same "env" env
	same "uname -m" uname -m
	same "dd" dd if=/bin/sh bs=1000 count=7 skip=3 status=none
	same "stat" stat -c '%n %F %s %a %u %g %h %Y' /bin/sh /usr /etc/passwd /bin
	same "readlink" readlink -f /bin/sh /usr/bin/python3 /lib64
	same "awk" awk 'BEGIN { for (i = 0; i < 1000; i++) s += i * i; print s }'
	same "grep -r" grep -rl root /etc/passwd /etc/group
}

heavy_programs() {
	[ -z "$slow" ] || { skip "heavy programs" "a slow host"; return; }
	same "find /usr/share" find /usr/share -maxdepth 2 -perm -004
	same "du" du -s --apparent-size /usr/include
	same "tar and gzip" sh -c 'tar cf - -C /usr/include linux | gzip -1n | sha256sum'
	same "python3 with threads and processes" python3 -c '
import concurrent.futures as f, hashlib
with f.ThreadPoolExecutor(4) as pool:
    print(sum(pool.map(lambda n: n * n, range(1000))))
with f.ProcessPoolExecutor(2) as pool:
    print(list(pool.map(abs, range(-5, 5))))'
	same "python3 compileall" python3 -c 'import ast, pathlib
for p in sorted(pathlib.Path("/usr/lib/python3/dist-packages").glob("*.py"))[:20]: ast.parse(p.read_text())'
	same "perl" perl -e 'my %h; $h{$_ % 97}++ for 1..200000; print join(",", map {"$_=$h{$_}"} sort {$a <=> $b} keys %h), "\n"'
}

pipes() {
	seq 20000 >numbers
	[ -n "$slow" ] || seq 100000 >numbers
	input=numbers same "sort -rn of many lines" sort -rn
	seq 100000 | husk -- sort -rn 2>.err | head >.out
	local got=("${PIPESTATUS[@]}")
	seq 100000 | sort -rn 2>/dev/null | head >.want
	local want=("${PIPESTATUS[@]}")
	ok "sort into head: output" cmp .out .want
	is "sort into head: status" "${got[1]}" "${want[1]}"
	is "sort into head: nothing on stderr" "$(<.err)" ""
	husk -- yes 2>.err | head -n 3 >.out
	is "yes into head ends by SIGPIPE" "${PIPESTATUS[0]} $(tr -d '\n' <.out)" "141 yyy"
}

ways_to_link() {
	local kind
	for kind in musl glibc static-pie dynamic dynamic-no-pie; do
		[ -x "$BIN/act-$kind" ] || { skip "$kind" "not built here"; continue; }
		same "a program linked as $kind" "$BIN/act-$kind" hello
	done
	printf '#!/bin/sh\necho script "$0" "$@"; exit 4\n' >script
	printf '#!/usr/bin/env python3\nimport sys; print(sys.argv[1:])\n' >script.py
	chmod +x script script.py
	same "a script" ./script one 'two  three'
	same "a python script by env" ./script.py 1 2
	same "a program by its name alone" sh -c 'command -v ls'
	cp "$BIN/act-glibc" 'a name with spaces'
	same "a program in the current directory" './a name with spaces' hello
}

inside() {
	gives "the guest is a guest" 0 with_bin -- "$act" guest
	local before after
	before=$(date +%s)
	capture husk -- date +%s
	after=$(date +%s)
	ok "the date is the host's" test "$before" -le "${out:-0}" -a "${out:-0}" -le "$after"
	capture husk -- date +%Z%z
	is "the time zone is the host's or UTC" "$([ "$out" = UTC+0000 ] || date +%Z%z)" \
		"$([ "$out" = UTC+0000 ] || echo "$out")"
	is "nothing of husk's own on stderr" "$(husk -- true 2>&1)" ""
}

each_mode system_programs heavy_programs pipes ways_to_link inside
finish
