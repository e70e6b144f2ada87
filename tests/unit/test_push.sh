#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `memtap push` of recordings to an HTTP receiver (tests/guest/push_receiver.py) that checks each
# message, and dies, is overloaded, slow, or never answers; over TLS; and what is refused.
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/unit/check.sh

make -s -C ctl BUILD=../build > /dev/null || { echo "Bail out! the tool does not build"; exit 1; }
tool=$PWD/build/memtap
if ! printf '#include <curl/curl.h>\n#include <protobuf-c/protobuf-c.h>\n' |
		${CC:-cc} -xc -fsyntax-only - 2> /dev/null; then
	echo "1..0 # SKIP without libcurl or protobuf-c there is nothing to push"
	exit 0
fi
work=$(mktemp -d)
pids=()
trap 'kill "${pids[@]}" 2> /dev/null; rm -r "$work"' EXIT
export TZ=UTC
unset http_proxy https_proxy all_proxy no_proxy HTTPS_PROXY ALL_PROXY NO_PROXY
mkdir "$work/f"
for made in make_snap make_leaks; do
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -Itests/port -Ictl -Ikmod -Ikmod/core -Iinclude \
		-o "$work/$made" tests/golden/$made.c tests/golden/records.c kmod/core/wire.c &&
		"$work/$made" "$work/f"
	check $? "the recordings are made: $made"
done

# receiver NAME [CERT KEY]: one that runs, in $work/NAME; its port is $port
receiver() {
	local name=$1

	shift
	mkdir -p "$work/$name"
	echo ok > "$work/$name/mode"
	rm -f "$work/$name/port"
	python3 tests/guest/push_receiver.py "$work/$name" "$@" 2> "$work/$name/err" &
	pids+=($!)
	for _ in $(seq 200); do
		[ -s "$work/$name/port" ] && break
		sleep 0.1
	done
	port=$(cat "$work/$name/port")
}
# push ARGUMENT...: the status is $rc; what it said is in $work/err
push() {
	rc=0
	(cd "$work/f" && timeout 120 "$tool" push --spool "$work/spool" --rate 1G "$@") \
		> "$work/out" 2> "$work/err" || rc=$?
}
# sent [COUNT] [PYTHON]: the receiver's log since the last time has so many messages, none is
# wrong, and PYTHON is true of all of them, which are l
sent() {
	python3 - "$work/r/log" "$@" <<'PY'
import json, sys
l = [json.loads(x) for x in open(sys.argv[1])]
open(sys.argv[1], "w")
wrong = [x for x in l if "error" in x]
assert not wrong, wrong
assert len(l) == int(sys.argv[2]), (len(l), l)
for text in sys.argv[3:]:
    assert eval("(" + text + ")"), (text, l)
PY
}
waiting() {
	find "$work/spool" -name '*.push' | wc -l
}

receiver r
url=http://127.0.0.1:$port

# ---- what a message has ----

push --to "$url/ingest" leaks-peak.memtap
sent 1 'l[0]["path"] == "/ingest" and l[0]["agent"].startswith("memtap/")' \
	'l[0]["types"] == [["inuse_space", "bytes"], ["inuse_objects", "count"],
		["alloc_space", "bytes"], ["alloc_objects", "count"]]' \
	'l[0]["query"]["name"] == "encryptor.service{host=golden.example,program=encryptor,"
		"cgroup=/system.slice/encryptor.service,service=encryptor.service}"' \
	'l[0]["labels"] == [[]] and l[0]["seconds"] == 10.25' \
	'l[0]["config"]["inuse_space"]["aggregation"] == "average"' \
	'l[0]["config"]["alloc_space"]["aggregation"] == "sum"' \
	'any(c.startswith("interval: 10.250 s") for c in l[0]["comments"])'
check $? "Pyroscope: kinds, labels in the name, time and comments"
[ $rc = 0 ] && [ ! -s "$work/out" ] && grep -q '1 message sent' "$work/err"
check $? "exit status 0, and what was sent is said"

push --to "$url/profiles?x=y" --label team=a --label host= leaks-peak.memtap
sent 1 'l[0]["path"] == "/profiles" and l[0]["query"] == {"x": "y"}' \
	'l[0]["labels"] == [[["cgroup", "/system.slice/encryptor.service"],
		["program", "encryptor"], ["service", "encryptor.service"], ["team", "a"]]]'
check $? "a plain POST has them as labels of its samples; --label adds, and leaves out"

# the sums are those of the report
"$tool" report --json "$work/f/brk.memtap" > "$work/json"
push --to "$url/ingest" brk.memtap
sent 3 "sum(x['sums']['brk_bytes'] for x in l) == sum(r['sum'] for r in
		json.load(open('$work/json'))['rows'] if r['sum'] > 0)" \
	'all("brk: 7 of 1,073 were lost: 2 recursion, 5 missed" in x["comments"] for x in l)' \
	'len({x["query"]["name"] for x in l}) == 3'
check $? "a message for each program in a cgroup; sums and losses are those of the report"

all=0
for f in "$work"/f/*.memtap; do
	push --to "$url/ingest" "$f"
	[ $rc = 0 ] || { all=1; echo "# $f: $(cat "$work/err")"; }
done
python3 -c "
import json
l = [json.loads(x) for x in open('$work/r/log')]
wrong = [x for x in l if 'error' in x]
assert len(l) > 40 and not wrong, wrong" || all=1
: > "$work/r/log"
check $all "messages of all recordings are right"

# ---- a receiver in trouble ----

# trouble MODE SAYS: the receiver is so, then well: the message comes once, and why is said
trouble() {
	echo "$1" > "$work/r/mode"
	(sleep 1.5; echo ok > "$work/r/mode") &
	push --to "$url/ingest" leaks-peak.memtap
	[ $rc = 0 ] && grep -q "$2" "$work/err" && grep -q 'takes messages again' "$work/err"
	check $? "$1: said, and tried again: $(head -n 2 "$work/err" | tail -n 1)"
	python3 -c "
import json
l = [json.loads(x) for x in open('$work/r/log')]
assert not [x for x in l if 'error' in x], l
assert [x['mode'] for x in l].count('ok') == 1 and l[-1]['mode'] == 'ok', l"
	check $? "$1: the message is taken once, whole"
	: > "$work/r/log"
}
trouble dies ': .*; trying again, 1 message waits'
trouble 500 'HTTP status 500 (the receiver says no)'
trouble 401 'HTTP status 401'
trouble 302 'HTTP status 302'

echo 429 3 > "$work/r/mode"
(sleep 0.5; echo ok > "$work/r/mode") &
push --to "$url/ingest" leaks-peak.memtap
python3 -c "
import json
l = [json.loads(x) for x in open('$work/r/log')]
assert [x['mode'] for x in l] == ['429', 'ok'] and l[1]['at'] - l[0]['at'] >= 3, l"
check $? "429: what Retry-After says is kept to"
: > "$work/r/log"

echo slow > "$work/r/mode"
push --to "$url/ingest" leaks-peak.memtap
sent 1 && [ $rc = 0 ]
check $? "slow: the answer is waited for"

echo never > "$work/r/mode"
push --to "$url/ingest" -d 1 leaks-peak.memtap
[ $rc = 1 ] && grep -q '1 message waits in .*spool' "$work/err" && [ "$(waiting)" = 1 ]
check $? "never: with -d it ends, and the message waits: $(tail -n 1 "$work/err")"
: > "$work/r/log"
echo ok > "$work/r/mode"
push --to "$url/ingest" faults.memtap
sent 2 'l[0]["types"][0][0] == "inuse_space"' && [ "$(waiting)" = 0 ]
check $? "the next one sends it, first"

echo 400 > "$work/r/mode"
push --to "$url/ingest" leaks-peak.memtap
sent 1 && [ $rc = 1 ] && [ "$(waiting)" = 0 ] &&
	grep -q 'refused 1 message, which is dropped: HTTP status 400 (the receiver says no)' \
		"$work/err" && grep -q '1 refused' "$work/err"
check $? "400: refused, dropped, counted"
echo ok > "$work/r/mode"
push --to "$url/ingest" brk.memtap leaks-peak.memtap
sent 4 && [ $rc = 0 ]
check $? "nothing of it stays"

push --to "http://127.0.0.1:1/ingest" -d 1 leaks-peak.memtap
[ $rc = 1 ] && [ "$(waiting)" = 1 ] && grep -q 'trying again' "$work/err"
check $? "nobody listens: $(sed -n 2p "$work/err")"

# ---- the spool ----

push --to "http://127.0.0.1:1/ingest" --max-spool 64K -d 1 brk.memtap brk.memtap brk.memtap \
	brk.memtap brk.memtap brk.memtap
[ $rc = 1 ] && [ "$(waiting)" = 16 ] && grep -q 'oldest .* dropped, unsent' "$work/err"
check $? "a full spool drops the oldest, and says how many: $(grep oldest "$work/err")"
[ "$(stat -c %a "$work/spool")" = 700 ] && [ -z "$(find "$work/spool" -type f -perm /077)" ]
check $? "nobody else can read it"
push --to "$url/ingest" leaks-peak.memtap
sent 17
check $? "all of it is sent later"

# killed at any moment: whatever comes is whole, and the next run has the rest
for delay in 0.00 0.01 0.02 0.03 0.05 0.08; do
	(cd "$work/f" && exec "$tool" push --spool "$work/spool" --rate 1G --to "$url/ingest" \
		brk.memtap faults.memtap brk.memtap leaks-peak.memtap brk.memtap) 2> /dev/null &
	pid=$!
	sleep $delay
	kill -9 $pid 2> /dev/null
	wait $pid 2> /dev/null
done
push --to "$url/ingest" leaks-peak.memtap
python3 -c "
import json
l = [json.loads(x) for x in open('$work/r/log')]
assert l and not [x for x in l if 'error' in x], l"
check $? "kill -9: no half message is sent"
[ "$(waiting)" = 0 ] && [ ! -e "$work/spool/message.new" ]
check $? "and nothing is left behind"
: > "$work/r/log"

echo damaged > "$work/spool/0000000000ffffff.push"
push --to "$url/ingest" leaks-peak.memtap
sent 1 && [ $rc = 1 ] && grep -q 'is damaged, and dropped' "$work/err"
check $? "what is damaged is dropped, and said"

# so many bytes a minute: the next message waits
push --to "$url/ingest" --rate 30K leaks-peak.memtap leaks-peak.memtap
python3 -c "
import json
l = [json.loads(x) for x in open('$work/r/log')]
assert len(l) == 2 and l[1]['at'] - l[0]['at'] >= l[0]['bytes'] / (30 << 10) * 60 - 0.1, l"
check $? "--rate is kept to"
: > "$work/r/log"

# ---- TLS and credentials ----

openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key" -out "$work/cert" -days 2 \
	-subj /CN=localhost -addext subjectAltName=DNS:localhost 2> /dev/null
receiver tls "$work/cert" "$work/key"
: > "$work/tls/log"
push --to "https://localhost:$port/ingest" -d 1 leaks-peak.memtap
[ $rc = 1 ] && [ ! -s "$work/tls/log" ] && grep -qi 'certificate' "$work/err"
check $? "an unknown certificate is refused: $(sed -n 2p "$work/err")"
push --to "https://localhost:$port/ingest" --cacert "$work/cert" leaks-peak.memtap
[ $rc = 0 ] && [ "$(wc -l < "$work/tls/log")" = 2 ]
check $? "--cacert: it is accepted"
push --to "https://127.0.0.1:$port/ingest" --cacert "$work/cert" -d 1 leaks-peak.memtap
[ $rc = 1 ] && [ "$(wc -l < "$work/tls/log")" = 2 ]
check $? "but not under another name: $(sed -n 2p "$work/err")"
rm "$work"/spool/*.push

umask 077
echo 'me:secret' > "$work/basic"
echo 'Bearer t0ken' > "$work/bearer"
push --to "$url/ingest" --credentials "$work/basic" leaks-peak.memtap
push --to "$url/" --credentials "$work/bearer" leaks-peak.memtap
sent 2 "l[0]['auth'] == 'Basic $(printf me:secret | base64)'" "l[1]['auth'] == 'Bearer t0ken'"
check $? "credentials of both kinds"

# ---- what cannot be ----

# refused PATTERN ARGUMENT...: one sentence like that, exit status 2
refused() {
	local pattern=$1

	shift
	push "$@"
	[ $rc = 2 ] && [ ! -s "$work/out" ] && [ "$(wc -l < "$work/err")" = 1 ] &&
		grep -q -- "$pattern" "$work/err"
	check $? "$(cat "$work/err")"
}
refused 'where to' leaks-peak.memtap
refused 'begins with http' --to localhost:4040 leaks-peak.memtap
refused 'there must be a host' --to http:///ingest leaks-peak.memtap
refused 'seen by every user' --to http://a:b@localhost/ leaks-peak.memtap
refused 'not NAME=VALUE' --to "$url" --label x leaks-peak.memtap
refused 'receiver.s' --to "$url" --label __name__=x leaks-peak.memtap
refused 'letters, digits' --to "$url" --label a-b=x leaks-peak.memtap
chmod 644 "$work/basic"
refused 'other users may read it' --to "$url" --credentials "$work/basic" leaks-peak.memtap
refused 'No such file' --to "$url" --credentials "$work/none" leaks-peak.memtap
refused 'No such file' --to "$url" --cacert "$work/none" leaks-peak.memtap
mkdir "$work/open"
chmod 777 "$work/open"
rc=0
"$tool" push --to "$url" --spool "$work/open" "$work/f/brk.memtap" 2> "$work/err" || rc=$?
[ $rc = 2 ] && grep -q 'other users may write there' "$work/err"
check $? "$(cat "$work/err")"
refused 'at least 64K' --to "$url" --max-spool 1K leaks-peak.memtap
refused 'what?' --to "$url"
refused 'needs a target' --to "$url" leaks
refused 'session of its own' --to "$url" rss fault
refused 'sample-bytes is for' --to "$url" --sample-bytes 64K fault
refused 'at least 1 second' --to "$url" leaks -p 1 0.5
push --to "$url" "$work/none.memtap"
[ $rc = 1 ] && grep -q 'none.memtap' "$work/err"
check $? "no such recording: $(tail -n 2 "$work/err" | head -n 1)"
checked
