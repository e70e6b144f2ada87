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
echo "1..$nr"
