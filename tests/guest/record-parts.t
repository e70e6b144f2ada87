#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# check: ends
#
# A recording in several files: nothing is lost between them, and they stay within their size.
. "$(dirname "$0")/lib.sh"

# Adds up recordings, in their order.
cat > "$T/sum.py" <<'PY'
import json, subprocess, sys

docs = [json.loads(subprocess.check_output(["memtap", "report", f, "--json"]))
        for f in sys.argv[3:]]
event, wanted = sys.argv[1], int(sys.argv[2])
seen = counted = rows = 0
for d in docs:
    e = [e for e in d["events"] if e["name"] == event][0]
    lost = sum(e["lost"].values())
    seen += e["seen"] - e["filtered"]
    counted += e["counted"]
    rows += sum(r["count"] for r in d["rows"] if r["event"] == event)
    if not d["session"]["running"]:
        assert not lost, e
for a, b in zip(docs, docs[1:]):
    assert a["session"]["now_ns"] == b["session"]["start_ns"], "a gap between two files"
assert not docs[-1]["session"]["running"]
assert all(d["session"]["running"] for d in docs[:-1])
assert seen == counted == rows == wanted, (seen, counted, rows, wanted)
print(len(docs))
PY

files() {
	find "$T" -name "$1.*" | sort -t. -k3n
}

# So many mappings of a length that nothing else has, for some seconds.
maps='import mmap, time
for i in range(3000):
    mmap.mmap(-1, 5054464).close()
    time.sleep(0.001)'

# --- files by time: of a program that memtap runs
run memtap record -o "$T/time" --switch-time 1s 'mmap(len)' --filter 'len == 5054464' -- \
	python3 -c "$maps"
is "$status" 0 "record --switch-time -- PROGRAM"
mapfile -t list < <(files time)
cmp_ok "${#list[@]}" -ge 3 "record --switch-time: several files"
run python3 "$T/sum.py" mmap 3000 "${list[@]}"
is "$status" 0 "record --switch-time: all files together have each call, and no gap"
[[ $status == 0 ]] || diag "$err"

# --- of a process that runs, with intervals in the files
python3 -c "import time; time.sleep(4)
$maps" &
pid=$!
run memtap record -p "$pid" -o "$T/pid" --switch-time 2s --filter 'len == 5054464' 'mmap(len)' 0.5
mapfile -t list < <(files pid)
run python3 "$T/sum.py" mmap 3000 "${list[@]}"
is "$status" 0 "record -p PID --switch-time, with an interval: each call"
[[ $status == 0 ]] || diag "$err"
run memtap report "${list[1]}" --format massif
is "$status" 0 "a file in the middle has intervals"

# --- files by size: of everything, while the sizes are watched
watch_size() {
	local most=0 now

	while [[ ! -e $T/done ]]; do
		# (what is just being renamed or removed is not there)
		now=$(find "$T" -maxdepth 1 -name 'size.*' -printf '%s\n' 2> /dev/null |
		      awk '{ n += $1 } END { print n + 0 }')
		((now > most)) && most=$now
		sleep 0.02
	done
	echo "$most" > "$T/most"
}

# Ever new stacks: a shell's children, and files that are read.
busy() {
	while [[ ! -e $T/done ]]; do
		find /usr/share /etc -maxdepth 2 > /dev/null
		python3 -c 'import json, random, socket, email' 2> /dev/null
		awk 'BEGIN { for (i = 0; i < 3000; i++) a[i] = i i; }'
	done
}

busy &
worker=$!
watch_size &
watcher=$!
run memtap record -a -o "$T/size" --switch-size 512K --keep 3 -d "$(rounds 12 30)"
: > "$T/done"
wait "$worker" "$watcher"
is "$status" 0 "record -a --switch-size"
# (an account of files that were removed would be too long)
like "$err" 'the files take at most 1.5 MiB' "record --switch-size --keep: it says the bound"
mapfile -t list < <(files size)
is "${#list[@]}" 3 "record --switch-size --keep 3: three files are left"
unlike "${list[0]}" 'size.1$' "record --switch-size: there were more"
diag "$(basename -a "${list[@]}" | tr '\n' ' '), at most $(cat "$T/most") bytes together"
unlike "$err" 'more than --switch-size' "record --switch-size: no file is larger"
cmp_ok "$(cat "$T/most")" -le $((3 * 512 * 1024)) "the files never exceed --keep x --switch-size"
for file in "${list[@]}"; do
	run memtap report "$file" --json -o /dev/null
	is "$status" 0 "$(basename "$file") is a recording"
	cmp_ok "$(stat -c %s "$file")" -le $((512 * 1024)) "it is no larger than --switch-size"
done

# --- more in a moment than a file has room for: each page of some MiB is a counter of its own
cat > "$T/touch.py" <<'PY'
import mmap, re, time
m = mmap.mmap(-1, 16 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
m.madvise(mmap.MADV_NOHUGEPAGE)
lines = [l for l in open("/proc/self/maps") if re.match("[^ ]* rw-p 00000000 00:00 0 *$", l)]
spans = [[int(x, 16) for x in l.split()[0].split("-")] for l in lines]
start, end = max(spans, key=lambda s: s[1] - s[0])
print("ready", flush=True)
time.sleep(6)
for at in range(0, 16 << 20, 4096):
    m[at] = 1
time.sleep(3)
print(start, end, flush=True)
PY
start_until "$T/touched" ready python3 "$T/touch.py"
pid=$started
run memtap record -p "$pid" -o "$T/many" --switch-size 64K --addresses minor-fault 1
is "$status" 0 "record --switch-size: more than a file has room for"
mapfile -t list < <(files many)
cat > "$T/pages.py" <<'PY'
import json, os, subprocess, sys
start, end = [int(x) for x in open(sys.argv[1]).read().split("\n")[1].split()]
pages = {}
seen = counted = rows = 0
for f in sys.argv[2:]:
    assert os.stat(f).st_size <= 64 << 10, (f, os.stat(f).st_size)
    d = json.loads(subprocess.check_output(["memtap", "report", f, "--json"]))
    e = d["events"][0]
    seen += e["seen"] - e["filtered"] - sum(e["lost"].values())
    counted += e["counted"]
    for r in d["rows"]:
        rows += r["count"]
        at = int(r["addr"], 16)
        if start <= at < end:
            pages[at] = pages.get(at, 0) + r["count"]
assert len(pages) >= 4096, len(pages)
assert seen == counted == rows, (seen, counted, rows)
PY
run python3 "$T/pages.py" "$T/touched" "${list[@]}"
is "$status" 0 "its rows are divided: each page is there, and no file is larger"
[[ $status == 0 ]] || diag "$err"
cmp_ok "${#list[@]}" -ge 4 "into several files"
run memtap report "${list[2]}" --format massif -o /dev/null
is "$status" 0 "each with its intervals"

# --- tables that become full: another session, and each file says its time
run memtap record -a -o "$T/full" --switch-time 1s -d 6 --max-mem 3M
mapfile -t list < <(files full)
cmp_ok "${#list[@]}" -ge 4 "record -a --max-mem: several files"

# --- what cannot be
exits 2 "--keep alone" memtap record -a -o "$T/x" --keep 3
one_sentence "--keep alone"
exits 2 "--switch-size of 1K" memtap record -a -o "$T/x" --switch-size 1K
one_sentence "--switch-size of 1K"
exits 2 "--switch-size --leaks" memtap record --leaks -p $$ -o "$T/x" --switch-size 1M
one_sentence "--switch-size --leaks"
done_testing
