#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What reports say beside their numbers, and what they leave out: rows by function,
# repeated frames, what grew, who was not followed, how a program ended, whose output is
# whose.
# check: once
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# before TEXT A B NAME: a line that matches A stands before the first that matches B
before() {
	local a b
	a=$(grep -nE -m 1 -- "$2" <<< "$1" | cut -d: -f 1)
	b=$(grep -nE -m 1 -- "$3" <<< "$1" | cut -d: -f 1)
	cmp_ok "${a:-99999}" -lt "${b:-0}" "$4"
}
lines_of() { grep -cE -- "$2" <<< "$1"; }

# --- by function
run memtap leaks -- ./wl_leak_read lines
like "$out" "24 bytes in 2 allocations from stack, definitely lost" \
	"two lines of a function are one row"
unlike "$out" 'lines\+0x' "which has no place where they differ"
before "$out" 'LEAK SUMMARY' 'calls: .* counted' "the verdict stands before the accounts"
unlike "$err" 'two traps' "no sentence about traps"
unlike "$out" 'ld-linux' "and nothing of the dynamic linker's own mappings"
run memtap leaks --lines -- ./wl_leak_read lines
like "$out" '11 bytes in 1 allocation from stack' "--lines: one line"
like "$out" '13 bytes in 1 allocation from stack' "--lines: and the other"
like "$out" 'lines\+0x' "--lines: and the place"
run memtap leaks -- ./wl_leak_read deep 90
like "$out" 'deep.*\(9[01] times\)' "recursion is folded"
is "$(lines_of "$out" 'deep.*\[wl_leak_read\]')" 1 "into one line"

# --- the dynamic linker
run memtap mmap --top 0 -- ./wl_leak_read creds
like "$out" 'by the dynamic linker \(--show-loader shows them\): [1-9]' "its mappings are a line"
hidden=$(lines_of "$out" '^    wl_leak_read \[')
run memtap mmap --top 0 --show-loader -- ./wl_leak_read creds
unlike "$out" 'by the dynamic linker' "--show-loader"
cmp_ok "$(lines_of "$out" '^    wl_leak_read \[')" -gt "$hidden" "has them as rows"

# --- quiet
run memtap leaks -q -- ./wl_leak_read creds
is "$err" '' "-q: nothing on standard error"
like "$out" 'definitely lost: 6,660 bytes in 20 blocks' "-q: the verdict"
unlike "$out" 'nothing lost|its heap|RSS' "-q: no accounts"
run memtap faults -q -- ./wl_leak_read creds
like "$out" 'minor-fault: ' "-q: faults"
unlike "$out" 'nothing lost|own counters agree: ' "-q: and no accounts"

# --- JSON
memtap leaks --json -- ./wl_leak_read grow 1 > "$T/out" 2> "$T/err"
ok "JSON without -o: what the program prints is not in it" \
	python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$T/out"
like "$(cat "$T/err")" '^ready$' "but on standard error"
memtap stacks brk --folded -- ./wl_leak_read grow 0 > "$T/out" 2> "$T/err"
unlike "$(cat "$T/out")" ready "nor in folded stacks"
run memtap leaks -- ./wl_leak_read grow 0
like "$out" '^ready$' "in a table's company it stays where it was"
memtap leaks --json -- ./wl_leak_read grow 3 1 > /dev/null 2>&1
memtap leaks --json 1 2 -- ./wl_leak_read grow 4 > "$T/out" 2> "$T/err"
ok "with an interval, one object a line" python3 -c '
import json, sys
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) >= 2, len(lines)
for line in lines:
    json.loads(line)
rows = json.loads(lines[1])["rows"]
assert rows[0]["grew_sum"] > 0, rows[0]
assert max(r["grew_sum"] for r in rows) == rows[0]["grew_sum"]
' "$T/out"

# --- what grew
memtap leaks --older 0 1 3 -- ./wl_leak_read grow 6 > "$T/out" 2> "$T/err"
third=$(awk '/^\[.*stacks? with outstanding alloc/ { n++ } n == 3' "$T/out")
like "$third" 'grew by [0-9]+0 bytes' "an interval has what grew"
like "$third" '[1-9] did not change' "and how many did not"
unlike "$third" '100000 bytes in 1 alloc' "of which what is large, and old, is one"

# --- how it ended
run memtap leaks -- ./wl_leak_read abort
is "$status" 134 "a program that aborts"
like "$out" 'killed by SIGABRT' "was killed by SIGABRT"
run memtap leaks -- ./wl_unwind_go
like "$err" 'is a Go program: allocations by Go.s own allocator are not recorded' \
	"a Go program is called so, although some C is linked to it"
like "$out" 'this is a Go program: allocations by Go.s own' "also at the foot"
run memtap leaks -- ./wl_heap32
is "$status" 1 "a 32-bit program"
like "$err" 'is a 32-bit program.* -p PID' "is refused, and -p works"
./wl_heap32 -s -e /dev/null > /dev/null 2>&1 & pid=$!
sleep 1
run memtap leaks -p $pid -d 0.5
if memtap status | grep -q '^features:.*32-bit'; then
	like "$err" '[1-9][0-9]* functions in ' "which it does"
else
	like "$err" 'malloc: this kernel would crash a 32-bit program' \
		"which it does, where that does not crash it"
	ok "and it lives" kill -0 $pid
fi
kill -KILL $pid
wait $pid 2> /dev/null

# --- what a program is called
real=$(basename "$(readlink -f "$(command -v python3)")")
cat > "$T/script.py" << 'EOF'
#!/usr/bin/env python3
import time
print("ready", flush=True)
time.sleep(1)
EOF
chmod +x "$T/script.py"
function=$(memtap list "$(command -v python3)" 'Py_*' | grep -oE -m 1 'Py_[A-Za-z]+')
python3 -c 'import time; time.sleep(1000)' & pid=$!
sleep 1
for name in python3 $(also python) "$real"; do
	exits 0 "$name is found among what a process maps" \
		memtap stacks "u:$name:$function" -p $pid -d 0.2
	[ "$name" != "$real" ] || thorough || continue
	exits 0 "$name is found in a program that is run" \
		memtap stacks "u:$name:$function" -- python3 -c ''
	exits 0 "$name is found as a script's interpreter" \
		memtap stacks "u:$name:$function" -- "$T/script.py"
done
exits 1 "another version is none" memtap stacks "u:python3.1:$function" -p $pid -d 0.2
kill $pid

# --- who was not followed
# (without CONFIG_PROC_EVENTS memtap sees of others no more than that they had faults)
tells=$(grep -m 1 -o ' proc_fork_connector$' /proc/kallsyms)
children() {
	local what="$1 not followed"
	[ -n "$tells" ] || what='processes that it started were not followed'
	echo "$what"
}
run memtap leaks -- ./wl_leak_read fork 3
like "$out" "$(children '3 processes that it started were'); --children" "children, not followed"
run memtap leaks -q -- sh -c './wl_leak_read creds; true'
like "$out" "$(children '1 process that it started was').*--children follows" \
	"a child of a shell"
run memtap faults -- sh -c './wl_leak_read creds; true'
like "$out" "$(children '1 process that it started was')" "of whatever is counted"
run memtap stat fault -- sh -c './wl_leak_read creds; true'
like "$out" "# $(children '1 process that it started was')" "also of what has no stacks"
run memtap leaks -- ./wl_leak_read thread
unlike "$out" 'not followed' "a thread is no process"
run memtap leaks -- sh -c 'exec ./wl_leak_read creds'
like "$out" 'definitely lost: 6,660 bytes in 20 blocks' "what it becomes is followed"
unlike "$out" 'not followed' "and nobody is missing"
if [ -n "$tells" ]; then
	run memtap leaks -- ./wl_leak_read daemon
	like "$out" '; it still runs: -p [0-9]+' "a daemon whose parent has ended"
	kill "$(grep -oE 'still runs: -p [0-9]+' <<< "$out" | grep -oE '[0-9]+$')"
	run memtap leaks --children -- ./wl_leak_read daemon
	like "$out" "1 process that it started still runs, but is no longer recorded: -p" \
		"also with --children"
	kill "$(grep -oE 'no longer recorded: -p [0-9]+' <<< "$out" | grep -oE '[0-9]+$')"
else
	skip "a daemon whose parent has ended" \
		"this kernel tells nobody of a fork (CONFIG_PROC_EVENTS)"
fi

# --- whom wrappers mean
lost='definitely lost: 6,660 bytes in 20 blocks'
for by in 'env A=1' 'nice -n 5' 'env nice setsid'; do
	# (the last has what the others have)
	[ "$by" = 'env nice setsid' ] || thorough || continue
	# shellcheck disable=SC2086
	run memtap leaks -- $by ./wl_leak_read creds
	like "$out" "$lost" "$by"
	unlike "$out" 'not followed' "$by: nobody is missing"
done
run memtap leaks -- timeout 100 ./wl_leak_read creds
like "$out" "$lost" "timeout: its child is meant"
like "$err" 'timeout starts the program as a child process: it is followed' "which is said"
[ -x wl_leak_mem_musl ] && {
	run memtap leaks -- env ./wl_leak_mem_musl plain
	like "$err" 'functions in .*wl_leak_mem_musl' "a static program behind env is known before"
}
jemalloc=$(ldconfig -p | awk '/libjemalloc.so.2/ { print $NF; exit }')
for way in "env LD_PRELOAD=$jemalloc ./wl_leak_read creds" \
	"sh -c 'P=1; export LD_PRELOAD=$jemalloc; exec ./wl_leak_read creds'"; do
	for i in first second; do
		[ $i = second ] || rm -rf "$T/cache"
		[ "$i ${way%% *}" != 'second sh' ] || thorough || continue
		run env MEMTAP_CACHE="$T/cache" sh -c "exec memtap leaks -- $way"
		like "$out" "$lost" "${way%% *}, another allocator, the $i time"
		unlike "$out" 'attached late' "which is not late"
	done
done

# --- all of them
run memtap leaks --children -- ./wl_leak_read fork 3
like "$out" 'LEAK SUMMARY of all 4 processes' "--children: one total"
like "$out" '19980 bytes in 60 allocations from stack' "--children: a stack once"
unlike "$out" 'not followed' "--children: nobody is missing"
run memtap leaks --children --by process -- ./wl_leak_read fork 3
is "$(lines_of "$out" '6660 bytes in 20 allocations from stack of')" 3 "--by process: for each"
# each call, with its stack
run memtap leaks --trace --stacks -- ./wl_leak_mem plain
like "$out" '^TIME\(s\) +CPU COMM +PID +TID +EVENT' "--trace: a heading"
like "$(grep -A 3 ' malloc size=' <<< "$out")" '    drop \[wl_leak_mem\]' \
	"--stacks: the stack of a call"
# as many as the summary has, in their order
run memtap leaks --trace --no-mappings -- ./wl_leak_mem plain
handed=$(grep -Ec '^ +[0-9.]+ .* ret=0x[1-9a-f][0-9a-f]*$' <<< "$out")
taken=$(grep -Ec '^ +[0-9.]+ .* ptr=0x[0-9a-f]+( size=[0-9]+)?( ret=0x[0-9a-f]+)?$' <<< "$out")
usage='s/.*total heap usage: \([0-9,]*\) allocs*, \([0-9,]*\) frees*,.*/\1 \2/p'
is "$(sed -n "$usage" <<< "$out" | tr -d ,)" "$handed $taken" "--trace: each call that is counted"
times=$(awk '$1 ~ /^[0-9]+\.[0-9]+$/ && $3 == "wl_leak_mem" { print $1 }' <<< "$out")
is "$times" "$(sort -n <<< "$times")" "--trace: in the order of time"
exits 2 "--stacks without --trace" memtap leaks --stacks -- ./wl_leak_mem plain
one_sentence "which says so"

probes_clean "nothing is left attached"
done_testing
