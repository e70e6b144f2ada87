#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scripts/check-order finds calls whose result depends on the order of their arguments, and no
# others.
set -u
cd "$(dirname "$0")/../.." || exit
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nr=0
check() {
	local want=$1 what=$2 rc=0
	nr=$((nr + 1))
	echo "$3" > "$work/x.c"
	scripts/check-order "$work/x.c" > /dev/null || rc=$?
	if [ $rc = "$want" ]; then echo "ok $nr - $what"; else echo "not ok $nr - $what"; fi
}
check 1 "an argument that another one's call is to fill in" 'void f(void) { put(x, get(&x)); }'
check 1 "also as one of several, and over lines" 'void f(void) {
	put(out, frames, get(&s, i, &frames)); }'
check 1 "an argument beside its increment" 'void f(void) { put(n++, n); }'
check 0 "the address of the same variable twice" 'void f(void) { put(&x, get(&x)); }'
check 0 "its size" 'void f(void) { put(read(0, &x, sizeof(x)), sizeof(x)); }'
check 0 "another variable" 'void f(void) { put(y, get(&x)); }'
check 0 "a member that is called the same" 'void f(void) { put(a->x, get(&x)); }'
check 0 "the bits that two have in common" 'void f(void) { put(x, get(y & x)); }'
check 0 "what is in a comment, or a text" \
	'void f(void) { put(x, "get(&x)"); } /* put(x, get(&x)) */'
echo "1..$nr"
