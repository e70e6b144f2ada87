#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# A stack whose pages are not there: brought in where that is allowed, and else said.
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$T/cache
ROUNDS=20

# folded EVENT: into $T/got; what the report says of the stacks, into $T/foot
folded() {
	run memtap record -U --by comm -o "$T/rec" "$1" -- ./wl_unwind_paged_out "$T/stack" $ROUNDS
	[ "$status" = 0 ] || diag "exit status $status: $(tail -n 5 "$T/run.err")"
	memtap report --folded --calls "$T/rec" > "$T/got"
	memtap report -v "$T/rec" | grep -A4 '^user stacks' > "$T/foot"
}
calls() { awk -v re="$1" '$0 ~ re { n += $NF } END { print n + 0 }' "$T/got"; }
deep='wl_deep;wl_deep;wl_deep;wl_deep'

folded u:./wl_unwind_paged_out:wl_stop
is "$(calls .)" $ROUNDS "each call of the probed function is counted"
is "$(calls "run;$deep;wl_stop [0-9]+\$")" $ROUNDS "through frames that were not in memory"
like "$(cat "$T/foot")" '^user stacks: 100 % complete' "and the report calls them complete"

folded fault
is "$(calls ';wl_touch [0-9]+$')" $ROUNDS "a page fault brings nothing in"
is "$(calls "run;$deep;wl_touch")" 0 "it does not show what it could not read"
cmp_ok "$(calls 'stack truncated.*wl_touch')" -ge $ROUNDS "but says that the stack is cut"
probes_clean "nothing is left attached"
done_testing
