#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap selftest finds all of what it did, fails where it cannot, and leaves nothing:
# no module that it loaded, no probe, no process, also when it is killed (TIMES).
# check: all
. "$(dirname "$0")/lib.sh"

leaked=$(dmesg | grep -c 'leaking uprobe')
lines() { grep -c "^$1 " "$T/run.out"; }

# What one run leaves would be somebody else's problem.
left() {
	if grep -q '^memtap ' /proc/modules || [ -e /dev/memtap ]; then
		echo "the module is loaded"
	fi
	pgrep -l -x memtap
	cat /sys/kernel/debug/kprobes/list
	ipcs -q | grep 0x
	grep memtap-selftest /proc/mounts
}
nothing_left() { [ -z "$(left)" ]; }

# A kernel whose objtool is older than its compiler has stacks that end in functions of two
# parts, as this one: who asked for the memory is not known then.
percpu_ends() {
	mkdir "$T/mnt"
	memtap stacks -K --folded t:percpu:percpu_alloc_percpu -- \
		mount -t tmpfs none "$T/mnt" 2> /dev/null > "$T/percpu"
	umount "$T/mnt"
	grep -q pcpu_alloc "$T/percpu" && ! grep -q __alloc_percpu "$T/percpu"
}

run memtap selftest
diag "$out"
blind=
if grep -q '^FAILED *per-CPU' <<< "$out" && percpu_ends; then
	blind="this kernel's stacks end in pcpu_alloc()"
	skip "all of it is found" "$blind"
	is "$(lines FAILED)" 1 "nothing else failed"
else
	is "$status" 0 "all of it is found"
	is "$(lines FAILED)" 0 "nothing failed"
fi
is "$err" "" "nothing is said beside"
lacking=$(lines 'not here')
cmp_ok "$(lines ok)" -ge 28 "and much was looked at"
for name in 'page faults +1,0[0-9]+ pages' 'heap grown by brk +3 calls, 294,912 bytes' \
	'mmap +20 calls, 2,621,440 bytes' 'munmap +20 calls, 2,621,440 bytes' \
	'definitely lost, 4 threads +3,000 blocks, 818,400 bytes' \
	'indirectly lost, the rest +9 blocks, 432 bytes' \
	'possibly lost +10 blocks, 2,560 bytes' 'still reachable +50 blocks, 4,000 bytes' \
	'live blocks of a process +400 blocks, 44,800 bytes, 0 of those freed' \
	'detached +[0-9]+ places' 'frame pointers +1,0[0-9]+ stacks' \
	'kernel function +4 calls' 'user function, return +1 call;' \
	'slab, kmalloc +30 messages, 0 left' 'slab, a cache +100 file locks, 0 left' \
	'pages +64 pages, 0 left' 'per-CPU memory +7 counters, 0 left'; do
	if [[ $name = per-CPU* ]] && grep -q '^not here *per-CPU .* no tracepoint' <<< "$out"; then
		skip "found: ${name/ +/: }" "this kernel has no tracepoint for it"
		continue
	fi
	if [[ $name = per-CPU* && $blind ]]; then
		skip "found: ${name/ +/: }" "$blind"
		continue
	fi
	like "$out" "^ok +$name" "found: ${name/ +/: }"
done
unlike "$out" 'lost [1-9]' "no event is lost"
ok "the module stays where it was loaded" test -e /dev/memtap
probes_clean "nothing is left attached"

[ -z "${SMOKE:-}" ] || { done_testing; exit; }

# Its own work again, for who wants to look at it.
if not_twice; then
	exits 0 "memtap selftest work can be looked at" \
		memtap leaks --json --top 0 -- memtap selftest work
	like "$out" '"selftest_lose_small"' "with the names that it has"
fi

# In the other form, of a tool without what distributions take away, while the module's
# works come late: somebody has the CPU that they may run on.
cp "$(command -v memtap)" "$T/stripped"
strip "$T/stripped"
mask=/sys/devices/virtual/workqueue/cpumask
cpus=$(cat $mask)
echo 2 > $mask
# (before v5.10 such a process borrows the other CPU's time, and never leaves its own: where
# the kernel's thread for RCU is on that, nobody waits for a grace period with success)
features=/sys/kernel/debug/sched_features
lends=$(grep -ow RT_RUNTIME_SHARE $features 2> /dev/null)
[ -z "$lends" ] || echo "NO_$lends" > $features
taskset -c 1 chrt -f 1 sh -c 'while :; do :; done' &
busy=$!
exits 0 "JSON, a stripped tool, kernel threads that wait for long: all is found" \
	taskset -c 0 "$T/stripped" selftest --json
[ "$status" = 0 ] || diag "$out"
ok "it is JSON" python3 -c "
import json, sys
d = json.load(open('$T/run.out'))
assert d['ok'] >= 28 and d['failed'] == 0, d
assert len(d['checks']) == d['ok'] + d['failed'] + d['skipped'], d
assert all(c['expected'] == c['actual'] for c in d['checks'] if 'expected' in c), d"
kill $busy
wait $busy
echo "$cpus" > $mask
[ -z "$lends" ] || echo "$lends" > $features

# It can fail: tables that are too small, ...
if not_twice; then
	exits 1 "tables too small for its blocks: a failure" memtap selftest --max-mem 1600K
	diag "$(grep -v '^ok' "$T/run.out")"
	like "$out" '^FAILED +[a-z].* wanted [0-9,]+ [a-z]+.*; got [0-9,]+' \
		"what was wanted, and got"
	like "$out" '^FAILED: [0-9]+ ok, [0-9]+ failed' "and so the last line says"
fi
# ... another's probe where its own were, in the text that it reads back.
libc=$(ldd "$(command -v memtap)" | awk '/libc\.so/ { print $3 }')
tracing=/sys/kernel/tracing
[ -e $tracing/uprobe_events ] || tracing=/sys/kernel/debug/tracing
memtap leaks -p $$ --json > /dev/null 2>&1 &
tool=$!
places() { memtap hooks | grep -Eo 'libc[^ ]*\+0x[0-9a-f]+' | sed 's/.*+//' | sort -u; }
placed() { [ -n "$(places)" ]; }
wait_for 300 placed
for at in $(places); do
	echo "p:selftest/other_$at $libc:$at" >> $tracing/uprobe_events
done
kill -TERM $tool
wait $tool
echo 1 > $tracing/events/selftest/enable
exits 1 "another's probe in its text: a failure" memtap selftest
like "$out" '^FAILED +detached +its code differs from the files' "and told"
is "$(lines FAILED)" 1 "the only one"
[ "$(lines FAILED)" = 1 ] || diag "$(grep ^FAILED "$T/run.out")"
echo 0 > $tracing/events/selftest/enable
grep -o 'selftest/[^ ]*' $tracing/uprobe_events | sed 's/^/-:/' > "$T/others"
while read -r one; do echo "$one" >> $tracing/uprobe_events; done < "$T/others"

# What the kernel does not show is no failure: no tracefs, and no symbols.
if not_twice; then
	mount -t tmpfs none /sys/kernel/tracing
	[ ! -d /sys/kernel/debug/tracing ] || mount -t tmpfs none /sys/kernel/debug/tracing
	exits 0 "no tracefs: what it cannot do is no failure" memtap selftest
	like "$out" '^not here +pages +tracefs is not mounted' "and said"
	is "$(lines 'not here')" $((lacking + 4)) "four times"
	[ ! -d /sys/kernel/debug/tracing ] || umount /sys/kernel/debug/tracing
	umount /sys/kernel/tracing
fi
if thorough; then
	restrict=$(sysctl -n kernel.kptr_restrict)
	sysctl -q kernel.kptr_restrict=2
	exits 0 "hidden kernel symbols: neither" memtap selftest
	like "$out" '^not here +pages +the kernel hides its symbols' "and said"
	sysctl -q kernel.kptr_restrict="$restrict"
fi

exits 2 "two words are one too many" memtap selftest a b
one_sentence "and told"
exits 1 "not for everybody" setpriv --reuid 65534 --clear-groups memtap selftest
one_sentence "in one sentence"

# Whenever it ends: the guard unloads the module, the kernel does the rest.
memtap unload
times=${TIMES:-$(rounds 2 5)} clean=0
for i in $(seq "$times"); do
	env --default-signal=INT memtap selftest > "$T/out" 2>&1 &
	tool=$!
	sleep "$((RANDOM % 4)).$((RANDOM % 10))"
	if [ $((i % 3)) = 0 ]; then kill -INT $tool; else kill -KILL $tool; fi 2> /dev/null
	wait $tool 2> /dev/null
	if wait_for 300 nothing_left; then
		clean=$((clean + 1))
	else
		diag "the ${i}th time:" "$(left)" "after:" "$(tail -n 2 "$T/out")"
	fi
done
is $clean "$times" "$times times killed: nothing is left"
is "$(dmesg | grep -c 'leaking uprobe')" "$leaked" "the kernel knows of no probe that is left"

# All is well afterwards.  The module is loaded for it, and goes.
exits 0 "without the module, too" memtap selftest
[ "$status" = 0 ] || diag "$(grep -v '^ok' <<< "$out")"
like "$out" '^ok +module +loaded for this test' "it was loaded"
like "$out" '^ok +module +unloaded again' "and unloaded"
is "$(left)" "" "nothing is left"
memtap load
probes_clean "nothing is left attached at the end"
done_testing
