#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Files, sockets, processes and mounts that come and go, and leak nothing: what `memtap leaks
# -k` counts of each cache is what /proc/slabinfo says, and nothing is said to leak.
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
times=$(rounds 72 1500)
cat > "$T/churn" << 'EOF'
import ctypes, os, socket, sys
times, home = int(sys.argv[1]), sys.argv[2]
libc = ctypes.CDLL(None)
os.makedirs(home + "/m", exist_ok=True)
def file(path):
    with open(path, "w") as f:
        f.write("x" * 5000)
    os.rename(path, path + "-")
    os.unlink(path + "-")
for n in range(times):
    for i in range(30):
        file("%s/file-%d-of-the-churn-with-a-name-that-is-long" % (home, i))
        a, b = socket.socketpair()
        a.send(b"x" * 300)
        b.recv(300)
        a.close()
        b.close()
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()
    if n % 8:
        continue
    for i in range(3):
        pid = os.fork()
        if not pid:
            os._exit(0)
        os.waitpid(pid, 0)
    if not libc.mount(b"none", (home + "/m").encode(), b"tmpfs", 0, None):
        file(home + "/m/file")
        libc.umount((home + "/m").encode())
EOF
churn() {
	local cpu pids=()
	for cpu in 0 1; do
		taskset -c $cpu python3 "$T/churn" "$1" "$T/$cpu" &
		pids+=($!)
	done
	wait "${pids[@]}"
}

churn 8			# what is there after the first time stays
# Nothing of it on a disk: what memtap itself asks for is not counted, and a file that grows by
# 50 MiB has a buffer_head for each page.
mkdir "$T/report"
mount -t tmpfs none "$T/report" || bail_out "no tmpfs can be mounted"
memtap leaks -k --json --top 200 "$(rounds 2 20)" > "$T/report/out" 2> "$T/err" &
pid=$!
wait_for 60 grep -q '^vunmap .* attached' /sys/kernel/debug/memtap/hooks
sleep 0.5
cat /proc/slabinfo > "$T/before"
churn "$times"
sleep 1			# RCU
cat /proc/slabinfo > "$T/after"
kill -INT $pid
status=0
wait $pid || status=$?
is "$status" 0 "memtap ends well"

cat > "$T/compare" << 'EOF'
import json, sys
text, documents = open(sys.argv[1]).read().strip(), []
while text:
    document, end = json.JSONDecoder().raw_decode(text)
    documents.append(document)
    text = text[end:].strip()
def slabs(path):
    of = {}
    for line in open(path):
        w = line.split()
        if len(w) > 5 and w[1].isdigit():
            of[w[0]] = [int(n) for n in w[1:6]]
    return of
before, after = slabs(sys.argv[2]), slabs(sys.argv[3])
last, compared = documents[-1], 0
for c in last["leaks"]["caches"]:
    if c["kind"] != "slab" or c["name"] not in after or c["name"] not in before:
        continue
    grew = c["allocs"] - c["frees"] - c["unknown"]
    said = after[c["name"]][0] - before[c["name"]][0]
    # what processors and nodes keep for themselves is in use as slabinfo sees it
    few = 1000 + after[c["name"]][3] * 32
    compared += c["allocs"] > 2 * few
    if abs(grew - said) > few:
        print("not so: %s: allocated %d, grew by %d, slabinfo by %d" %
              (c["name"], c["allocs"], grew, said))
if compared < 3:
    print("only %d caches were used much:" % compared,
          sorted(((c["allocs"], c["name"]) for c in last["leaks"]["caches"]), reverse=True)[:8])
for e in last["events"]:
    if e["seen"] != e["counted"] + e["filtered"] + sum(e["lost"].values()):
        print("not whole:", e)
if last["memory"]["live_lost_bytes"]:
    print("no room for", last["memory"]["live_lost_bytes"])
for d in documents:
    for r in d["rows"]:
        if r.get("trend", {}).get("verdict") == "leaking":
            print("leaking:", r)
EOF
python3 "$T/compare" "$T/report/out" "$T/before" "$T/after" > "$T/result" 2>&1
is "$(head -n 20 "$T/result")" "" "each cache grew by what slabinfo says, and nothing leaks"
umount "$T/report"
probes_clean "nothing is left attached"
done_testing
