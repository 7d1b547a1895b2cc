#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the guest must not see of the host, and what it cannot change there.
. "$(dirname "$0")/lib.sh"

# Something secret beside the current directory, which husk shows, and in a home directory.
secret="do-not-show-$$-$RANDOM"
outside=$(mktemp -d /var/tmp/husk-secret.XXXXXX)
trap 'cd /; rm -rf "$T" "$outside"' EXIT
echo "$secret" >"$outside/file"
mkdir "$T/shown" "$T/hidden"
echo "$secret" >"$T/hidden/file"
echo visible >"$T/shown/file"
cd "$T/shown" || exit 1
ln -s ../hidden/file up
ln -s "$T/hidden/file" absolute
ln -s "$outside/file" far
ln -s /etc/shadow shadow
ln -s /proc/self/root/etc/shadow proc
ln -s ../../../../../../../../../../../..//etc/shadow many
ln -s .. parent
"$python" -c 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
mkfifo fifo
[ "$(id -u)" = 0 ] && mknod device c 1 5 && chmod 666 device

hides() {	# NAME COMMAND...: fails or shows nothing secret
	local name=$1
	shift
	capture husk -- "$@"
	! grep -qF "$secret" "$T/.out" && ! grep -qE '^root:[^:]*:[0-9]*:' "$T/.out" && [ "$status" != 137 ]
	result $? "$name" || note "$T/.out"
}

default_view() {
	is "the current directory is seen" "$(husk -- cat file)" visible
	hides "/etc/shadow" cat /etc/shadow
	isnt_readable /etc/shadow
	hides "/etc/gshadow" cat /etc/gshadow
	hides "/root" sh -c 'find /root -type f | xargs -r cat'
	is "/root is empty or absent" "$(husk -- sh -c 'ls -A /root 2>/dev/null | wc -l')" 0
	is "/home likewise" "$(husk -- sh -c 'ls -A /home 2>/dev/null | wc -l')" 0
	hides "private host keys" sh -c 'cat /etc/ssh/ssh_host_*_key /etc/ssl/private/*'
	hides "a file in /var/tmp" cat "$outside/file"
	hides "a neighbour of the current directory" cat "$T/hidden/file"
	hides "the parent of the current directory" sh -c 'ls -R .. ; cat ../hidden/file'
	is "/proc is the guest's" "$(husk -- sh -c 'ls -d /proc/[0-9]* | wc -l')" 2
	is "no devices of the host" "$(husk -- sh -c 'for d in kvm mem vda sda fuse loop0 vhost-net;
		do [ -e /dev/$d ] && echo $d; done')" ""
	ok "/dev/null, zero, full, random, tty, fd" husk -- sh -c '
		for d in null zero full random urandom tty fd stdin stdout stderr; do
			[ -e /dev/$d ] || [ -L /dev/$d ] || { echo $d; exit 1; }; done
		[ "$(head -c 4 /dev/zero | od -An -tx1)" = " 00 00 00 00" ] && echo x >/dev/null'
}

isnt_readable() {
	husk -- cat "$1" >/dev/null 2>&1
	[ $? = 1 ]
	result $? "... $1 cannot be read"
}

links_and_dots() {
	local name
	for name in up absolute far shadow proc many parent/hidden/file; do
		hides "a link out of the share: $name" cat "$name"
	done
	hides "dots" cat ../../../../../../../../etc/shadow
	hides "dots in a share" sh -c 'cat ./../hidden/file ../shown/../hidden/file'
	hides "a link made inside" sh -c "ln -s $outside/file made; cat made; ln -s / r; cat r$outside/file"
	hides "a hard link made inside" sh -c "ln $outside/file hard; cat hard"
	hides "openat with dots" "$python" -c '
import os
d = os.open(".", os.O_RDONLY)
for path in "..", "../..", "../../..":
    try: d = os.open("..", os.O_RDONLY, dir_fd=d)
    except OSError: break
for path in ("hidden/file", "etc/shadow", "var/tmp"):
    try: print(os.read(os.open(path, os.O_RDONLY, dir_fd=d), 1000))
    except OSError: pass'
	mkdir -p "$T/share/sub"
	ln -sfn ../../hidden "$T/share/sub/out"
	ln -sfn / "$T/share/sub/root"
	capture husk -v "$T/share:/data:rw" -- sh -c "cat /data/sub/out/file /data/sub/root$outside/file
		cat /data/../hidden/file; echo x >/data/sub/out/made; echo x >/data/sub/root$outside/made"
	unlike "a writable share: nothing is read outside" "$out" "$secret"
	ok "... and nothing written" test ! -e "$T/hidden/made" -a ! -e "$outside/made"
}

special_files() {
	ok "a socket of the host cannot be used" husk -- "$python" -c '
import socket, sys
try: socket.socket(socket.AF_UNIX).connect("socket")
except OSError: sys.exit(0)
sys.exit(1)'
	if [ -e device ]; then
		ok "a device node in a share does not work" husk -- sh -c \
			'[ "$(timeout 5 head -c 4 device | wc -c)" = 0 ]'
	else
		skip "a device node in a share does not work" "needs root"
	fi
	ok "a fifo in a share does not reach the host" sh -c '
		(timeout 3 cat fifo >'"$T/leak"' 2>/dev/null) & sleep 0.3
		timeout -s KILL '"$limit"' "$HUSK" run '"$mode"' -- timeout 1 sh -c "echo leak >fifo"
		wait; [ ! -s '"$T/leak"' ]'
}

state() {	# of everything the guest might have changed
	(cd "$T/shown" && find . ! -type s -printf '%P %y %s %m %n %T@ %l\n' | sort
	cat file)
	stat -c '%n %Y %Z %s' /usr/share /etc /usr /bin/sh
}

overlay() {
	local before
	before=$(state)
	is "a new file in /usr" "$(husk -- sh -c 'echo x >/usr/share/husk-test
		cat /usr/share/husk-test')" x
	ok "... is not on the host" test ! -e /usr/share/husk-test
	is "a file here is changed" "$(husk -- sh -c 'echo more >>file; cat file')" \
		"$(printf 'visible\nmore')"
	is "... truncated" "$(husk -- sh -c ': >file; wc -c <file')" 0
	is "... removed and made again" "$(husk -- sh -c 'rm file && ls file 2>/dev/null
		echo again >file; cat file')" again
	is "... renamed" "$(husk -- sh -c 'mv file other && cat other && ls file 2>/dev/null')" visible
	is "... its mode changed" "$(husk -- sh -c 'chmod 600 file && stat -c %a file')" 600
	is "... its time changed" "$(husk -- sh -c 'touch -d @1000000000 file && stat -c %Y file')" \
		1000000000
	is "directories are made and removed" "$(husk -- sh -c 'mkdir -p a/b/c && rmdir a/b/c &&
		mv a z && ls -d z/b')" z/b
	is "a system directory is removed" "$(husk -- sh -c 'rm -rf /usr/share/doc
		ls /usr/share/doc 2>/dev/null | wc -l')" 0
	ok "... it is still on the host" test -d /usr/share/doc
	is "links are made" "$(husk -- sh -c 'ln -s file l && ln file h && cat l h')" \
		"$(printf 'visible\nvisible')"
	is "a shared writable mapping of a file" "$(husk -- "$python" -c '
import mmap
f = open("file", "r+b"); m = mmap.mmap(f.fileno(), 0); m[0:3] = b"VIS"; m.flush(); f.close()
print(open("file").read().strip())')" VISible
	is "the host is as it was" "$(state)" "$before"
}

shares() {
	rm -rf "$T/data"
	mkdir "$T/data"
	echo host >"$T/data/file"
	is "-v shows a directory" "$(husk -v "$T/data:/data" -- cat /data/file)" host
	is "-v shows it deep down" "$(husk -v "$T/data:/x/y/z" -- cat /x/y/z/file)" host
	is "-v of a single file" "$(husk -v "$T/data/file:/one" -- cat /one)" host
	husk -v "$T/data:/data" -- sh -c 'echo guest >/data/file; echo new >/data/new; rm /data/file' \
		2>/dev/null
	is "without rw the host is unchanged" "$(ls "$T/data"; cat "$T/data/file")" "$(printf 'file\nhost')"
	husk -v "$T/data:/data:rw" -- sh -c 'echo guest >/data/file; mkdir /data/d
		echo new >/data/d/new; ln -s file /data/link; chmod 640 /data/d/new; mv /data/d /data/e'
	is "rw: writes reach the host" "$(cat "$T/data/file" "$T/data/e/new" "$T/data/link")" \
		"$(printf 'guest\nnew\nguest')"
	is "... modes as well" "$(stat -c %a "$T/data/e/new")" 640
	ok "rw: removal reaches the host" husk -v "$T/data:/data:rw" -- rm -r /data/e /data/link
	is "... done" "$(ls "$T/data")" file
	is "two shares" "$(husk -v "$T/data:/a" -v "$T/shown:/b" -- cat /a/file /b/file)" \
		"$(printf 'guest\nvisible')"
	is "host and guest see each other's writes" "$(husk -v "$T/data:/data:rw" -- sh -c '
		echo ping >/data/ping; for i in $(seq 100); do
			[ -e /data/pong ] && cat /data/pong && exit; sleep 0.1; done' &
		for i in $(seq 100); do [ -s "$T/data/ping" ] && break; sleep 0.1; done
		echo pong >"$T/data/.p" && mv "$T/data/.p" "$T/data/pong"; wait)" pong
}

privilege() {
	is "no network of the host" "$(husk -- "$python" -c '
import socket
try:
    s = socket.create_connection(("127.0.0.1", 22), 1); print("connected")
except OSError: print("refused")')" refused
	is "the process does not see the host's processes" \
		"$(husk -- sh -c "kill -0 $$ 2>/dev/null && [ -e /proc/$$/exe ] && echo seen")" ""
}

each_mode default_view links_and_dots special_files overlay shares privilege
finish
