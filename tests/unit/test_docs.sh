#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The tool's tables, its manual and its completion say the same.
set -u
cd "$(dirname "$0")/../.." || exit 1

. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=build/memtap
# what the manual has, without roff's backslashes
man=$(sed 's/\\-/-/g; s/\\f.//g; s/\\//g' ctl/man/memtap.8)
commands=$($tool help --words)

for cmd in $commands; do
	$tool "$cmd" --help | grep -q "^Usage: memtap $cmd"
	check $? "$cmd --help: prints its usage"
	$tool help | grep -q "^  $cmd "
	check $? "help: names $cmd"
	grep -Eq "^(\.B[RI]* \"?|\.B )$cmd\b" <<< "$man"
	check $? "manual: has $cmd"
	undocumented='' untold=''
	for word in $($tool help --words "$cmd" | grep -v ' '); do
		grep -q -- "$word\b" <<< "$man" || undocumented+=" $word"
		$tool "$cmd" --help | grep -q -- "$word\b" || untold+=" $word"
	done
	[ -z "$undocumented" ]
	check $? "manual: has all options of $cmd$undocumented"
	[ -z "$untold" ]
	check $? "$cmd --help: has all its options$untold"
done

# the manual has no option that the tool lost: each is a command's, or is said instead of
# one (--version), or that of another program
all=$(for cmd in $commands; do $tool help --words "$cmd"; done)
stale=''
# shellcheck disable=SC2013  # words they are
for word in $(grep -Eo -- '(^|[^-a-z])--[a-z][-a-z]+' <<< "$(grep -v mokutil <<< "$man")" |
	grep -Eo -- '--.*' | sort -u); do
	grep -qx -- "$word" <<< "$all" || $tool "$word" > /dev/null 2>&1 || stale+=" $word"
done
[ -z "$stale" ]
check $? "manual: has no other option$stale"

# shellcheck source=/dev/null
. ctl/completion/memtap
complete_line() {
	COMP_WORDS=("$tool" "$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_memtap
	printf '%s\n' "${COMPREPLY[@]}"
}
[ "$(complete_line "" | sort)" = "$(sort <<< "$commands")" ]
check $? "completion: offers all commands"
for cmd in $commands; do
	missing=''
	for word in $($tool help --words "$cmd" | grep -- '^-'  | grep -v ' '); do
		complete_line "$cmd" - | grep -qx -- "$word" || missing+=" $word"
	done
	[ -z "$missing" ]
	check $? "completion: offers all options of $cmd$missing"
done
words="process thread comm cgroup none program file mapping stack cache module "
[ "$(complete_line stacks --by "" | tr '\n' ' ')" = "$words" ]
check $? "completion: offers the words of --by"
[ "$(complete_line report --format "" | head -n 2 | tr '\n' ' ')" = "table folded " ]
check $? "completion: offers the names of formats"
complete_line help "" | grep -qx faults
check $? "completion: offers commands to help"

groff -man -ww -Tutf8 ctl/man/memtap.8 > /dev/null 2> build/man.log && [ ! -s build/man.log ]
case $? in
	0) check 0 "manual: groff has nothing to say" ;;
	*)
		if command -v groff > /dev/null; then
			sed 's/^/# /' build/man.log
			check 1 "manual: groff has nothing to say"
		else
			check 0 "manual: groff has nothing to say # SKIP no groff"
		fi ;;
esac

# a wrong command line: one sentence, status 2, nothing on standard output
for line in nonsense "stacks" "faults x" "record" "record -o x 1" "report" "list a b c" \
	"help nonsense" "leaks --stacks" "leaks -a" "leaks x -p 1" "record --leaks -o x" \
	"faults --sort age" "leaks -p 1 --trace --json" \
	"leaks --error-exitcode 3 -p 1" "leaks -p 1 --alloc f" \
	"unwind" "unwind a b" "unload x" "load x" "stacks --nonsense fault" \
	"leaks -a -- true" "record -o x --sample-rate 10 fault" \
	"record --leaks -o x -K -p 1" "record --leaks -o x --addresses -p 1" \
	"version x" "selftest x" "load a=b x.ko" "triage x" "triage -p 1" "leaks -k -p 1" \
	"leaks -k x" "leaks -k -- true" "leaks -p 1 --cache x" "faults --by cache" \
	"leaks -k --module x --call-site" "record -o x -k fault" \
	"doctor x" "top x" "top -p 1,2" \
	"leaks --census -p 1" "leaks -k --census -p 1" "leaks -k --census x" \
	"leaks -k --census -- true" "report x --format nonsense" "faults --json --folded" \
	"faults --format callgrind --json" "faults --format callgrind 1" \
	"leaks -p 1 --trace --format folded"; do
	# shellcheck disable=SC2086
	out=$($tool $line 2> build/usage.log)
	[ $? = 2 ] && [ -z "$out" ] && [ "$(wc -l < build/usage.log)" = 1 ] &&
		grep -q '^memtap: .*; see .memtap .*.$' build/usage.log
	check $? "memtap $line: a sentence that says where to look, status 2"
done
for line in "list" "unwind" "faults -p 1"; do
	# shellcheck disable=SC2086
	$tool $line "" 2> build/usage.log
	[ $? = 2 ] && grep -q '^memtap: an argument is empty; ' build/usage.log
	check $? "memtap $line '': is refused"
done

# addresses are as objdump has them, with 0x or without
at=$(for f in malloc free calloc realloc printf puts qsort fopen getenv strtol; do
	$tool unwind c --at $f
done | sed -nE 's/^0x([0-9]+)-.*/\1/p' | head -n 1)
[ -n "$at" ] && $tool unwind c --at "$at" | grep -q "^0x$at-" &&
	[ "$($tool unwind c --at "$at")" = "$($tool unwind c --at "0x$at")" ]
check $? "unwind --at: an address is hexadecimal"
[ -z "$($tool unwind "$tool" --json --at no_such_function 2> build/usage.log)" ] &&
	grep -q 'no function' build/usage.log
check $? "unwind --json: nothing is half printed"

# a process without a match is no reason to leave out the next one
sleep 1000 &
other=$!
[ -n "$($tool list -p "$other,$$" rl_insert_text)" ]
check $? "list -p: all processes are looked at"
$tool list -p "$other" rl_insert_text 2> build/usage.log
[ $? = 1 ] && grep -q 'no functions or USDT probes match' build/usage.log
check $? "list -p: says that none has a match"
kill $other

$tool > /dev/full 2> /dev/null
check $((! $?)) "a full disk under standard output is a failure"
checked
