#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Any tracepoint, kernel function, user function and USDT probe: stacks and counts
# are those that the program causes, at entry and return.
# timeout: 900
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

# call NAME EVENT-OF-TRUTH EVENT-OF-MEMTAP COMMAND...
call() {
	local what=$1 event=$2 memtap_event=$3
	shift 3
	watch "$memtap_event" -- -- "$@" -e "$T/truth"
	truth "$what" "$event" "$T/got" "$T/truth"
}
sys() { awk -v re="^$1\$" '$3 ~ re { print $3; exit }' /proc/kallsyms; }

getppid=$(sys '(__x64_)?(sys|SyS)_getppid')
getppid32=$(sys '__ia32_sys_getppid')
here=$PWD

for threads in 1 2 4; do
	run="./wl_call -t $threads -n 2"
	what="$threads threads"
	# shellcheck disable=SC2086
	{
	call "$what: tracepoint task:task_rename" rename t:task:task_rename $run
	call "$what: tracepoint of a system call" getppid t:syscalls:sys_enter_getppid $run
	call "$what: kernel function" getppid "k:$getppid" $run
	call "$what: kernel function's return" getppid "kr:$getppid" $run
	call "$what: user function" outer "u:$here/wl_call:wl_outer" $run
	call "$what: user function of two callers" inner "u:$here/wl_call:wl_inner" $run
	call "$what: user function's return" inner "ur:$here/wl_call:wl_inner" $run
	call "$what: recursion" deep "u:$here/wl_call:wl_deep" $run
	call "$what: recursion, returns" deep "ur:$here/wl_call:wl_deep" $run
	call "$what: USDT probe" plain "usdt:$here/wl_call:memtap_wl:plain" $run
	call "$what: USDT probe with a semaphore" guarded "usdt:$here/wl_call:memtap_wl:guarded" $run
	}
done
call "a function without any frame" empty "u:$here/wl_call:wl_empty" ./wl_call
call "its return" empty "ur:$here/wl_call:wl_empty" ./wl_call
call "by its relative path" outer "u:./wl_call:wl_outer" ./wl_call

call "32 bits: tracepoint" rename t:task:task_rename ./wl_call32
if [ -n "$getppid32" ]; then
	call "32 bits: kernel function" getppid "k:$getppid32" ./wl_call32
fi
call "32 bits: user function" outer "u:$here/wl_call32:wl_outer" ./wl_call32
call "32 bits: user function of two callers" inner "u:$here/wl_call32:wl_inner" ./wl_call32
call "32 bits: return" inner "ur:$here/wl_call32:wl_inner" ./wl_call32
call "32 bits: recursion, returns" deep "ur:$here/wl_call32:wl_deep" ./wl_call32
call "32 bits: function without any frame" empty "u:$here/wl_call32:wl_empty" ./wl_call32
call "32 bits: USDT probe" plain "usdt:$here/wl_call32:memtap_wl:plain" ./wl_call32
call "32 bits: USDT probe with a semaphore" guarded "usdt:$here/wl_call32:memtap_wl:guarded" ./wl_call32

# Return probes stand on the callers' return addresses while the callee is counted.
watch "ur:$here/wl_call:wl_outer" "ur:$here/wl_call:wl_inner" "u:$here/wl_call:wl_late" \
	-- -- ./wl_call -n 2 -e "$T/truth"
folded "$T/got" roots > "$T/all.got"
{ wanted "$T/truth" outer; wanted "$T/truth" inner; wanted "$T/truth" late; } |
	LC_ALL=C sort > "$T/all.wanted"
same_file "$T/all.got" "$T/all.wanted" "return probes hide no callers from each other"
unlike "$(cat "$T/got")" 'uprobes|trampoline' "no trampoline is a frame"

noise 2
call "beside noise: tracepoint" rename t:task:task_rename ./wl_call -t 2
call "beside noise: kernel function" getppid "k:$getppid" ./wl_call -t 2
watch "k:$getppid" -- -a -- ./wl_call -n 3 -e "$T/truth"
grep '^wl_call;' "$T/got" > "$T/mine"
truth "system-wide: kernel function" getppid "$T/mine" "$T/truth"
ok "system-wide: the noise is there under its own name" grep -q '^wl_noise;.*;wl_ppid ' "$T/got"
quiet

# A running process: the probes come, and go without a trace.
target ./wl_call -n 3
begin "u:$here/wl_call:wl_outer" "usdt:$here/wl_call:memtap_wl:guarded" -p "$pid"
not_ok "its text has breakpoints meanwhile" text_clean "$pid"
window
end
is $? 0 "SIGINT ends it with status 0"
ok "its text is the file's again" text_clean "$pid"
finish
folded "$T/got" roots > "$T/all.got"
{ wanted "$T/truth" outer; wanted "$T/truth" guarded; } | LC_ALL=C sort > "$T/all.wanted"
same_file "$T/all.got" "$T/all.wanted" "attached: the same as launched"

target ./wl_call
memtap stacks "usdt:$here/wl_call:memtap_wl:guarded" -p "$pid" -d 1 -U --folded > /dev/null
window
finish
is "$(wanted "$T/truth" guarded)" "" "the semaphore is lowered again after the session"
probes_clean "nothing is left attached"
done_testing
