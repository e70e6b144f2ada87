#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Notices by generic netlink: to whoever listens, as many as there are; and `memtap monitor`.
# check: newest
# guest: -m 640
# dmesg: allow Call Trace
. "$(dirname "$0")/lib.sh"

export LC_ALL=C
cat > "$T/listen" << 'END'
# Without libnl: joins the group, says "ready", and prints KIND and attributes of each message.
import socket, struct, sys

def attributes(b):
    while len(b) >= 4:
        size, kind = struct.unpack("=HH", b[:4])
        yield kind & 0x3fff, b[4:size]
        b = b[size + 3 & ~3:]

s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
s.bind((0, 0))
name = b"memtap\0"
attr = struct.pack("=HH", 4 + len(name), 2) + name + b"\0"
body = struct.pack("=BBH", 3, 1, 0) + attr
s.send(struct.pack("=IHHII", 16 + len(body), 16, 1, 1, 0) + body)
reply = s.recv(65536)
assert struct.unpack("=H", reply[4:6])[0] != 2, "there is no such family"
got = dict(attributes(reply[20:]))
for _, group in attributes(got[7]):
    g = dict(attributes(group))
    assert g[1] == b"events\0", g
    s.setsockopt(270, 1, struct.unpack("=I", g[2])[0])
print("ready", flush=True)
while True:
    m = s.recv(65536)
    text = []
    for kind, v in attributes(m[20:]):
        text.append(str(int.from_bytes(v, "little")) if kind <= 3 else v[:-1].decode())
    print(m[16], *text, flush=True)
END
python3 "$T/listen" > "$T/one" &
one=$!
python3 "$T/listen" > "$T/two" &
two=$!
wait_for 30 grep -q ready "$T/one"
wait_for 30 grep -q ready "$T/two"

built=
memtap monitor -d 240 --exec "$T/program" > "$T/lines" 2> "$T/err" &
monitor=$!
printf '#!/bin/sh\ncat >> %s\n' "$T/ran" > "$T/program"
chmod +x "$T/program"
wait_for 10 test -s "$T/err"
grep -q 'built without libnl' "$T/err" || built=1

# what hugetlb has reserved nobody has to touch
free=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
echo $(((free - 100000) / 2048)) > /proc/sys/vm/nr_hugepages
./wl_oom eat 4000 1000 > /dev/null &
eater=$!
wait_gone 240 $eater
echo 0 > /proc/sys/vm/nr_hugepages
wait_for 30 grep -q '^1 ' "$T/one"
nr=$(memtap oom --last 1 --json | sed 's/.*"number":\([0-9]*\),.*/\1/')
is "$(grep -c "^1 $nr " "$T/one") $(grep -c "^1 $nr " "$T/two")" "1 1" \
	"an OOM kill: both listeners are told, once"

# (more pages than the table has room for)
memtap faults --addresses --max-mem 4M -d 10 -- ./wl_oom hold 120 > /dev/null 2>&1
if wait_for 10 grep -q '^2 ' "$T/one"; then
	like "$(grep '^2 ' "$T/one")" \
		'^2 [0-9]+ [0-9]+ [0-9]+ memtap minor-fault (table-full|stack-not-kept)' \
		"tables that are full: of which session, and for what"
	is "$(grep -c '^2 ' "$T/one")" 1 "tables that are full: once"
else
	fail "tables that are full are told"
fi

if [ -n "$built" ]; then
	wait_for 20 grep -q '"event":"oom-kill"' "$T/lines"
	like "$(cat "$T/lines")" "\"event\":\"oom-kill\",\"number\":$nr,.*\"pid\":$eater," \
		"memtap monitor: a line of JSON"
	ok "memtap monitor: each line is JSON" python3 -c '
import json, sys
for l in open(sys.argv[1]): json.loads(l)' "$T/lines"
	wait_for 20 test -s "$T/ran"
	is "$(sort "$T/ran")" "$(sort "$T/lines")" "--exec: a program gets each line"
	kill -INT $monitor
	wait $monitor
	is $? 0 "^C ends it"
else
	skip "memtap monitor" "built without libnl"
fi
kill $one $two
wait $one $two 2> /dev/null
exits 2 "an argument is refused" memtap monitor now

done_testing
