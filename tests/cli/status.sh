#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exit statuses: the program's own, 128+n, 124 to 127, each with a line that says why.
. "$(dirname "$0")/lib.sh"

own() {
	gives "exit 7" 7 husk -- sh -c 'exit 7'
	gives "exit 255" 255 husk -- sh -c 'exit 255'
	gives "exit 124 of the program's own" 124 husk -- sh -c 'exit 124'
	gives "a crash is 139" 139 with_bin -- "$act" segv
	is "... what it wrote before is there" "$out" before
	like "... with a line as a shell prints it" "$err" '[Ss]egmentation fault'
	gives "abort is 134" 134 husk -- sh -c 'kill -ABRT $$'
	gives "SIGKILL is 137" 137 husk -- sh -c 'kill -KILL $$'
	gives "SIGTERM is 143" 143 husk -- sh -c 'kill -TERM $$'
	gives "SIGPIPE is 141" 141 husk -- sh -c 'kill -PIPE $$'
	is "... without a line, as in a shell" "$err" ""
	gives "children that live on do not matter" 3 husk -- sh -c 'sleep 100 & exit 3'
}

timeouts() {
	local start=$SECONDS
	gives "--timeout ends a sleeper with 124" 124 husk --timeout 1 -- sleep 1000
	ok "... in time" test $((SECONDS - start)) -lt "$((limit / 2))"
	like "... and says so" "$err" '[Tt]ime'
	gives "--timeout ends a program that computes" 124 husk --timeout 1 -- \
		sh -c 'while :; do :; done'
	gives "--timeout 0.5" 124 husk --timeout 0.5 -- sleep 1000
	gives "--timeout that is not needed" 5 husk --timeout 1000 -- sh -c 'exit 5'
	gives "--timeout while it writes" 124 husk --timeout 1 -- sh -c 'while :; do echo x; done'
}

not_found() {
	gives "not found on PATH: 127" 127 husk -- no-such-program-anywhere
	like "... named" "$err" 'no-such-program-anywhere'
	gives "not found by path: 127" 127 husk -- /no/such/program
	gives "not found in the current directory: 127" 127 husk -- ./nothing
	gives "an empty PATH entry is not the root" 127 husk --env PATH=/nowhere -- ls
	printf '#!/no/such/interpreter\n' >script
	chmod +x script
	gives "a script without an interpreter: 127" 127 husk -- ./script
	is "nothing on stdout" "$out" ""
}

cannot_execute() {
	gives "a directory: 126" 126 husk -- /usr
	gives "not executable: 126" 126 husk -- /etc/passwd
	like "... named" "$err" '/etc/passwd'
	printf 'neither ELF nor script' >text
	chmod +x text
	gives "an executable text: 126" 126 husk -- ./text
	: >empty
	chmod +x empty
	gives "an empty file: 126" 126 husk -- ./empty
	patched 18 '\xb7\x00'
	gives "a program for aarch64: 126" 126 husk -- ./patched
	like "... with a reason" "$err" 'patched'
	patched 4 '\x01'
	gives "a 32-bit class: 126" 126 husk -- ./patched
	patched 16 '\x01\x00'
	gives "an object file: 126" 126 husk -- ./patched
	patched 32 '\xff\xff\xff\xff\xff\xff\xff\x7f'
	gives "program headers at 2^63: 126" 126 husk -- ./patched
	patched 54 '\x01\x00'
	gives "program headers of one byte: 126" 126 husk -- ./patched
	patched 56 '\xff\xff'
	gives "65535 program headers: 126" 126 husk -- ./patched
	head -c 100 "$act" >short
	chmod +x short
	gives "a truncated program: 126" 126 husk -- ./short
	head -c 63 "$act" >short
	gives "a truncated header: 126" 126 husk -- ./short
}

patched() {	# OFFSET BYTES: a copy of a program, changed
	cp "$act" patched
	printf "$2" | dd of=patched bs=1 seek="$1" conv=notrunc status=none
}

# Random damage: the loader may refuse it or the program may crash, but husk and its guest's
# kernel do not fail.
damaged() {
	local seed bad=0
	[ -z "$slow" ] || { skip "damaged programs" "a slow host"; return; }
	for seed in $(seq 25); do
		"$python" - "$act" "$seed" <<-'END'
			import random, sys
			data = bytearray(open(sys.argv[1], 'rb').read())
			random.seed(int(sys.argv[2]))
			for _ in range(4):
			    data[random.randrange(0, 64 + 56 * 6)] = random.randrange(256)
			open('damaged', 'wb').write(data)
		END
		chmod +x damaged
		capture husk --timeout 5 -- ./damaged hello
		case $status in
		125|137) bad=$((bad + 1)); echo "# seed $seed: status $status: ${err:0:200}" ;;
		esac
	done
	is "programs with damaged headers do not hurt the kernel" $bad 0
}

# failing NAME ERE COMMAND...: 125, nothing on stdout, a message of husk's that matches.
failing() {
	local name=$1 say=$2
	shift 2
	capture "$@"
	[ "$status" = 125 ] && [ -z "$out" ] && grep -qE -- "$say" <<<"$err" &&
		[[ $err == husk:* ]]
	result $? "$name" && return
	echo "# status $status"
	note "$T/.out" "stdout: "
	note "$T/.err" "stderr: "
}

husk_fails() {
	failing "a bad option" 'nonsense' husk --nonsense -- true
	failing "no program" '' husk
	failing "memory that is no size" 'memory' husk --memory many -- true
	failing "too little memory" 'memory' husk --memory 1K -- true
	failing "no CPU" 'cpus' husk --cpus 0 -- true
	failing "a timeout that is no time" 'timeout' husk --timeout soon -- true
	failing "a --root that is not there" '/no/such/root' husk --root /no/such/root -- true
	failing "a share that is not there" '/no/such/share' husk -v /no/such/share:/x -- true
	failing "a share without a place" '' husk -v /usr -- true
	failing "a --config that is not there" '/no/such/config' husk --config /no/such/config
	printf '{\n  "memory": "64M",\n  "args": ["true" }\n' >bad.json
	failing "bad JSON: line and column" 'bad.json:3:[0-9]+' husk --config bad.json
	printf '{\n  "memry": "64M", "args": ["true"] }\n' >key.json
	failing "an unknown key, named" 'memry' husk --config key.json
	printf '{ "memory": [], "args": ["true"] }\n' >type.json
	failing "a value of the wrong type" 'memory' husk --config type.json
	printf 'not a kernel' >kernel
	failing "a kernel that is none" 'kernel' husk --kernel kernel -- true
	head -c 5000 "$act" >kernel
	failing "a kernel cut short" 'kernel' husk --kernel kernel -- true
	failing "a program as a kernel" 'kernel' husk --kernel "$act" -- true
	failing "a --kernel that is not there" '/no/such/kernel' husk --kernel /no/such/kernel -- true
	failing "a --log that cannot be written" '/no/such/log' husk --log /no/such/log -- true
}

host_fails() {
	failing "no address space" '[Mm]emory|mmap' \
		bash -c 'ulimit -v 200000; exec "$HUSK" run --memory 4G -- true'
	if [ "$(id -u)" != 0 ]; then
		skip "/dev/kvm missing, wrong, forbidden" "needs root"
		return
	fi
	: >not-kvm
	failing "/dev/kvm is something else" '/dev/kvm' unshare --mount bash -c \
		'mount --bind /dev/null /dev/kvm && exec "$HUSK" run -- true'
	failing "/dev/kvm is missing" '/dev/kvm' unshare --mount bash -c \
		'mount -t tmpfs tmpfs /dev && exec "$HUSK" run -- true'
	cp "$HUSK" ./husk-copy
	chmod 755 ./husk-copy
	failing "/dev/kvm may not be opened" '/dev/kvm' unshare --mount bash -c '
		mknod kvm c 10 232 && chmod 600 kvm && mount --bind kvm /dev/kvm &&
		exec setpriv --reuid=65534 --regid=65534 --clear-groups ./husk-copy run -- true'
}

each_mode own timeouts not_found cannot_execute damaged
husk_fails
host_fails
finish
