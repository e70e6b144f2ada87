#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Any tracepoint, kernel function, user function and USDT probe: stacks and counts
# are those that the program causes, at entry and return.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

getppid64=$(awk '$3 ~ /^(__x64_)?(sys|SyS)_getppid$/ { print $3; exit }' /proc/kallsyms)
# before 4.17 one function serves both
getppid32=$(awk '$3 == "__ia32_sys_getppid" { print $3; exit }' /proc/kallsyms)
getppid32=${getppid32:-$getppid64}

# what `memtap status` says that this kernel has
features=$(memtap status | sed -n 's/^features: *//p')

# entries NAME PROGRAM ARGS..., returns NAME PROGRAM ARGS...: all kinds of events
# in one session each, which are the roots of its folded stacks.
entries() {
	local what=$1 program=$2 function=$getppid64 event
	local guarded=usdt:$PWD/$2:memtap_wl:guarded
	shift 2
	[ "$program" = wl_call ] || function=$getppid32
	[[ $features = *semaphores* ]] || guarded=
	watch t:task:task_rename "k:$function" \
		"u:$PWD/$program:wl_outer" "u:$PWD/$program:wl_inner" "u:./$program:wl_late" \
		"u:./$program:wl_deep" "u:./$program:wl_empty" \
		"usdt:./$program:memtap_wl:plain" ${guarded:+"$guarded"} \
		-- "${options[@]}" -- "./$program" "$@" -e "$T/truth"
	truth "$what: a tracepoint" rename task:task_rename
	truth "$what: a kernel function" getppid "$function"
	for event in outer inner late deep empty; do
		truth "$what: user function wl_$event" $event "$program:wl_$event"
	done
	truth "$what: a USDT probe" plain "$program:memtap_wl:plain"
	if [ -n "$guarded" ]; then
		truth "$what: a USDT probe with a semaphore" guarded "$program:memtap_wl:guarded"
	else
		skip "$what: a USDT probe with a semaphore" "this kernel raises none"
	fi
}
returns() {
	local what=$1 program=$2 function=$getppid64 event
	shift 2
	[ "$program" = wl_call ] || function=$getppid32
	watch "kr:$function" "ur:./$program:wl_outer" "ur:./$program:wl_inner" \
		"ur:./$program:wl_late" "ur:./$program:wl_deep" "ur:./$program:wl_empty" \
		-- "${options[@]}" -- "./$program" "$@" -e "$T/truth"
	truth "$what: a kernel function's return" getppid "$function (return)"
	for event in outer inner late deep empty; do
		truth "$what: return of wl_$event" $event "$program:wl_$event (return)"
	done
	unlike "$(cat "$T/got")" 'uprobes|trampoline|hidden' "$what: no trampoline is a frame"
}
options=()
for threads in 1 $(also 2) 4; do
	entries "$threads threads" wl_call -t $threads -n 2
	returns "$threads threads" wl_call -t $threads -n 2
done
threads=
[[ $features != *"32-bit"* ]] || threads="$(also 1) 2"
for threads in $threads; do
	entries "32 bits, $threads threads" wl_call32 -t $threads -n 2
	returns "32 bits, $threads threads" wl_call32 -t $threads -n 2
done
# The kernel takes it for a 64-bit program, and writes over what it has on its stack.
if [ -z "$threads" ]; then
	run memtap stacks ur:./wl_call32:wl_outer -- ./wl_call32 -t 1 -n 2 -e "$T/truth"
	like "$out$err" 'would (crash a 32-bit program.*wl_call32:wl_outer|hang them)' \
		"32 bits: a probe that would kill it is refused or left out, with a reason"
	# (of a stack that has the highest page, where the kernel steps an instruction)
	[[ $err$out = *"would crash"* ]] || for what in count trace stat; do
		run memtap $what u:./wl_call32:wl_empty -- ./wl_call32 -t 1 -n 2 -e "$T/truth"
		like "$out$err" 'hang them' "32 bits: $what says it, too"
	done
	skip "32 bits: all kinds of events" "this kernel would crash or hang the program"
else
	run memtap count u:./wl_call32:wl_outer -- ./wl_call32 -t 1 -n 2 -e "$T/truth"
	unlike "$out$err" 'ASLR' "32 bits: nothing is left out"
fi
noise 2
entries "beside noise" wl_call -t 2 -n 2
returns "beside noise" wl_call -t 2 -n 2
quiet

# One at a time: a hook is no different for being alone.
watch t:syscalls:sys_enter_getppid -- -- ./wl_call -t 2 -n 2 -e "$T/truth"
truth "alone: a tracepoint that only perf has" getppid
watch "k:$getppid64" -- -- ./wl_call -n 2 -e "$T/truth"
truth "alone: a kernel function" getppid
watch u:./wl_call:wl_inner -- -- ./wl_call -n 2 -e "$T/truth"
truth "alone: a user function" inner
watch ur:./wl_call:wl_deep -- -- ./wl_call -n 2 -e "$T/truth"
truth "alone: returns of a recursive function" deep
if [[ $features = *semaphores* ]]; then
	watch usdt:./wl_call:memtap_wl:guarded -- -- ./wl_call -n 2 -e "$T/truth"
	truth "alone: a USDT probe with a semaphore" guarded
else
	skip "alone: a USDT probe with a semaphore" "this kernel raises none"
fi

# What interrupts calls whose returns are probed sees who called, too; in softirqs not all
# that reads a user's memory is allowed.  On a machine that is busy the first of them come
# before the program's mappings and tables are in; those stacks say that they are cut.
watch t:irq:softirq_entry ur:./wl_spin:wl_spin ur:./wl_spin:wl_around \
	ur:./wl_spin:wl_inside -- -- ./wl_spin
grep '^irq:softirq_entry;.*;wl_inside' "$T/got" |
	grep -Ev ';\[stack truncated: (mapped too recently|no table yet)\];' > "$T/interrupted"
if real_time; then
	skip "interrupted in three calls: there were interrupts" \
		"softirqs are threads of their own on PREEMPT_RT"
else
	ok "interrupted in three calls: there were interrupts" test -s "$T/interrupted"
fi
is "$(grep -v ';main;wl_spin;wl_around;wl_inside' "$T/interrupted")" "" \
	"interrupted in three calls: each stack says who called"

noise 2
watch "k:$getppid64" -- -a -- ./wl_call -n 3 -e "$T/truth"
ok "system-wide: the noise is there under its own name" grep -q '^wl_noise;.*;wl_ppid ' "$T/got"
sed -i '/^wl_noise;/d' "$T/got"
truth "system-wide: the same" getppid
quiet

# A running process: the probes come, and go without a trace.
target ./wl_call -n 3
guarded=usdt:./wl_call:memtap_wl:guarded
[[ $features = *semaphores* ]] || guarded=
begin u:./wl_call:wl_outer ${guarded:+"$guarded"} -p "$pid"
not_ok "attached to a running process: its text has breakpoints" text_clean "$pid"
window
end
is $? 0 "SIGINT ends it with status 0"
ok "its text is the file's again" text_clean "$pid"
finish
# (one event is no root of its own)
truth "attached: a user function" outer ${guarded:+wl_call:wl_outer}
if [ -n "$guarded" ]; then
	truth "attached: a USDT probe with a semaphore" guarded wl_call:memtap_wl:guarded

	target ./wl_call
	run memtap stacks "$guarded" -p "$pid" -d 0.5 -U --folded
	is "$status" 0 "a session that ends before the probe is passed"
	window
	finish
	is "$(wanted "$T/truth" guarded)" "" "the semaphore is lowered again after it"
else
	skip "attached: a USDT probe with a semaphore" "this kernel raises none"
fi
probes_clean "nothing is left attached"
done_testing
