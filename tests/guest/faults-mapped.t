#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What page faults mapped is what is there afterwards: single pages, huge pages, pages of
# files with those around them.
. "$(dirname "$0")/lib.sh"

# sum FUNCTION: pages of faults in it
sum() { awk -v re=";$1 " '$0 ~ re { n += $NF } END { print n + 0 }' "$T/got"; }

run memtap stacks minor-fault -U --by comm --folded -o "$T/got" -- ./wl_pages "$T/file"
is "$status" 0 "a report"
while read -r function pages; do
	is "$(sum "$function")" "$pages" "$function: as many pages as are there"
done < "$T/run.out"
is "$(wc -l < "$T/run.out")" 5 "all of them were asked for"

run memtap stacks minor-fault -U --by comm --folded --calls -o "$T/got" -- ./wl_pages "$T/file"
is "$(sum pages_small)" 2048 "small pages: a fault each"
if [ -e /sys/kernel/mm/transparent_hugepage ]; then
	is "$(sum pages_huge)" 4 "huge pages: a fault each"
else
	skip "huge pages" "this kernel has none"
fi
# since 3.15
if [ -e /sys/kernel/debug/fault_around_bytes ]; then
	cmp_ok "$(sum pages_file)" -le 512 "a file's pages: four or more with each fault"
else
	is "$(sum pages_file)" 2048 "a file's pages: a fault each, where none maps others"
fi

run memtap faults --top 0 --json -o "$T/json" -- ./wl_pages "$T/file"
ok "huge pages have rows of their own" python3 - "$T/json" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))["rows"]
huge = [r for r in rows if "huge" in r["flags"]]
assert sum(r["count"] for r in huge) == 4 and sum(r["sum"] for r in huge) == 2048, huge
assert not [r for r in rows if "at-least" in r["flags"]]
END
run memtap faults -- ./wl_pages "$T/file"
like "$out" '\(huge pages\)' "text: marked"
like "$out" '2,048 pages  8.0 MiB in 4 faults' "text: pages, size, faults"
like "$out$err" 'they mapped 4[0-9]\.[0-9] MiB, RSS was [34][0-9]\.[0-9] MiB at most' \
	"the foot has both sums"

probes_clean "nothing is left attached"
done_testing
