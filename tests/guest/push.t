#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# memtap push of running programs to a receiver in the guest: what each interval has, with a
# receiver that does not answer meanwhile, a tool that is ended, and one that is killed.
. "$(dirname "$0")/lib.sh"
receiver_py=$(dirname "$0")/push_receiver.py

memtap push --to http://localhost/ nothing 2> "$T/why"
! grep -q 'built without' "$T/why" || skip_all "$(head -n 1 "$T/why")"

echo ok > "$T/mode"
: > "$T/log"
python3 "$receiver_py" "$T" 2> "$T/receiver-err" &
receiver=$!
wait_for 60 test -s "$T/port" || bail_out "no receiver: $(< "$T/receiver-err")"
url=http://127.0.0.1:$(< "$T/port")

# judge PYTHON...: of the messages of $T/log, l, of which none may be wrong
judge() {
	python3 - "$T/log" "$@" << 'END'
import json, sys
l = [json.loads(x) for x in open(sys.argv[1])]
wrong = [x for x in l if "error" in x]
l = [x for x in l if x["mode"] == "ok"]
def of(function, kind):
    return [x["by"].get(function, {}).get(kind, 0) for x in l]
for text in sys.argv[2:]:
    if wrong or not eval("(" + text + ")"):
        print(text, wrong[:3], [{k: x[k] for k in ("query", "sums", "time", "seconds",
              "labels")} | {"by": {f: s for f, s in x["by"].items() if f.startswith("wl_")}}
              for x in l])
        sys.exit(1)
END
}
# begin ARGUMENT...: wl_push, and memtap push of it, which is $push
begin() {
	rm -f "$T/in"
	mkfifo "$T/in"
	# (opened for both, it waits for nobody)
	exec 9<> "$T/in"
	start_until "$T/out" ready ./wl_push < "$T/in"
	work=$started
	times=0
	: > "$T/err"
	memtap push --to "$url/ingest" --spool "$T/spool" "$@" -p $work 2> "$T/err" &
	push=$!
	ready $push 120
}
# once more, and wait until it is done
go() {
	echo >&9
	times=$((times + 1))
	wait_for 60 grep -qx $times "$T/out"
}
end() {
	exec 9>&-
	kill $work 2> /dev/null
	wait $work 2> /dev/null
}
messages() {
	wc -l < "$T/log"
}
at_least() {
	[ "$(messages)" -ge "$1" ]
}

# ---- live blocks, of each interval ----

begin leaks 3
go
go
wait_for 120 at_least 1
go
wait_for 120 at_least 3
# the receiver hangs, and intervals go on
echo never > "$T/mode"
n=$(messages)
wait_for 120 at_least $((n + 1))
go
spooled() { [ "$(find "$T/spool" -name '*.push' | wc -l)" -ge 3 ]; }
ok "intervals go on while the receiver does not answer" wait_for 120 spooled
echo ok > "$T/mode"
go
kill -TERM $push
wait_gone 120 $push
wait $push
is $? 0 "SIGTERM ends it"
like "$(cat "$T/err")" 'messages? waits? in .*spool: the next' "it says what waits"
end

# the next one, of something else, sends what waits
: > "$T/run2"
run memtap push --to "$url/ingest" --spool "$T/spool" fault -d 2 -- ./wl_push < /dev/null
is "$status" 0 "another run: $(tail -n 1 <<< "$err")"
is "$(find "$T/spool" -name '*.push' | wc -l)" 0 "nothing waits any more"
judge 'len(l) > 5' \
	'sum(of("wl_push_allocate", "alloc_objects")) == 500' \
	'sum(of("wl_push_allocate", "alloc_space")) == 500000' \
	'max(of("wl_push_allocate", "inuse_objects")) == 200' \
	'max(of("wl_push_allocate", "inuse_space")) == 200000' > "$T/why"
is "$(cat "$T/why")" '' "what was allocated is in one interval each; what lives, in all that follow"
judge 'all(abs(a["time"] - (b["time"] - b["seconds"])) < 0.02 for a, b in
	zip(*(lambda m: (m, m[1:]))(sorted((x for x in l if "inuse_space" in x["sums"]),
	key=lambda x: x["time"]))))' > "$T/why"
is "$(cat "$T/why")" '' "an interval begins where the last one ended"
# (a program that is launched is memtap until it is executed)
judge 'all("program=wl_push" in x["query"]["name"] and "host=" in x["query"]["name"] and
	"cgroup=/" in x["query"]["name"] for x in l if "inuse_space" in x["sums"])' > "$T/why"
is "$(cat "$T/why")" '' "labels"

# ---- sampled; page faults; resident memory ----

: > "$T/log"
begin leaks --sample-bytes 2000 2
go
wait_for 120 at_least 2
kill -INT $push
wait $push
end
judge 'all([t for t, u in x["types"]][:2] == ["inuse_space", "inuse_objects"] for x in l)' \
	'not any(t.startswith("alloc_") for x in l for t, u in x["types"])' \
	'all(x["period"] == ["space", 2000] for x in l)' \
	'any("sampled" in c for c in l[0]["comments"])' > "$T/why"
is "$(cat "$T/why")" '' "sampled: only what lives, and it says so"
rm -f "$T"/spool/*.push

: > "$T/log"
run memtap push --to "$url/" --spool "$T/spool" --label team=x fault --children -d 60 -- \
	bash -c 'echo | ./wl_push'
judge 'sum(of("wl_push_touch", "minor_fault")) >= 50 or sum(of("wl_push_touch", "fault")) >= 50' \
	'all(["team", "x"] in y for x in l for y in x["labels"])' > "$T/why"
is "$(cat "$T/why")" '' "page faults, as a plain POST"

: > "$T/log"
begin rss 2
go
wait_for 120 at_least 3
kill -INT $push
wait $push
end
judge 'max(of("wl_push_touch", "anonymous_pages")) == 50' > "$T/why"
is "$(cat "$T/why")" '' "resident pages, by the stack that touched them first"
rm -f "$T"/spool/*.push

# ---- killed ----

: > "$T/log"
begin leaks 1
go
wait_for 120 at_least 1
kill -9 $push
wait $push 2> /dev/null
end
run memtap push --to "$url/ingest" --spool "$T/spool" fault -d 1 -- true
judge 'len(l) >= 1' > "$T/why"
is "$(cat "$T/why")" '' "kill -9: no half message"
is "$(find "$T/spool" -name '*.new' | wc -l)" 0 "and no half file"
probes_clean "nothing is left attached"

kill $receiver
done_testing
