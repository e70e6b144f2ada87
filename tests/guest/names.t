#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Code where other code was before: each stack has the names of what was there when it was
# taken.  Libraries that take turns at the same addresses, another program by execve(),
# code of a JIT compiler that was replaced.
. "$(dirname "$0")/lib.sh"

# stacks PROGRAM ARGUMENTS...: calls of its wl_stop(), from a file, into $got
stacks() {
	local program=$1
	shift
	run memtap record -U -o "$T/rec" "${how[@]}" "u:./$program:wl_stop" -- "./$program" "$@"
	said=$out
	is "$status" 0 "recorded: $program $*"
	got=$(memtap report --folded --calls "$T/rec" 2> "$T/err")
}
# bytes ARGUMENTS...: of blocks that leak, into $got
bytes() {
	run memtap leaks "${how[@]}" --folded --by none -- ./wl_names "$@"
	got=$out
}
how=()

export WL_WAIT=1
a=./wl_names_a.so b=./wl_names_b.so c=./wl_names_c.so
stacks wl_names plugins 1 $a 100 $b 200 $c 300 $a 400
like "$said" '^moved 0$' "all plugins came to the same address"
like "$got" ';plugin_run;plugin_a;wl_stop 20$' "what the first one did, both times, is its own"
like "$got" ';plugin_run;plugin_b;wl_stop 10$' "what another one did at its addresses is not"
like "$got" ';plugin_run;plugin_c;wl_stop 10$' "nor that of one of another layout"
is "$(grep -c ';wl_stop ' <<< "$got")" 3 "that is all"
memtap report --json "$T/rec" > "$T/json"
is "$(grep -o '"object": *"wl_names_[abc].so"' "$T/json" | sort -u | wc -l)" 3 \
	"each in its own file"

bytes plugins 1 $a 100 $b 200 $c 300 $a 400
like "$got" ';plugin_run;plugin_a;(__libc_)?malloc[^ ]* 5000$' \
	"blocks of a library that is gone: its own"
like "$got" ';plugin_run;plugin_b;(__libc_)?malloc[^ ]* 2000$' "of the next one: its own"
like "$got" ';plugin_run;plugin_c;(__libc_)?malloc[^ ]* 3000$' "and of the last"

unset WL_WAIT
if [ -z "$SMOKE" ]; then
	how=(--unwind fp)
	stacks wl_names plugins 1 $a 100 $b 200
	like "$got" 'plugin_a;wl_stop 10$' "by frame pointers: the first one's are its own"
	like "$got" 'plugin_b;wl_stop 10$' "and the other one's"
	stacks wl_names32 plugins 1 ./wl_names_a32.so 100 ./wl_names_b32.so 200
	like "$got" 'plugin_a;wl_stop 10$' "in 32 bits: the first one's are its own"
	like "$got" 'plugin_b;wl_stop 10$' "and the other one's"

	stacks wl_names plugins 100 $a 100 $b 200
	like "$got" 'plugin_a;wl_stop 1000$' "a hundred times in turns: the first one's"
	like "$got" 'plugin_b;wl_stop 1000$' "the other one's"
	is "$(grep -c ';wl_stop ' <<< "$got")" 2 "nothing else"
	how=()
fi

stacks wl_names exec ./wl_names_over
like "$got" 'by_program;before_exec;wl_stop 10$' "before execve(): the first program's names"
run memtap record -U -o "$T/rec" u:./wl_names_over:wl_stop -- ./wl_names exec ./wl_names_over
got=$(memtap report --folded --calls "$T/rec" 2> "$T/err")
like "$got" 'by_other_program;after_exec;wl_stop 10$' "after it: the other one's"
unlike "$got" 'by_program|before_exec' "and never those of the first"

how=(--unwind fp)
stacks wl_names jit keep
like "$got" 'by_jit[^;]*;jit_only;wl_stop 10$' "of code that is made, the name that its map has"
like "$got" 'by_jit[^;]*;jit_new or jit_old;wl_stop 20$' \
	"of code that was made anew in its place, both names"
unlike "$got" 'jit_new;|;jit_old;' "none of which is said to be certain"
rm -f /tmp/perf-*.map

how=()
export WL_WAIT=1
stacks wl_names after $a
like "$got" 'plugin_run;plugin_a;wl_stop 10$' "a library's names are those of its code"
unlike "$got" 'plugin_a;wl_stop [23]0$' "not of what was made in its place"
like "$got" '\[jit\];wl_stop|\[unknown\].*;wl_stop' "which is no file's"

how=(--unwind fp)
bytes jit keep
like "$got" 'by_jit[^;]*;jit_only;take;(__libc_)?malloc[^ ]* 3000$' \
	"blocks of code that is made have its name, too"
rm -f /tmp/perf-*.map

# one that executes itself while it is followed: its stacks are those of its former lives, and
# its libraries are mapped after the first look at its mappings
lives() { [ "$(grep -c life "$T/lives")" -ge "$1" ]; }
: > "$T/lives"
setarch "$(uname -m)" -R ./wl_reexec > "$T/lives" &
pid=$!
wait_for 60 lives 1
memtap leaks -p $pid --older 0 --top 0 -o "$T/out" 2> "$T/err" &
tool=$!
ready $tool 60
for life in 2 3 4 5; do
	kill -USR1 $pid
	ok "executed again: life $life" wait_for 60 lives $life
done
kill -INT $tool
wait $tool
kill $pid
wait $pid
got=$(< "$T/out")
like "$got" '10000 bytes in 10 allocations' "what the last life has"
like "$got" 'take_config' "its own names"
unlike "$got" '\[unknown\]' "and those of its libraries"
done_testing
