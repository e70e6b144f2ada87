#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Everything at once: every event on, eight sessions and the flight recorder, on four
# processors as busy as they get; a short form of tests/bench/load.
# guest: -c 4
# check: oldest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/load.sh"
export XDG_CACHE_HOME=$T/cache

# a machine may be so slow that it takes longer
least=$(rounds 50000 200000)
much() {
	counted | awk -v least="$least" '{ n += $1; none += $1 == 0 }
		END { exit n < least || none }'
}
load_begin 5
watch_begin 5
load_go
look begin
sleep $(($(rounds 3 10) * ${TIMES:-1}))
look middle
sleep $(($(rounds 3 10) * ${TIMES:-1}))
wait_for 300 much
look end
watch_end
load_end
looked begin middle end
books "seen is counted, filtered and lost, for each event of each session"

cmp_ok "$(awk '$2 != "memory" { n += $3 } END { print n + 0 }' "$T/books")" -gt $((least / 2)) \
	"there was much to see"
cmp_ok "$(awk '$2 != "memory" && $4 > 0 { print $1 }' "$T/books" | sort -u | wc -l)" -eq 7 \
	"and each session counted something"
for when in begin middle end; do
	diag "$when: $(awk -v when=$when '$1 == when {
		printf "%s %d KiB, ", $2, $3 / 1024 }' "$T/memory")"
	cmp_ok "$(at $when module)" -le "$(at $when announced)" \
		"$when: the module has not taken more than its sessions announced"
done
diag "$(sed 's/^/slice /' "$T/tail")"
like "$(cat "$T/stat.out")" 'minor-fault' "rates were told meanwhile"
like "$(cat "$T/summary")" '^ +minor-fault +seen [0-9]+' "and the flight recorder recorded"
probes_clean "nothing is left attached"
done_testing
