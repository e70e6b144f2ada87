#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --stale: which pages, and which blocks, are there and not used any more, by stack.
# check: ends
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"

thp=/sys/kernel/mm/transparent_hugepage/enabled
was=$(grep -o '\[.*\]' $thp | tr -d '[]')
echo madvise > $thp

says() { wait_for 60 grep -qx "$2" "$1" || diag "no '$2' of the workload: $(cat "$1")"; }
# RHEL 7's clear_refs splits huge pages
split=
kver_ge 4.0 || split='split'
# watch NAME COMMAND...: the workload takes its memory when the tool is there
watch() {
	name=$1
	shift
	start_until "$T/said" '^ready$' ./wl_stale $split
	pid=$started
	memtap "$@" -p $pid -o "$T/out" 2> "$T/err" &
	tool=$!
	ok "$name: attached" ready $tool 60
	kill -USR1 $pid
	says "$T/said" taken
}
# some time after it was taken
ended() {
	sleep 3
	kill -INT $tool
	wait $tool
	is "$?" 0 "$name: exit status" || sed 's/^/# /' "$T/err"
}
finish() {
	kill -USR2 $pid
	wait $pid || true
}
# of FUNCTION: what of it is in the report: count and sum; nothing: none of it
of() {
	python3 - "$T/out" "$1" <<-'END'
	import json, sys
	count = value = 0
	for r in json.load(open(sys.argv[1]))["rows"]:
	    if any(f.get("name") == sys.argv[2] for f in r["user"]):
	        count += r["count"]
	        value += r.get("sum", r.get("bytes", 0))
	print(count or "", value if value and value != count else "")
	END
}
# compare NAME FUNCTION...: it is as the workload said, or nothing where that said nothing
compare() {
	local f wanted
	for f; do
		wanted=$(sed -n "s/^$f //p" "$T/said")
		is "$(of "$f" | sed 's/ *$//')" "$wanted" "$name: $f"
	done
}

# long after it was taken: what came later than the start is known to be stale, too
watch "pages" rss --stale 1s -d 600 --json
ended
compare stale_forgotten stale_half stale_shared stale_huge_forgotten stale_used stale_busy \
	stale_huge_used
# a child uses what its parent does not, and shares it
run memtap rss --stale 1s -p "$(pgrep -P $pid),$pid"
is "$status" 0 "two processes: exit status"
like "$out" 'not used for 1\.0+ s' "the title says for how long"
like "$out" 'stale: in pages not used for 1\.0+ s, by the accessed bits of page tables' \
	"the foot, by what"
like "$out" 'were used or mapped meanwhile, and are not shown \(--stale\)' "and what is in no row"
run memtap rss --stale 5 -p $pid 0.2 1
like "$out" 'no memory can be stale yet' "too early: it is said"
finish

watch "blocks" leaks --stale 1s --unreachable --show-reachable -d 600 --top 0 --json
ended
compare stale_dead stale_cache
finish

if not_twice; then
	# what that says of a verdict
	watch "verdict" leaks --stale 1s --unreachable --show-reachable -d 600 --top 0
	ended
	out=$(< "$T/out")
	like "$out" 'not used for [0-9.]+ s, like all others of that age' "verdict: unused"
	like "$out" 'used or allocated too recently, not included above \(.*\): [0-9,]+ bl' \
		"and what is in no row"
	like "$out" 'stale: in pages' "blocks: the foot"
	finish

	exits 2 "no process" memtap rss --stale 5
	like "$err" '--stale needs a target' "it says so"
	exits 2 "too short" memtap rss --stale 5 -d 5 -p $$
	exits 2 "no time" memtap rss --stale never -p $$
	exits 2 "the kernel" memtap leaks -k --stale 5
fi

echo "$was" > $thp
probes_clean "nothing is left attached"
done_testing
