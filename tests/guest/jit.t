#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Names of code that compilers make at run time: from files that go with their process or
# its container, or are not believed; or from a JVM that is asked.
# check: once
. "$(dirname "$0")/lib.sh"

name=Lcompiled;
rm -f /tmp/perf-*.map
# in a directory that has a libjvm.so
dir=$PWD
cd "$T" || exit 1
cp "$dir/wl_names_a.so" libjvm.so

# jvm HOW OPTIONS...: asked at the end of a second, into $got, with what was said in $err
jvm() {
	local how=$1
	shift
	start_until ready . "$dir/wl_jvm" "$how" 60
	pid=$started
	run memtap stacks -U --unwind fp --folded --calls "u:$dir/wl_jvm:wl_stop" "$@" -p $pid -d 1
	got=$out
}
ended() {
	kill -0 $pid 2> /dev/null && alive=yes || alive=no
	kill -9 $pid 2> /dev/null
	wait $pid 2> /dev/null
	rm -f "/tmp/.java_pid$pid" "/tmp/perf-$pid.map"
}

jvm good
like "$got" 'by_code;\[jit\];wl_stop' "code that has no name is said to be a compiler's"
jvm_plain=$got
ended
unlike "$jvm_plain" "$name" "which nobody asked"
jvm good --jvm-maps
like "$got$err" 'by_code;Lcompiled.*method;wl_stop' "who is asked says its names"
is "$(find . /tmp -maxdepth 1 -name '.attach_pid*' | wc -l)" 0 "the sign is taken away again"
ended
is "$alive" yes "and it lives"
jvm old --jvm-maps
like "$err" 'has no Compiler.perfmap, which needs JDK 17' "one that is too old: said"
ended
jvm deaf --jvm-maps
like "$err" 'SIGQUIT, which makes it listen, would end it' "one that SIGQUIT would end: said"
ended
is "$alive" yes "and not done"
jvm mute --jvm-maps
like "$err" 'does not respond' "one that does not listen: said"
ended
jvm slow --jvm-maps
like "$err" 'JVM [0-9]+: no answer' "one that never answers: said, and not waited for"
ended
run memtap stacks -U u:"$dir"/wl_jvm:wl_stop --jvm-maps -p $$ -d 0.1
like "$err" 'no JVM was running at the end' "nobody to ask: said"

start_until ready . "$dir/wl_jvm" owner 60
pid=$started
run memtap stacks -U --unwind fp "u:$dir/wl_jvm:wl_stop" -p $pid -d 1
like "$out$err" "perf-$pid.map belongs to user 12345, .*the map is ignored" \
	"a map of another user: said"
like "$out" '\[jit\]' "and not used"
like "$out" 'code without a name' "the foot has how much that is"
ended

# the map goes with its process, before the report is made
cd "$dir" || exit 1
run memtap stacks -U --unwind fp --folded --calls u:./wl_names:wl_stop -- ./wl_names jit
like "$out" 'jit_only;wl_stop 10$' "a map that its process takes away was read before"
# and with its container: another /tmp, that nobody has when it ends
if grep -q ^NSpid: /proc/self/status; then
	run memtap stacks -U --unwind fp --folded --calls --children u:./wl_names:wl_stop -- \
		unshare -m -p -f sh -c "mount -t tmpfs none /tmp && ./wl_names jit keep"
	like "$out" 'jit_only;wl_stop 10$' "one that goes with a container, too"
else
	skip "one that goes with a container, too" \
		"this kernel does not tell what PID it has there"
fi
done_testing
