# SPDX-License-Identifier: Apache-2.0
# Sourced by every script in tests/cli: finds husk and the programs, makes a directory to work in,
# compares what a command does in husk with what it does natively, prints TAP.
#
#   HUSK             the binary (else ./husk, build/husk)
#   HUSK_TEST_BIN    the compiled tests/guest programs (else built under the build directory)
#   HUSK_HOST_KIND   tcg-svm: a slow host; what a script calls heavy is made smaller or left out
#
# A script defines functions and ends with `each_mode NAME...` and `finish`: each function runs
# with system-call sites rewritten and with --no-patch.
set -u
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=$(cd "$here/../.." && pwd)
python=/usr/bin/python3
count=0 failed=0 mode= mode_name=

skip_all() {
	echo "1..0 # SKIP $*"
	exit 77
}

find_husk() {
	local path
	for path in "${HUSK:-}" husk build/husk "$tree/husk" "$tree/build/husk"; do
		if [ -n "$path" ] && [ -x "$path" ] && [ ! -d "$path" ]; then
			realpath "$path"
			return
		fi
	done
}

HUSK=$(find_husk)
[ -n "$HUSK" ] || skip_all "husk is not built"
export HUSK
(: <>/dev/kvm) 2>/dev/null || skip_all "/dev/kvm does not open; tests/cli/on-tcg brings its own"
slow=
[ "${HUSK_HOST_KIND:-}" = tcg-svm ] && slow=1
limit=${HUSK_TEST_LIMIT:-${slow:+180}}
limit=${limit:-60}

BIN=${HUSK_TEST_BIN:-${abs_builddir:-$tree/build}/tests/guest-bin}
if [ -z "${HUSK_TEST_BIN:-}" ]; then
	"$here/build-programs" "$BIN" >&2 || skip_all "the test programs do not compile"
fi
BIN=$(cd "$BIN" && pwd -P)
act=$BIN/act-musl
[ -x "$act" ] || act=$BIN/act-glibc

T=$(mktemp -d "${TMPDIR:-/tmp}/husk-cli.XXXXXX") || exit 1
chmod 755 "$T"
trap 'cd /; rm -rf "$T"' EXIT
cd "$T" || exit 1

# What husk gives every program unless told otherwise (husk(1)); the native run gets the same.
native_env=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
	"HOME=$([ "$(id -u)" = 0 ] && echo /root || echo /)" LANG=C.UTF-8)

result() {	# STATUS NAME
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2$mode_name"
		return 0
	fi
	failed=1
	echo "not ok $count - $2$mode_name"
	return 1
}

note() {	# FILE [LABEL]: its start as TAP comments
	[ -s "$1" ] && head -n 12 "$1" | cut -c 1-200 | tr -d '\000\r' | sed "s/^/# ${2:-}/"
	return 0
}

skip() {	# NAME REASON
	count=$((count + 1))
	echo "ok $count - $1$mode_name # SKIP $2"
}

# ok NAME COMMAND...: passes if COMMAND succeeds; its output is shown if not.
ok() {
	local name=$1
	shift
	"$@" >"$T/.ok" 2>&1
	result $? "$name" || note "$T/.ok"
}

# is NAME GOT WANT
is() {
	[ "$2" = "$3" ]
	result $? "$1" || printf '# got:  %q\n# want: %q\n' "${2:0:400}" "${3:0:400}"
}

# like NAME TEXT ERE
like() {
	grep -qE -- "$3" <<<"$2"
	result $? "$1" || printf '# got:  %q\n# want: %s\n' "${2:0:400}" "$3"
}

unlike() {
	! grep -qE -- "$3" <<<"$2"
	result $? "$1" || printf '# got:  %q\n# not:  %s\n' "${2:0:400}" "$3"
}

# husk OPTIONS -- PROGRAM...: in the mode under test, never for longer than $limit seconds
# (then 137, which no test wants).
husk() {
	timeout -s KILL "$limit" "$HUSK" run $mode "$@"
}

# with_bin OPTIONS -- PROGRAM...: likewise, and the guest sees $BIN.
with_bin() {
	husk -v "$BIN:$BIN" "$@"
}

# run_in FILES: runs a command with stdin from $input (default: nothing), leaves $out, $err (up to
# trailing newlines), files .out and .err, and $status.
input=/dev/null
capture() {
	"$@" <"$input" >"$T/.out" 2>"$T/.err"
	status=$?
	out=$(tr -d '\000' <"$T/.out")
	err=$(tr -d '\000' <"$T/.err")
}

# gives NAME STATUS COMMAND...: captures COMMAND and compares its status.
gives() {
	local name=$1 want=$2
	shift 2
	capture "$@"
	[ "$status" = "$want" ]
	result $? "$name" && return
	echo "# status $status, not $want"
	note "$T/.err" "stderr: "
}

# same NAME COMMAND...: stdout, stderr and status in husk equal those of the native run.
same() {
	local name=$1 want_status
	shift
	"${native_env[@]}" "$@" <"$input" >"$T/.want" 2>"$T/.want-err"
	want_status=$?
	capture with_bin -- "$@"
	[ "$status" = $want_status ] && cmp -s "$T/.out" "$T/.want" && cmp -s "$T/.err" "$T/.want-err"
	result $? "$name" && return
	[ "$status" = $want_status ] || echo "# status $status, not $want_status"
	diff -a "$T/.want" "$T/.out" >"$T/.diff" || note "$T/.diff" "stdout: "
	diff -a "$T/.want-err" "$T/.err" >"$T/.diff" || note "$T/.diff" "stderr: "
}

# wait_for FILE TEXT: until the file has the text, or 1/3 of the limit is over.
wait_for() {
	local i
	for ((i = 0; i < limit * 7; i++)); do
		grep -qF -- "$2" "$1" 2>/dev/null && return
		sleep 0.05
	done
	return 1
}

each_mode() {
	local body
	for mode in '' --no-patch; do
		mode_name=${mode:+ ($mode)}
		for body; do
			input=/dev/null
			"$body"
		done
	done
	mode= mode_name=
}

finish() {
	echo "1..$count"
	exit $failed
}
