#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `make check` succeeds when each of its steps does, and only then.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

nr=0
# ends STATUS NAME STEP...
ends() {
	local want=$1 name=$2 got=0 what=ok
	shift 2
	nr=$((nr + 1))
	CHECK_OUT=build/check-test scripts/check "$@" > "$T/out" 2>&1 || got=$?
	if [ $((got != 0)) != "$want" ]; then
		what='not ok'
		sed 's/^/# /' "$T/out" | tail -n 20
	fi
	echo "$what $nr - $name"
}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT

ends 0 "a step that passes" passing
ends 1 "one that fails" failing
ends 1 "one that fails, and one that passes" passing failing
ends 1 "one that ends with another status than 0" breaking
ends 1 "one that there is not" no-such-step

# may NAME WANT < guest-6.1.tap: which tests run again
may() {
	local got what=ok

	rm -rf "$T/taps"
	mkdir "$T/taps"
	cat > "$T/taps/guest-6.1.tap"
	printf '%s\n' 'ok 1 - fine' 1..1 > "$T/taps/unit.tap"
	[ -z "${3:-}" ] || echo "$3" > "$T/taps/unit.tap"
	got=$(tests/check/again "$T/taps" | tr '\n' ';')
	nr=$((nr + 1))
	[ "$got" = "$2" ] || what='not ok'
	echo "$what $nr - $1"
	[ "$got" = "$2" ] || echo "# $got"
}
a_stream() { printf '%s\n' '# begin a' "$@" '# a: 3 s, 1 s of a processor' '1..9'; }
may "a test that failed in its guest runs again" '6.1 a;' < <(
	a_stream 'not ok 1 - a: too late' 'not ok 2 - guest-6.1 ended well')
may "not when another step failed" '' $'not ok 1 - a unit\n1..1' < <(
	a_stream 'not ok 1 - a: too late')
may "not when another step has no end" '' '# begin a' < <(a_stream 'not ok 1 - a: too late')
may "not when the kernel complained" '' < <(
	a_stream 'not ok 1 - a: too late' 'not ok 2 - a: the kernel has nothing to complain about')
may "not when something stayed attached" '' < <(
	a_stream 'not ok 1 - a: leaves nothing attached, open or allocated')
may "not when the guest died" '' < <(a_stream 'not ok 1 - a: took the guest down')
may "nothing when nothing failed" '' < <(a_stream 'ok 1 - a: well')
may "not when five failed" '' < <(
	for t in a b c d e; do printf '# begin %s\nnot ok 1 - %s: late\n' $t $t; done
	echo 1..5)
echo "1..$nr"
