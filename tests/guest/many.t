#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Patterns that find many functions: how many are counted, and that each has the count which it has
# alone; what cannot be probed is listed; nothing is left behind.
. "$(dirname "$0")/lib.sh"

kprobes() { wc -l < /sys/kernel/debug/kprobes/list; }
tracing=/sys/kernel/tracing
[ -e $tracing/available_filter_functions ] || tracing=/sys/kernel/debug/tracing
# The functions that a pattern of the shell's finds, less those without a probe.
probeable() {
	sed 's/[ \t].*//' $tracing/available_filter_functions | sort -u |
		grep -vxFf <(awk '{ print $2 }' /sys/kernel/debug/kprobes/blacklist) |
		while read -r name; do
			# shellcheck disable=SC2254
			case $name in $1) echo "$name" ;; esac
		done
}
counts() {
	python3 -c '
import json, sys
for line in open(sys.argv[1]):
    e = json.loads(line)
    assert e["seen"] == e["count"] + e["filtered"] + sum(e["lost"].values()), e
    print(e["event"], e["count"])' "$1" | sort
}

before=$(kprobes)
pattern='vfs_*'
probeable "$pattern" > "$T/names"
nr=$(wc -l < "$T/names")
run memtap stat "k:$pattern" --json -o "$T/json" -- dd if=/dev/zero of=/dev/null bs=1 count=100
is "$status" 0 "many functions: exit status"
cmp_ok "$nr" -gt 50 "there are more than 50"
counts "$T/json" > "$T/counts"
is "$(wc -l < "$T/counts")" "$nr" "each function that can be probed is counted"
like "$err" "$nr events attached; a session takes 1,024" "the number is said"
n=$(awk '$1 == "vfs_write" { print $2 }' "$T/counts")
run memtap stat k:vfs_write --json -o "$T/json" -- dd if=/dev/zero of=/dev/null bs=1 count=100
is "vfs_write $n" "$(counts "$T/json")" "one of many has the count that it has alone"
is "$(kprobes)" "$before" "no probe is left"

# as people see it
run memtap stat "k:$pattern" -- dd if=/dev/zero of=/dev/null bs=1 count=100
like "$(sed -n 2p <<< "$out")" ' vfs_(read|write)$' "the most frequent first"
like "$out" '^# [0-9]+ of [0-9]+ events did not occur; -v lists them$' "others are left out"

# too many
run memtap stat 'k:*' -d 0.1
is "$status" 1 "all functions: exit status"
one_sentence "one sentence"
like "$err" 'matches [0-9,]+ functions .*a session takes 1,024 events' "how many there are"

# what cannot be probed
bad=$(awk '$2 ~ /^[a-z_]+$/ && length($2) > 8 { print $2; exit }' \
	/sys/kernel/debug/kprobes/blacklist)
if [ -n "$bad" ]; then
	run memtap stat "k:${bad%?}[${bad: -1}]" k:vfs_read -d 0.1
	is "$status" 1 "a pattern with nothing to probe: exit status"
	like "$err" 'the kernel allows no probe there .1.:' "the reason"
	like "$err" "$bad" "and the name"
	run memtap stat "k:${bad%??}*" 'k:vfs_rea*' -d 0.1
	like "$err" "$bad" "among others it is listed"
else
	skip "a function without probe" "this kernel tells of none"
fi

# of programs, and tracepoints
run memtap stat 'c:str*' --json -o "$T/json" -- bash -c 'echo $RANDOM'
is "$status" 0 "functions of a library: exit status"
cmp_ok "$(wc -l < "$T/json")" -gt 20 "there are more than 20"
like "$err" 'indirect functions \(IFUNC\)' "those that are chosen when a program starts are listed"
run memtap stat 't:kmem:*' 't:sched:*' --json -o "$T/json" -- true
is "$status" 0 "tracepoints: exit status"
counts "$T/json" > "$T/counts"
like "$(grep sched_process_exit "$T/counts")" 'sched:sched_process_exit [1-9]' "with counts"

# Ctrl-C while they are attached
probeable '[bcd]*' | head -900 > "$T/names"
mapfile -t names < <(sed 's/^/k:/' "$T/names")
memtap stat "${names[@]}" > "$T/got" 2> "$T/err" &
pid=$!
more() { [ "$(kprobes)" -gt $((before + 20)) ]; }
wait_for 120 more
kill -INT $pid
wait $pid
is $? 1 "Ctrl-C while functions are attached: exit status"
like "$(< "$T/err")" 'interrupted while events were attached: .* nothing was counted' \
	"which is said"
is "$(kprobes)" "$before" "and no probe is left"
done_testing
