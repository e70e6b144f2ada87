#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap list` of files: USDT probes alone, regular expressions, places for a probe.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # SKIP the program is of x86-64"
	exit 0
fi
# (as <sys/sdt.h> writes them)
cat > "$work/p.c" <<'EOF'
#define PROBE(name) __asm__ volatile("1: nop\n" \
	".pushsection .note.stapsdt,\"\",\"note\"\n.balign 4\n" \
	".4byte 2f-3f, 4f-5f, 3\n3: .asciz \"stapsdt\"\n2: .balign 4\n" \
	"5: .8byte 1b, _.stapsdt.base, 0\n.asciz \"mine\"\n.asciz \"" name "\"\n" \
	".asciz \"\"\n4: .balign 4\n.popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n_.stapsdt.base: .space 1\n.popsection\n.endif\n")
int one_add(int a, int b) { PROBE("begin"); return a + b; }
int two_add(int a, int b) { PROBE("finish"); return a * b + 1; }
int main(int argc, char **argv) { return one_add(argc, 2) + two_add(argc, 3); }
EOF
${CC:-cc} -O1 -fno-inline -o "$work/p" "$work/p.c" || { echo "Bail out! no program"; exit 1; }

# shows NAME WANTED ARGUMENT...: these lines, without what stands behind the name
shows() {
	local name=$1 wanted=$2
	shift 2
	$tool list "$@" 2> "$work/err" | sed "s,$work/,,; s/  (.*//" | sort > "$work/out"
	[ "$(tr '\n' ' ' < "$work/out")" = "$wanted" ]
	local rc=$?
	[ $rc = 0 ] || sed 's/^/# /' "$work/out" "$work/err"
	check $rc "list $name"
}
shows "usdt FILE: these alone" "usdt:p:mine:begin usdt:p:mine:finish " usdt "$work/p"
shows "usdt FILE PATTERN" "usdt:p:mine:finish " usdt "$work/p" 'mine:f*'
shows "FILE PATTERN: functions as well" "u:p:one_add u:p:two_add " "$work/p" add
shows "FILE PATTERN --regex" "u:p:one_add u:p:two_add " "$work/p" '^(one|two)_a' --regex
shows "--regex: no part of it is a pattern" "" --regex "$work/p" '*_add'
shows "usdt FILE PATTERN --regex" "usdt:p:mine:begin " --regex usdt "$work/p" 'in$'
sleep 1000 &
other=$!
$tool list usdt -p $other > "$work/out" 2> "$work/err"
! grep -qv '^usdt:' "$work/out"
check $? "list usdt -p PID: nothing else"
kill $other

for wrong in "usdt" "usdt a b c" "--regex" "--regex $work/p" "--regex $work/p (" "usdt -p 1 a b"; do
	# shellcheck disable=SC2086
	$tool list $wrong > "$work/out" 2> "$work/err"
	[ $? = 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l < "$work/err")" = 1 ]
	check $? "list ${wrong//$work\//}: $(head -n 1 "$work/err")"
done
$tool list usdt "$work/p" nothing 2> "$work/err"
[ $? = 1 ] && grep -q 'no USDT probes match nothing' "$work/err"
check $? "list usdt: nothing found"

# where a probe may be: where objdump has instructions
for f in one_add two_add main; do
	start=$(nm "$work/p" | sed -n "s/^0*\([0-9a-f]*\) T $f\$/\1/p")
	objdump -d --disassemble=$f "$work/p" | sed -n 's/^ *\([0-9a-f]*\):.*/\1/p' |
		while read -r at; do echo "+$((0x$at - 0x$start))"; done | sort -u > "$work/want"
	$tool list "u:$work/p:$f" | sed -n '/places for/,$p' | grep -o '+[0-9]*$\|+[0-9]* ' |
		tr -d ' ' | sort -u > "$work/got"
	[ -s "$work/want" ] && cmp -s "$work/want" "$work/got"
	check $? "list u:FILE:$f: places for a probe"
done
checked
