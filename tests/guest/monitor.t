#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Notices by generic netlink: to each listener, without names and PIDs, since also those in PID
# and user namespaces of their own may listen; and `memtap monitor`, which asks for the rest.
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
        text.append("%d=%s" % (kind, v.hex() if len(v) != 8 else int.from_bytes(v, "little")))
    print(m[16], *text, flush=True)
END
start_until "$T/one" ready python3 "$T/listen"
one=$started
start_until "$T/two" ready python3 "$T/listen"
two=$started
# a process of another user, in namespaces of its own, but that of the network
chmod 755 "$T"
nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
apart=("${nobody[@]}" unshare --user --map-root-user --pid --fork)
"${apart[@]}" true 2> /dev/null || apart=(unshare --pid --fork "${nobody[@]}")
start_until "$T/apart" ready "${apart[@]}" python3 "$T/listen" 2> "$T/apart.err"
stranger=$started
"${nobody[@]}" memtap monitor -d 240 > "$T/unnamed" 2> "$T/unnamed.err" &
unnamed=$!
wait_for 30 grep -q listening "$T/unnamed.err"

printf '#!/bin/sh\ncat >> %s\n' "$T/ran" > "$T/program"
chmod +x "$T/program"
memtap monitor -d 240 --exec "$T/program" > "$T/lines" 2> "$T/err" &
monitor=$!
memtap monitor -d 240 > "$T/more" 2> "$T/more.err" &
more=$!
memtap monitor -d 240 -T --json --comm wl_oom --filter 'anon > 1000000 && order >= 0' \
	> "$T/chosen" 2> "$T/chosen.err" &
chosen=$!
memtap monitor -d 240 --cgroup /stall --filter 'ns > 1000' > "$T/stalls" \
	2> "$T/stalls.err" &
stalls=$!
wait_for 30 grep -q listening "$T/chosen.err"
wait_for 30 grep -q listening "$T/stalls.err"
wait_for 30 grep -q listening "$T/err"
wait_for 30 grep -q listening "$T/more.err"

# what hugetlb has reserved nobody has to touch
free=$(awk '/^MemFree/ { print $2 }' /proc/meminfo)
echo $(((free - 100000) / 2048)) > /proc/sys/vm/nr_hugepages
# (kernels before v5.1 refuse what they have not now)
overcommit=$(< /proc/sys/vm/overcommit_memory)
echo 1 > /proc/sys/vm/overcommit_memory
./wl_oom eat 4000 1000 > /dev/null &
eater=$!
wait_gone 240 $eater
echo "$overcommit" > /proc/sys/vm/overcommit_memory
echo 0 > /proc/sys/vm/nr_hugepages
wait_for 30 grep -q '^1 1=' "$T/one"
nr=$(memtap oom --last 1 --json | sed 's/.*"number":\([0-9]*\),.*/\1/')
is "$(grep -c "^1 1=$nr\$" "$T/one") $(grep -c "^1 1=$nr\$" "$T/two")" "1 1" \
	"an OOM kill: both listeners are told, once"

# (more pages than the table has room for)
memtap faults --addresses --max-mem 4M -d 10 -- ./wl_oom hold 120 > /dev/null 2>&1
if wait_for 10 grep -q '^2 ' "$T/one"; then
	wait_for 30 grep -q '"event":"full"' "$T/lines"
	like "$(grep '"event":"full"' "$T/lines")" '"session":[0-9]+,"pid":[0-9]+,"comm":"memtap",'\
'"source":"minor-fault","reason":"(table-full|stack-not-kept)","events":[1-9]' \
		"tables that are full: of which session, and for what"
	is "$(grep -c '^2 ' "$T/one")" 1 "tables that are full: once"
else
	fail "tables that are full are told"
fi

# files that are read through a cgroup which has not the room for them
root=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
if grep -qw memory /sys/fs/cgroup/unified/cgroup.controllers 2>/dev/null; then
	root=/sys/fs/cgroup/unified limit=memory.max
	echo +memory > $root/cgroup.subtree_control
fi
mkdir $root/stall
echo $((12 << 20)) > $root/stall/$limit
echo 1 > /sys/module/memtap/parameters/stall_ms
(echo "$BASHPID" > $root/stall/cgroup.procs
while [ ! -e "$T/stop" ]; do
	dd if=/dev/zero of="$T/file" bs=1M count=24 status=none
done) &
waits=$!
if wait_for 60 grep -q '"event":"stall"' "$T/more"; then
	like "$(grep '"event":"stall"' "$T/more" | head -n 1)" \
		'"source":"(memcg|direct)-reclaim","pid":[0-9]+,"comm":"[^"]*","ns":[0-9]{7,},' \
		"stall_ms: who waited for longer, where and how long"
	wait_for 30 grep -q '"event":"stall"' "$T/stalls"
	is "$(grep -vc '"event":"stall"' "$T/stalls") $(grep -c '"event":"stall"' "$T/chosen")" \
		"0 0" "--cgroup, --filter: who waits there alone, and not where it is about kills"
	like "$(grep '^3 ' "$T/one" | head -n 1)" '^3 1=[0-9]+$' \
		"stall_ms: all listeners are told"
else
	fail "waits that are too long are told"
fi
echo 0 > /sys/module/memtap/parameters/stall_ms
touch "$T/stop"
wait $waits
wait_for 20 rmdir $root/stall

like "$(cat "$T/lines")" "\"event\":\"oom-kill\",\"number\":$nr,.*\"pid\":$eater," \
	"memtap monitor: an OOM kill, with all that is known of it"
is "$(grep -c "\"event\":\"oom-kill\",\"number\":$nr,.*\"pid\":$eater," "$T/chosen")" 1 \
	"--comm, --filter: the kill that is meant, with -T and --json"
like "$(cat "$T/chosen.err")" 'left out: stalls: they lack the fields of the filter' \
	"what a filter is not about is said"
like "$(cat "$T/lines")" '"event":"full",.*"comm":"memtap","source":"minor-fault","reason":' \
	"memtap monitor: a table that is full"
kill -INT $monitor
wait $monitor
is $? 0 "^C ends it"
kill -INT $more $chosen $stalls
wait $more $chosen $stalls
events() { grep -o '"event":"[a-z-]*"' "$1" | head -n 2; }
is "$(events "$T/more")" "$(events "$T/lines")" "two of them are told the same"
ok "each line is JSON" python3 -c '
import json, sys
for l in open(sys.argv[1]): json.loads(l)' "$T/lines"
# (stalls come faster than programs end: then not all are given to one)
no_stalls() { grep -v '"event":"stall"' "$1" | sort; }
all_ran() { cmp -s <(no_stalls "$T/ran") <(no_stalls "$T/lines"); }
wait_for 20 all_ran
is "$(no_stalls "$T/ran")" "$(no_stalls "$T/lines")" "--exec: a program gets each line"
kill $one $two
wait $one $two 2> /dev/null
kill -INT $unnamed
wait $unnamed 2> /dev/null
# (the first process of a PID namespace obeys no other signal)
pkill -KILL -P $stranger 2> /dev/null
wait $stranger 2> /dev/null
like "$(cat "$T/apart")" '^1 1=' "a listener in namespaces of its own (it hears something)"
is "$(grep -Evc '^(ready|[123] 1=[0-9]+)$' "$T/apart" "$T/one" "$T/two" | tr '\n' ' ' |
	sed "s,$T/,,g")" "apart:0 one:0 two:0 " \
	"a notice has a kind and a number: no name, no PID, for anybody"
like "$(cat "$T/unnamed.err")" 'CAP_PERFMON or CAP_SYS_ADMIN' \
	"monitor of nobody: says what it lacks"
line='^\{"schema":2,"document":"monitor","event":"[a-z-]*","time":[0-9.]*,"number":[0-9]*\}$'
is "$(grep -Evc "$line" "$T/unnamed")" 0 "monitor of nobody: numbers alone"
like "$(cat "$T/unnamed")" '"event":"oom-kill"' "monitor of nobody: (it has some)"
exits 2 "an argument is refused" memtap monitor now

done_testing
