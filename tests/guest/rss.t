#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap rss: who mapped what is resident, page for page as the process's own pagemap has it.
. "$(dirname "$0")/lib.sh"
# The kernel writes to a thread's own memory whenever it was moved (rseq): a page that a
# fork left to be copied, in the name of whatever function runs.
export GLIBC_TUNABLES=glibc.pthread.rseq=0
. "$(dirname "$0")/truth.sh"

thp=/sys/kernel/mm/transparent_hugepage
declare -A was
# as it was for who comes after us
put_back() {
	local f
	for f in "${!was[@]}"; do
		echo "${was[$f]}" > "$thp/$f"
	done
}
if [ -e $thp/enabled ]; then
	for f in enabled defrag; do
		was[$f]=$(grep -o '\[.*\]' $thp/$f | tr -d '[]')
		echo madvise > $thp/$f
	done
	# it would fill what the workload has given back
	was[khugepaged/max_ptes_none]=$(< $thp/khugepaged/max_ptes_none)
	echo 0 > $thp/khugepaged/max_ptes_none
fi
if dd if=/dev/zero of=/swap.rss bs=1M count=8 status=none && chmod 600 /swap.rss &&
	mkswap /swap.rss > /dev/null && swapon /swap.rss; then
	swap=yes
fi

# compare JSON SAID [PID...]: rows of the workload's functions are what it said, and all rows
# of each process together are what smaps says
cat > "$T/compare" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
want, pids = {}, [int(p) for p in sys.argv[3:]]
for line in open(sys.argv[2]):
    f = line.split()
    if len(f) < 4 or not f[0].isdigit():
        continue
    key = (int(f[0]), " ".join(f[1:-2]), f[-2])
    want[key] = want.get(key, 0) + int(f[-1])
got, sums = {}, {}
def names_of(r):
    return [f.get("name") or f.get("mark") or "" for f in r["user"]]
for r in doc["rows"]:
    names = names_of(r)
    sums.setdefault(r["pid"], {}).setdefault(r["event"], 0)
    sums[r["pid"]][r["event"]] += r["count"]
    # the innermost function of the workload; what it has only by others is not its
    name = next((n for n in names if n.startswith("rss_") or n.startswith("[")), None)
    if name and name.startswith("rss_"):
        key = (r["pid"], name, r["event"])
        got[key] = got.get(key, 0) + r["count"]
bad = 0
for key in sorted(set(got) | {k for k in want if k[1].startswith("rss_")}):
    if got.get(key, 0) != want.get(key, 0):
        print(*key, ":", got.get(key, 0), "pages, not", want.get(key, 0))
        bad = 1
for key in want:
    # memtap may have looked at what there is first when they had come
    marks = [["[came without a fault]"], ["[there before memtap]"]]
    unseen = sum(r["count"] for r in doc["rows"] if r["pid"] == key[0] and
                 names_of(r) in marks)
    if key[1].startswith("[") and unseen < want[key]:
        print(*key, ": only", unseen, "pages")
        bad = 1
for pid in pids:
    rss = swap = 0
    for line in open("/proc/%d/smaps" % pid):
        rss += int(line.split()[1]) if line.startswith("Rss:") else 0
        swap += int(line.split()[1]) if line.startswith("Swap:") else 0
    of = sums.get(pid, {})
    have = 4 * (of.get("anonymous", 0) + of.get("file", 0) + of.get("shared-memory", 0))
    if (rss, swap) != (have, 4 * of.get("swapped", 0)):
        print("process", pid, ": smaps says", rss, swap, "KiB, rows have", have, of)
        bad = 1
sys.exit(bad)
END
compare() {
	python3 "$T/compare" "$@" > "$T/wrong" || { sed 's/^/# /' "$T/wrong"; return 1; }
}
says() { wait_for 60 grep -qx "$2" "$1" || diag "no '$2' of the workload: $(cat "$1")"; }
# memtap has a second thread when what a process grows from is known
looks_on() { [ -n "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 ! -name "$1")" ]; }
# follow NAME OPTION... -- WORD...: a workload that is attached to, and has done its work
follow() {
	local -a options=()
	name=$1
	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	: > "$T/said"
	./wl_rss "$T/file" "$@" > "$T/said" &
	pid=$!
	memtap rss "${options[@]}" -p $pid -o "$T/out" 2> "$T/err" &
	tool=$!
	ok "$name: attached" ready $tool 60
	wait_for 60 looks_on $tool
	kill -USR1 $pid
	says "$T/said" ready
}
# looked: the report is there, and the workload still waits
looked() {
	kill -INT $tool
	wait $tool
	is "$?" 0 "$name: exit status" || sed 's/^/# /' "$T/err"
}
finish() {
	kill -USR2 $pid
	wait $pid || true
}

# one that is run, and held at its end; in a file
start_until "$T/said" '^ready$' memtap record -o "$T/file.memtap" rss -- \
	./wl_rss "$T/file" now 2> "$T/err"
tool=$started
kill -USR2 "$(pgrep -x wl_rss)"
wait $tool
is "$?" 0 "to its end: exit status" || sed 's/^/# /' "$T/err"
memtap report "$T/file.memtap" --json -o "$T/out"
ok "to its end: each function has the pages that it had" compare "$T/out" "$T/said"
run memtap report "$T/file.memtap"
like "$out" 'about to end' "to its end: it is said"

follow "all ways" --json -- all
looked
ok "all ways: each function has the pages that it has" compare "$T/out" "$T/said" $pid
if [ -n "${swap-}" ] && kver_ge 5.4; then
	ok "some are swapped out" grep -q '"event":"swapped"' "$T/out"
fi
# what it has now was there before, by mapping
run memtap rss --by mapping -d 1 -p $pid
like "$out" '\[there before memtap\]' "attached late: there before"
like "$out" 'rw-p \[heap\]' "by mapping: the heap"
like "$out" 'rw-s /dev/zero' "and shared memory"
finish

follow "fork" --json --by process --children -- fork
looked
ok "fork: a child's pages, too" compare "$T/out" "$T/said" $pid $(pgrep -P $pid)
finish

# what malloc() and threads have: 3 arenas with 4 MiB each, 3 of which are free, 2 blocks of
# 3 MiB, 2 MiB of brk()
follow "parts" --by mapping -- parts
looked
out=$(< "$T/out")
like "$out" 'anonymous memory, and what it grew by: heap 2\.[0-9] MiB \(\+2\.[0-9] MiB\)' \
	"parts: the heap"
like "$out" ', 3 arenas 12\.[0-9] MiB \(\+12\.[0-9] MiB\), 2 large blocks 6\.0 MiB \(\+6\.0 MiB\)' \
	"arenas and large blocks"
like "$out" "malloc \(glibc\), 4 arenas: 11\.[0-9] MiB in use, 9\.[0-9] MiB free and not ret[a-z ]*\
 in [34] of them, at most 3\.[0-9] MiB in one" "what of that is free"
like "$out" ', 3 stacks [0-9.]+ KiB \(\+' "stacks of threads"
like "$out" 'rw-p \[malloc\]' "by mapping: what malloc() mapped"
like "$out" 'rw-p \[stacks of threads\]' "and stacks"
finish

# who is in malloc() all the time: what that has is told about
python3 -c '
import random
d = {}
while True:
    d[random.randrange(2000)] = b"x" * random.randrange(600, 5000)' &
pid=$!
run memtap rss --by mapping -d 1 -p $pid
like "$out" 'malloc \(glibc\), 1 arena: (about )?[0-9.]+ MiB in use.*, [0-9.]+ [KM]iB free' \
	"a process that goes on: what malloc() has free"
unlike "$out" 'stacks of threads|[0-9] stacks? [0-9.]+ [KM]iB' \
	"its first thread has no stack beside the main one"
kill $pid
# what a process had before anybody looked is its control group's, too: that which memory is
# charged to
cg=/sys/fs/cgroup/memory
[ -d $cg ] || cg=/sys/fs/cgroup/unified
mkdir $cg/rss
sleep 600 &
pid=$!
echo $pid > $cg/rss/cgroup.procs
run memtap rss --cgroup $cg/rss --by cgroup -d 1
like "$out" '^    cgroup /rss$' "--cgroup, --by cgroup: its name"
like "$out" '^RSS of 1 process: ' "and nobody else's memory"
kill $pid
wait $pid
rmdir $cg/rss

# at intervals: first all, then what changed; and two recordings
if not_twice; then
	exits 2 "--increased without an interval" memtap rss --increased -p $$
	: > "$T/said"
	: > "$T/out"
	./wl_rss "$T/file" parts > "$T/said" &
	pid=$!
	memtap rss -p $pid -o "$T/out" 2 2> "$T/err" &
	tool=$!
	ready $tool 60
	wait_for 60 grep -q 'RSS of 1 process' "$T/out"
	kill -USR1 $pid
	says "$T/said" ready
	ok "an interval: what changed, and from what to what" wait_for 60 grep -Eq \
		'^anonymous: \+[0-9.]+ MiB: [0-9.]+ [KM]iB -> 2[0-9]\.[0-9] MiB  in \+' \
		"$T/out"
	ok "an interval: then nothing" wait_for 60 sh -c "tail -n 12 '$T/out' |
		grep -Eq '^  0 stacks changed; [0-9]+ did not'"
	out=$(< "$T/out")
	like "$out" '^\[[0-9:]+\] changed since [0-9:]+:' "an interval: since when"
	like "$out" 'in_arena' "an interval: whose"
	kill -INT $tool
	wait $tool
	is "$?" 0 "an interval: exit status" || sed 's/^/# /' "$T/err"
	finish
	start_until "$T/said" '^ready$' memtap record -o "$T/parts.memtap" rss -- \
		./wl_rss "$T/file" now parts 2> "$T/err"
	tool=$started
	kill -USR2 "$(pgrep -x wl_rss)"
	wait $tool
	run memtap diff "$T/file.memtap" "$T/parts.memtap" --top 0
	like "$out" '\+[0-9.]+ MiB: 0 B -> [0-9.]+ MiB  in \+[0-9,]+ pages: 0 -> ' \
		"two recordings: what came"
	like "$out" '-[0-9.]+ [KM]iB: [0-9.]+ [KM]iB -> 0 B  in -[0-9,]+ pages: ' "and what went"
	run memtap report "$T/parts.memtap" --folded
	like "$out" '^anonymous;wl_rss;.*in_arena.* [0-9]+$' "folded"
fi

# the smallest table that there can be: a share of all regions, scaled up
smallest() {
	memtap rss --max-mem 1K -d 1 2>&1 | awk '
		match($0, /on this machine is [0-9.]+ [KM]iB/) {
			split(substr($0, RSTART, RLENGTH), f, " ")
			print int((f[5] + 0.1) * (f[6] == "KiB" ? 1024 : 1048576) + 65536)
		}'
}
least=$(smallest)
cmp_ok "${least:-0}" -gt 0 "the smallest table is told"
start_until "$T/said" '^ready$' memtap rss --max-mem "${least:-0}" --unwind fp -o "$T/out" -- \
	./wl_rss "$T/file" now much 2> "$T/err"
tool=$started
kill -USR2 "$(pgrep -x wl_rss)"
wait $tool
is "$?" 0 "an estimate: exit status" || sed 's/^/# /' "$T/err"
out=$(< "$T/out")
like "$out" 'the table of pages was full: 1 of [0-9]+ regions' "an estimate: that is said"
like "$out" 'in rows \(estimated\)' "as such"
ok "and not far off" awk '
	match($0, /^RSS of 1 process: [0-9.]+ MiB as the kernel says; [0-9.]+ MiB/) {
		split($0, f, " ")
		good = f[11] > f[5] / 3 && f[11] < f[5] * 3
	}
	END { exit !good }' <<< "$out"

put_back
[ -z "${swap-}" ] || swapoff /swap.rss
rm -f /swap.rss
probes_clean "nothing is left attached"
done_testing
