#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What cannot be done: one clear sentence, the exit status, nothing left behind.
# check: once
. "$(dirname "$0")/lib.sh"

# (by the shell itself: a process more for each of a hundred tools takes a while)
quiet_sessions() { [[ ! $(< /sys/kernel/debug/memtap/sessions) =~ \ (configured|running)\  ]]; }
no_probes() { [ -z "$(probes_left)" ]; }

# refuses STATUS REGEXP COMMAND...: a sentence that says it, and nothing stays
refuses() {
	local want=$1 regexp="^memtap: .*$2" what line
	local -a said=()
	shift 2
	what=${*//$T/DIR}
	what=${what//$PWD\//}
	run timeout $((300 * ${SLOW:-1})) "$@"
	while IFS= read -r line; do
		# what a session will take is said before it is known to fail
		[[ $line = 'memtap: tables take '* ]] || said+=("$line")
	done < "$T/run.err"
	if [ "$status" != "$want" ]; then
		fail "$what: exit status $want"
		diag "exit status $status"
		diag "$(head -n 5 "$T/run.err")"
	elif [ ${#said[@]} != 1 ]; then
		fail "$what: one sentence"
		diag "$(head -n 10 "$T/run.err")"
	elif [[ ! ${said[0]} =~ $regexp ]]; then
		fail "$what: says what is wrong"
		diag "$(cat "$T/run.err")"
		diag "does not match: $regexp"
	elif ! wait_for 300 quiet_sessions || ! wait_for 300 no_probes; then
		fail "$what: leaves nothing attached"
	else
		pass "$what: refused in one sentence, with status $want"
	fi
}

gone_pid() {
	sh -c 'echo $$'
}
blacklisted=$(awk 'NF >= 2 && $2 !~ /\./ { print $2; exit }' /sys/kernel/debug/kprobes/blacklist)
here=$PWD

# --- usage
refuses 2 'no command|unknown|see' memtap no-such-command
refuses 2 'no option' memtap stacks fault --no-such-option
refuses 2 'event' memtap stacks
refuses 2 '' memtap stacks fault -p
refuses 2 'takes' memtap stacks fault -p abc
refuses 2 'takes' memtap stacks fault -p 0
refuses 2 'takes' memtap stacks fault -d -1
refuses 2 'is one of' memtap stacks fault --by planet
refuses 2 'exclude' memtap stacks fault --only-user --only-kernel
refuses 2 'excludes' memtap stacks fault -a -p 1
refuses 2 'larger' memtap stacks mmap --min-size 2M --max-size 1M
refuses 2 'no program' memtap stacks fault --
refuses 2 'not both' memtap stacks fault -c true -- true
refuses 2 'has no option --tid' memtap leaks --tid 1

# --- several processes
sleep 1000 & a=$!
sleep 1000 & b=$!
sleep 1000 & c=$!
for cmd in 'leaks' 'faults' 'stacks fault' 'stat' 'record -o /dev/null'; do
	# shellcheck disable=SC2086
	refuses 2 "$b is a process, but would be an interval here" memtap $cmd -p "$a" "$b" -d 3
done
refuses 2 "-p $a,$b or in quotes, and the interval as $b.0" memtap leaks -p "$a" "$b" "$c"
refuses 2 "$b is a process" memtap faults "-p$a" "$b"
refuses 2 "--tid $a,$b" memtap faults --tid "$a" "$b"
refuses 2 'too many numbers' memtap faults -d 1 "$a" "$b" "$c"
refuses 2 '1 after -p is not a process that can be recorded' memtap faults -p "$a" "$b" 1 5
refuses 2 '2 after -p is not a process that can be recorded' memtap stacks -p "$a" 2 fault
for pids in "$a $b $c" "$a,$b $c" "$a
$b
$c
"; do
	run memtap faults -p "$pids" -d 0.2
	is "$status" 0 "blanks between PIDs will do"
	like "$out" "process $a, process $b, process $c" "all of them are watched"
done
sleep 1000 & d=$!
exits 0 "three PIDs behind the first are no interval" memtap faults -p "$a" "$b" "$c" "$d" -d 0.2
like "$out" "process $a, process $b, process $c, process $d" "all of them are watched"
exits 0 "one before an event is none either" memtap stacks -p "$a" "$b" fault -d 0.2
like "$out" "process $a, process $b," "both are watched"
exits 0 "an interval of a second is one" memtap faults -p "$a" 1 1
exits 0 "with a fraction too, whatever process has the number" \
	timeout $((300 * ${SLOW:-1})) memtap faults -p "$a" "$b.0" -d 0.2
kill "$a" "$b" "$c" "$d"

# --- processes
refuses 1 'no process' memtap stacks fault -p "$(gone_pid)"
refuses 1 'no process' memtap stacks "u:$here/wl_call:wl_outer" -p "$(gone_pid)"
refuses 1 'no thread' memtap stacks fault --tid "$(gone_pid)"
refuses 1 'no program' memtap stacks fault -c /no/such/program
refuses 1 'no program' memtap stacks fault -- no-such-program
refuses 1 'no permission to execute' memtap stacks fault -- /etc/passwd
refuses 1 'no cgroup' memtap stacks fault --cgroup /sys/fs/cgroup/no/such

# --- events
refuses 1 'no built-in event' memtap stacks no-such-event
refuses 1 'no tracepoint' memtap stacks t:no:such -d 1
refuses 1 'no tracepoint' memtap stacks t:syscalls:sys_enter_no_such -d 1
refuses 1 'no kernel function' memtap stacks k:no_such_function -d 1
refuses 1 'no kernel function' memtap stacks kr:no_such_function -d 1
if [ -n "$blacklisted" ]; then
	refuses 1 'does not allow' memtap stacks "k:$blacklisted" -d 1
else
	skip "a blacklisted kernel function" "this kernel tells of none"
fi
refuses 1 'no function' memtap stacks "u:$here/wl_call:no_such" -d 1
refuses 1 'no function' memtap stacks "ur:$here/wl_call:no_such" -d 1
refuses 1 'Go code' memtap stacks "ur:$here/wl_unwind_go:main.main" -d 1
refuses 1 '' memtap stacks u:/no/such/file:main -d 1
refuses 1 'not an ELF file' memtap stacks u:/etc/passwd:main -d 1
refuses 1 'no USDT probe' memtap stacks "usdt:$here/wl_call:memtap_wl:no_such" -d 1
refuses 1 'no USDT probe' memtap stacks "usdt:$here/wl_heap:memtap_wl:plain" -d 1
refuses 1 '' memtap stacks "u:$here/wl_call+0x7fffffff" -d 1
# a probe inside an instruction would change the program: 100 * 1028 + 4950
place=$here/wl_place
for at in 2 5 9 12 15; do
	refuses 1 "inside an instruction; the nearest instructions begin at wl_place" \
		memtap stat "u:$place:wl_place+$at" -- "$place"
done
for at in 1 6 10 16 17; do
	run memtap stat "u:$place:wl_place+$at" -- "$place"
	is "$status $(grep -c '^107750$' "$T/run.out")" "0 1" \
		"wl_place+$at: an instruction, and the program computes what it did"
	ok "wl_place+$at: counted each time" grep -Eq '(^| )100 ' "$T/run.out"
done
base=$("$place" offset)
refuses 1 'inside an instruction' memtap stat "u:$place+$(printf '%#x' $((base + 3)))" -- "$place"
run memtap stat "u:$place+$(printf '%#x' $((base + 6)))" -- "$place"
is "$status" 0 "by the offset in the file"
# nothing tells where this function of a stripped program begins
cp "$place" "$T/stripped"
if strip "$T/stripped" 2>/dev/null; then
	refuses 1 'no known function covers it; --force' \
		memtap stat "u:$T/stripped+$(printf '%#x' $((base + 6)))" -- "$T/stripped"
	run memtap stat --force "u:$T/stripped+$(printf '%#x' $((base + 6)))" -- "$T/stripped"
	is "$status $(grep -c '^107750$' "$T/run.out")" "0 1" "--force probes it"
else
	skip "a stripped program" "there is no strip(1)"
fi
# several in one session, of which the last one does not exist
refuses 1 'no function' memtap stacks fault brk "u:$here/wl_call:wl_outer" \
	"u:$here/wl_call:no_such" -d 1

# --- memory
refuses 1 'max.mem|allows' memtap stacks fault --max-mem 100G -d 1

# --- files
mkdir "$T/small"
mount -t tmpfs -o size=8k tmpfs "$T/small"
run sh -c "memtap record -o $T/good.memtap brk mmap fault -- ./wl_heap -e /dev/null"
is "$status" 0 "(a good file)"
refuses 1 'No space left|full' memtap record -o "$T/small/x.memtap" brk mmap fault \
	-- ./wl_heap -n 9 -e /dev/null
not_ok "no half a file is left on the full disk" test -s "$T/small/x.memtap"
# folded stacks are so short that they would fit
head -c 8192 /dev/zero > "$T/small/filled"
refuses 1 'No space left|full' memtap stacks fault -o "$T/small/x" --folded \
	-- ./wl_heap -e /dev/null
refuses 1 'No space left|full' memtap report "$T/good.memtap" --flame "$T/small/x.html"
umount "$T/small"
refuses 1 'No such file' memtap record -o /no/such/dir/x fault -- true
refuses 1 'No such file' memtap stacks fault --flame /no/such/dir/x.html -- true
refuses 1 'No such file' memtap report "$T/none.memtap"
size=$(stat -c %s "$T/good.memtap")
# (the parsers' own tests have every length, and fuzzing)
for at in 0 8 $((size / 3 / 8 * 8)) $((size - 1)) \
	$(also 1 7 100 $((size / 2)) $((size - 40)) $((size - 8))); do
	head -c "$at" "$T/good.memtap" > "$T/cut.memtap"
	refuses 1 'cut|trunc|incomplete|empty|not a' memtap report "$T/cut.memtap"
done
refuses 1 'not a' memtap report /etc/passwd
for at in 0 $((size / 2)) $(also 9 300 $((size - 16))); do
	cp "$T/good.memtap" "$T/bad.memtap"
	byte=$(dd if="$T/bad.memtap" bs=1 skip="$at" count=1 2>/dev/null | od -An -tu1)
	# shellcheck disable=SC2059
	printf "\\$(printf %o $((byte ^ 0x55)))" |
		dd of="$T/bad.memtap" bs=1 seek="$at" count=1 conv=notrunc 2>/dev/null
	refuses 1 '' memtap report "$T/bad.memtap"
done

# --- rights
nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
# shellcheck disable=SC2086
{
refuses 1 'not permitted|root' $nobody memtap stacks fault -d 1
refuses 1 'not permitted|root' $nobody memtap unload
}

# --- the module
exec 7< /dev/memtap
refuses 1 'in use' memtap unload
exec 7<&-
exec 7< /sys/kernel/debug/memtap/hooks
refuses 1 'in use' memtap unload
exec 7<&-
# a session whose memtap was killed a moment ago
memtap leaks -k > "$T/killed" 2>&1 &
wait_for 60 grep -q running /sys/kernel/debug/memtap/sessions
{ kill -9 $! && wait $!; } 2> "$T/err"
refuses 1 'in use' bash -c 'exec 7< /dev/memtap; memtap unload'
memtap leaks -k > "$T/killed" 2>&1 &
wait_for 60 grep -q running /sys/kernel/debug/memtap/sessions
kill -9 $!
run memtap unload
is "$status" 0 "unload waits for a session whose memtap was killed" || diag "$err"
wait $! 2> "$T/err"
run memtap load
run memtap load
is "$status" 0 "load is content when the module is there"
run memtap load max_mem=33554432
is "$status" 1 "but not when it was to have parameters"
run memtap unload
is "$status" 0 "unload works"
run timeout $((300 * ${SLOW:-1})) memtap stacks fault -d 1
is "$status" 1 "without the module: exit status 1"
one_sentence "without the module: one sentence"
like "$err" 'not loaded.*memtap load' "which says what to do"
run timeout $((300 * ${SLOW:-1})) memtap unload
is "$status" 1 "unload without the module: exit status 1"
one_sentence "unload without the module: one sentence"
# shellcheck disable=SC2086
refuses 1 'not permitted|root' $nobody memtap load
run memtap load
is "$status" 0 "load works"
ok "and the device is there" test -c /dev/memtap
done_testing
