#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No instruction of an allocator that is called often is single-stepped on this
# kernel: it passes nowhere where it begins to step through what it cannot emulate.
# (The page that it steps in says less: it has no name before v3.16, and is not emptied
# before v6.12.)
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# steps COMMAND...: how often the kernel stepped through an instruction of wl_leak_steps
steps() {
	run memtap count k:arch_uprobe_pre_xol --by comm --children --json -q \
		-o "$T/steps" -- "$@"
	# (the name of a thread has 15 bytes)
	steps=$(awk -F '"count":' '/"comm":"wl_leak_steps/ { n += $2 } END { print n + 0 }' \
		"$T/steps")
}
# none NAME COMMAND...: of tens of thousands of its calls
none() {
	local name=$1

	shift
	# (where it waits for us it is stepped, once for each dlopen())
	steps memtap leaks --no-pause --json -o "$T/json" -- "$@"
	is "$status $steps" "0 0" "$name is not stepped"
	ok "and its calls are seen" python3 -c '
import json, sys
sys.exit(sum(h["allocs"] for h in json.load(open(sys.argv[1]))["leaks"]["heaps"]) < 20000)
' "$T/json"
}

steps memtap stacks -U u:./wl_leak_steps:stepped_through -q -o "$T/out" -- ./wl_leak_steps
is "$status $steps" "0 1" "what is stepped through is seen"

# what functions begin with; since 4.15
if ! grep -q ' push_emulate_op$' /proc/kallsyms; then
	skip "what is called often is not stepped" "this kernel steps through each push"
	done_testing
	exit
fi

none glibc ./wl_leak_steps
for lib in libjemalloc.so.2 libtcmalloc.so.4; do
	export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/$lib
	none $lib ./wl_leak_steps
done
unset LD_PRELOAD
none "musl, static" ./wl_leak_steps_musl
done_testing
