#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Memory that is really short: a control group at its limit, the machine in reclaim and
# swapping, compaction and migration. What the commands show is what /proc/vmstat counts.
# guest: -m 640
# check: all
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
pages=${PAGES:-$T}	# a directory in which the screens are kept, to be looked at
mkdir -p "$pages"
echo never > /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null

# delta NAME...: by how much these counters of /proc/vmstat grew since marked
mark() { cp /proc/vmstat "$T/before"; }
marked() { cp /proc/vmstat "$T/after"; }
# (before v4.8 those of reclaim are by zone; since then stalls are)
delta() {
	awk -v names=" $* " 'FNR == NR { b[$1] = $2; next }
		{ name = $1; sub(/_(dma|dma32|normal|movable|device)$/, "", name) }
		index(names, " " name " ") { s += $2 - b[$1] } END { print s + 0 }' \
		"$T/before" "$T/after"
}
events=/sys/kernel/debug/tracing/events
zones=yes
[ -e $events/compaction/mm_compaction_end ] || zones=''
untold="this kernel has no event of it"
# begin NAME WHAT...: memtap WHAT, until finish; its first line is there when it counts
begin() {
	local name=$1
	shift
	memtap "$@" > "$pages/$name" 2> "$T/$name.err" &
	eval "pid_$name=$!"
	wait_for 60 test -s "$pages/$name"
}
finish() {
	local pid="pid_$1"
	kill -INT "${!pid}"
	wait "${!pid}"
	is $? 0 "$1: exit status" || diag "$(cat "$T/$1.err")"
}
# total NAME EXPRESSION...: of the first object in a file of JSON lines whose "final" is true,
# into the array $total
total() {
	mapfile -t total < <(python3 -c '
import json, sys
rows = [r for r in map(json.loads, open(sys.argv[1])) if r.get("final") and "hist" not in r]
r = rows[0] if rows else {}
for e in sys.argv[2:]:
    print(eval(e))' "$pages/$1" "${@:2}")
}

swap() {
	fallocate -l 300M /swap && chmod 600 /swap || return
	mkswap /swap > /dev/null && swapon /swap
}
swap || skip_all "no swap file here"

# --- a cgroup at its limit
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
elif [ -e /sys/fs/cgroup/cgroup.controllers ]; then
	root=/sys/fs/cgroup limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
if mkdir $root/short 2>/dev/null; then
	echo 24M > $root/short/$limit
	start_until "$T/ready" ready in_cgroup $root/short ./wl_triage cycle 48
	work=$started
	# (a second is enough, but where the machine is busy)
	for seconds in 1 5 25; do
		run memtap reclaim -p $work -d $seconds
		[[ $out != *wl_triage* ]] || break
	done
	printf '%s\n' "$out" > "$pages/limited"
	is "$status" 0 "reclaim: exit status"
	like "$(head -n 1 <<< "$out")" \
		'^TIME +COMM +PID TYPE +LAT\(ms\) +PAGES +FREE\(KB\) NODE ORDER +UID GFP +CGROUP$' \
		"reclaim: its columns"
	line="^ +[0-9.]+ wl_triage +$work memcg"
	like "$out" "$line +[0-9.]+ +[0-9]+ +[1-9][0-9]+ +0 +0 +0 GFP_[A-Z]" \
		"reclaim: flags by name"
	like "$out" "$line .* /short\$" "reclaim: at the limit of its cgroup"
	sum=$(sed -n "s/^ *\([0-9,]*\) .* wl_triage \[$work\]\$/\1/p" <<< "$out")
	# (the machine is short, too: the process may also reclaim for the whole of it)
	is "$(awk -v pid=$work '$2 == "wl_triage" && $3 == pid' <<< "$out" | wc -l)" "${sum//,/}" \
		"reclaim: the sum by process is of all lines" || diag "$out"
	is "$(sed -n 's/^ *\([0-9,]*\) .* \/short$/\1/p' <<< "$out" | tail -n 1)" "$sum" \
		"reclaim: and that by cgroup"
	if [ -z "${SMOKE:-}" ] && not_twice; then
		run memtap reclaim --stacks -K -p $work -d 1
		printf '%s\n' "$out" > "$pages/stacks"
		like "$out" 'try_to_free_mem_cgroup_pages|do_swap_page|handle_mm_fault' \
			"reclaim --stacks: where it waits"
		run memtap reclaim --hist -p $work -d 1
		printf '%s\n' "$out" > "$pages/hist"
		like "$out" 'memcg_reclaim_begin.*: latency \(ns\)$' \
			"reclaim --hist: of how long it took"
		run memtap reclaim -p $work -d 0.5 --filter 'latency > 100000000000'
		like "$out" '^no events$' "reclaim --filter: on the latency"
		run memtap swap -p $work -d 0.5 --filter 'latency > 0'
		is "$status" 0 "swap --filter: on what only some of its events have: exit status"
		like "$err" \
			'^memtap: left out: writes to swap: they lack the fields of the filter' \
			"swap --filter: and which have not is said"
		like "$out" ' - .* wl_triage \['"$work"'\]$' \
			"swap --filter: the others are counted"
	fi
	kill $work
	wait $work 2>/dev/null
	if [ -z "${SMOKE:-}" ] && [ "$zones" ]; then
		run memtap compact --json -T -- sh -c "echo 1 > /proc/sys/vm/compact_memory"
		like "$out" '"document":"compact","ns":[0-9]+,"real_ns":[0-9]+,' \
			"compact --json -T: times"
		like "$out" '"sync":(true|false|null),' "compact --json: what is true or false"
	elif [ -z "${SMOKE:-}" ]; then
		skip "compact --json" "$untold"
	fi

	# recorded NAME EXPRESSION...: of the events of a recording by name, sums in them, into
	# the array $recorded; "whole": its rows and accounts add up
	recorded() {
		mapfile -t recorded < <(memtap report "$T/$1.memtap" --json | python3 -c '
import json, sys
r = json.load(sys.stdin)
n = lambda name: sum(x["count"] for x in r["rows"] if name in x["event"])
v = lambda name: sum(x["sum"] for x in r["rows"] if name in x["event"])
whole = all(e["seen"] == e["counted"] + e["filtered"] + sum(e["lost"].values()) and
            e["counted"] == sum(x["count"] for x in r["rows"] if x["event"] == e["name"])
            for e in r["events"])
for e in sys.argv[1:]:
    print(int(bool(eval(e))))' "${@:2}")
	}
	# record NAME EXPRESSION COMMAND: what it does, at that limit
	record() {
		local expression=$2
		run memtap record "$1" -o "$T/$1.memtap" -- \
			sh -c "echo \$\$ > $root/short/cgroup.procs; $3"
		is "$status" 0 "record $1: exit status" || diag "$err"
		memtap report "$T/$1.memtap" > "$pages/recorded-$1" 2>&1
		recorded "$1" "$expression" whole "${@:4}"
		is "${recorded[0]}" 1 "record $1: what it did" ||
			diag "$(tail -n 40 "$pages/recorded-$1")"
		is "${recorded[1]}" 1 "record $1: rows and accounts add up"
	}
	if [ -z "${SMOKE:-}" ]; then
		turns="exec ./wl_triage turns 40 2"
		kernel='dict(l.split() for l in open("/proc/vmstat"))'
		cp /proc/vmstat "$T/before"
		record swap "n('read') > 1000 and n('write') > 2000 and v('do_swap_page') > 0" \
			"$turns" \
			"all(n(a) <= int(${kernel}[b]) - int(was[b]) for was in [dict(
				l.split() for l in open('$T/before'))] for a, b in (
				('writ', 'pswpout'), ('read', 'pswpin')))"
		is "${recorded[2]}" 1 "record swap: no more than the kernel counts"
		if thorough; then
			record reclaim "n('memcg_reclaim') > 10 and v('memcg_reclaim') > 0" "$turns"
			like "$(< "$pages/recorded-reclaim")" '^  touch|^  turns' \
				"record reclaim: who waits"
		fi
		record vmscan "v('nr_scanned') >= v('nr_reclaimed') > 4000" "$turns"
		like "$(< "$pages/recorded-vmscan")" 'shrink_inactive nr_reclaimed: .* pages? in ' \
			"record vmscan: what is summed up"
		if [ "$zones" ]; then
			record compact \
				"n('mm_compaction_begin') > 0 and v('mm_compaction_begin') > 0" \
				"echo 1 > /proc/sys/vm/compact_memory"
		else
			skip "record compact" "$untold"
		fi
		! thorough || record migrate True \
			"echo 1 > /proc/sys/vm/compact_memory; echo 32 > /proc/sys/vm/nr_hugepages"
	fi
	echo 0 > /proc/sys/vm/nr_hugepages
	rmdir $root/short
else
	skip "a cgroup at its limit" "no memory cgroup here"
fi

# --- the whole machine
free=$(awk '/MemAvailable/ { print int($2 / 1024) }' /proc/meminfo)
cp /proc/vmstat "$T/outer"
begin reclaim reclaim --self
begin vmscan vmscan --self --json
begin swap swap --self --by none --json
mark
# until so much came back from swap: how long that takes, is the host's
./wl_triage cycle $((free + 60)) 600 > /dev/null &
work=$!
swapped_in() {
	marked
	[ "$(delta pswpin)" -ge "$1" ]
}
ok "what is touched again comes from swap" wait_for 300 swapped_in "$(rounds 2000 20000)"
kill $work
wait $work 2> /dev/null
marked
finish swap
finish reclaim
finish vmscan
# between NAME GOT PERCENT[-MOST] COUNTER...: what was seen is what the kernel counted meanwhile,
# or PERCENT of it at least, and 100 or MOST at most; more by what it counted until all of
# memtap had begun or ended
between() {
	local name=$1 got=$2 percent=${3%-*} most=100 inner outer
	[ "$percent" = "$3" ] || most=${3#*-}
	shift 3
	inner=$(delta "$@")
	outer=$(cp "$T/before" "$T/kept"; cp "$T/outer" "$T/before"; cp "$T/after" "$T/then"
		cp /proc/vmstat "$T/after"; delta "$@"; cp "$T/kept" "$T/before"
		cp "$T/then" "$T/after")
	diag "$name: $got of $inner .. $outer"
	cmp_ok "$got" -ge $((inner * percent / 100)) "$name: all that the kernel counts"
	cmp_ok "$got" -le $((outer * most / 100)) "$name: and no more"
}
cmp_ok "$(delta pgscan_kswapd pgscan_direct)" -gt 0 "the machine reclaims"
# a reclaim that begins anew is counted twice there
between "reclaim: stalls" "$(awk '$4 == "direct"' "$pages/reclaim" | wc -l)" 90 allocstall
unlike "$(< "$T/reclaim.err")" 'ring-full' "none of them was lost"
# a scan without a page to be had is no event; where there are generations (MGLRU), the event has
# also what was looked at and put aside, which the kernel does not count
total vmscan 'r["kswapd_scanned"] + r["direct_scanned"]' \
	'r["kswapd_reclaimed"] + r["direct_reclaimed"]'
between "vmscan: scanned" "${total[0]}" 70-160 \
	pgscan_kswapd pgscan_direct pgscan_khugepaged pgscan_proactive
between "vmscan: reclaimed" "${total[1]}" 95 \
	pgsteal_kswapd pgsteal_direct pgsteal_khugepaged pgsteal_proactive
like "$(< "$pages/vmscan")" '"function":"[a-z_]+","count":' "vmscan: shrinkers by name"
like "$(< "$pages/vmscan")" '"hist":\[' "vmscan: histograms"
# (one that reads in brings its neighbours, 8 pages at most; the others find them there)
total swap 'r["writes"]' 'r["reads"]' \
	'int(r["faults"] * 8 >= r["reads"] > 0 and r["fault_ns"] > 0)' r
between "swap: writes" "${total[0]}" 98 pswpout
between "swap: reads" "${total[1]}" 98 pswpin
if grep -q ' do_swap_page$' /proc/kallsyms; then
	is "${total[2]}" 1 "swap: those who wait" || diag "${total[3]}" "$(cat "$T/swap.err")"
else
	skip "swap: those who wait" "this kernel has no do_swap_page()"
fi

# --- compaction and migration, when it is asked for
begin compact compact
begin migrate migrate
mark
echo 1 > /proc/sys/vm/compact_memory
echo 16 > /proc/sys/vm/nr_hugepages
echo 0 > /proc/sys/vm/nr_hugepages
marked
finish compact
finish migrate
line='^ +[0-9.]+ [^ ]+ +[0-9]+ zone +0 [A-Z][A-Za-z0-9]+ +- +[01a-z]+ +[0-9.]+ [a-z_]+ '
if [ "$zones" ]; then
	like "$(< "$pages/compact")" "$line" "compact: a zone, its name and what came of it"
	# of who waits a function's return value is all that there is
	! grep -q '__print_symbolic' $events/compaction/mm_compaction_end/format ||
		unlike "$(< "$pages/compact")" ' 0x[0-9a-f]+ ' "compact: each status has a name"
else
	skip "compact: a zone, its name and what came of it" "$untold"
fi
moved=$(awk '$1 ~ /^[0-9]+\.[0-9]+$/ && NF >= 8 { n += $4 } END { print n + 0 }' \
	"$pages/migrate")
# what moves while the one has begun and the other has not is in one of them alone
counted=$(delta pgmigrate_success)
cmp_ok "$moved" -ge "$counted" "migrate: all pages that the kernel counts"
cmp_ok "$moved" -le $((counted + counted / 20 + 64)) "and no others"
# before v4.1 an event's format has names of numbers, and not which these are
if [ "$moved" != 0 ] && grep -q '{ *MIGRATE_ASYNC' $events/migrate/mm_migrate_pages/format; then
	skip "migrate: and why" "this kernel does not tell what its numbers are"
elif [ "$moved" != 0 ]; then
	like "$(< "$pages/migrate")" ' compaction +MIGRATE_' "migrate: and why"
fi

# --- what came of a wait is a value of the same enum as in the tracepoint, which has its names
if grep -q '{ *[0-9]*, "skipped" *}' $events/compaction/mm_compaction_end/format &&
	grep -q ' try_to_compact_pages$' /proc/kallsyms; then
	begin waits compact
	# more than there are: the last one waits for compaction
	echo 100000 > /proc/sys/vm/nr_hugepages
	echo 0 > /proc/sys/vm/nr_hugepages
	finish waits
	like "$(grep ' wait ' "$pages/waits")" ' wait .* [0-9.]+ [a-z_]+ +/' \
		"compact: what came of a wait, as the kernel calls it"
	unlike "$(grep ' wait ' "$pages/waits")" ' wait .* [0-9.]+ [0-9][0-9a-fx]* +/' \
		"and no number"
else
	skip "compact: what came of a wait" "$untold"
fi

# --- wrong words, of which the tool knows without a kernel
if [ -z "${SMOKE:-}" ] && not_twice; then
	run memtap reclaim --stacks --hist
	is "$status" 2 "two renderings at once: exit status"
	one_sentence "a sentence"
	run memtap reclaim 1 1
	is "$status" 2 "reclaim has no intervals"
	run memtap swap --by file -d 0.1
	is "$status" 2 "swap --by file: there are no files: exit status"
	one_sentence "a sentence"
	run memtap record vmscan reclaim -o "$T/x" -d 0.1
	is "$status" 2 "record vmscan is recorded alone: exit status"
	one_sentence "a sentence"
	run memtap migrate --numa --stacks --hist
	is "$status" 2 "migrate --numa in two renderings: exit status"
	one_sentence "a sentence"
	run memtap monitor --exec /no/such/program -d 0.1
	is "$status" 1 "monitor --exec without a program: exit status"
	one_sentence "a sentence"
	run memtap compact --by cgroup -d 0.1
	is "$status" 2 "--by without --stacks"
	run memtap reclaim --filter 'nosuch > 1' -d 0.1
	is "$status" 2 "a filter on what is not there"
	# (beside what this kernel does not tell at all)
	sed -i '/^memtap: cannot record .*: this kernel has no/d' "$T/run.err"
	one_sentence "a sentence"
	run memtap swap --filter 'latency >' -d 0.1
	is "$status" 2 "a filter that is none"
	one_sentence "a sentence"
fi

swapoff /swap
rm -f /swap

# --- swap in memory, where reads are done when they return
zram() {
	modprobe zram 2> "$T/why" || return
	[ -e /sys/block/zram0 ] || cat /sys/class/zram-control/hot_add > /dev/null
	echo 64M > /sys/block/zram0/disksize && mkswap /dev/zram0 > /dev/null &&
		swapon /dev/zram0
}
if [ "${SMOKE:-}" ] || ! mkdir $root/short 2> /dev/null; then
	:
elif zram; then
	echo 16M > $root/short/$limit
	cp /proc/vmstat "$T/outer"
	begin zram swap --self --by none --json
	mark
	(echo "$BASHPID" > $root/short/cgroup.procs && exec ./wl_triage cycle 32 600) > /dev/null &
	work=$!
	ok "zram: it swaps" wait_for 300 swapped_in 1000
	kill $work
	wait $work 2> /dev/null
	marked
	finish zram
	total zram 'r["writes"]' 'r["reads"]' 'int(r["faults"] >= 900)' r
	between "zram: writes" "${total[0]}" 98 pswpout
	between "zram: reads" "${total[1]}" 98 pswpin
	is "${total[2]}" 1 "zram: those who wait" || diag "${total[3]}"
	swapoff /dev/zram0
	wait_for 20 rmdir $root/short
	rmmod zram
else
	skip "zram" "this kernel has none: $(cat "$T/why")"
	rmdir $root/short
fi
done_testing
