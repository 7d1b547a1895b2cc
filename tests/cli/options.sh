#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The options of husk run, and the same by --config.
. "$(dirname "$0")/lib.sh"

cat >memory.py <<'EOP'
total = int(open("/proc/meminfo").readline().split()[1]) // 1024
print("good" if LOW <= total <= HIGH else total)
EOP

environment() {
	is "--env" "$(husk --env A=b --env 'C=d e' -- sh -c 'echo "$A,$C"')" "b,d e"
	is "--env copies a variable" "$(A=from-here husk --env A -- sh -c 'echo "$A"')" from-here
	is "--env, empty" "$(husk --env A= -- sh -c 'echo "${A-unset}."')" .
	is "--env, with an equals sign in the value" "$(husk --env A=b=c -- sh -c 'echo "$A"')" b=c
	is "the caller's environment stays outside" "$(A=x husk -- sh -c 'echo "${A-unset}"')" unset
	is "--workdir" "$(husk --workdir /usr/bin -- pwd)" /usr/bin
	is "--workdir is made" "$(husk --workdir /x/y -- pwd)" /x/y
	is "the current directory is kept" "$(husk -- pwd)" "$T"
	is "--hostname" "$(husk --hostname box-1 -- uname -n)" box-1
	is "--user" "$(husk --user 1234:4321 -- sh -c 'id -u; id -g')" "$(printf '1234\n4321')"
}

size() {
	is "--cpus 1" "$(husk --cpus 1 -- nproc)" 1
	is "--cpus 2: programs run on one of them" "$(husk --cpus 2 -- nproc)" 1
	sed 's/LOW/180/; s/HIGH/256/' memory.py >low.py
	is "--memory 256M" "$(husk --memory 256M -- "$python" low.py)" good
	sed 's/LOW/900/; s/HIGH/1024/' memory.py >high.py
	is "--memory 1G" "$(husk --memory 1G -- "$python" high.py)" good
	capture husk --memory 128M -- "$python" -c '
try:
    bytearray(1 << 30)
    print("got it")
except MemoryError:
    print("refused")'
	# Linux would refuse; being killed for it is as good, a panic or a hang is not.
	like "a program that needs more fails, not the VM" "$status $out" '^(0 refused|137 )$'
	[ -n "$slow" ] && return
	is "--memory 5G reaches over the hole below 4 GiB" "$(husk --memory 5G -- "$python" -c '
import mmap
m = mmap.mmap(-1, 3500 << 20)
for i in range(0, len(m), 1 << 20): m[i] = i % 251
print(all(m[i] == i % 251 for i in range(0, len(m), 1 << 20)))')" True
}

root() {
	rm -rf r
	mkdir -p r/bin r/data
	cp /bin/busybox r/bin/busybox
	ln -sf busybox r/bin/sh
	ln -sf busybox r/bin/cat
	ln -sf busybox r/bin/ls
	rm -f r/data/up
	echo content >r/data/file
	is "--root" "$(husk --root "$T/r" -- /bin/cat /data/file)" content
	is "--root: nothing else is there" "$(husk --root "$T/r" -- /bin/ls -d /usr /etc/passwd 2>/dev/null)" ""
	husk --root "$T/r" -- /bin/sh -c 'echo changed >/data/file; echo new >/data/new'
	is "--root: the host is unchanged" "$(cat r/data/file; ls r/data)" "$(printf 'content\nfile')"
	is "--root and a share" "$(husk --root "$T/r" -v "$T/r/data:/mnt/x" -- /bin/cat /mnt/x/file)" content
	is "--root: a link cannot leave it" "$(ln -sfn ../../../../../../../../etc/passwd r/data/up
		husk --root "$T/r" -- /bin/cat /data/up 2>/dev/null)" ""
	gives "--root: not found" 127 husk --root "$T/r" -- /bin/true
	gives "everything at once" 9 husk --root "$T/r" --memory 256M --cpus 1 --env A=b \
		--workdir /x --timeout 60 -- /bin/sh -c 'echo "$A $PWD"; exit 9'
	is "... output" "$out" "b /x"
}

config() {
	cat >vm.json <<-END
		{
			"memory": "256M", "cpus": 1, "timeout": 100,
			"env": ["A=from-file", "B=kept"],
			"workdir": "/usr",
			"volume": ["$T:/here"],
			"args": ["sh", "-c", "echo \$A \$B \$PWD; cat /here/word; exit 8"]
		}
	END
	echo word >word
	gives "--config" 8 husk --config vm.json
	is "... output" "$out" "$(printf 'from-file kept /usr\nword')"
	gives "the command line wins" 8 husk --config vm.json --env A=line --workdir /
	is "... output" "$out" "$(printf 'line kept /\nword')"
	gives "a program on the command line wins" 0 husk --config vm.json -- /bin/echo other
	is "... output" "$out" other
	echo '{ "args": ["sh", "-c", "exit 6"], "no-patch": true, "quiet": true }' >flags.json
	gives "flags" 6 husk --config flags.json
	echo '{ "args": ["/bin/echo", "\u00e4 \"quoted\" \\"] }' >text.json
	gives "escapes and UTF-8" 0 husk --config text.json
	is "... output" "$out" 'ä "quoted" \'
}

words() {
	is "options end at the first word that is none" "$(husk echo --memory)" --memory
	is "a program with dashes after --" "$(husk -- echo -- -x)" "-- -x"
	is "short options" "$(husk -m 256M -c 1 -e A=b -w /usr -- sh -c 'echo $A $PWD')" "b /usr"
	is "--option=value" "$(husk --env=A=b --workdir=/usr -- sh -c 'echo $A $PWD')" "b /usr"
	is "many arguments" "$(husk -- sh -c 'echo $#' sh $(seq 2000))" 2000
	is "a long argument" "$(husk -- sh -c 'echo ${#1}' sh "$(printf '%060000d' 0)")" 60000
	is "an empty argument, newlines, UTF-8" "$(husk -- printf '[%s]' '' $'a\nb' 'ü')" \
		"$(printf '[%s]' '' $'a\nb' 'ü')"
}

each_mode environment size root config words
finish
