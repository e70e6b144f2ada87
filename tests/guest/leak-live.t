#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --unreachable: which blocks of a process that runs are lost; it is stopped, read, and goes on.
# check: ends
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

# says FILE WORD: until the workload has said it
says() { wait_for 20 grep -qx "$2" "$1" || diag "no '$2' of the workload"; }
start() {
	start_until "$T/said" '^ready$' ./wl_leak_live "$@"
	pid=$started
}
take() {
	kill -USR1 $pid
	says "$T/said" taken
}
finish() {
	local rc=0
	kill -USR2 $pid
	wait $pid || rc=$?
	is "$(tail -n 1 "$T/said") $rc" 'as it was 0' "$1: the process has noticed nothing"
}
# kinds NAME: of each function's forty blocks
kinds() {
	is "$(j kinds_of take_data)" 'reachable 40 4000' "$1: in data"
	is "$(j kinds_of take_by_old)" 'reachable 40 4000' "$1: by what was there before"
	is "$(j kinds_of take_asleep)" 'reachable 40 4000' "$1: on the stack of who sleeps"
	is "$(j kinds_of take_busy)" 'reachable 40 4000' "$1: on the stack of who runs"
	is "$(j kinds_of take_swapped)" 'reachable 2 200' "$1: in vectors alone"
	is "$(j kinds_of take_lost)" 'definite 40 4000' "$1: lost"
	is "$(j kinds_of take_list)" $'definite 1 100\nindirect 39 3900' "$1: lost, and by it"
	is "$(j kinds_of take_inside)" 'possible 40 4000' "$1: only by addresses inside"
}

start 20
attach "attached" -p $pid --unreachable --max-pause 20000
take
detach
kinds "attached"
like "$(cat "$T/run.err")" "process $pid will be stopped for about .* read" "it is announced"
like "$(grep -o 'process [0-9]* was stopped[^"]*' "$T/json")" \
	"process $pid was stopped for .* \(24 threads\), .* of its memory read" "and measured"
like "$(tr -d ' \n"' < "$T/json")" \
	"scans:\[\{pid:$pid,threads:24,stopped_ns:[0-9]+,method:(changed|again),copied_bytes:" \
	"as JSON has it"
finish "attached"

# each interval anew: what is lost meanwhile was not before
start
: > "$T/out"
memtap leaks -p $pid --unreachable --max-pause 20000 --older 0 -o "$T/out" 0.5 2> "$T/err" &
tool=$!
ready $tool
take
wait_for 30 grep -q 'from stack, definitely lost' "$T/out"
wait_for 30 grep -q 'No stack with outstanding allocations has changed' "$T/out"
end
finish "by intervals"
like "$(cat "$T/out")" 'LEAK SUMMARY of wl_leak_live' "by intervals: the summary"
like "$(tail -n 60 "$T/out")" 'definitely lost: 4,100 bytes in 41 blocks' "and its sums"
unlike "$(cat "$T/out")" 'not examined: .* in .* blocks' "nothing was overlooked"
is "$(grep -cE '4000 bytes in 40 allocations from stack, definitely lost(, new|, grew .*)?$' \
	"$T/out")" 2 "by intervals: what is lost is told when it comes, and at the end"

# a program that is started here, before its end
start_until "$T/said" '^ready$' memtap leaks --unreachable --max-pause 20000 --older 0 \
	-d $((${SLOW:-1} > 1 ? 90 : 3)) \
	-o "$T/out" -- ./wl_leak_live 2> "$T/err"
tool=$started
pid=$(pgrep -x wl_leak_live)
take
wait $tool || true
like "$(cat "$T/out")" 'definitely lost: 4,100 bytes in 41 blocks' "started here: all is known"

# somebody else traces it, or memtap dies while it is stopped
start
if not_twice; then
	exits 2 "--max-pause alone" memtap leaks -p $pid --max-pause 5
	exits 2 "--unreachable of a sample" memtap leaks -p $pid --unreachable --sample-rate 10
	exits 2 "--unreachable of a group" memtap leaks --comm wl_leak_live --unreachable
fi
attach "too short" -p $pid --unreachable --max-pause 1
take
is_free() { [ "$(awk '/^TracerPid/ { print $2 }' /proc/$pid/status)" = 0 ]; }
detach
ok "nobody traces it afterwards" is_free
finish "too short"
for way in KILL TERM; do
	start 20
	memtap leaks -p $pid --unreachable --older 0 -o "$T/out" 0.1 2> "$T/err" &
	tool=$!
	ready $tool
	take
	sleep 0.$((RANDOM % 9))
	kill -$way $tool
	wait $tool 2> /dev/null || true
	ok "$way of memtap: nobody traces the process" wait_for 5 is_free
	finish "$way of memtap"
done
# what is born between two marks, since an event, and what is there when nothing new is kept
start
memtap record --leaks -p $pid --mark "lost=u:$PWD/wl_leak_live:take_lost" \
	--mark "never=u:$PWD/wl_leak_live:drop" -o "$T/marks.memtap" > /dev/null 2> "$T/err" &
tool=$!
ready $tool || diag "$(cat "$T/err")"
exits 0 "a mark" memtap mark before -p $pid
like "$err" "'before' is marked in 1 session of process $pid" "it says where"
take
exits 0 "another one" memtap mark after
exits 1 "one of the same name" memtap mark after
exits 1 "a mark of a process that nobody watches" memtap mark x -p 1
exits 2 "a name that cannot be one" memtap mark a,b
end
window() {
	rm -f "$T/json"
	memtap report "$T/marks.memtap" --json --top 0 --show-reachable -o "$T/json" "$@" \
		2> "$T/err"
	for f in take_data take_lost take_list take_asleep; do
		echo "$f $(j kinds_of $f)"
	done
}
all=$'take_data unknown 40 4000\ntake_lost unknown 40 4000\ntake_list unknown 40 4000
take_asleep unknown 40 4000'
none=$'take_data \ntake_lost \ntake_list \ntake_asleep '
is "$(window --between before,after)" "$all" "born between the marks"
is "$(window --since-mark before)" "$all" "born since the first one"
is "$(window --since-mark after)" "$none" "born since the second one"
is "$(window --since-mark lost)" "${all/data unknown 40 4000/data }" \
	"born since a function was called"
is "$(window --between before,lost)" "${none/data /data unknown 40 4000}" "born before it was"
is "$(j marks)" 'lost event,never event,before,after' "the marks are told"
exits 1 "no such mark" memtap report "$T/marks.memtap" --since-mark nosuch
like "$err" "no mark 'nosuch'; there are: lost, never, before, after" "the sentence has all"
exits 1 "an event that did not happen" memtap report "$T/marks.memtap" --since-mark never
like "$err" "event of mark 'never' has not occurred" "that is the sentence"
exits 2 "one mark" memtap report "$T/marks.memtap" --between before
exits 2 "no event" memtap leaks -p $pid --mark x
exits 1 "an event that cannot be one" memtap leaks -p $pid --mark x=mmap
finish "marks"
start
attach "drain" -p $pid --drain 60
take
kill -INT $tool
wait_for 20 grep -q 'new blocks are not recorded from now on' "$T/run.err"
kill -HUP $pid
says "$T/said" dropped
detach
is "$(j kinds_of take_data)" '' "drain: what is freed meanwhile is gone"
is "$(j kinds_of drop)" '' "what is new is not kept"
is "$(j kinds_of take_by_old)" 'unknown 40 8000' "what was moved is the block that it was"
is "$(j kinds_of take_lost)" 'unknown 40 4000' "and all else survives"
finish "drain"

# What follows is what the tool makes of the same books.
if ! not_twice; then
	probes_clean "nothing is left attached"
	done_testing
	exit
fi

# programs whose truth is known, side by side: nobody is accused who loses nothing
./wl_corpus truth > "$T/truth"
# (what takes seconds of a processor in a slow guest is no picture of sixteen)
watched=$((${SLOW:-1} > 1 ? 48 : 16))
leaks "corpus" --unreachable --max-pause 20000 -d $watched -- ./wl_corpus $watched
j corpus "$T/truth" > "$T/verdicts"
while IFS= read -r line; do
	diag "$line"
done < "$T/verdicts"
is "$(grep -c ^ACCUSED "$T/verdicts")" 0 "corpus: who loses nothing is not accused"
like "$(tail -n 1 "$T/verdicts")" 'precision 1.00, recall 1.00' "corpus: precision and recall"
if [ "${SLOW:-1}" -gt 1 ]; then
	skip "corpus: each verdict is one of those that are true" \
		"in a slow guest the programs do a tenth of their steps, and the truth is another"
else
	is "$(grep -c ^WRONG "$T/verdicts")" 0 "corpus: each verdict is one of those that are true"
fi
run memtap leaks -d 12 -q --older 0 --sort slope -- ./wl_leak_trend 12
like "$out" '-- growing: \+[0-9.]+ [KM]iB an hour \(\+-' "text: the rate, and its error"
met='at this rate it reaches the (end of available memory|limit of its cgroup \(.*\)) in'
like "$out" "an hour \(\+-[^)]*\), $met" "text: and when memory is full"
like "$out" '-- bounded: hardly any is older than [0-9.]+ s; watched for 1[2-9]' "text: since when"

# no birth is known from the drain on: what grew until then has no plateau
run memtap leaks -d 8 --drain 3 -q --older 0 --sort slope -- ./wl_leak_trend 12
like "$out" '-- growing: \+[0-9.]+ [KM]iB an hour .* parts of [5-9]' \
	"drain: how it goes is told of the time before"

# a recording with intervals: what was new, and what had gone, in each
run memtap record --leaks -o "$T/rec" 0.5 8 -- ./wl_leak_trend 4
is "$status" 0 "recorded with intervals" || diag "$err"
for as in "--json -o $T/json" "--format massif -o $T/massif" "--flame $T/page.html"; do
	# shellcheck disable=SC2086	# words
	exits 0 "report $as" memtap report "$T/rec" --show-reachable $as
done
parts=$(./leak-parts "$T/json" "$T/massif" "$T/page.html")
# (a slow guest does not come to the end of the queue)
[ "${SLOW:-1}" = 1 ] ||
	parts=${parts/trend_queue grew and nothing/trend_queue grew and some}
is "$parts" "massif is what lives
snapshots in order
page is what lives
parts are what lives
values live bytes, live blocks, grown bytes, grown blocks, new bytes, new blocks, \
freed bytes, freed blocks
trend_list grew and nothing was freed
trend_queue grew and some was freed" "parts of the time add up to what lives"

probes_clean "nothing is left attached"
done_testing
