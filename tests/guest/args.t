#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Arguments of events, as they are printed, filtered and summed, are those of the program:
# functions of the kernel and of programs, their returns, tracepoints, USDT probes.
# check: all
. "$(dirname "$0")/lib.sh"

rest='s/^ *[0-9.:]+ +[0-9]+ +[^ ]+ +[0-9]+ //'
numbers='a=arg1:s64,b=arg2:s32,s=arg3:str'

# once the tool stands still, nobody waits for it: what does not fit is counted
stopped() {
	local pid written lost seen
	rm -f "$T/truth"
	: > "$T/got"
	memtap trace "u:./wl_args:args_call($numbers)" --max-mem 3M \
		-- ./wl_args "$T/truth" 2000 > "$T/got" 2> "$T/err" &
	pid=$!
	wait_for 300 grep -q args_call "$T/got"
	kill -STOP $pid
	wait_for 600 ended
	kill -CONT $pid
	wait $pid
	is $? 0 "a tool that stood still: the program ended meanwhile"
	written=$(grep -c args_call "$T/got")
	seen=$(sed -n 's/.*: \([0-9,]*\) events\{0,1\} w[a-z]* not filtered.*/\1/p' "$T/err" |
		tr -d ,)
	lost=$(sed -n 's/.* lost: \([0-9,]*\) ring-full$/\1/p' "$T/err" | tr -d ,)
	is "$seen" 14000 "each call is seen"
	cmp_ok "${lost:-0}" -gt 0 "some are lost"
	is $((written + lost)) "$seen" "written and lost are all that was seen"
}
# the workload has written all of its account
ended() { [ "$(grep -c 'args_call a=' "$T/truth" 2> /dev/null)" = 14000 ]; }

call_of() {
	awk -v n="$1" '$3 ~ "^(__x64_)?(sys|SyS)_" n "$" { print $3; exit }' /proc/kallsyms
}
getppid=$(call_of getppid) prctl=$(call_of prctl)

# events PROGRAM LONG OFFSET: what is traced of it
events() {
	printf '%s\n' \
		"u:./$1:args_call(a=arg1:$2,b=arg2:s32,s=arg3:str,v=*(arg4+$3):s32,c=arg5:u8)" \
		"ur:./$1:args_call(a=arg1:$2,s=arg3:str,ret)" \
		"usdt:./$1:memtap_wl:args(a=arg1,b=arg2,s=arg3:str)" \
		"t:task:task_rename(oldcomm,newcomm)"
	[ "$2" = s64 ] || return
	printf '%s\n' "k:__set_task_comm(name=arg2:str)" "kr:$getppid(ret)"
	case $prctl in
		__x64_*) echo "k:$prctl(op=*(arg1+112):u64,name=*(arg1+104):ustr)" ;;
		# before 4.17 they have arguments as other functions have
		*) echo "k:$prctl(op=arg1:u64,name=arg2:ustr)" ;;
	esac
}

# traced NAME PROGRAM LONG OFFSET [OPTION...]
traced() {
	local name=$1 program=$2
	mapfile -t list < <(events "$2" "$3" "$4")
	shift 4
	run memtap trace "${list[@]}" "$@" -o "$T/got" -- "./$program" "$T/truth" 3
	is "$status" 0 "$name: exit status"
	unlike "$err" 'missing' "$name: nothing is lost"
	sed -E -e 1d -e "$rest" "$T/got" |
		sed -E 's/^(sys|SyS)_(getppid|prctl) /__x64_sys_\2 /' > "$T/lines"
	# what is done before main() is no business of ours
	grep -v 'newcomm="wl_args' "$T/lines" | grep -v '__set_task_comm name="wl_args' > "$T/mine"
	same_file "$T/mine" "$T/truth" "$name: each line, in order"
}
traced "64 bits" wl_args s64 8
like "$(head -n 1 "$T/got")" '^TIME +CPU COMM +PID EVENT$' "a header"
like "$(grep -m 1 args_call "$T/got")" '^ +[0-9]+\.[0-9]{6} +[0-9]+ wl_0 +[0-9]+ wl_args:' \
	"and columns"
if [ -z "${SMOKE:-}" ]; then
	if memtap status | grep -q '^features:.*32-bit'; then
		traced "32 bits" wl_args32 s32 4
	else
		skip "32 bits: probes on returns" "this kernel would crash the program"
	fi
	before=$(date +%s)
	run memtap trace "ur:./wl_args:args_call(ret)" --latency --stacks -U -T \
		-- ./wl_args "$T/truth" 1
	at=$(date -d "$(sed -n 's/^\([0-9:]\{8\}\)\..*ret=-1001 .*/\1/p' <<< "$out")" +%s)
	[ "$at" -ge "$before" ] && [ "$at" -le "$(date +%s)" ]
	is $? 0 "the time of day is right"
	like "$out" \
		'^[0-9:]{8}\.[0-9]{6} .*:args_call \(return\) ret=-1001 latency=[0-9]+$' \
		"a return, with how long it took, and the time of day"
	is "$(grep -A 2 'ret=-1001 ' <<< "$out" | sed -n '2s/ \[.*//p')" "    args_call" \
		"the stack is below it"
	before=$(date +%s)
	run memtap trace u:./wl_args:args_call --stacks -U --addresses --unix-time \
		-- ./wl_args "$T/truth" 1
	at=$(sed -nE '2s/^([0-9]{10})\.[0-9]{6} .*:args_call$/\1/p' <<< "$out")
	[ "${at:-0}" -ge "$before" ] && [ "${at:-0}" -le "$(date +%s)" ]
	is $? 0 "--unix-time: seconds since 1970"
	at=$(sed -nE '3s/^    +([0-9a-f]+) args_call \[.*/\1/p' <<< "$out")
	is "${at: -3}" "$(nm wl_args | sed -n 's/.*\(...\) T args_call$/\1/p')" \
		"--addresses: that of the function where its first frame is"
	run memtap hist ur:./wl_args:args_call ur:./wl_args:main --joint --json \
		-- ./wl_args "$T/truth" 1
	like "$out" '"event":null,"count":8,' "--joint: one histogram of two functions"
	is "$(wc -l <<< "$out")" 1 "and no other"
	stopped
	run memtap count "u:./wl_args:args_call(c=arg5:u8)" --by c --json --cumulative 1 \
		--children -- bash -c './wl_args /dev/null 6; sleep 3'
	ok "count --cumulative: each interval has what came before" python3 -c '
import json, sys
sums = {}
for line in sys.stdin:
    d = json.loads(line)
    sums[d["seconds"]] = sums.get(d["seconds"], 0) + d["count"]
sums = [sums[k] for k in sorted(sums)]
assert len(sums) > 1 and sums == sorted(sums) and sums[0], sums' <<< "$out"
	stopped
	# (the module reads a process's mappings a moment after its first event)
	run memtap trace u:./wl_args:args_call --stacks -U --children \
		-- bash -c 'for i in {1..25}; do ./wl_args /dev/null 1; done'
	calls=$(grep -c ':args_call' <<< "$out")
	ok "short processes one after the other are seen ($calls calls)" [ "$calls" -ge 25 ]
	named=$(grep -c '^    args_call ' <<< "$out")
	# (in a slow guest a process may be gone by then)
	cmp_ok "$named" -ge $((${SLOW:-1} > 1 ? calls * 9 / 10 : calls)) \
		"short processes one after the other: each event's first frame has its name"
	stopped
fi

# --- how often, and histograms
run memtap count "u:./wl_args:args_call(c=arg5:u8)" --by c -- ./wl_args "$T/truth" 6
like "$out" '^ +6  14\.3% +[0-9.]+%  255$' "count: each value"
is "$(grep -Ec '^ +6  14.3% +[0-9.]+%  [0-9]+$' <<< "$out")" 7 "and no other"
run memtap count "u:./wl_args:args_call(c=arg5:u8)" --by c --top 2 --json \
	-- ./wl_args "$T/truth" 6
is "$(grep -c '"document":"values"' <<< "$out")" 2 "and of the rows of JSON as many as --top says"
run memtap count "u:./wl_args:args_call" --by arg3:str --value arg5:u8 -- ./wl_args "$T/truth" 6
like "$out" '^ +12  28\.6% +[0-9.]+% +36 +3 +2 +4  \?$' \
	"count: strings, those that are not there together"
like "$out" '^ +6  14\.3% .* 1,530 +255 +255 +255  "a \\"name\\"\\x0a"$' \
	"count: and the sum of another argument"
like "$out" 'events with an argument that was not in memory' "which is told"
run memtap hist "u:./wl_args:args_call(c=arg5:u8)" --value c --json -- ./wl_args "$T/truth" 3
like "$out" '"count":21,"sum":810,"max":255,.*"hist":\[3,3,6,6,0,0,0,0,3,' "hist: powers of two"
run memtap hist "u:./wl_args:args_call(c=arg5:u8)" --value c --linear 3 -- ./wl_args "$T/truth" 3
like "$out" '^ +0 -> 2 : 9 ' "hist: steps of one size"
like "$out" '^ +255 -> 257 : 3 ' "hist: the last step"
run memtap hist "ur:./wl_args:args_call" --by process -- ./wl_args "$T/truth" 1
like "$out" '^  [a-z_0-9]+ \[[0-9]+\]$' "hist: of latencies, by process"

run memtap count "u:./wl_args:args_call(c=arg5:u8)" --by c --flame "$T/page.html" \
	-- ./wl_args "$T/truth" 6
is "$status" 0 "count: as a page: exit status"
is "$(grep -o '"n":"255","v":6' < <(tr -d ' \n' < "$T/page.html"))" '"n":"255","v":6' \
	"which has the values"
run memtap hist "u:./wl_args:args_call(c=arg5:u8)" --value c --folded -- ./wl_args "$T/truth" 1
is "$status" 2 "and folded stacks are of stacks"

# --- what there is
# What a probe's handler reads may not be there.  The kernel, before 5.14, calls that a miss.
unlink='k:sys_unlink(name=arg1:ustr)'
! grep -q ' __x64_sys_unlink$' /proc/kallsyms ||
	unlink='k:__x64_sys_unlink(name=*(arg1+112):ustr)'
run memtap count "$unlink" --by name -- perl -e 'syscall(87, 8) for 1 .. 30'
like "$out" '^ +30 .*\?$' "count: strings of the user, not there either"
unlike "$out$err" 'lost|missed' "and no event of them is missed"

run memtap list t:task:task_rename
like "$out" '^  newcomm +str +char$' "list: a tracepoint's fields"
run memtap list "usdt:./wl_args:memtap_wl:args"
like "$out" '^  arg2 +s32$' "list: a USDT probe's arguments"
run memtap list "kr:schedule"
like "$out" '^  latency +u64 ' "list: what a return has"

# --- filter and value: what the module counts is what the lines say
a_sum() { awk -v s="$1" '/:args_call a=/ { split($2, x, "="); if (x[2] < s) { n++; t += x[2] } }
	END { print n, t }' "$T/truth"; }
run memtap stat "u:./wl_args:args_call($numbers)" --filter 'a < 0 && s != ""' --value a --json \
	-- ./wl_args "$T/truth" 5
is "$status" 0 "stat with a filter: exit status"
got=$(printf '%s' "$out" | python3 -c '
import json, sys
e = json.loads(sys.stdin.read().strip().splitlines()[-1])
print(e["count"], e["value"], e["seen"] - e["count"] - e["filtered"])' 2>&1)
is "$got" "$(a_sum 0) 0" "count and sum are those of the calls that pass; seen = counted + filtered"
run memtap stat "ur:./wl_args:args_call(a=arg1:s64,ret)" --filter 'ret == 4 && a == 5' --value ret \
	-- ./wl_args "$T/truth" 5
like "$out" '^ +[0-9.]+ +5 +20 ' "a filter on arguments and the return's value"
run memtap stat fault --filter 'comm == "nobody"' -- ./wl_args "$T/truth" 1
like "$out" '^ +[0-9.]+ +0 +0 .*minor-fault' "a filter on built-in events"

run memtap stat fault --filter 'comm == "wl_*"' -- ./wl_args "$T/truth" 1
is "$status" 2 "a pattern in a filter, which would never match: exit status"
like "$err" '== compares letter by letter: =~ compares with a pattern' "is refused with a sentence"

# --- how it looks
run memtap trace 'kmem:kmalloc(call_site, gfp_flags)' -d 0.5 -o "$T/lines" \
	-- find /proc/self -name nothing
like "$(head -n 20 "$T/lines")" 'call_site=0xf[0-9a-f]{15} gfp_flags=([A-Z_]+\|)*_*GFP_[A-Z]' \
	"addresses and flags as the kernel prints them"
run memtap trace "u:./wl_args:args_call" -U -- ./wl_args "$T/truth" 1
like "$out" '^    main( |$)' "who asks for user stacks gets them"

# --- what ends in the middle
run memtap trace "ur:./wl_args:args_exit(x=arg1)" "u:./wl_args:args_exit(x=arg1:s32)" \
	-- ./wl_args "$T/truth" 1 exit
is "$status" 3 "a program that ends within a function: its exit status"
like "$out" 'wl_args:args_exit x=3$' "the call is shown"
like "$err" 'args_exit \(return\): 1 event was not filtered; lost: 1 no-return' \
	"and that it did not return is said"
ended='begun, and ended with its thread$'
like "$out" "^ +[0-9.]+ +- wl_[a-z0-9]+ +[0-9]+ .*args_exit \\(return\\) $ended" \
	"when it began"
if [ -z "${SMOKE:-}" ] && [ -d /sys/kernel/tracing/events/syscalls ]; then
	run memtap trace 't:syscalls:sys_enter_exit_group..sys_exit_exit_group(error_code)' \
		-- ./wl_args "$T/truth" 1 exit
	like "$out" " syscalls:sys_enter_exit_group\\.\\.\\S+ $ended" "so is the begin of a pair"
	like "$err" 'exit_group: 1 event was not filtered; lost: 1 no-return' "by name, too"
fi

# --- wrong words
run memtap trace 'task:task_rename(newcom)'
is "$status" 2 "a field that is not there: exit status"
one_sentence "a sentence"
like "$err" 'it has pid, oldcomm, newcomm, oom_score_adj, at character 1' "which tells the fields"
run memtap trace 'task:task_rename(newcomm'
is "$status" 2 "a list that does not end: exit status"
like "$err" 'the \( at character 17 has no \)$' "which tells where"
run memtap list k:no_such_function
is "$status" 1 "a function that is not there: exit status"
like "$err" 'no kernel function no_such_function' "which is said"
run memtap stat 'k:schedule(arg1)' --filter 'arg1 > "x"'
is "$status" 2 "a filter that means nothing: exit status"
done_testing
