#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# --retained of leaks and rss: beside the stack that a block is from, what it is and what holds it.
# check: ends
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/truth.sh"
. "$(dirname "$0")/leak.sh"

start() {
	start_until "$T/said" '^ready$' ./wl_held || diag "wl_held is not ready"
	pid=$started
}
take() {
	kill -USR1 $pid
	wait_for 60 grep -qx taken "$T/said" || diag "the workload took nothing"
}
finish() {
	kill -USR2 $pid
	wait $pid || diag "the workload failed"
}
# held FUNCTION: "BLOCKS BYTES KIND, held by HOLDER" of the rows of its stacks
# pages FUNCTION HOLDER: percent of its pages, among all, that are of blocks with that holder
cat > "$T/ask" << 'END'
import json, sys
doc = json.load(open(sys.argv[1]))
what, function = sys.argv[2:4]
rows = [r for r in doc["rows"] if any(f.get("name") == function for f in r["user"])]
if what == "held":
    for r in rows:
        for h in r.get("held", []):
            print("%d %d %s, held by %s" % (h["blocks"], h["bytes"], h["kind"], h["holder"]))
else:
    all = sum(r["count"] for r in rows)
    print(100 * sum(r["count"] for r in rows if sys.argv[4] in r.get("path", "")) // max(1, all))
END
ask() { python3 "$T/ask" "$T/json" "$@"; }
# what holds them, by the line where it is declared
global() {
	printf 'global `%s` in wl_held (wl_held.c:%s)' "$1" \
		"$(grep -n "^[a-z].*\b$1\b.*;" wl_held.c | cut -d: -f1)"
}
held() { is "$(ask held "$1")" "$2" "$1: $2"; }

start
attach "a process that goes on" -p $pid --retained --max-pause 20000
take
detach
held take_table "40 8000 200 bytes, held by $(global session_table)"
held take_names "30 2400 looks like text, held by $(global names)"
held take_list "25 1600 72 bytes, held by $(global list_head)"
held take_typed "25 2400 points to session_operations, held by $(global typed)"
held take_lost "10 1520 152 bytes, held by nothing: unreachable"
held take_local "20 2080 104 bytes, held by stack of thread $pid: main in wl_held"
held take_cache "4000 4000000 1000 bytes, held by $(global cache)"
memtap leaks -p $pid --retained --max-pause 20000 --older 0 1 2 -o "$T/report" \
	> "$T/out" 2> "$T/err"
diag "$(tail -n 3 "$T/err")"
like "$(cat "$T/report")" 'stopped for' "a report at an interval looks anew"
finish

# it is kept in a recording
start
memtap record --leaks -p $pid --retained --max-pause 20000 -o "$T/kept.memtap" \
	> "$T/out" 2>&1 &
tool=$!
ready $tool
take
end
exits 0 "a recording is read" memtap report --json --top 0 -o "$T/json" "$T/kept.memtap"
held take_table "40 8000 200 bytes, held by $(global session_table)"
held take_lost "10 1520 152 bytes, held by nothing: unreachable"
finish

start
memtap rss -p $pid --retained --max-pause 20000 --json --top 0 -o "$T/json" \
	> "$T/out" 2> "$T/err" &
tool=$!
ready $tool
take
end
cmp_ok "$(ask pages take_cache 'held by global `cache` in wl_held')" -ge 95 \
	"rss: nearly all pages that take_cache() touched have blocks of cache"
like "$(cat "$T/json")" 'process [0-9]* was stopped for' "and how long the process was stopped"
finish

exits 2 "--retained with --sample-rate" memtap leaks -p $$ --retained --sample-rate 10
one_sentence "is refused in a sentence"
exits 2 "--retained of a whole machine" memtap rss --retained
one_sentence "so is that of a whole machine"
done_testing
