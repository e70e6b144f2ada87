#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What wl_leak leaks, by each function that hands out memory: paths, blocks and bytes
# are equal, of a program from its start and of one that runs.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

for threads in 1 $(also 2) 4; do
	leaks "$threads threads" -- ./wl_leak -t $threads -n 3 -e "$T/truth"
	leak_truth "$threads threads: paths, blocks and bytes"
	no_mismatch "$threads threads: all was freed as it should be"
	is "$(j lost no-return) $(j lost live-full) $(j lost left)" "0 0 0" \
		"$threads threads: nothing is lost"
done

noise 1
# others that do the very same, from the same file, and end before they have taken all
# the memory there is
others() {
	trap 'kill $! 2> /dev/null; exit' TERM
	while :; do
		./wl_leak -n 1000 -e /dev/null 2> /dev/null &
		wait $!
	done
}
others &
other=$!
leaks "beside noise" -- ./wl_leak -t 2 -n 3 -e "$T/truth"
leak_truth "beside noise: paths, blocks and bytes"

target ./wl_leak -t 4 -n 2
attach "attached" -p "$pid"
kill $other
wait $other 2> /dev/null
quiet
window
detach
finish
leak_truth "attached: paths, blocks and bytes"
no_mismatch "attached: all was freed as it should be"

target ./wl_leak -t 2 -n 2
attach "by frame pointers" -p "$pid" --unwind fp
window
detach
like "$(cat "$T/run.err")" 'probes removed, text verified in 1 process' \
	"what was written over is said to be back"
text_clean "$pid"
is $? 0 "and it is"
finish
# some libstdc++ use the register for something else there, and are called by nobody
leak_skip='new.*aligned'
cp "$T/truth" "$T/truth.all"
grep -v "$leak_skip" "$T/truth.all" > "$T/truth"
leak_truth "by frame pointers: paths, blocks and bytes"
leak_skip=

# The same numbers in the other ways to tell them.
run memtap leaks --folded --by comm --older 0 --show-reachable -o "$T/got" \
	-- ./wl_leak -n 2 -e "$T/truth"
leak_folded "$T/got" > "$T/folded"
wanted "$T/truth" leak sum > "$T/folded.wanted"
same_file "$T/folded" "$T/folded.wanted" "folded: the same bytes"

probes_clean "nothing is left attached"
done_testing
