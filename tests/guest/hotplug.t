#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Processors that go and come while a session counts.
# guest: -c 4
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

cpu() { echo "$2" > "/sys/devices/system/cpu/cpu$1/online"; }
rusage() { awk -F '\t' '$1 == "rusage" { print $3 + $4 }' "$T/truth"; }
total() { awk '{ n += $NF } END { print n + 0 }' "$T/got"; }

[ -w /sys/devices/system/cpu/cpu1/online ] || skip_all "this machine's processors stay"

target taskset -c 1 ./wl_fault -n 20
cpu 1 0
# one processor is offline when the session starts
begin fault -p "$pid"
cpu 1 1
sleep 3		# its counters are made by a work that comes a little later
taskset -pc 1 "$pid" > /dev/null
window
end
finish
truth "a processor that came meanwhile: its faults count" minor-fault minor-fault
is "$(total)" "$(rusage)" "all of them"

target ./wl_fault -n 20 -t 3
begin fault -p "$pid"
cpu 1 0
cpu 1 1
cpu 2 0
sleep 3
window
cpu 2 1
end
finish
truth "processors that went and came: the same counts" minor-fault minor-fault
is "$(total)" "$(rusage)" "none twice, none lost"

# While faults happen all the time.
target ./wl_fault -n 1000 -t 3
begin fault -p "$pid"
kill -CONT "$pid"
for _ in 1 2 3 4 5; do
	cpu 1 0
	cpu 2 0
	cpu 1 1
	cpu 2 1
done
wait_for 600 stopped "$pid"
end
finish
# What a processor does between coming online and our hook is not seen: how much
# that is depends on how busy everything is, but that it happened is said.
cmp_ok "$(total)" -le "$(rusage)" "in the midst of it: no more than the kernel counts"
within "$(total)" "$(rusage)" 60 "and most of it"
memtap faults -q --json -o "$T/late.json" -- \
	sh -c 'cd /sys/devices/system/cpu/cpu1; echo 0 > online; echo 1 > online'
like "$(cat "$T/late.json")" '"cpus_late":1' "the report tells of it"

# Tracepoints that perf counts are per processor as well.
target ./wl_call -n 200 -t 3
begin t:syscalls:sys_enter_getppid -p "$pid"
cpu 1 0
cpu 1 1
sleep 3
window
end
finish
truth "a tracepoint through perf: the same" getppid
# Objects of the kernel are freed by whatever processor is there.
if ! for_this_kernel kleak/kleak.ko; then
	skip "objects of the kernel" "kleak.ko was not built for this kernel"
	probes_clean "nothing is left attached"
	done_testing
	exit
fi
insmod kleak/kleak.ko || bail_out "kleak.ko cannot be loaded"
memtap leaks -k --cache 'kleak_*' --by cache --older 0 > "$T/objects" 2> "$T/err" &
tool=$!
wait_for 60 grep -Eq 'kmem_cache_free_bulk.*attached|attached.*kmem_cache_free_bulk' \
	/sys/kernel/debug/memtap/hooks
cpu 1 0
echo leak > /sys/module/kleak/parameters/run
cpu 1 1
cpu 2 0
echo free > /sys/module/kleak/parameters/run
echo leak > /sys/module/kleak/parameters/run
cpu 2 1
kill -INT $tool
ok "(memtap ends well)" wait $tool
for want in 'kleak_by_rcu 55' 'kleak_ctor 92'; do
	like "$(cat "$T/objects")" $'^\t[0-9]+ bytes in '"${want#* } objects of ${want% *}" \
		"objects of ${want% *}: as many as there are"
done
echo free > /sys/module/kleak/parameters/run
rmmod kleak
probes_clean "nothing is left attached"
done_testing
