#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Estimates of sampled sessions: 64 paths that each leak the same are 64 experiments.
# Their errors have the mean and the spread that theory says; exact totals stay exact.
# check: oldest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

exact() { j call allocs malloc; j call bytes malloc; j call frees malloc free; }

leaks "all" -- ./wl_leak_tree -n 6 -f mixed -e "$T/truth"
leak_truth "all are kept: paths, blocks and bytes"
exact > "$T/all"
for sampling in "--sample-bytes 512" "--sample-bytes 4096" "--sample-rate 10"; do
	# shellcheck disable=SC2086
	leaks "$sampling" $sampling -- ./wl_leak_tree -n 6 -f mixed -e /dev/null
	verdict=$(j errors 2>&1)
	is $? 0 "$sampling: errors as theory says"
	diag "$verdict"
	exact > "$T/sampled"
	# a free of what was not kept is none of a known block
	head -n 2 "$T/all" > "$T/wanted"
	head -n 2 "$T/sampled" > "$T/got"
	same_file "$T/got" "$T/wanted" "$sampling: calls and bytes are exact"
	kept=$(j call kept malloc)
	cmp_ok "$kept" -lt "$(($(j call allocs malloc) * 2 / 3))" "$sampling: few are kept"
done
run memtap leaks --sample-bytes 4096 -- ./wl_leak_tree -n 6 -f mixed -e /dev/null
like "$out" '~ ?[0-9]' "text: estimates are marked as such"
like "$out" '\+-|±' "text: and have their error"
probes_clean "nothing is left attached"
done_testing
