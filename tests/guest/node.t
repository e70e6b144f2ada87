#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# node as a distribution has it: stacks through V8's builtins, which no row describes, and
# through code that was compiled meanwhile, are whole, and JavaScript's functions have
# the names that node wrote down.
# kernels: 6.1
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

script=../../examples/programs/grow.js
node --perf-basic-prof --interpreted-frames-native-stack $script 100000 &
pid=$!
named() { grep -q handleRequest /tmp/perf-$pid.map; }
ok "node names its functions" wait_for 60 named
# code is made and mapped meanwhile: what is mapped too shortly before may be cut, but not always
for again in 1 2 3; do
	run memtap leaks -p $pid --older 0 -d 3
	n=$(sed -n 's/.*nothing lost; \([0-9,]*\) of \([0-9,]*\) stacks comp.*/\1 \2/p' <<< "$out")
	[ -z "$n" ] || break
	diag "$again: $(tail -n 25 <<< "$out")"
done
is "$status" 0 "memtap leaks -p"
ok "all stacks are whole: $n" [ -n "$n" -a "${n% *}" = "${n#* }" ]
stack=$(awk '/^\t[0-9]+ bytes in/ { if (s ~ /fetchRows/) exit; s = "" } { s = s "\n" $0 }
	END { print s }' <<< "$out")
for name in malloc fetchRows handleRequest uv_run _start; do
	like "$stack" "$name" "$name is in the stack"
done
run memtap faults -p $pid -d 2
like "$out" 'fetchRows|Builtins_' "memtap faults -p"
n=$(sed -n 's/.*nothing lost; \([0-9,]*\) of \([0-9,]*\) stacks comp.*/\1 \2/p' <<< "$out")
ok "all stacks are whole: $n" [ -n "$n" -a "${n% *}" = "${n#* }" ]
kill $pid
wait $pid 2> /dev/null
rm -f /tmp/perf-$pid.map
probes_clean "nothing is left attached"
done_testing
