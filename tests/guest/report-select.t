#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: once
#
# Recordings of a known workload that are filtered, repeated, delayed and continued.
. "$(dirname "$0")/lib.sh"

# --- stat -r: each run counts the same program
memtap stat -r 3 --json brk mmap -- /bin/true > "$T/json" 2> "$T/err"
ok "stat -r 3 --json" python3 -c '
import json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
assert [r["event"] for r in rows] == ["brk", "mmap"], rows
for r in rows:
    assert r["document"] == "repeated" and r["runs"] == 3, r
    assert r["count_min"] <= r["count_mean"] <= r["count_max"], r
    assert r["count_min"] > 0 and r["count_deviation"] >= 0, r' "$T/json"
memtap stat -r 2 -x, mmap -- /bin/true > "$T/csv" 2> "$T/err"
is "$(wc -l < "$T/csv")" 2 "stat -r -x,: a header and a line"
like "$(head -n 1 "$T/csv")" '^document,runs,.*count_mean' "stat -x,: the header"

# --- record, and ask again
memtap record -o "$T/r.memtap" mmap brk 1 2 -- sh -c 'sleep 1; /bin/ls / > /dev/null; sleep 1' \
	> "$T/out" 2> "$T/err"
memtap report "$T/r.memtap" mmap --json > "$T/json"
ok "report FILE mmap: only this event" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert [e["name"] for e in d["events"]] == ["mmap"], d["events"]
assert d["rows"] and all(r["event"] == "mmap" for r in d["rows"])' "$T/json"
memtap report "$T/r.memtap" --by function > "$T/out"
like "$(cat "$T/out")" 'total +self +function' "report --by function"
memtap report "$T/r.memtap" --comm none > "$T/out" 2> "$T/err"
like "$(cat "$T/err")" 'nothing in this recording is by --comm none' "report --comm: a sentence"

# --- a delay: what the shell mapped when it began is not there
memtap record -D 2s -o "$T/d.memtap" brk mmap munmap -- sh -c 'sleep 8; :' > "$T/out" 2> "$T/err"
memtap report "$T/d.memtap" --json > "$T/json"
ok "record --delay: the start is not in the file" python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert sum(e["counted"] for e in d["events"] if e["name"] == "mmap") < 5, d["events"]' "$T/json"
memtap record -D 5s -o "$T/e.memtap" brk -- /bin/true > "$T/out" 2> "$T/err"
like "$(cat "$T/err")" 'ended before the delay was over' "record --delay: the program is shorter"

# --- a file after the other
memtap record -a -o "$T/s" --switch-time 1s --keep 2 -d 8 mmap > "$T/out" 2> "$T/err"
is "$(find "$T" -name 's.*' | wc -l)" 2 "record --switch-time --keep 2: two files are left"
for file in "$T"/s.*; do
	ok "$(basename "$file") is a recording" memtap report "$file" --json
done
done_testing
