#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Two tracepoints that name each other: what the begin had is there at the end, the time in
# between is right, and what never comes to its end is accounted for.
# check: all
. "$(dirname "$0")/lib.sh"

[ -e /sys/kernel/tracing/events/syscalls/sys_enter_lseek ] ||
	[ -e /sys/kernel/debug/tracing/events/syscalls/sys_enter_lseek ] ||
	skip_all "this kernel has no tracepoints of system calls"
n=$(rounds 500 5000)

account='(e["count"], e["seen"], sum(e["lost"].values()))'
# field NAME: of the last event in $out, --json of stat
field() {
	python3 -c 'import json, sys
e = json.loads(sys.stdin.read().strip().splitlines()[-1]); print(eval(sys.argv[1]))' "$1" <<< "$out"
}
counts() {	# BEGIN..END WHAT N [OPTION...]
	local event=$1 what=$2 times=$3
	shift 3
	run memtap stat "t:syscalls:sys_enter_$event" --children --json "$@" \
		-- ./wl_pairs "$what" "$times"
	is "$status" 0 "$what: exit status"
}

run memtap trace 't:syscalls:sys_enter_lseek..sys_exit_lseek(offset,whence,ret)' \
	--filter 'whence == 0 && offset < 100 && ret >= 0' -- ./wl_pairs whole "$n"
is "$status" 0 "trace: exit status"
got=$(sed -En 's/.*sys_exit_lseek (offset=.*) latency=[0-9]+$/\1/p' <<< "$out")
is "$got" "$(for i in {0..99}; do echo "offset=$i whence=0 ret=$i"; done)" \
	"each pair is there once, with what its begin and its end had"

counts getppid..sys_exit_getppid threads "$n"
is "$(field "$account")" "($((4 * n)), $((4 * n)), 0)" \
	"threads: each its own pairs" || diag "$out"
counts getppid..sys_exit_getuid again "$n"
is "$(field "$account")" "($n, $((2 * n)), $n)" \
	"a begin that comes again before the end: the last one counts, the others are no-return"
counts nanosleep..sys_exit_nanosleep naps 5
is "$(field 'e["count"]')" 5 "naps: all of them"
cmp_ok "$(field 'e["value"] // 1000000')" -ge 100 "and the latency is at least what they took"
counts nanosleep..sys_exit_nanosleep naps 5 --filter 'latency > 10000000000'
is "$(field '(e["count"], e["filtered"])')" "(0, 5)" "a filter on the latency"
# they die inside: nobody else's end is taken for theirs, whoever gets their memory
counts getppid..sys_exit_exit_group die 50
is "$(field "$account")" "(0, 50, 50)" "who dies inside is no-return"
counts exit_group..sys_exit_getppid die 50
is "$(field 'e["count"]')" 0 "and what has the same memory then does not end it"

run memtap hist 't:syscalls:sys_enter_nanosleep..sys_exit_nanosleep' -- ./wl_pairs naps 5
like "$out" ': latency \(ns\)$' "hist: of the latency"
like "$out" '    5 values, average' "hist: all of them"
run memtap count 't:syscalls:sys_enter_lseek..sys_exit_lseek' --by begin.whence \
	-- ./wl_pairs whole 7
like "$out" '^ +[0-9]+ +[0-9.]+% +[0-9.]+% +[0-9,]+ +.*  0$' "count: by what the begin had"
run memtap stacks 't:syscalls:sys_enter_nanosleep..sys_exit_nanosleep' -K -- ./wl_pairs naps 3
is "$status" 0 "stacks: exit status"
like "$out" 'ns|ms' "stacks: the value is the latency"
run memtap record -o "$T/pairs.memtap" 't:syscalls:sys_enter_nanosleep..sys_exit_nanosleep' \
	-- ./wl_pairs naps 3
is "$status" 0 "record: exit status"
run memtap report "$T/pairs.memtap"
like "$out" 'sys_enter_nanosleep\.\.' "report: the pair"
run memtap list 't:syscalls:sys_enter_lseek..sys_exit_lseek'
like "$out" '^ end\.$' "list: what each of them has"

run memtap stat 't:syscalls:sys_enter_lseek..sys_exit_nosuch' -d 0.1
is "$status" 1 "an end that is not there: exit status"
one_sentence "a sentence"
run memtap trace 't:syscalls:sys_enter_lseek..sys_exit_lseek(end.offset)' -d 0.1
is "$status" 2 "a field that the end does not have: exit status"
like "$err" 'has no offset' "and a sentence"
done_testing
