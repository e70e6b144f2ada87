#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# No instruction of an allocator that is called often is single-stepped on this
# kernel: nothing was copied to where the kernel steps through what it cannot emulate.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# steps NAME WANTED COMMAND...
steps() {
	local name=$1 wanted=$2
	shift 2
	# (where it waits for us it is stepped, once for each dlopen())
	run memtap leaks --no-hold --json -o "$T/json" -- "$@"
	is "$out" "$wanted" "$name"
	[ "$out" = "$wanted" ] || diag "$err"
}
run memtap stacks -U u:./wl_leak_steps:stepped_through -- ./wl_leak_steps
# before v3.16 it has no name
kver_ge 3.16 || [ "$(head -n 1 <<< "$out")" != "no page" ] ||
	skip_all "this kernel does not tell where the page of stepped instructions is"
like "$out" '^stepped$' "what is stepped through is seen"
run ./wl_leak_steps
is "$out" "no page" "without a probe there is nothing to see"

steps glibc "not stepped" ./wl_leak_steps
for lib in libjemalloc.so.2 libtcmalloc.so.4; do
	export LD_PRELOAD=/usr/lib/x86_64-linux-gnu/$lib
	steps $lib "not stepped" ./wl_leak_steps
done
unset LD_PRELOAD
steps "musl, static" "not stepped" ./wl_leak_steps_musl
done_testing
