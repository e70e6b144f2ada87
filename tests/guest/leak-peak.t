#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --peak: what was live when most memory was, exactly, by stack, of all processes and of each;
# --temporary and --allocated: what each stack allocated.  The workload has the same accounts.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/leak.sh"

# totals OPTIONS... -- ARGS of wl_peak: $T/json, and what the workload says
totals() {
	local -a options=()
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	rm -f "$T/json"
	run memtap leaks --json --top 0 -o "$T/json" "${options[@]}" -- ./wl_peak "$@"
	printf '%s\n' "$out" > "$T/truth"
	[ "$status" = 0 ] || diag "$err"
}
# of_truth WHOSE
of_truth() {
	awk -F '\t' -v OFS='\t' -v whose="$1" '$1 == whose { print $2, $3, $4 }' "$T/truth" |
		LC_ALL=C sort
}
# peak_is NAME WHOSE [N]: of the Nth process
peak_is() {
	is "$(j functions peak wl_peak_ ${3:+"$3"})" "$(of_truth "$2")" "$1"
}
adds_up() {
	is "$(j value leaks peak stacks_bytes)" "$(j value leaks peak bytes)" \
		"$1: stacks add up to the peak"
	is "$(j value leaks peak stacks_lost)" 0 "$1: each stack had room"
}

for seed in $(seq 1 "$(rounds 1 4)"); do
	totals --peak -- one "$seed"
	peak_is "one thread, $seed: what was live at the peak" all
	adds_up "one thread, $seed"
	totals --peak -- threads "$seed"
	peak_is "four threads, $seed: what was live at the peak" all
	adds_up "four threads, $seed"
done

for seed in 1 2; do
	totals --peak --children -- fork "$seed"
	peak_is "two processes, $seed: at the peak of both together" all
	adds_up "two processes, $seed"
	totals --peak --children --by process -- fork "$seed"
	peak_is "two processes, $seed: the first at its own" first 0
	peak_is "two processes, $seed: the second at its own" second 1
done

totals --temporary --allocated -- temporary
is "$(j shares wl_temporary)" "$(of_truth temporary)" "temporary allocations, of all"

run memtap leaks --peak --temporary -- ./wl_peak one 1
like "$out" 'Top [0-9]+ stacks with allocations outstanding at the peak' "a table has a heading"
like "$out" 'the peak of all processes was [0-9,]+ bytes .* after the start' "it says when"
like "$out" 'allocated in all: [0-9,]+ times' "and how often memory was allocated"

run memtap record --leaks --peak -o "$T/r.memtap" -- ./wl_peak one 1
printf '%s\n' "$out" > "$T/truth"
is "$status" 0 "a recording"
memtap report "$T/r.memtap" --peak --json --top 0 -o "$T/json"
peak_is "a report from a recording" all
run memtap report "$T/r.memtap" --peak --format massif
like "$out" 'heap_tree=peak' "massif has a snapshot of the peak"
is "$(sed -n 's/^mem_heap_B=//p' <<< "$out" | sort -n | tail -n 1)" \
	"$(j value leaks peak bytes)" "of as many bytes"

exits 2 "it is exact, or not at all" memtap leaks --peak --sample-rate 10 -- ./wl_peak one 1
one_sentence "with sampling"
done_testing
