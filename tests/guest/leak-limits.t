#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Many stacks, many blocks, and tables that are too small.
# check: oldest
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

deep=$(rounds 13 15)
run memtap leaks --folded --by comm --older 0 --show-reachable -o "$T/got" -- \
	./wl_leak_tree -n "$deep" -f one -e "$T/truth"
leak_folded "$T/got" > "$T/folded"
wanted "$T/truth" leak sum > "$T/folded.wanted"
is "$(wc -l < "$T/folded.wanted")" $((1 << deep)) "a tree of $((1 << deep)) paths"
cmp "$T/folded" "$T/folded.wanted" > "$T/cmp" 2>&1
is $? 0 "each leaks, and each is reported"
diag "$(wc -l < "$T/folded") paths; $(cat "$T/cmp")"

# 100 000 blocks at one time
memtap leaks "${leak_all[@]}" -- ./wl_leak_tree -n 4 -f live -e "$T/truth" 2> "$T/run.err" &
tool=$!
while kill -0 $tool 2> /dev/null; do
	grep VmHWM /proc/$tool/status > "$T/hwm.new" 2> /dev/null && [ -s "$T/hwm.new" ] &&
		mv "$T/hwm.new" "$T/hwm"
	sleep 0.05
done
status=0
wait $tool || status=$?
leak_args=(100 000 blocks)
leak_books "100 000 live blocks"
leak_truth "100 000 live blocks: paths, blocks and bytes"
is "$(j lost live-full)" 0 "nothing is lost at the default size"
tool=$(awk '{ print $2 * 1024 }' "$T/hwm")
# of what unwind tables may take, what they do
tables=$(($(j value memory total) - $(j value memory unwind_size) +
	$(j value memory unwind_used)))
diag "the tool $tool bytes at most, tables $tables bytes"
# 32 MiB are aimed at: docs/performance.md
cmp_ok $((tool + tables)) -le $((56 << 20)) "tool and tables stay within 56 MiB"

# more than there is room for
leaks "a table that is too small" --max-mem 8M -- ./wl_leak_tree -n 4 -f live -e "$T/truth"
kept=$(j call kept malloc)
lost=$(j lost live-full)
diag "$kept kept, $lost lost"
cmp_ok "$lost" -gt 0 "a table that is too small: what is lost is counted"
cmp_ok "$(j blocks_of wl_leaf)" -lt 100000 "and is not there"
cmp_ok $(($(j blocks_of wl_leaf) + lost)) -ge 100000 "both together are all"

# each command has two address spaces, the shell's copy and its own
cat > "$T/many" <<'SH'
for ((i = 0; i < $1; i++)); do
	/bin/true
done
exec /bin/true
SH
many() {
	leaks "$1 processes, more than there is room for" --children --max-mem 4M -- \
		bash "$T/many" "$1"
	refused=$(j value memory spaces_lost)
	diag "$refused refused; lost: $(j lost live-full) live-full, $(j lost no-thread) no-thread"
}
few=$(rounds 100 300)
many "$few"
cmp_ok "$refused" -lt "$few" "places of processes that are gone are used again"
is "$(j lost no-thread)" 0 "their calls are not lost for want of room for threads"
cmp_ok "$(j value memory total)" -le $((4 << 20)) "and no more memory is taken than was given"
run memtap leaks -q --max-mem 8M -- ./wl_leak_tree -n 4 -f live -e "$T/truth"
like "$out" 'it is not known which of them are lost: not all blocks were recorded.*--max-mem 16M' \
	"where blocks had no room, what to type is said"
probes_clean "nothing is left attached"
done_testing
