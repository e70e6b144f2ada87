#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# How long somebody waits for memory: the built-in events of it, their files in debugfs, and
# notices of waits that are too long.
# check: ends
# dmesg: allow Call Trace|RIP: 0010
. "$(dirname "$0")/lib.sh"

debug=/sys/kernel/debug/memtap
params=/sys/module/memtap/parameters
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
events="direct-reclaim memcg-reclaim"
# (since 3.19; what a kernel has not is left out by the recorder)
[ ! -e /sys/kernel/debug/tracing/events/compaction/mm_compaction_begin ] || events+=" compaction"

# (another test may have watched it)
like "$(cat $debug/reclaim)" \
	'^memcg-reclaim: (not recorded; to record it: echo reclaim|.*no longer recorded)' \
	"debugfs: not recorded yet"
like "$(cat $debug/pressure)" '^no stalls are recorded' "debugfs: pressure says so, too"
echo reclaim,compact > $params/watch
hooks=$(cat $debug/hooks)
for event in $events; do
	like "$hooks" "^$event +tracepoint +attached" "$event is attached"
done

# files that are read through a cgroup which has not the room for them
# (that are clean and not cached: where all pages of a cgroup are being written, and the disk is
# slow, the OOM killer comes)
mkdir -p $root/waits
echo $((16 << 20)) > $root/waits/$limit
dd if=/dev/zero of="$T/file" bs=1M count=64 conv=fsync status=none
echo 1 > /proc/sys/vm/drop_caches
(echo "$BASHPID" > $root/waits/cgroup.procs && exec cat "$T/file" > /dev/null)
# how often the limit was met: vmstat counts a cgroup's own reclaim only since Linux 5.13 or so
case $limit in
memory.max) met=$(awk '$1 == "max" { print $2 }' $root/waits/memory.events) ;;
*) met=$(< $root/waits/memory.failcnt) ;;
esac
cmp_ok "$met" -gt 0 "(the cgroup has met its limit)"
cat $debug/reclaim > "$T/reclaim"
times=$(sed -n 's/^memcg-reclaim: \([0-9]*\) stalls .*/\1/p' "$T/reclaim")
cmp_ok "$times" -gt 0 "debugfs: reclaim has the waits for a cgroup's memory"
is "$(awk '/^[a-z]/ { on = /^memcg-reclaim/ } on && / us  [0-9]+$/ { n += $NF } END { print n }' \
	"$T/reclaim")" "$times" "debugfs: the histogram adds up"
like "$(cat "$T/reclaim")" '^ +[0-9]+ us  cat \[[0-9]+\], [0-9]+ s ago' "debugfs: the longest"
like "$(cat $debug/pressure)" '^ +-?[0-9]+ +[0-9]+ +[0-9]+ +[1-9]' "debugfs: pressure, by second"
like "$(cat $debug/stacks/memcg-reclaim)" 'cat \[[0-9]+\]' "debugfs: by stack"
echo > $params/watch

run memtap stat memcg-reclaim --json -o "$T/json" -- sh -c \
	"echo \$\$ > $root/waits/cgroup.procs; exec cat $T/file $T/file > /dev/null"
is "$status" 0 "memtap stat memcg-reclaim"
is "$(cat $params/stall_ms)" 0 "stall_ms: of none at first"
echo 1000 > $params/stall_ms
like "$(cat $debug/hooks)" '^memcg-reclaim +tracepoint +attached' \
	"stall_ms: attaches what it tells of"
if grep -Eq ' (__)?mem_cgroup_handle_over_high$' /proc/kallsyms; then
	like "$(cat $debug/hooks)" '^memcg-high +kretprobe +attached' \
		"stall_ms: and sleeps above memory.high"
else
	like "$(cat $debug/hooks)" '^memcg-high +kretprobe +failed +2 ' \
		"stall_ms: this kernel does not sleep above memory.high, and the hook says so"
fi
not_ok "stall_ms: nonsense is refused" sh -c "echo x > $params/stall_ms 2> /dev/null"
is "$(cat $params/stall_ms)" 1000 "stall_ms: and changes nothing"
echo 0 > $params/stall_ms
like "$(cat $debug/hooks)" '^memcg-reclaim .*idle' "stall_ms: 0 takes it away"

# pages that go to swap and come back
like "$(cat $debug/swap)" '^swap-wait: not recorded; to record it: echo reclaim,compact,swap' \
	"debugfs: swap: not recorded yet"
dd if=/dev/zero of=/swap bs=1M count=48 status=none
chmod 600 /swap
# (the compiler may have made it a part of another function)
if ! grep -q ' do_swap_page$' /proc/kallsyms; then
	not_ok "debugfs: swap: what is not there cannot be watched" \
		sh -c "echo swap > $params/watch 2> /dev/null"
	is "$(cat $params/watch)" "" "and is not"
elif mkswap /swap > /dev/null && swapon /swap; then
	echo swap > $params/watch
	like "$(cat $debug/hooks)" '^swap-wait +kretprobe +attached .* do_swap_page$' \
		"swap-wait says where it is attached"
	start_until "$T/ready" ready in_cgroup $root/waits ./wl_triage cycle 28
	work=$started
	read -r _ _ _ _ _ _ _ _ _ _ _ before _ < /proc/$work/stat
	more() {
		read -r _ _ _ _ _ _ _ _ _ _ _ major _ < /proc/$work/stat
		[ "$major" -gt $((before + 200)) ]
	}
	wait_for 60 more
	cat $debug/swap > "$T/swap"
	kill $work
	wait $work 2> /dev/null
	echo > $params/watch
	like "$(cat "$T/swap")" '^pages since boot: [1-9][0-9]* swapped in, [1-9]' \
		"debugfs: swap: what the kernel counts"
	times=$(sed -n 's/^swap-wait: \([0-9]*\) stalls .*/\1/p' "$T/swap")
	# (some major faults are on the program itself)
	cmp_ok "$times" -ge $(((major - before) * 9 / 10)) "debugfs: swap: each major fault"
	is "$(awk '/ us  [0-9]+$/ { n += $NF } END { print n }' "$T/swap")" "$times" \
		"debugfs: swap: the histogram adds up"
	like "$(cat "$T/swap")" "^ +[0-9]+ us  wl_triage \[$work\], [0-9]+ s ago" \
		"debugfs: swap: the longest"
	swapoff /swap
else
	skip "debugfs: swap" "no swap file here"
fi
rm -f /swap
wait_for 20 rmdir $root/waits
probes_clean "nothing is left attached"
done_testing
